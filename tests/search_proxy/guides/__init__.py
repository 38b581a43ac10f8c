"""The second corpus."""
