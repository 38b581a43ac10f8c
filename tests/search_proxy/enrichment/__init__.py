"""Offline enrichment."""
