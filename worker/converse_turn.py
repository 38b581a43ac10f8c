"""One turn with everything that its two ways of answering need, and what the thread is after them.

By the model or by the rules: both read the same thread, and both leave a thread that the other can go on
with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from search_proxy.models import Document, Hit
from worker.answer import Answer
from worker.converse_request import ConverseRequest
from worker.converse_stream import ConverseStream
from worker.planning.catalog_roles import Roles
from worker.planning.catalog_vocabulary import Vocabulary
from worker.planning.plan import Interaction
from worker.planning.thread_decision import ThreadDecision
from worker.planning.thread_products import shown_product
from worker.planning.thread_state import ThreadState
from worker.product_context import ProductContext
from worker.services import Services


@dataclass(frozen=True, slots=True, kw_only=True)
class ConverseTurn:
    """A turn after its thread was read; `decision` is what the rules make of the sentence."""

    services: Services
    request: ConverseRequest
    answer: Answer
    stream: ConverseStream
    history: tuple[Interaction, ...]
    thread: ThreadState
    vocabulary: Vocabulary
    context: ProductContext
    decision: ThreadDecision

    def sent_hits(self) -> list[Hit]:
        """Return what was sent in this turn, in the order in which it is on the page, once per id."""
        hits = {str(hit["_id"]): hit for found in self.answer.categories for hit in found.hits}
        return list(hits.values())

    def thread_after_plan(self) -> ThreadState:
        """Return the thread after a plan's searches: the sentence as the rules read it, the hits as shown."""
        hits = self.sent_hits()
        decision = self.decision
        if decision.kind == "show" or not self.answer.expansions:
            return decision.state if decision.kind in ("show", "answer") else self.thread
        read = decision.state if decision.kind == "search" else self._as_planned()
        if not hits:
            return read.after_nothing(self.thread)
        roles = self.vocabulary.roles
        # A plan's categories are no pages of the thread's own search: its next page is its first.
        return replace(read.after_showing([shown_product(hit, roles) for hit in hits]), offset=0)

    def _as_planned(self) -> ThreadState:
        planned = self.answer.decision.rewritten_query or self.answer.expansions[0].query
        return ThreadState(query=planned[:300])


def about_documents(thread: ThreadState, documents: Sequence[Document], roles: Roles) -> ThreadState:
    """Return the thread turned to the products of a page, unless it speaks of them already."""
    products = [shown_product(document, roles) for document in documents]
    known = {product.id for product in thread.shown}
    if not products or all(product.id in known for product in products):
        return thread
    if thread.is_empty:
        return ThreadState().after_showing(products)
    return replace(thread, focus=products[0])
