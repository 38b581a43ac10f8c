"""The web tier, against servers of ours."""
