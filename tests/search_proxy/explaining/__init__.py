"""Tests of what is said of a hit."""
