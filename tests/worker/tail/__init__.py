"""Following finished requests."""
