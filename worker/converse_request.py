"""Turns a turn's payload, the account's settings and the index into what one turn needs.

Everything that a client can get wrong is found here, before the first byte, pictures included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from search_proxy.accounts.settings_schema import SettingsSnapshot
from search_proxy.caller import Caller
from search_proxy.models import Hit, IndexDescription
from search_proxy.search_payload import DEFAULT_ATTRIBUTES
from worker.converse_payload import ConversePayload
from worker.errors import FeatureDisabled
from worker.llm.language_model import InlineImage
from worker.payload import AgenticPayload
from worker.planning.catalog_roles import read_roles
from worker.planning.thread_products import remembered_fields
from worker.request import AgenticRequest, build_request


@dataclass(frozen=True, slots=True, kw_only=True)
class ConverseRequest:
    """One turn's question, checked.

    `agentic.category` is the template of every search: it asks for what the thread remembers too;
    `shown_attributes` are those that the client gets. `context_fields` None is all of them.
    """

    agentic: AgenticRequest
    shown_attributes: tuple[str, ...]
    document_ids: tuple[str, ...] = ()
    context_fields: tuple[str, ...] | None = None
    images: tuple[InlineImage, ...] = ()

    def shown(self, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """Return the hits with the attributes that the client asked for."""
        if "*" in self.shown_attributes:
            return tuple(hits)
        names = ("_id", *self.shown_attributes, "_score", "_matched", "_excerpt", "_reason")
        return tuple({name: hit[name] for name in names if name in hit} for hit in hits)


def build_converse_request(
    caller: Caller,
    index: str,
    payload: ConversePayload,
    snapshot: SettingsSnapshot,
    description: IndexDescription,
) -> ConverseRequest:
    """Combine what was asked with what the account allows; the pictures are read later.

    Raises:
        FeatureDisabled: The account has not switched conversations on, or pictures in them.
        InvalidRequest: The filter is wrong; the message says where.
    """
    config = snapshot.settings.agentic_config
    agentic = build_request(
        caller,
        index,
        AgenticPayload(
            q=payload.q,
            category_result_limit=payload.category_result_limit or config.converse_category_result_limit,
            max_categories=payload.max_categories or config.converse_max_categories,
            filter=payload.filter,
            user_id=payload.user_id,
            session_id=payload.session_id,
            conversation_id=payload.conversation_id,
        ),
        snapshot,
        description,
        feature="converse",
    )
    if (payload.images or payload.image_urls) and not snapshot.settings.feature_flags.images:
        raise FeatureDisabled(f"images are not enabled for index {index!r}; ask the account's owner")
    shown = tuple(payload.attributes_to_retrieve or DEFAULT_ATTRIBUTES)
    remembered = remembered_fields(read_roles(description))
    retrieved = tuple(dict.fromkeys((*shown, *DEFAULT_ATTRIBUTES, *remembered)))
    fields = payload.context_fields
    return ConverseRequest(
        agentic=replace(agentic, category=replace(agentic.category, attributes_to_retrieve=retrieved)),
        shown_attributes=shown,
        document_ids=tuple(dict.fromkeys(payload.document_ids)),
        context_fields=None if fields is None else tuple(fields),
    )
