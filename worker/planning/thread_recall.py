"""Goes back in a conversation: "undo", "go back", "drop the last filter", "back to the tents".

A thread keeps the searches that it made before the present one, without what they showed, so that each can
be made again.
"""

from __future__ import annotations

import re
from dataclasses import replace

from worker.planning.catalog_lexicon import topic_words
from worker.planning.catalog_vocabulary import Vocabulary
from worker.planning.catalog_words import singular, words_of
from worker.planning.thread_decision import ThreadDecision, to_search
from worker.planning.thread_state import ThreadState, search_of

NOTHING_BEFORE = "There is nothing before this to go back to."

_PLEASE = (
    r"(?:please |ok(?:ay)? |no |hmm |let'?s |can (?:we|you|i) |could (?:we|you|i) "
    r"|i (?:want|would like) to )*"
)
_TAKE_OFF = (
    r"(?:drop|remove|forget(?: about)?|undo|clear|lift|cancel|delete|revert|reverse|reset"
    r"|take (?:off|away|back)|without|ignore)"
)
_UNDO = re.compile(
    rf"^{_PLEASE}(?:(?:undo|cancel)(?: (?:that|it|this))?|(?:scratch|forget|revert|reverse|cancel|drop"
    rf"|strike) that"
    rf"(?: (?:last|one))?|take (?:that|it) back"
    rf"|{_TAKE_OFF} (?:the |my |that )?(?:(?:very )?(?:last|latest|previous|most recent) )"
    r"(?:filter|restriction|condition|change|thing|criterion|requirement|constraint|limit|step|demand|part))$"
)
_BACK = re.compile(
    rf"^{_PLEASE}(?:(?:(?:go|take me|step|get|went|move) )?back(?: (?:one|a) (?:step|page)| again"
    r"| to (?:the |my )?(?:list|results|overview|(?:previous|first) (?:page|results?|list|search|ones?)"
    r"|(?:full "
    r"|whole )?list"
    r"|(?:what|where|how) .*|all of (?:them|those|these)|them|those|these|before|others|ones before))?"
    r"|(?:the )?(?:previous|earlier|last|first) (?:page|results|search|list|ones|products)(?: again)?"
    r"|(?:show me |see |list )(?:the )?(?:previous|earlier|last) (?:page|results|search|list|ones"
    r"|products)(?: again)?"
    r"|(?:show (?:me )?|see )(?:them|those|these|the list|the results|all of them|everything"
    r"|all)(?: all)? again)$"
)
_BACK_TO = re.compile(
    rf"^{_PLEASE}(?:(?:go|take me|get|went|switch|return|come) )?(?:back to|return to)(?: the| my| those"
    rf"| these)?"
    r" (?P<named>.+?)(?: again)?$"
    r"|^(?:show me |and |now )*(?:the |those )?(?P<again>[\w' -]+?) (?:again|once more)$"
)


def recall(text: str, state: ThreadState, vocabulary: Vocabulary) -> ThreadDecision | None:
    """Return the decision where the sentence goes back, or None where it does not."""
    text = re.sub(r"[ ,]+(?:please|thanks|thank you|now|then)$", "", text.strip(" .!?,;"))
    if _BACK.search(text):
        return _page_before(state, vocabulary) or _search_before(state, vocabulary)
    if _UNDO.search(text):
        return _search_before(state, vocabulary)
    match = _BACK_TO.search(text)
    if match is None:
        return None
    named = {singular(word) for word in topic_words(words_of(match["named"] or match["again"]))}
    return _named_search(named, state, vocabulary) if named else None


def _page_before(state: ThreadState, vocabulary: Vocabulary) -> ThreadDecision | None:
    """Return to the page from which a product was picked, or to the page before the present one."""
    if state.focus is not None and len(state.shown) > 1:
        return to_search(state, vocabulary, offset=max(0, state.offset - len(state.shown)))
    if state.offset > len(state.shown) > 0:
        return to_search(state, vocabulary, offset=max(0, state.offset - 2 * len(state.shown)))
    return None


def _search_before(state: ThreadState, vocabulary: Vocabulary) -> ThreadDecision:
    if not state.earlier:
        return ThreadDecision(kind="answer", state=state, message=NOTHING_BEFORE)
    return _again(state, len(state.earlier) - 1, vocabulary)


def _named_search(named: set[str], state: ThreadState, vocabulary: Vocabulary) -> ThreadDecision | None:
    """Return to the last search for just what is named, else to the last that was for it among others."""
    searches = (*state.earlier, search_of(state))
    for is_meant in (_is_just, _is_about):
        for place in range(len(searches) - 1, -1, -1):
            if not is_meant(searches[place], named):
                continue
            if place == len(state.earlier):
                return to_search(state, vocabulary)
            return _again(state, place, vocabulary)
    return None


def _again(state: ThreadState, place: int, vocabulary: Vocabulary) -> ThreadDecision:
    found = replace(state.earlier[place], earlier=state.earlier[:place])
    if found.is_empty:
        return ThreadDecision(kind="answer", state=found, message=NOTHING_BEFORE)
    return to_search(found, vocabulary)


def _is_just(search: ThreadState, named: set[str]) -> bool:
    query = {singular(word) for word in words_of(search.query)}
    return search.like is None and (query == named if query else named <= _categories(search))


def _is_about(search: ThreadState, named: set[str]) -> bool:
    return named <= _categories(search) | {singular(word) for word in words_of(search.query)}


def _categories(search: ThreadState) -> set[str]:
    named = (each.words for each in search.constraints if each.role == "category" and each.wanted)
    return {singular(word) for words in named for word in words_of(words)}
