"""The seam to what turns texts into vectors. Without one, search is lexical alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt


class Embedder(Protocol):
    """Turns texts into vectors whose dot product says how alike they are.

    Implementations MUST return float32 rows of length 1, the same for the same text, and MUST be safe to call
    from several threads. The call blocks.
    """

    @property
    def model(self) -> str:
        """Return the name that is kept with the vectors; another name never mixes with them."""
        ...

    @property
    def dimension(self) -> int:
        """Return how many numbers a vector has."""
        ...

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one row per text of a product; there may be hundreds.

        Raises:
            SearchUnavailable: The model could not be asked.
        """
        ...

    def embed_query(self, query: str) -> npt.NDArray[np.float32]:
        """Return the vector of what a shopper asks, while a search waits for it.

        Raises:
            SearchUnavailable: The model could not be asked, or not soon enough for a search.
        """
        ...


def embedded_text(document: Mapping[str, Any]) -> str:
    """Return what of a product is embedded: its title and description, the best of what was measured."""
    parts = (document.get(name) for name in ("productTitle", "variantTitle", "description"))
    return "\n".join(part for part in parts if isinstance(part, str))[:MAX_EMBEDDED_CHARACTERS]


MAX_EMBEDDED_CHARACTERS = 2_000
"""Models of this size read 128 to 256 tokens; the rest would be cut anyway."""
