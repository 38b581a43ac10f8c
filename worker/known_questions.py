"""Questions that were asked lately, with all that does not depend on who asks them.

Many shoppers ask one question. What a request comes to under an account's settings and an index's
description, how it meets the cache, and its answer as it was last made are worked out once. A question is
known for equal rights alone, under the very settings in use, and while the index is described as it was.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace

from search_proxy.accounts.prompt_slots import PromptInUse
from search_proxy.accounts.settings_schema import SettingsSnapshot
from search_proxy.caller import Caller
from search_proxy.models import IndexDescription
from worker.answer_cache import CachePlan, for_session, plan_cache
from worker.made_answer import MadeAnswer
from worker.payload import AgenticPayload
from worker.request import AgenticRequest, build_request

MAX_QUESTIONS = 500
_LONGEST_FILTER = 1_000
_LARGEST_SHARE = 16
"""One answer takes at most this part of the whole."""

_Key = tuple[object, ...]
_State = tuple[str, int, str | None, str]
_NOT_DESCRIBED = IndexDescription(
    index="", documents=0, products=0, fields=(), category_field=None, language="", generation=""
)
"""What stands for a description in what is kept: with its words it may take 200 KB."""


@dataclass(slots=True, kw_only=True, eq=False)
class KnownQuestion:
    """One question; `request` is that of whoever asked it first, without the index's description."""

    key: _Key
    snapshot: SettingsSnapshot
    state: _State
    request: AgenticRequest
    planned: tuple[PromptInUse, CachePlan] | None = None
    made: MadeAnswer | None = None

    def plan_cache(self, request: AgenticRequest, default_model: str) -> CachePlan:
        """Return how a request that asks this question meets the cache."""
        if self.planned is None or self.planned[0] != request.prompt:
            self.planned = request.prompt, plan_cache(request, default_model)
        return for_session(self.planned[1], request)


class KnownQuestions:
    """The questions of one process; what was made of them takes at most `max_bytes`, the oldest go first."""

    def __init__(self, *, max_bytes: int = 16 * 1024 * 1024) -> None:
        self.max_bytes = max_bytes
        self._known: OrderedDict[_Key, KnownQuestion] = OrderedDict()
        self.used_bytes = 0

    def __len__(self) -> int:
        return len(self._known)

    def ask(
        self,
        caller: Caller,
        index: str,
        payload: AgenticPayload,
        snapshot: SettingsSnapshot,
        description: IndexDescription,
    ) -> tuple[AgenticRequest, KnownQuestion | None]:
        """Return what `build_request` would, and the question where it is one that others may ask.

        Raises:
            FeatureDisabled: As `build_request`.
            InvalidRequest: As `build_request`.
        """
        key = _key(caller, index, payload)
        if key is None or not description.generation or description.is_judged:
            return build_request(caller, index, payload, snapshot, description), None
        state, known = _state(description), self._known.get(key)
        if known is None or known.snapshot is not snapshot or known.state != state:
            request = build_request(caller, index, payload, snapshot, description)
            kept = replace(request, description=_NOT_DESCRIBED, user_id=None, session_id=None)
            self._forget(key)
            known = KnownQuestion(key=key, snapshot=snapshot, state=state, request=kept)
            self._known[key] = known
            if len(self._known) > MAX_QUESTIONS:
                self._forget(next(iter(self._known)))
            return request, known
        self._known.move_to_end(key)
        request = replace(
            known.request,
            caller=caller,
            description=description,
            prompt=snapshot.prompts.for_session(caller.account_id, payload.session_id),
            user_id=payload.user_id,
            session_id=payload.session_id,
        )
        return request, known

    def keep(self, question: KnownQuestion, made: MadeAnswer) -> None:
        """Keep an answer for who asks the question next, where there is room."""
        if made.size > self.max_bytes // _LARGEST_SHARE or self._known.get(question.key) is not question:
            return
        if question.made is not None:
            self.used_bytes -= question.made.size
        question.made = made
        self.used_bytes += made.size
        while self.used_bytes > self.max_bytes:
            self._forget(next(iter(self._known)))

    def _forget(self, key: _Key) -> None:
        gone = self._known.pop(key, None)
        if gone is not None and gone.made is not None:
            self.used_bytes -= gone.made.size


def _state(description: IndexDescription) -> _State:
    """Return what is another as soon as a search may find something else."""
    return (
        description.generation,
        description.embedded_documents,
        description.embedding_model,
        description.rights,
    )


def _key(caller: Caller, index: str, payload: AgenticPayload) -> _Key | None:
    """Return what sets a question apart; None for a turn of a conversation, or settings of its own."""
    if payload.converses or payload.search_settings is not None:
        return None
    if payload.filter is not None and len(payload.filter) > _LONGEST_FILTER:
        return None
    return (
        caller.account_id,
        caller.rights,
        index,
        payload.q,
        payload.category_result_limit,
        payload.max_categories,
        payload.clickable_summary,
        payload.suggest_filters,
        payload.explain_hits,
        payload.reranked_hits,
        payload.filter,
    )
