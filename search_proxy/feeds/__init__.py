"""Feed importers: from a file in some shape to product documents."""

from search_proxy.feeds.reader import Feed, open_feed, read_feed
from search_proxy.feeds.records import FeedError, FeedFormat, FeedItem, Refusal

__all__ = ["Feed", "FeedError", "FeedFormat", "FeedItem", "Refusal", "open_feed", "read_feed"]
