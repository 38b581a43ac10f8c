"""Feed importers: from a file in some shape to product documents."""
