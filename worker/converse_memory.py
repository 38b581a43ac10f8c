"""What a turn remembers and what it leaves behind: history and thread before the answer, the commit after it.

Storage in trouble never costs the answer: it goes on without history, is not kept, and says so in a warning.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from conversation import (
    ConversationBusy,
    ConversationError,
    ConversationNotFound,
    Conversations,
    Interaction,
    InteractionTooLarge,
    Turn,
    fitted_interaction,
)
from worker.answer import Answer
from worker.conversation_rights import may_continue, rights_state
from worker.errors import NotFound, TooManyTurns
from worker.planning.plan import Interaction as PastTurn
from worker.planning.thread_state import ThreadState
from worker.timing import Stage

logger = logging.getLogger(__name__)

LAST_WORDS_SECONDS = 2.0
"""How long a run that was stopped may still take to keep what it had said."""


async def check_conversation(
    conversations: Conversations, account_id: str, conversation_id: str | None
) -> None:
    """Refuse an id that was never given to this account, while there still can be a status for it.

    Raises:
        NotFound: The account has no such conversation.
        TooManyTurns: Too many of its turns wait already.
    """
    if conversation_id is None:
        return
    with told_as_ours():
        # Entering a turn waits for nothing and asks no storage; leaving it at once gives the place back.
        async with conversations.turn(account_id, conversation_id):
            pass


@contextmanager
def told_as_ours() -> Iterator[None]:
    """Raise what keeps a turn from beginning as the worker's own errors."""
    try:
        yield
    except ConversationNotFound as error:
        raise NotFound(str(error)) from error
    except ConversationBusy as error:
        raise TooManyTurns(str(error)) from error


class ConversationMemory:
    """One turn's memory; `number` is its place in the conversation once it is kept."""

    def __init__(self, turn: Turn, answer: Answer) -> None:
        self.conversation_id = turn.conversation_id
        answer.conversation_id = turn.conversation_id
        self.history: Sequence[Interaction] = ()
        self.thread = ThreadState()
        self.number: int | None = None
        self._tried = False
        self._turn = turn
        self._answer = answer

    async def load(self) -> None:
        """Wait for the turns before this one and read them; where that fails, go on without.

        Raises:
            NotFound: The account has no such conversation.
        """
        with self._answer.timings.measure(Stage.CONVERSATION_LOAD):
            try:
                history = await self._turn.history()
                may_read = self._may_read(history)
            except ConversationNotFound as error:
                raise NotFound(str(error)) from error
            except ConversationError as error:
                self._tell("conversation_not_loaded", error)
                return
        if not may_read:
            raise NotFound(f"conversation {self.conversation_id!r} does not exist")
        self.history = history
        if history:
            self.thread = ThreadState.from_json(history[-1].state)

    def past_turns(self) -> tuple[PastTurn, ...]:
        """Return the turns as a model may see them: what was asked and what was said."""
        try:
            return tuple(PastTurn(query=past.query, summary=past.summary) for past in self.history)
        except ConversationError as error:
            self._tell("conversation_not_loaded", error)
            return ()

    async def keep(
        self,
        *,
        query: str,
        text: str,
        product_ids: Sequence[str],
        categories: Sequence[str],
        thread: ThreadState,
    ) -> None:
        """Commit the turn; when this returns with `number` set, it is durable."""
        self._tried = True
        whole = fitted_interaction(
            query=query,
            summary=text,
            product_ids=product_ids,
            categories=categories,
            state={**thread.to_json(), **rights_state(self._answer.request.caller)},
        )
        with self._answer.timings.measure(Stage.CONVERSATION_COMMIT):
            try:
                self.number = self._answer.turn = (await self._commit(whole)).number
            except ConversationError as error:
                self._tell("conversation_not_kept", error)

    async def keep_within(self, seconds: float, **kept: Any) -> None:
        """Commit as `keep`, and give up after `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self.keep(**kept)
        except TimeoutError as error:
            self._tell("conversation_not_kept", error)

    @property
    def is_over(self) -> bool:
        """Whether the turn was kept, or keeping it has failed."""
        return self._tried

    async def _commit(self, whole: Interaction) -> Interaction:
        try:
            return await self._turn.commit(whole)
        except InteractionTooLarge as error:
            # What was said matters more than what the rules would like to know of it.
            self._tell("conversation_state_not_kept", error)
            rights = rights_state(self._answer.request.caller)
            words = fitted_interaction(query=whole.query, summary=whole.summary, state=rights)
            return await self._turn.commit(words)

    def _may_read(self, history: Sequence[Interaction]) -> bool:
        request = self._answer.request
        # A permission service opens to each set of groups what it will, not more to more groups.
        is_judged = request.description.is_judged
        return all(may_continue(request.caller, past.state, equal_groups=is_judged) for past in history)

    def _tell(self, event: str, error: Exception) -> None:
        self._answer.warnings.append(f"{event}:{type(error).__name__}")
        facts = {"run_id": self._answer.run_id, "kind": type(error).__name__, "reason": str(error)}
        logger.warning(event, extra=facts)
