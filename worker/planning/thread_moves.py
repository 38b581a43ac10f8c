"""Finds what a sentence wants done with the thread: cheaper, dearer, more, similar, start over.

Each move is taken out of the text, so that what is left is read as demands on the products.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Move(StrEnum):
    """What can be asked of a thread beside demands on the products."""

    START_OVER = "start_over"
    NOT_CHEAPER = "not_cheaper"
    NOT_DEARER = "not_dearer"
    CHEAPER = "cheaper"
    DEARER = "dearer"
    SIMILAR = "similar"
    MORE = "more"
    ANY_COLOUR = "any_colour"
    ANY_BRAND = "any_brand"
    ANY_PRICE = "any_price"
    ANY_MATERIAL = "any_material"
    ANY_SIZE = "any_size"
    ANY_STOCK = "any_stock"
    OTHER_COLOUR = "other_colour"
    OTHER_BRAND = "other_brand"
    SAME_PRICE = "same_price"
    SAME_COLOUR = "same_colour"
    SAME_BRAND = "same_brand"
    SAME_MATERIAL = "same_material"
    LARGER = "larger"
    SMALLER = "smaller"


_DEGREE = (
    r"(?:(?:a (?:bit|little|lot|tad|touch)|slightly|somewhat|much|way|even|far|lots"
    r"|considerably|significantly) )?"
)
_THAN_THESE = (
    r"(?: than (?:that|this|these|those|it|them|all of (?:these|them)|the ones? (?:above"
    r"|shown)))?"
)
_OR_ANY = r"(?:any|all|every|whatever|whichever|regardless of(?: the)?)"
_FORGET = (
    r"(?:ignore|forget(?: about)?|remove|drop|clear|lift|reset|without|no|never mind"
    r"|i don'?t care about|don'?t care about)(?: the| a| any| my)?"
)
_NO_MATTER = (
    r"(?: limits?| filters?| range| restrictions?| cap)?(?: (?:doesn'?t|does not|don'?t"
    r"|do not) matter| is (?:not important|unimportant|irrelevant|no issue))"
)


_SAME = r"\b(?:in |from |by |of |with )?(?:the |exactly the )?(?:same|this|that)"


def _any(noun: str) -> str:
    return (
        rf"\b(?:in )?{_OR_ANY} (?:{noun})\b|\b{_FORGET} (?:{noun})(?: limits?| filters?| range"
        rf"| restrictions?| cap| preferences?)?\b"
        rf"|\b(?:the )?(?:{noun}){_NO_MATTER}\b"
    )


_PATTERNS: tuple[tuple[Move, re.Pattern[str]], ...] = tuple(
    (move, re.compile(pattern, re.I))
    for move, pattern in (
        (
            Move.START_OVER,
            r"\b(?:let'?s |let us |can we |i want to |i'd like to )?(?:start(?:ing)? (?:over|again"
            r"|afresh|anew|fresh|from (?:scratch|the beginning|zero))"
            r"|begin (?:again|anew|over)|(?:from scratch)|(?:a )?(?:new|fresh) (?:search|start"
            r"|conversation|query)|reset(?: (?:everything|all|it|the search))?(?! the)"
            r"|(?:clear|forget|scrap|discard|drop|delete) (?:everything|all(?: of)?(?: (?:that|this|it"
            r"|filters))?|that search|it all|(?:all )?(?:the |my )?filters|what i said)"
            r"|go back to (?:the )?(?:start|beginning)|something (?:completely|entirely"
            r"|totally) (?:different|else))\b",
        ),
        (Move.ANY_COLOUR, _any("colou?rs?")),
        (Move.ANY_BRAND, _any("brands?|makes?|makers?")),
        (
            Move.ANY_PRICE,
            _any("prices?|budget|price limits?|limits?|costs?|money")
            + r"|\bmoney is no object\b|\bhowever (?:much|expensive)\b",
        ),
        (Move.ANY_MATERIAL, _any("materials?|fabrics?")),
        (Move.ANY_SIZE, _any("sizes?")),
        (
            Move.ANY_STOCK,
            r"\b(?:(?:also|even|including|include|and)(?: the| those| ones)? (?:sold out|out of stock"
            r"|unavailable)(?: ones)?|in stock or not|stock doesn'?t matter)\b",
        ),
        (Move.OTHER_COLOUR, r"\b(?:in )?(?:(?:an?)?other|a different|different|some other) colou?rs?\b"),
        (
            Move.OTHER_BRAND,
            r"\b(?:from|by) (?:anyone|someone|somebody) else\b|\b(?:from |by )?(?:(?:an?)?other"
            r"|a different|different|some other) (?:brands?|makes?"
            r"|makers?)\b",
        ),
        (
            Move.SAME_PRICE,
            r"\b(?:in |at |for |around |about |of )*(?:the |a )?(?:same|similar|comparable) price(?: range"
            r"| level"
            r"| class| bracket)?(?: as (?:this|that|the))?\b|\bsimilarly priced\b",
        ),
        (Move.SAME_COLOUR, rf"{_SAME} colou?r(?: as (?:this|that|the))?\b"),
        (Move.SAME_BRAND, rf"{_SAME} (?:brand|maker|make|company|manufacturer)\b"),
        (Move.SAME_MATERIAL, rf"{_SAME} (?:material|fabric)\b"),
        (
            Move.NOT_DEARER,
            rf"\b(?:not|nothing|no) (?:any )?(?:more expensive|pricier|dearer|costlier)\b{_THAN_THESE}"
            r"|\b(?:same price or (?:less|lower|cheaper))\b",
        ),
        (Move.NOT_CHEAPER, rf"\b(?:not|nothing|no) (?:any )?(?:cheaper|less expensive)\b{_THAN_THESE}"),
        (
            Move.CHEAPER,
            rf"\b{_DEGREE}(?:cheaper|less (?:expensive|pricey|costly|dear)|low(?:er)?[- ](?:priced?"
            rf"|cost|budget|end)(?: ones?)?|lower in price|more (?:affordable"
            rf"|economical|budget[- ]friendly|reasonable|reasonably priced)|for less(?: money)?"
            rf"|costs? less|inexpensive|budget[- ]friendly)\b{_THAN_THESE}"
            r"|\b(?:a bit |a little |much |way |far |still |that'?s |it'?s |they'?re |these are "
            r"|those are |is |are )*too (?:expensive|pricey|dear|costly|steep|high"
            r"|much(?: money)?)\b(?: for (?:me|us))?"
            r"|\b(?:i |we )?(?:can'?t|cannot|can not|could not"
            r"|couldn'?t) (?:really )?afford(?: (?:that|this|it|them|these|those))?\b"
            r"|\b(?:it'?s |that'?s |they'?re |these are )?(?:out of|over|above|beyond|outside"
            r"|exceeds?) (?:my|our|the) (?:budget|price range|means)\b"
            r"|\bnot (?:so|that|as|quite so|too|very|this) (?:expensive|pricey|costly|dear)\b"
            r"|\b(?:don'?t|do not) (?:want|like) to (?:spend|pay) (?:so|that|as|this) much\b"
            r"|\b(?:spend|pay) less\b|\bsave (?:some )?money\b"
            r"|\b(?:lower|reduce|cut|bring down) the price\b|\b(?:cheap|affordable|economical"
            r"|budget) (?:ones?|options?|alternatives?|versions?)\b"
            r"|^(?:something|anything|more)? ?(?:cheap|affordable|economical)$|\b(?:something"
            r"|anything) (?:cheap|affordable|economical)\b|\bbargains?\b",
        ),
        (
            Move.DEARER,
            rf"\b{_DEGREE}(?:more expensive|pricier|dearer|costlier|high(?:er)?[- ](?:end|priced?"
            rf"|quality)|more (?:premium|luxurious|upmarket|upscale|exclusive)"
            rf"|fancier|nicer|better(?: quality| made| ones?| one)?(?! (?:for|rated|with|suited))"
            rf"|upscale|premium|luxur(?:y|ious))\b{_THAN_THESE}(?: ones?\b)?"
            r"|\btoo cheap(?:ly made)?\b|\b(?:an )?upgrade\b|\bspend more\b|\bsplurge\b"
            r"|\btop of the (?:range|line)\b|\ba step up\b|(?<!most )(?<!less )\bexpensive (?:ones|options"
            r"|versions)\b",
        ),
        (
            Move.LARGER,
            rf"\b{_DEGREE}(?:larger|bigger|roomier)(?: sizes?| ones?| versions?)?\b{_THAN_THESE}"
            r"|\b(?:(?:that|it|this)(?:'s| is) |these are |they(?:'re| are) )?too (?:small|tight)\b"
            r"(?: for (?:me|us))?|\b(?:a |one |the next |next )?sizes? up\b",
        ),
        (
            Move.SMALLER,
            rf"\b{_DEGREE}(?:smaller|tinier|more compact)(?: sizes?| ones?| versions?)?\b{_THAN_THESE}"
            r"|\b(?:(?:that|it|this)(?:'s| is) |these are |they(?:'re| are) )?too (?:big|large|loose)\b"
            r"(?: for (?:me|us))?|\b(?:a |one |the next |next )?sizes? down\b",
        ),
        (
            Move.SIMILAR,
            r"\b(?:(?:show|give|find)(?: me)? )?(?:(?:some |any )?(?:more|something|anything|others?"
            r"|ones?|products?|items?|things?|stuff) )?"
            r"(?:(?:just |exactly |a bit |very )?(?:like|similar to|comparable (?:to|with)|resembling"
            r"|related to)|in the (?:style|spirit) of|along the lines of"
            r"|(?:an )?alternatives? to|in the same (?:style|vein)(?: as)?)"
            r"(?= (?:that|this|it|the|these|those|them|number|#|option|item|product))(?: (?:that|this"
            r"|it)(?: (?:one|product|item))?\b)?"
            r"|\b(?:(?:something|anything|more|some|any) )?(?:similar|comparable|alike"
            r"|related)(?: (?:ones?|items?|products?|options?|things?|styles?|to (?:that|this|it)))?\b"
            r"|\bmore of (?:that|this|it)\b|\bmore such\b|\bsame style\b",
        ),
        (
            Move.MORE,
            r"\b(?:(?:can|could|may) (?:you|i) )?(?:(?:show|give|see|get|load|list|find|want"
            r"|need)(?: me| us)? )?(?:(?:some|any|a few|even|few|the|\d+) )?more"
            r"(?: (?:please|of (?:them|these|those|the same)|like (?:these|those|them)|results?"
            r"|options?|products?|items?|choices?|ones|suggestions?|ideas?|pages?|to choose from|stuff"
            r"|models?))*"
            r"(?=\s*(?:$|[,.?!;:]|(?:and|but|please|in|from|under|with|without|not|only)\b))"
            r"|\b(?:what|anything|something) else(?: (?:do you have|have you got|is there|you have"
            r"|you got))?\b"
            r"|\b(?:any |some |the |see |show me )?(?:other|different|further|additional"
            r"|remaining) (?:ones|options?|results?|products?|choices?|suggestions?|ideas?"
            r"|alternatives?|items?|models?)\b"
            r"|\b(?:any|some|the|show me) others\b|^others$|\b(?:next|following) (?:page|ones|results"
            r"|few|batch|\d+)\b|^next(?: please)?$"
            r"|\bkeep going\b|^(?:go on|continue|and\??|another|another one)$|\b(?:see "
            r"|show me )?the rest\b|\b(?:any )?alternatives\b|\bpage (?:two|three|2|3)\b",
        ),
    )
)

_STATED_LIKING = re.compile(
    r"\b(?:i|we)(?:'d| would|'m| do| really| also| already)* (?:really |quite |also "
    r"|kind of )?(?:like|love|prefer|fancy|choose|pick|take)\b"
    r"|\bdo you have\b(?= the (?:first|second|third))|\bwould like\b|\blooks? like\b",
    re.I,
)
"""A like that is a liking: "I like the second one" speaks of the second one, not of others like it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moves:
    """The moves of a sentence and what is left of it."""

    moves: frozenset[Move]
    rest: str


def take_moves(text: str) -> Moves:
    """Take every move out of a rephrased sentence."""
    text = _STATED_LIKING.sub(" ", text)
    found: set[Move] = set()
    for move, pattern in _PATTERNS:
        # A move ends what came before it: "not wool, cheaper and blue" does not exclude blue.
        text, count = pattern.subn(" ; ", text)
        if count:
            found.add(move)
    return Moves(moves=frozenset(found), rest=" ".join(text.split()).strip(" ;"))
