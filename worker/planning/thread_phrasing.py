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

_NUMERAL = r"(?:first|second|third|fourth|fifth|sixth|last|\d{1,2}(?:st|nd|rd|th)|number|#)"
_COSTLY = r"(?:more expensive|pricier|dearer|costlier)"

_REWRITES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.I), replacement)
    for pattern, replacement in (
        (
            r"^(?:(?:(?:no|nope|nah|hm+|um+|ok(?:ay)?|yes|yeah|sure|great|cool|nice|thanks|thank you)"
            r"\s*[,.!;:-]+|actually|never mind(?=,)|sorry|oops|wait|well|hang on|hold on"
            r"|i mean(?:t)?(?: to say)?"
            r"|no i mean(?:t)?"
            r"|what i meant (?:was|is)|i(?:'ve| have)? changed my mind|on second thoughts?"
            r"|come to think of it"
            r"|i said|let'?s say|rather|make (?:it|that)(?= (?!in\b|a\b))|then|and now|perhaps|maybe)"
            r"\s*[,.!;:-]*\s+)+(?=\S)",
            "",
        ),
        (r"(?<=\w),? (?:instead )?(?:i mean(?:t)?|rather)$", ""),
        (r"\bnothing but\b", "only"),
        (r"^tell me more$", "tell me about it"),
        (
            r"\b(?:from |by )?(?:someone|anyone|somebody|anybody|(?:an)?other (?:brand|maker)s?)"
            r" (?:else |other )?than\b",
            "not",
        ),
        (
            r"\bfrom (?=[$€£¥]?\s?\d[\d.,]*(?:\s?(?:eur|euros?|usd|dollars?|bucks|pounds?|[$€£]))?"
            r"(?:\s+(?:up|upwards?|on|onwards?))?$)",
            "at least ",
        ),
        (r"\b(?:by )?price (?:from )?low(?:est)? to high(?:est)?\b", "cheapest first"),
        (r"\b(?:by )?price (?:from )?high(?:est)? to low(?:est)?\b", "most expensive first"),
        (r"\bvegan\b(?! leather)|\b(?:free of|no) animal products\b", "not animal"),
        (
            r"^(?:please )?(?:(?:can you |could you )?show me|give me|find me) another(?: one)?$",
            "show me more",
        ),
        (r"(?<=\d) ?& ?(?=[$€£]?\d)", " and "),
        (
            r"^(?:which|what)(?: one| of (?:these|those|them))? (?:has|have|got) (?:the )?"
            r"(?:best|highest|better|most) (?:reviews?|ratings?|stars|reviewed|rated)$",
            "best rated",
        ),
        (r"^(?:the one|one) before(?: that| it)?$", "the previous one"),
        (r"^(?:a (?:bit|little) |slightly |even |still |go |much )*lower$", "cheaper"),
        (r"^(?:a (?:bit|little) |slightly |even |still |go |much )*higher$", "more expensive"),
        (r"\b(?:sort(?:ed)?|order(?:ed)?) (?:them |it |these )?by (?:lowest )?price\b", "cheapest first"),
        (r"\b(?:sort(?:ed)?|order(?:ed)?) (?:them |it |these )?by (?:rating|reviews|stars)\b", "best rated"),
        (
            r"\b(?:in|within|of|from) (?:the |a )?(?:price )?range (?:of |from |between )?"
            r"(?P<a>[$€£]?\s?\d[\d.,]*) ?(?:to|and|-|–) ?(?P<b>[$€£]?\s?\d[\d.,]*)\b",
            r"between \g<a> and \g<b>",
        ),
        (
            r"\b(?:from|in|of) (?:this|that|the same|the) (?:category|kind|type|sort|section|range"
            r"|collection)$",
            "",
        ),
        (
            r"\b(?P<a>first|second|third|fourth|fifth|last)(?: one)? (?P<w>and|or|&|with|vs\.?|versus)"
            r" (?=(?:second|third|fourth|fifth|sixth|last)\b)",
            r"\g<a> \g<w> the ",
        ),
        (
            r"\b(?:any|every|all|whatever) (?:other )?(?:colou?rs?|brands?|materials?|makes?|makers?"
            r"|kinds?|sizes?)"
            r" (?:but|except(?: for)?|other than|apart from|besides)\b",
            "not",
        ),
        (
            r"\b(?:i )?(?:don'?t|do not|really don'?t) (?:really )?(?:like|want|fancy"
            r"|need) (?:any(?:thing)? of )?"
            r"(?:these|those|them|any)\b(?: ones)?$|\b(?:none|not any) of (?:these|those|them)\b(?: ones)?.*$"
            r"|^not (?:these|those|them)$|\b(?:these|those|they) (?:are|look|'re) (?:all )?(?:ugly|awful"
            r"|horrible"
            r"|boring|not (?:what|for|my|right).*|no good)$",
            "show me more",
        ),
        (
            r"\b(?:i )?(?:don'?t|do not|can'?t|cannot) (?:(?:want|like|plan|wish) to )?(?:spend|pay|go)"
            r" (?:any ?)?(?:more than|over|above|beyond) (?=[$€£¥]?\s?\d)",
            "at most ",
        ),
        (
            r"\b(?:it )?(?:can(?:no|')t|must ?n[o']t|should ?n[o']t|may not) (?:be |cost )?(?:exceed"
            r"|more than|over"
            r"|above) (?=[$€£¥]?\s?\d)",
            "at most ",
        ),
        (r"(?<=\d)[- ]?ish\b", " or so"),
        (r"\b(?P<n>\d[\d.,]*) (?:or so|give or take|more or less)\b", r"around $\g<n>"),
        (
            r"\bwhich(?: one)?(?: of (?:these|those|them|the two))?(?: (?:is|are|costs|'s))? (?:the )?"
            r"(?:cheaper|less expensive|less)\b(?: one)?$"
            r"|\bthe (?:cheaper|less expensive|cheap|less pricey) (?:one|of (?:the two|these|those|them))\b",
            "the cheapest one",
        ),
        (
            rf"\bwhich(?: one)?(?: of (?:these|those|them|the two))?(?: (?:is|are|costs"
            rf"|'s))? (?:the )?{_COSTLY}\b"
            rf"(?: one)?$|\bthe {_COSTLY} (?:one|of (?:the two|these|those|them))\b",
            "the most expensive one",
        ),
        (
            r"\b(?:which|what)(?: one| of (?:these|those|them))? (?:do|would|should|can) (?:you"
            r"|i) (?:recommend|suggest"
            r"|pick|take|choose|buy|get)\b(?: me)?|\bwhich(?: one| of (?:these|those|them))? (?:is"
            r"|are) (?:the )?best\b"
            r"(?! for)|^which(?: one| of (?:these|those|them))? is (?:the )?better$|^(?:your "
            r"|the )?(?:best|favou?rite|most popular)(?: ones?| of (?:these|those|them))?$",
            "best rated",
        ),
        (
            r"\bcompare (?:the )?(?P<a>\d{1,2}) (?:and|with|to|&|vs\.?) (?:the )?(?P<b>\d{1,2})\b",
            r"compare number \g<a> and number \g<b>",
        ),
        (
            r"\bdifferences? between (?:the )?(?P<a>\d{1,2}) and (?:the )?(?P<b>\d{1,2})\b",
            r"difference of number \g<a> and number \g<b>",
        ),
        (rf"\b(?:remove|drop|hide|delete|exclude) (?=(?:the |that )?{_NUMERAL}\b)", "not "),
        (r"\bfor (?:her|my (?:sister|aunt|grandmother|grandma|granny|mum))\b", "for women"),
        (r"\bfor (?:him|my (?:brother|uncle|grandfather|grandpa))\b", "for men"),
        (
            r"\bfor (?:my |our |the |a )?(?:little |small |younger |older |young )*(?:sons?|daughters?"
            r"|nephew|niece"
            r"|grandson|granddaughter|little ones|teenager|baby)\b",
            "for kids",
        ),
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
            r"\b(?<!you )(?:i )?(?:only have|can (?:only )?spend|want to spend|have|got"
            r"|(?:price )?limit (?:is"
            r"|of)|budget(?: is|:)?)"
            r" (?:about |around |up to |at most )?(?=[$€£¥]?\s?\d)",
            "at most ",
        ),
        (
            r"\b(?:around|about|roughly|approximately|circa) (?=\d[\d.,]*(?:\s*$|[ ,.;!?]+(?:in|and"
            r"|but|not|or)\b))",
            "around $",
        ),
        (r"^\W*(?P<a>\d+)\s?(?:-|–|to|and|\.\.)\s?(?P<b>\d+)\W*$", r"between \g<a> and \g<b>"),
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
        (
            rf"\bnothing (?!(?:else|more|over|under|above|below|less|cheaper|like|similar|to|at|between|new"
            rf"|better"
            rf"|up|in stock|wrong|higher|lower|happens|found|there|here|matters)\b|{_COSTLY})(?=[a-z])",
            "not ",
        ),
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
            r"\bno(?: more)? (?!more\b|not\b|less\b|thank|problem|show\b|idea|matter|limit|one\b|ones\b|need"
            r"|way|worries|longer\b"
            r"|(?:price|budget|colou?r|brand|size|material)\b|cheaper|pricier|dearer|,)(?=[a-z])",
            "not ",
        ),
    )
)


def plain(utterance: str) -> str:
    """Return the sentence in lower case with plain apostrophes and single spaces, bounded."""
    text = unicodedata.normalize("NFKC", utterance)[:MAX_CHARACTERS].casefold()
    return " ".join(text.replace("’", "'").replace("`", "'").split())


def rephrase(text: str) -> str:
    """Return a plain sentence in the phrases that the rules read."""
    text = text.strip(" ?!.,;:")
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())
