"""Traces of runs, and running them again."""
