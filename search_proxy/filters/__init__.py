"""The filter language: text to tree, tree to text, and trees ANDed together."""

from search_proxy.filters.chains import all_of, any_of
from search_proxy.filters.errors import FilterSyntaxError
from search_proxy.filters.matching import matches
from search_proxy.filters.merge import merge_filters
from search_proxy.filters.parser import parse_filter
from search_proxy.filters.tree import (
    AndFilter,
    ContainsFilter,
    Filter,
    InFilter,
    Leaf,
    NotFilter,
    OrFilter,
    RangeFilter,
    TermFilter,
    leaves,
)
from search_proxy.filters.visibility import visibility_filter

__all__ = [
    "AndFilter",
    "ContainsFilter",
    "Filter",
    "FilterSyntaxError",
    "InFilter",
    "Leaf",
    "NotFilter",
    "OrFilter",
    "RangeFilter",
    "TermFilter",
    "all_of",
    "any_of",
    "leaves",
    "matches",
    "merge_filters",
    "parse_filter",
    "visibility_filter",
]
