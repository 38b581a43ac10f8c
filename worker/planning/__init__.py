"""Plans a search: by a language model, or by rules over the catalog."""
