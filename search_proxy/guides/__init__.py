"""A shop's second corpus: guides in Markdown, HTML and text, split at their headings into documents."""
