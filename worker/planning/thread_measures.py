"""Reads sizes and numbers of people in the many ways people say them: "in a medium", "in a 39", "for 3"."""

from __future__ import annotations

import re

from search_proxy.filters import RangeFilter
from worker.planning.catalog_roles import plain_name
from worker.planning.catalog_vocabulary import Vocabulary
from worker.planning.thread_state import Constraint

_SPELLED_SIZE = re.compile(r"\b(?:in|size|in size)(?: an?)? (?P<size>small|medium|large)\b(?: size)?")
_NUMBERED_SIZE = re.compile(
    r"\b(?:in|in an?|have|a) (?P<size>\d{1,2}(?:[.,]5)?)(?= |$)(?! ?(?:cm|l|litres?|inch)\b)"
)
_FOR_PERSONS = re.compile(r"(?P<count>\d{1,2})-person")
_PERSONS_FIELD = re.compile(r"^(?:number of )?(?:persons?|people|sleeps)$")


def sizes_named(text: str, vocabulary: Vocabulary) -> str:
    """Return the text with its sizes as "size M" and "size 39", where the catalog has such sizes."""
    text = _SPELLED_SIZE.sub(lambda match: _letter_size(match, vocabulary), text)
    return _NUMBERED_SIZE.sub(lambda match: _numbered_size(match, vocabulary), text)


def for_persons(word: str, vocabulary: Vocabulary) -> Constraint | None:
    """Return the demand of "3-person" where a field of the catalog counts persons."""
    match = _FOR_PERSONS.fullmatch(word)
    fields = (each.name for each in vocabulary.description.fields if each.kind == "number")
    name = next((each for each in fields if _PERSONS_FIELD.match(plain_name(each))), None)
    if match is None or name is None:
        return None
    count = int(match["count"])
    people = RangeFilter(name, count, count)
    return Constraint(role="audience", wanted=True, filter=people, words=f"{count} people")


def _letter_size(match: re.Match[str], vocabulary: Vocabulary) -> str:
    letter = match["size"][0]
    known = vocabulary.find(vocabulary.roles.sizes, (letter,))
    return match.group() if known is None else f"size {letter}"


def _numbered_size(match: re.Match[str], vocabulary: Vocabulary) -> str:
    """Read "in a 39" as a size where the catalog has one of that number."""
    known = vocabulary.find_ending(vocabulary.roles.sizes, (match["size"],))
    return match.group() if known is None else f"size {match['size']}"
