"""The general vocabulary of instructions and of what controls are called. No app, page or task is in it."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, TypeAlias

Verb: TypeAlias = Literal[
    "open",
    "within",
    "press",
    "type",
    "fill",
    "choose",
    "check",
    "clear",
    "save",
    "wait",
    "read",
    "compute",
    "close",
    "scroll",
    "expect",
    "search",
    "command",
    "focus",
    "expand",
    "find",
    "recall",
    "mark",
    "drag",
    "unknown",
]

# Words that carry nothing; removed from the front of a clause as often as they come.
FILLERS = (
    r"please|kindly|then|now|next|finally|afterwards?|after that|also|first|firstly|secondly|thirdly|lastly|and|so|"
    r"just|simply|step \d+|\d+[.)]|can you|could you|would you|will you|i want you to|i would like you to|"
    r"i'd like you to|i need you to|you (?:should|must|need to|have to)|go ahead and|try to|your task is to|"
    r"once (?:done|that is done)|when (?:done|finished)"
)
# These, alone at the head of a sentence, only count the steps.
COUNTING = {"after that"} | frozenset(
    "first second third fourth fifth firstly secondly thirdly next then finally lastly afterwards now also".split()
)

# Verb phrases in the order they are tried within their length; the longest that fits wins.
VERBS: dict[Verb, tuple[str, ...]] = {
    "open": (
        "open up",
        "open",
        "launch",
        "start",
        "run",
        "go to",
        "navigate to",
        "visit",
        "browse to",
        "load",
        "bring up",
    ),
    "press": (
        "double-click on",
        "double click on",
        "double-click",
        "double click",
        "right-click on",
        "right click on",
        "right-click",
        "right click",
        "click on",
        "click",
        "press on",
        "press",
        "tap on",
        "tap",
        "hit",
        "push",
        "activate",
    ),
    "type": ("type in", "type", "paste", "write down", "write", "enter", "key in", "input"),
    "fill": (
        "fill in",
        "fill out",
        "fill",
        "complete",
        "set",
        "change",
        "update",
        "put",
        "edit",
        "increase",
        "decrease",
        "raise",
        "lower",
        "adjust",
    ),
    "choose": ("choose", "select", "pick out", "pick", "switch to"),
    "check": (
        "check",
        "tick",
        "mark",
        "enable",
        "turn on",
        "switch on",
        "uncheck",
        "untick",
        "unmark",
        "disable",
        "turn off",
        "switch off",
        "deselect",
        "unselect",
        "toggle",
    ),
    "clear": ("clear", "empty", "erase"),
    "save": ("save",),
    "wait": ("wait",),
    "read": (
        "tell me",
        "let me know",
        "give me",
        "show me",
        "get me",
        "report back",
        "report",
        "read out",
        "read off",
        "read back",
        "read",
        "say",
        "return",
        "what is",
        "what's",
        "what are",
        "what does",
        "what do",
        "what",
        "find out",
        "look up",
        "how much is",
        "note",
    ),
    "compute": ("compute", "calculate", "work out", "evaluate"),
    "close": ("close", "quit", "exit", "dismiss"),
    "scroll": ("scroll",),
    "expect": (
        "check that",
        "check whether",
        "check if",
        "verify that",
        "verify",
        "make sure that",
        "make sure",
        "ensure that",
        "ensure",
        "confirm that",
        "see that",
    ),
    "search": ("search for", "search"),
    "focus": ("focus into", "focus on", "focus in", "focus", "put the cursor in", "place the cursor in"),
    "expand": ("expand", "unfold", "open out"),
    "find": ("find", "look for", "locate", "browse for"),
    "recall": ("copy", "solve for", "solve", "remember", "memorise", "memorize"),
    "mark": ("highlight", "select the text in", "select the text of"),
    "drag": ("drag",),
}
_OF_PHRASE: dict[str, Verb] = {phrase: verb for verb, phrases in VERBS.items() for phrase in phrases}
VERB = re.compile(
    "(?:" + "|".join(sorted(map(re.escape, _OF_PHRASE), key=len, reverse=True)) + r")(?=\s|$|:)", re.I
)
OFF = frozenset({"uncheck", "untick", "unmark", "disable", "turn off", "switch off", "deselect", "unselect"})

# Words that a button carries and that are said as a verb: "submit the form", "log in".
_COMMANDS = (
    "submit send buy confirm cancel continue proceed apply accept decline add remove delete login logout register "
    "subscribe order purchase book generate roll checkout undo redo copy paste cut refresh reload print"
).split()
_TWO_WORDS = ("log in", "log out", "sign in", "sign up", "sign out", "check out")
COMMANDS = re.compile(rf"(?:{'|'.join([*_COMMANDS, *_TWO_WORDS])})(?=\s|$)", re.I)


def verb_of(phrase: str) -> Verb:
    """The verb of a phrase that `VERB` matched."""
    return _OF_PHRASE[re.sub(r"\s+", " ", phrase.casefold())]


# What people call controls → the ARIA roles they may mean.
_TEXT = ("textbox", "searchbox", "combobox", "spinbutton")
ROLE_NOUNS: dict[str, tuple[str, ...]] = {
    "button": ("button", "radio"),
    "radio button": ("radio",),
    "radio": ("radio",),
    "toggle button": ("button", "switch"),
    "push button": ("button",),
    "link": ("link",),
    "hyperlink": ("link",),
    "checkbox": ("checkbox", "switch", "menuitemcheckbox"),
    "check box": ("checkbox", "switch", "menuitemcheckbox"),
    "tick box": ("checkbox", "switch"),
    "box": ("checkbox", "switch", *_TEXT),
    "switch": ("switch", "checkbox", "button"),
    "toggle": ("switch", "checkbox", "button"),
    "option": ("radio", "option", "menuitem", "menuitemradio", "checkbox", "listitem"),
    "choice": ("radio", "option", "menuitemradio"),
    "field": (*_TEXT, "slider"),
    "text field": _TEXT,
    "input field": _TEXT,
    "input": _TEXT,
    "textbox": _TEXT,
    "text box": _TEXT,
    "input box": _TEXT,
    "search box": ("searchbox", "textbox", "combobox"),
    "text area": _TEXT,
    "textarea": _TEXT,
    "entry": (*_TEXT, "listitem", "option", "menuitem"),
    "text entry": _TEXT,
    "text input": _TEXT,
    "input textbox": _TEXT,
    "input text box": _TEXT,
    "dropdown": ("combobox", "listbox", "button"),
    "drop-down": ("combobox", "listbox", "button"),
    "dropdown list": ("combobox", "listbox"),
    "dropdown menu": ("combobox", "listbox", "button"),
    "combo box": ("combobox",),
    "combobox": ("combobox",),
    "select box": ("combobox", "listbox"),
    "list": ("listbox", "list", "combobox", "tree", "table", "grid"),
    "list box": ("listbox",),
    "item": ("listitem", "option", "menuitem", "treeitem", "row", "cell"),
    "list item": ("listitem", "option", "treeitem"),
    "menu item": ("menuitem", "menuitemcheckbox", "menuitemradio"),
    "menu entry": ("menuitem", "menuitemcheckbox", "menuitemradio"),
    "menu": ("menu", "menuitem", "button", "combobox"),
    "tab": ("tab",),
    "slider": ("slider",),
    "spinner": ("spinbutton",),
    "spin button": ("spinbutton",),
    "spin box": ("spinbutton",),
    "row": ("row", "listitem"),
    "file": ("listitem", "row", "cell", "gridcell", "treeitem", "option", "link", "img"),
    "folder": ("listitem", "row", "cell", "gridcell", "treeitem", "option", "link", "img"),
    "cell": ("cell", "gridcell"),
    "icon": ("image", "img", "button", "link", "listitem"),
    "image": ("image", "img"),
    "dialog": ("dialog", "alertdialog"),
    "dialog box": ("dialog", "alertdialog"),
    "paragraph": ("paragraph", "text"),
    "section": ("tab", "region", "group"),
    "search result": ("link", "listitem", "heading"),
    "heading": ("heading",),
    "title": ("heading",),
    "header": ("heading", "columnheader"),
    "key": ("button",),
}
_ROLE = "|".join(sorted(map(re.escape, ROLE_NOUNS), key=len, reverse=True))
ROLE_LAST = re.compile(rf"^(?:(?P<name>.*?\S)\s+)??(?P<role>{_ROLE})$", re.I)
_CALLED = (
    r"(?:(?:that is\s+)?(?:labell?ed|called|named|titled|marked)|with (?:the )?(?:label|name|text)|"
    r"(?:that )?(?:says|reads))"
)
ROLE_FIRST = re.compile(rf"^(?P<role>{_ROLE})(?:\s+{_CALLED})?\s+(?P<name>\S.*)$", re.I)
ANYTHING = frozenset("widget control element item one".split())
"""Nouns that say nothing of a kind: "a checkbox widget" is a checkbox."""

# A place that means "where we are".
HERE = frozenset(
    "it there here page form dialog window screen website site app application program browser document editor this "
    "web desktop popup".split()
)

_UNITS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
ORDINALS = {word: n for n, word in enumerate(_UNITS, 1)} | {"last": -1, "1st": 1, "2nd": 2, "3rd": 3} | {
    f"{n}th": n for n in range(4, 51)
}  # fmt: skip

# Different signs and words for one thing, as any arithmetic or dialog has them.
_SAME = (
    ("×", "*", "x", "·", "⋅", "times", "multiply", "multiplied by", "multiplication"),
    ("÷", "/", "∕", "divide", "divided by", "division", "over"),
    ("−", "-", "–", "minus", "subtract", "subtraction"),
    ("+", "plus", "add", "addition"),
    ("=", "equals", "equal", "equal sign", "equals sign", "is equal to"),
    (".", "point", "decimal point", "dot", "decimal separator"),
    ("%", "percent", "percentage"),
    ("√", "square root", "root", "sqrt"),
    ("^", "power", "exponent", "to the power of"),
    ("(", "left parenthesis", "open parenthesis", "opening parenthesis"),
    (")", "right parenthesis", "close parenthesis", "closing parenthesis"),
    ("0", "zero"), ("1", "one"), ("2", "two"), ("3", "three"), ("4", "four"),
    ("5", "five"), ("6", "six"), ("7", "seven"), ("8", "eight"), ("9", "nine"),
    ("ok", "okay"),
    ("e-mail", "email", "e-mail address", "email address", "mail"),
    ("log in", "login", "sign in", "signin", "log on"),
    ("log out", "logout", "sign out", "signout"),
    ("sign up", "signup", "register"),
    ("telephone", "phone", "phone number", "telephone number"),
)  # fmt: skip
SAME = {word: group[0] for group in _SAME for word in group}

_EDGES = re.compile(r"^[\s\"'“”‘’«»]+|[\s\"'“”‘’«»]+$")
_TAIL = re.compile(r"(?<=[^\s:.…*])\s*(?:\.\.\.|…|:|\*)+$")


def normal(text: str) -> str:
    """A name as it is compared: case, spacing, quotes, and what trails a label ("…", ":", "*") do not count."""
    folded = re.sub(r"\s+", " ", unicodedata.normalize("NFC", text)).casefold()
    return _TAIL.sub("", _EDGES.sub("", folded))


def meaning(text: str) -> str:
    """The normal form, with one spelling for the signs and words that mean the same."""
    plain = normal(text)
    return SAME.get(plain, plain)


def without_article(text: str) -> str:
    """The text without a leading "the", "a", "my", …"""
    return re.sub(r"^(?:the|a|an|my|its|their|your|this|that)\s+(?=\S)", "", text.strip(), flags=re.I)
