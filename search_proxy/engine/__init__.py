"""The embedded search engine: text, postings, facets and storage on local files."""
