"""gRPC clients against the real server."""
