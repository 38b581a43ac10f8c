"""The catalog as tools for agents: defined once, served by MCP, by gRPC and to the worker in process."""
