"""Three cache tiers: edge cache, negative filter, table. It stores bytes and does not know plans."""
