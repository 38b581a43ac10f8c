"""Search engines behind `SearchBackend`."""
