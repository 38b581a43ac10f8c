"""MCP clients against the real server."""
