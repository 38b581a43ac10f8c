"""Gives every face the tools of a caller, and answers their calls: with a result or with a sentence.

What is known of a corpus is read again when the index has changed, and so are its costs. No exception
leaves `call`, whatever the engine, the web or the arguments do.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import orjson

from search_proxy.accounts.settings_schema import SettingsReader
from search_proxy.binding import SearchBinding
from search_proxy.caller import Caller
from search_proxy.errors import SearchError
from search_proxy.filters import Filter
from search_proxy.tools.context import NameOf, Paraphraser, ToolContext
from search_proxy.tools.corpus import CorpusProfile, read_profile
from search_proxy.tools.costs import ToolCost, measure_costs
from search_proxy.tools.definition import OfferedTool, ToolAnswer, ToolDefinition, ToolFailure
from search_proxy.tools.descriptions import describe_tool, why_unavailable
from search_proxy.tools.failures import failure_of
from search_proxy.tools.tool_set import TOOL_BY_NAME, TOOLS
from search_proxy.web.tier import WebTier

logger = logging.getLogger(__name__)

_REMEMBERED_CORPORA = 256
_MEASURED_FOR_SECONDS = 60.0
"""An index that is written all the time keeps its figures this long."""
MAX_NAME = 100
"""Of a name that a caller made up; ours are shorter, with their index before them."""
_SCHEMA_VERSION = 1

Face = Literal["mcp", "grpc", "answer"]
"""Where a call comes in; `answer` is a model that answers a shopper."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolboxConfig:
    """How long a call may take: a tool of the index, and one that goes out."""

    index_seconds: float = 5.0
    web_seconds: float = 20.0


@dataclass(slots=True)
class _Corpus:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    profile: CorpusProfile | None = None
    stamp: tuple[str | None, ...] = ()
    costs: Mapping[str, ToolCost] | None = None
    measured_at: float = 0.0


def log_call(caller: Caller, index: str, name: str, answer: ToolAnswer, face: Face) -> None:
    """Write the line of one call. Source: docs/log-schema.json, `tool_called`."""
    logger.info(
        "tool_called",
        extra={
            "schema": _SCHEMA_VERSION,
            "face": face,
            "tool": name[:MAX_NAME],
            "index": index,
            "account": caller.account_id,
            "request_id": caller.request_id,
            "outcome": "ok" if answer.failure is None else "error",
            "failure": answer.failure,
            "hits": answer.found,
            "ms": answer.milliseconds,
        },
    )


class Toolbox:
    """The tools of every index of every caller."""

    def __init__(
        self,
        search: SearchBinding,
        settings: SettingsReader,
        *,
        web: WebTier | None = None,
        paraphraser: Paraphraser | None = None,
        config: ToolboxConfig | None = None,
    ) -> None:
        self._search = search
        self._settings = settings
        self._web = web or WebTier()
        self._paraphraser = paraphraser
        self._config = config or ToolboxConfig()
        self._corpora: OrderedDict[tuple[str, str, str], _Corpus] = OrderedDict()

    def switched_on(self, caller: Caller, index: str) -> frozenset[str]:
        """Return the names of the tools that the account has on for the index."""
        switches = self._settings.snapshot(caller.account_id, index).settings.agentic_config.tools
        return frozenset(tool.name for tool in TOOLS if getattr(switches, tool.name))

    def is_measured(self, caller: Caller, index: str) -> bool:
        """Return whether the costs of an index are known, as this caller would be told them."""
        return self._corpus(caller, index).costs is not None

    async def offered(
        self, caller: Caller, index: str, name_of: NameOf = str, *, measured: bool = True
    ) -> Sequence[OfferedTool]:
        """Return the tools of one index with their descriptions, in a fixed order.

        Without `measured` nobody waits for costs that are not known yet: they are left out.

        Raises:
            SearchError: The index does not exist for the caller, or the engine could not answer.
        """
        names = self.switched_on(caller, index)
        profile, costs = await self._described(caller, index, measured)
        offered = []
        for tool in (tool for tool in TOOLS if tool.name in names):
            missing = why_unavailable(tool.name, profile, self._web)
            description = describe_tool(tool, profile, costs.get(tool.name), names, name_of, missing)
            offered.append(
                OfferedTool(
                    name=name_of(tool.name),
                    title=tool.title,
                    description=description,
                    schema=tool.schema(profile),
                    output_schema=tool.output_schema,
                    is_open_world=tool.is_open_world,
                    definition=tool,
                    index=index if tool.about_index else None,
                    is_available=missing is None,
                )
            )
        return offered

    async def call(
        self,
        caller: Caller,
        index: str,
        name: str,
        arguments: Mapping[str, Any],
        name_of: NameOf = str,
        *,
        bound: Filter | None = None,
        face: Face = "answer",
    ) -> ToolAnswer:
        """Answer one call; a failure of any kind is a sentence in the answer.

        `bound` narrows every search and document of the call, whatever the arguments say. `face` is where
        the call came in, for the log: one line a call (docs/ops.md).
        """
        tool = TOOL_BY_NAME.get(name)
        names = self.switched_on(caller, index)
        started = time.perf_counter()
        try:
            if tool is None or name not in names:
                known = ", ".join(name_of(one.name) for one in TOOLS if one.name in names)
                raise ToolFailure(
                    f"there is no tool {name[:MAX_NAME]!r} here; there is {known or 'none'}", "not_found"
                )
            answer = await self._answered(caller, index, tool, arguments, names, name_of, bound)
        except* (ToolFailure, SearchError, TimeoutError) as errors:
            answer = failure_of(errors, name, index, names, name_of)
        except* Exception:
            logger.exception("tool_failed", extra={"tool": name, "request_id": caller.request_id})
            answer = ToolAnswer(text=f"{name_of(name)} failed for a reason of its own", failure="unavailable")
        answer = replace(answer, milliseconds=round((time.perf_counter() - started) * 1000, 2))
        log_call(caller, index, name, answer, face)
        return answer

    async def _answered(
        self,
        caller: Caller,
        index: str,
        tool: ToolDefinition,
        arguments: Mapping[str, Any],
        names: frozenset[str],
        name_of: NameOf,
        bound: Filter | None,
    ) -> ToolAnswer:
        seconds = self._config.index_seconds if tool.about_index else self._config.web_seconds
        async with asyncio.timeout(seconds):
            profile = await self._profile(caller, index)
            context = replace(self._context(caller, profile, names, name_of), bound=bound)
            structured = await tool.handler(context, arguments)
        return ToolAnswer(
            text=orjson.dumps(structured).decode(),
            structured=structured,
            applied_filter=context.notes.filter,
        )

    def _context(
        self, caller: Caller, profile: CorpusProfile, names: frozenset[str], name_of: NameOf
    ) -> ToolContext:
        return ToolContext(
            search=self._search,
            caller=caller,
            profile=profile,
            web=self._web,
            paraphraser=self._paraphraser,
            offered=frozenset(name for name in names if why_unavailable(name, profile, self._web) is None),
            name_of=name_of,
        )

    async def _profile(self, caller: Caller, index: str) -> CorpusProfile:
        corpus = self._corpus(caller, index)
        description = await self._search.describe_index(caller, index)
        stamp = (description.generation, description.embedding_model, description.rights)
        async with corpus.lock:
            known = corpus.profile
            if known is None or corpus.stamp != stamp:
                known = corpus.profile = await read_profile(self._search, caller, index)
                corpus.stamp = stamp
                if time.monotonic() - corpus.measured_at > _MEASURED_FOR_SECONDS:
                    corpus.costs = None
        return known

    async def _described(
        self, caller: Caller, index: str, measured: bool
    ) -> tuple[CorpusProfile, Mapping[str, ToolCost]]:
        profile = await self._profile(caller, index)
        corpus = self._corpus(caller, index)
        if not measured:
            return profile, corpus.costs or {}
        async with corpus.lock:
            if corpus.costs is None:
                names = frozenset(tool.name for tool in TOOLS)
                corpus.costs = await measure_costs(self._context(caller, profile, names, str))
                corpus.measured_at = time.monotonic()
            return profile, corpus.costs

    def _corpus(self, caller: Caller, index: str) -> _Corpus:
        """Return what is known of an index, apart for every set of rights that sees it differently."""
        key = (caller.account_id, index, caller.rights)
        corpus = self._corpora.setdefault(key, _Corpus())
        self._corpora.move_to_end(key)
        if len(self._corpora) > _REMEMBERED_CORPORA:
            self._corpora.popitem(last=False)
        return corpus
