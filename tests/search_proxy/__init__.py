"""Search_proxy."""
