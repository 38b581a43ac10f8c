"""What the sub-commands of the other packages are given: the services, and what only the worker can add."""

from __future__ import annotations

from search_proxy.accounts.account_office import AccountOffice
from search_proxy.backend import CatalogWriter, SearchBackend
from search_proxy.binding import SearchBinding
from search_proxy.embedding.background import EmbeddingEngine
from worker.headless import AnswerPreviewer
from worker.services import Services


class CommandServices:
    """The services as each package's own Protocol for its commands has them."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.previewer = AnswerPreviewer(services)

    @property
    def office(self) -> AccountOffice:
        """The accounts and the desks that change them."""
        return self.services.office

    @property
    def search(self) -> SearchBinding:
        """The product side."""
        return self.services.search

    @property
    def backend(self) -> SearchBackend:
        """The search that answers over the catalog."""
        return self.services.backend

    @property
    def embeddings(self) -> EmbeddingEngine:
        """The engine whose indexes are embedded."""
        return self.services.embeddings

    @property
    def catalog(self) -> CatalogWriter:
        """The catalog to write."""
        return self.services.catalog
