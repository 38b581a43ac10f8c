"""Examining a server."""
