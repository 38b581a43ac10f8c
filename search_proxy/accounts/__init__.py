"""Accounts: keys, settings, feature flags and prompts, each with one typed schema."""
