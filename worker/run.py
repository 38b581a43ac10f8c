"""Runs."""


class RunRegistry:
    """Runs by id."""
