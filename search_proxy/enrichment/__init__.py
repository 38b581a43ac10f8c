"""Offline enrichment: keywords and a short description per document, written once by a model."""
