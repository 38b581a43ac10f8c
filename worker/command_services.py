"""What the sub-commands of the other packages are given: the services, and what only the worker can add."""

from __future__ import annotations

from pathlib import Path

from search_proxy.accounts.account_office import AccountOffice
from search_proxy.backend import CatalogWriter, SearchBackend
from search_proxy.binding import SearchBinding
from search_proxy.embedding.background import EmbeddingEngine
from search_proxy.enrichment.run import DocumentSource
from search_proxy.enrichment.writing import EnrichmentModel
from worker.headless import AnswerPreviewer
from worker.services import Services
from worker.tool_enricher import ModelEnricher


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

    @property
    def documents(self) -> DocumentSource | None:
        """Every document of an index, where the engine can give them."""
        backend = self.services.backend
        return backend if isinstance(backend, DocumentSource) else None

    @property
    def enrichment_model(self) -> EnrichmentModel | None:
        """The model that writes keywords and descriptions, where one is set up."""
        model = self.services.model
        return None if model is None else ModelEnricher(model, self.services.settings.model)

    @property
    def enrichment_folder(self) -> Path:
        """Where it is kept what was written."""
        return self.services.settings.data_dir / "enrichment"
