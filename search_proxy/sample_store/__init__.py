"""A shop to try things on: an outdoor-and-home store of invented products, drawn without a network.

`products.jsonl.gz` is written by `python -m search_proxy.sample_store.generate`; one line is one variant, in
the form of every other catalog that the product reads.
"""

from search_proxy.sample_store.images import draw
from search_proxy.sample_store.store import draw_image, load_sample

__all__ = ["draw", "draw_image", "load_sample"]
