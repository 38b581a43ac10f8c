"""The filter language: text to tree, tree to text, and trees ANDed together."""

from search_proxy.filters.errors import FilterSyntaxError
from search_proxy.filters.merge import merge_filters
from search_proxy.filters.parser import parse_filter
from search_proxy.filters.tree import (
    AndFilter,
    ContainsFilter,
    Filter,
    InFilter,
    NotFilter,
    OrFilter,
    RangeFilter,
    TermFilter,
)

__all__ = [
    "AndFilter",
    "ContainsFilter",
    "Filter",
    "FilterSyntaxError",
    "InFilter",
    "NotFilter",
    "OrFilter",
    "RangeFilter",
    "TermFilter",
    "merge_filters",
    "parse_filter",
]
