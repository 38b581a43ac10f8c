"""Tests of what callers may see."""
