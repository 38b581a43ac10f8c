"""Offers the tools of whoever asks to FastMCP: which there are is decided per request, not at start.

One index has plain tool names; where several are offered at once every name starts with its index, so that
corpora stay apart.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fastmcp.server.providers import Provider
from fastmcp.tools import Tool, ToolResult
from fastmcp.utilities.components import FastMCPComponent
from fastmcp.utilities.versions import VersionSpec
from mcp_types import TextContent, ToolAnnotations
from pydantic import PrivateAttr

from search_proxy.caller import Caller
from search_proxy.tools.definition import OfferedTool, ToolAnswer
from search_proxy.tools.tool_set import TOOL_BY_NAME, TOOLS
from search_proxy.tools.toolbox import MAX_NAME, Toolbox, log_call

MAX_INDEXES = 20
"""Nine tools each; a longer list is more than a model can choose from. Each index has its own address too."""

MAX_NAMED = 40
"""Tools that an error names; whoever has more of them lists them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who asks, and for which indexes; `prefixes` where tool names start with the index."""

    caller: Caller
    indexes: tuple[str, ...]
    prefixes: bool = False

    def name_of(self, index: str) -> Callable[[str], str]:
        """Return how the tools of one index are named for this asker."""
        names = {call: name for name, call in self._calls().items()} if self.prefixes else {}

        def named(tool: str) -> str:
            return names.get((index, tool), tool)

        return named

    def split(self, name: str) -> tuple[str, str] | None:
        """Return the index and the tool that a name stands for, or None for a name that is not offered."""
        return self._calls().get(name)

    def _calls(self) -> dict[str, tuple[str, str]]:
        """Return every name with its index and tool.

        `search` of an index 'a_keyword' would be named as `keyword_search` of 'a' is; it gets a longer name.
        """
        calls: dict[str, tuple[str, str]] = {}
        for index in self.indexes:
            for tool in TOOL_BY_NAME.values():
                if not (self.prefixes and tool.about_index):
                    calls.setdefault(tool.name, (index, tool.name))
                    continue
                between = "_"
                while f"{index}{between}{tool.name}" in calls:
                    between += "_"
                calls[f"{index}{between}{tool.name}"] = (index, tool.name)
        return calls


WhoAsks = Callable[[], Awaitable[Asker]]
"""Says whose request is being answered."""


class CallableTool(Tool):
    """A tool of one request; calling it asks the toolbox."""

    _answering: Callable[[dict[str, Any]], Awaitable[ToolResult]] = PrivateAttr()

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Return the answer; a failure is one with `isError` and a sentence."""
        return await self._answering(arguments)


class ToolProvider(Provider):
    """Lists and finds the tools of the asker."""

    def __init__(self, toolbox: Toolbox, who: WhoAsks) -> None:
        super().__init__()
        self._toolbox = toolbox
        self._who = who

    async def _list_tools(self) -> Sequence[Tool]:
        asker = await self._who()
        tools: dict[str, Tool] = {}
        for index in asker.indexes:
            for offered in await self._toolbox.offered(asker.caller, index, asker.name_of(index)):
                tools.setdefault(offered.name, self._listed(asker, index, offered))
        return list(tools.values())

    async def _get_tool(self, name: str, version: VersionSpec | None = None) -> Tool | None:
        asker = await self._who()
        found = asker.split(name)
        callable_tool = CallableTool(name=name, parameters={"type": "object"})
        if found is None:
            callable_tool._answering = self._refusing(asker, name)
        else:
            callable_tool._answering = self._running(asker, *found)
        return callable_tool

    async def get_tasks(self) -> Sequence[FastMCPComponent]:
        """Return nothing: no tool runs in the background, and at start there is nobody to ask for."""
        return ()

    def _listed(self, asker: Asker, index: str, offered: OfferedTool) -> Tool:
        listed = CallableTool(
            name=offered.name,
            title=offered.title if not asker.prefixes else f"{offered.title} ({index})",
            description=offered.description,
            parameters=dict(offered.schema),
            output_schema=dict(offered.output_schema),
            annotations=ToolAnnotations(
                title=offered.title,
                read_only_hint=True,
                destructive_hint=False,
                idempotent_hint=True,
                open_world_hint=offered.is_open_world,
            ),
        )
        listed._answering = self._running(asker, index, offered.definition.name)
        return listed

    def _refusing(self, asker: Asker, name: str) -> Callable[[dict[str, Any]], Awaitable[ToolResult]]:
        """Return what tells a caller who made a name up which names there are."""

        async def refuse(_: dict[str, Any]) -> ToolResult:
            names: dict[str, None] = {}
            for index in asker.indexes:
                named, on = asker.name_of(index), self._toolbox.switched_on(asker.caller, index)
                names.update(dict.fromkeys(named(tool.name) for tool in TOOLS if tool.name in on))
            shown = ", ".join(list(names)[:MAX_NAMED])
            more = f" and {len(names) - MAX_NAMED} more (tools/list)" if len(names) > MAX_NAMED else ""
            text = f"there is no tool {name[:MAX_NAME]!r} here; there is {shown or 'none'}{more}"
            answer = ToolAnswer(text=text, failure="not_found")
            log_call(asker.caller, ",".join(asker.indexes), name, answer, "mcp")
            return ToolResult(content=[TextContent(type="text", text=text)], is_error=True)

        return refuse

    def _running(
        self, asker: Asker, index: str, tool: str
    ) -> Callable[[dict[str, Any]], Awaitable[ToolResult]]:
        async def run(arguments: dict[str, Any]) -> ToolResult:
            answer = await self._toolbox.call(
                asker.caller, index, tool, arguments, asker.name_of(index), face="mcp"
            )
            return ToolResult(
                content=[TextContent(type="text", text=answer.text)],
                structured_content=answer.structured,
                is_error=answer.failure is not None,
            )

        return run
