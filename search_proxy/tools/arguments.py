"""The arguments of every tool, read strictly: what is not understood is said, never guessed.

A model often sends one text where a list is wanted; that much is taken as the list of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from search_proxy.tools.dates import read_time
from search_proxy.tools.definition import ToolFailure

DEFAULT_LIMIT = 10
MAX_LIMIT = 50
MAX_QUERIES = 100
MAX_QUERY_CHARACTERS = 1_000
MAX_READ = 20
"""Documents are long; more of them at once would push everything else out of a model's window."""


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str | bool | int | float) else value


def _as_whole(value: Any) -> Any:
    """Return a whole number as one: some models write every number with a point."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _as_moment(value: Any) -> Any:
    moment = read_time(value) if isinstance(value, str) else None
    if moment is None:
        raise ValueError("must be an ISO 8601 date or time such as 2026-06-30")
    return moment


_Text = Annotated[str, Field(min_length=1, max_length=1_000)]
_Texts = Annotated[list[_Text], BeforeValidator(_as_list), Field(max_length=100)]
_Values = Annotated[
    list[bool | Annotated[float, Field(allow_inf_nan=False)] | _Text],
    BeforeValidator(_as_list),
    Field(min_length=1, max_length=100),
]
_Moment = Annotated[datetime, BeforeValidator(_as_moment)]
_Query = Annotated[str, Field(min_length=1, max_length=MAX_QUERY_CHARACTERS)]
_Limit = Annotated[int, BeforeValidator(_as_whole), Field(ge=1, le=MAX_LIMIT)]
_Id = Annotated[str, Field(min_length=1, max_length=512)]


class _Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class NumberRange(_Arguments):
    """Both ends inclusive; either may be open."""

    min: Annotated[float, Field(allow_inf_nan=False)] | None = None
    max: Annotated[float, Field(allow_inf_nan=False)] | None = None


class FilterArguments(_Arguments):
    """The filter object."""

    author: _Texts = []
    brand: _Texts = []
    tags: _Texts = []
    created_after: _Moment | None = None
    created_before: _Moment | None = None
    price: NumberRange | None = None
    scope: _Texts = []
    fields: dict[str, NumberRange | _Values] = {}


class SearchArguments(_Arguments):
    """What `keyword_search` and `fused_search` take."""

    query: _Query
    filter: FilterArguments | None = None
    filter_text: str | None = None
    limit: _Limit = DEFAULT_LIMIT


class SemanticArguments(SearchArguments):
    """What `semantic_search` takes."""

    min_score: Annotated[float, Field(ge=-1, le=1)] | None = None
    expand: bool = False


class ListArguments(_Arguments):
    """What `filter_documents` takes."""

    filter: FilterArguments | None = None
    filter_text: str | None = None
    limit: _Limit = DEFAULT_LIMIT
    order_by: Annotated[str, Field(min_length=1, max_length=256)] | None = None


class MultiArguments(_Arguments):
    """What `search` takes."""

    queries: Annotated[list[_Query], BeforeValidator(_as_list), Field(min_length=1, max_length=MAX_QUERIES)]
    filter: FilterArguments | None = None
    filter_text: str | None = None
    limit: _Limit = DEFAULT_LIMIT


class DocumentArguments(_Arguments):
    """What `get_document` takes."""

    document_id: _Id


class ReadArguments(_Arguments):
    """What `read` takes."""

    document_ids: Annotated[list[_Id], BeforeValidator(_as_list), Field(min_length=1, max_length=MAX_READ)]


class WebSearchArguments(_Arguments):
    """What `web_search` takes."""

    query: _Query
    limit: Annotated[int, BeforeValidator(_as_whole), Field(ge=1, le=10)] = 5


class PageArguments(_Arguments):
    """What `fetch_page` takes."""

    url: Annotated[str, Field(min_length=1, max_length=2_048)]


_A = TypeVar("_A", bound=_Arguments)


def read_arguments(kind: type[_A], given: Mapping[str, Any]) -> _A:
    """Return the arguments of a call.

    Raises:
        ToolFailure: One is missing, unknown, of another type or out of range; the sentence names it.
    """
    try:
        return kind.model_validate(dict(given))
    except ValidationError as error:
        first, *others = error.errors(include_url=False)
        unknown = next((one for one in others if one["type"] == "extra_forbidden"), None)
        # A missing argument is most often one that was given by another name.
        also = f", and {_sentence(kind, unknown)}" if first["type"] == "missing" and unknown else ""
        raise ToolFailure(_sentence(kind, first) + also) from error


def _sentence(kind: type[_Arguments], problem: Any) -> str:
    name = ".".join(str(part) for part in problem["loc"] if not _is_branch(part))
    what = problem["msg"].removeprefix("Value error, ").partition(" after validation")[0].rstrip(".")
    if problem["type"] == "model_type":
        parts = ", ".join(repr(field) for field in _PARTS[problem["ctx"]["class_name"]])
        what = f"must be an object with any of {parts}"
    if problem["type"] == "missing":
        return f"argument {name!r} is missing"
    if problem["type"] == "extra_forbidden":
        known = ", ".join(repr(field) for field in _fields_at(kind, problem["loc"]))
        fields = "; a field of the documents goes into 'filter.fields'" if name.startswith("filter.") else ""
        return f"there is no argument {name!r}; there is {known}{fields}"
    return f"argument {name!r}: {what[0].lower()}{what[1:]}, not {_short(problem['input'])}"


def _fields_at(kind: type[_Arguments], location: tuple[int | str, ...]) -> list[str]:
    inside_filter = len(location) > 1 and location[0] == "filter"
    return list((FilterArguments if inside_filter else kind).model_fields)


_JSON_WORDS = {None: "null", True: "true", False: "false"}
_PARTS = {kind.__name__: tuple(kind.model_fields) for kind in (FilterArguments, NumberRange)}
"""What the objects among the arguments may hold, for who gave something else."""


def _is_branch(part: int | str) -> bool:
    """Return whether pydantic put the part in for the branch of a union that it tried."""
    return isinstance(part, str) and ("[" in part or part in {"NumberRange", "bool", "float", "str"})


def _short(value: Any) -> str:
    text = _JSON_WORDS.get(value) if value is None or isinstance(value, bool) else None
    text = repr(value) if text is None else text
    return text if len(text) <= 60 else f"{text[:59]}…"
