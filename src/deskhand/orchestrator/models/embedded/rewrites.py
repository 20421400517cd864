"""Ways of putting things that mean the same as a plainer one: brought to that before a goal is cut into segments."""

from __future__ import annotations

import re
from collections.abc import Callable

from deskhand.orchestrator.models.embedded import lexicon
from deskhand.orchestrator.models.embedded.grammar import pattern

_LITERAL = "[\ue000-\uf8ff]"
_VERB = lexicon.VERB.pattern
_ROLE = "|".join(sorted(map(re.escape, lexicon.ROLE_NOUNS), key=len, reverse=True))
_CALLED = r"(?:that is )?(?:labell?ed|called|named|titled|that says|with the (?:label|name|text))"
_FIELD = (
    r"(?:text\s?box|text\s?area|field|box|input|text field|search field|search box|text input|input field)"
)

_DIALOG = r"(?P<d>dialog(?:ue)?(?: box)?|pop-?up|window|message)"
_PRESSING = r"(?:clicking|pressing)(?: on)?"
_DONE = r"(?:you are |you're |that is |all is )?(?:done|finished|ready)"
_SENT = r"(?:submit|ok|enter|done|save|send|next)"
_NO_JOIN = "".join(rf"(?<!\b{word})" for word in ("and", "then", "to", "by", "or", "please"))

_REWRITES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (pattern(text), to)
    for text, to in (
        # "find and click on X", "…, to find and click on X"
        (rf",? (?:in order )?to (?:find|locate|look for)(?: it)? and (?={_VERB})", ", "),
        (rf"\b(?:find|locate|look for) and (?={_VERB})", ""),
        # "press submit when done"
        (rf",? (?:when|once|as soon as) {_DONE}(?=\s*(?:[.!]|$))", ""),
        # "use the box to enter X"
        (
            rf"\buse the (?P<f>(?:\w+ )?{_FIELD}) to (?P<v>enter|type|write|input) (?P<x>{_LITERAL})",
            r"\g<v> \g<x> into the \g<f>",
        ),
        # "close the dialog by clicking Y"
        (
            rf"\b(?:close|dismiss|leave) the {_DIALOG} (?:by|with) {_PRESSING} (?P<y>the \S+|\S+)",
            r"click \g<y> in the \g<d>",
        ),
        # "the button in the dialog labelled X"
        (
            rf"\bthe (?P<r>{_ROLE}) (?P<p>(?:in|on|of) the [\w -]+?) {_CALLED} (?P<x>{_LITERAL})",
            r"the \g<x> \g<r> \g<p>",
        ),
        # "the folder or file named X"
        (r"\bthe (?:folder or file|file or folder)\b", "the file"),
        # "the name X and the town Y into the fields"
        (
            rf"(?P<l>{_LITERAL})(?P<m> and .*?{_LITERAL}) (?:in|into) the (?:text |input )?(?:fields|boxes)\b",
            r"\g<l>\g<m>",
        ),
        # nothing between two instructions: "scroll it to the end hit submit"
        (rf"(?<=[\w\"')]){_NO_JOIN} (?=(?:hit|press) {_SENT}\b)", " and "),
    )
)
_CASE = pattern(
    rf"(?P<x>{_LITERAL}),? (?:all )?in (?:all )?"
    r"(?:(?P<up>upper[ -]?case|capitals?)|lower[ -]?case)(?: letters?)?"
)


def rewritten(text: str, recase: Callable[[str, bool], str]) -> str:
    """The masked text in plainer words. ``recase`` makes a literal of a literal in upper (True) or lower case."""
    for wanted, plain in _REWRITES:
        text = wanted.sub(plain, text)
    return _CASE.sub(lambda found: recase(found["x"], found["up"] is not None), text)
