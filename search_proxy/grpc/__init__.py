"""The tools over gRPC: `search.v1`, with reflection and health."""
