"""Says the same thing in fewer ways: rewrites what people type into the phrases that the rules read.

"nothing over 40" and "40 tops" become "at most 40", "no fur" becomes "not fur". Only the wording changes;
what is not understood stays as it was.
"""

from __future__ import annotations

import re
import unicodedata

MAX_CHARACTERS = 1_000

_NUMBER = (
    r"(?P<sign>[$€£¥]\s?)?(?P<n>\d[\d.,]*\d|\d)(?P<unit>\s?(?:[$€£]|dollars?|bucks|euros?"
    r"|pounds?|quid|usd|eur|gbp)(?!\w))?"
)
_NEVER = (
    r"(?:not|nothing|none|no|never|don'?t (?:show|want|need|give)(?: me)?(?: anything| any"
    r"| ones| one)?)"
)
_THAT_IS = r"(?:(?:that |which )?(?:is |are |costs? |costing |priced (?:at )?)?)"

_REWRITES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.I), replacement)
    for pattern, replacement in (
        (
            rf"\b{_NEVER} {_THAT_IS}(?:cheaper than|less than|under|below|lower than) (?={_NUMBER})",
            "at least ",
        ),
        (
            rf"\b{_NEVER} {_THAT_IS}(?:more expensive than|pricier than|dearer than|more than|over"
            rf"|above|higher than) (?={_NUMBER})",
            "at most ",
        ),
        (r"\b(?:more expensive|pricier|dearer|costlier|higher) than (?=[$€£¥]?\s?\d)", "over "),
        (r"\b(?:cheaper|less expensive|less pricey) than (?=[$€£¥]?\s?\d)", "under "),
        (
            r"\b(?:i |we )?(?:don'?t|do not|didn'?t|not) (?:really )?(?:like|want|need|fancy"
            r"|care for)\b(?! to\b)",
            "not",
        ),
        (
            rf"{_NUMBER} (?:max(?:imum)?|at (?:the )?most|tops|or so at most|is my (?:limit|max|budget"
            rf"|maximum))\b",
            r"at most \g<sign>\g<n>\g<unit>",
        ),
        (rf"{_NUMBER} (?:min(?:imum)?|at (?:the )?least)\b", r"at least \g<sign>\g<n>\g<unit>"),
        (
            r"\b(?:i )?(?:only have|can (?:only )?spend|want to spend|have|got|(?:price )?limit (?:is"
            r"|of)|budget(?: is|:)?)"
            r" (?:about |around |up to |at most )?(?=[$€£¥]?\s?\d)",
            "at most ",
        ),
        (
            r"\b(?:around|about|roughly|approximately|circa) (?=\d[\d.,]*(?:\s*$|[ ,.;!?]+(?:in|and"
            r"|but|not|or)\b))",
            "around $",
        ),
        (r"^\W*(?P<a>\d+)\s?(?:-|–|to|and)\s?(?P<b>\d+)\W*$", r"between \g<a> and \g<b>"),
        (r"\bnon[- ](?=[a-z]{3})", "not "),
        (
            r"\b(?:nothing|none|not anything|no ones?|nothing that(?: i|')s) (?:that (?:is|are|has"
            r"|have) )?"
            r"(?:made (?:out )?(?:of|from|with)|with|in|from|containing|of|by)\b",
            "not",
        ),
        (
            r"\b(?:but )?(?:leave|take|rule|filter|cut) out\b|\bget rid of\b|\bskip\b|\blose\b"
            r"|\bminus\b",
            "not",
        ),
        (r"\bnone (?:of|in)\b", "not"),
        (r"\bnot for (?=[a-z])", "not "),
        (r"\bi(?:'m| am) after\b", "i want"),
        (r",? \band (?=(?:in|from|under|over|with|between|up to|below|above|size|made|only)\b)", "; "),
        (
            r"\b(?:only |just )*(?:show me |what |those |the )*(?:available|in[- ]stock) (?:ones?"
            r"|items|products|options)\b"
            r"|\bonly available\b|\b(?:hide|without|exclude|remove|not) (?:the )?(?:sold[- ]out"
            r"|out[- ]of[- ]stock|unavailable)(?: ones| items| products)?\b"
            r"|\b(?:you|that you) (?:actually |really )?have in stock\b|\b(?:can|could) (?:be shipped"
            r"|be delivered|ship) (?:now|today)\b|\bavailable\b(?! in\b)",
            "in stock",
        ),
        (
            r"\bno(?: more)? (?!more\b|less\b|thank|problem|show\b|idea|matter|limit|one\b|ones\b|need"
            r"|way|worries|longer\b"
            r"|(?:price|budget|colou?r|brand|size|material)\b|cheaper|pricier|dearer|,)(?=[a-z])",
            "not ",
        ),
        (
            r"^\W*(?:no|nope|nah|hm+|um+|well|ok(?:ay)?|yes|yeah|sure|great|cool|nice|thanks"
            r"|thank you)\s*[,.!;:-]+\s*",
            "",
        ),
    )
)


def plain(utterance: str) -> str:
    """Return the sentence in lower case with plain apostrophes and single spaces, bounded."""
    text = unicodedata.normalize("NFKC", utterance)[:MAX_CHARACTERS].casefold()
    return " ".join(text.replace("’", "'").replace("`", "'").split())


def rephrase(text: str) -> str:
    """Return a plain sentence in the phrases that the rules read."""
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())
