"""Tests of accounts, keys, settings and prompts."""
