"""Key names and the key grammar: X keysym names with the usual aliases; unknown ones are refused, with suggestions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal, NoReturn

from deskhand.desktop.portable_keys import PORTABLE_KEYSYMS
from deskhand.errors import InvalidStep

MODIFIERS = ("Control_L", "Alt_L", "Shift_L", "Super_L")
"""What `modifier` may return, in the order they are pressed."""

_ALIASES = {
    # modifiers, as every host and toolkit writes them
    "ctrl": "Control_L", "control": "Control_L", "ctl": "Control_L", "shift": "Shift_L", "alt": "Alt_L",
    "option": "Alt_L", "opt": "Alt_L", "altgr": "ISO_Level3_Shift", "meta": "Meta_L", "super": "Super_L",
    "cmd": "Super_L", "command": "Super_L", "win": "Super_L", "windows": "Super_L", "hyper": "Hyper_L",
    # named keys
    "enter": "Return", "return": "Return", "esc": "Escape", "escape": "Escape", "del": "Delete", "delete": "Delete",
    "ins": "Insert", "insert": "Insert", "backspace": "BackSpace", "bksp": "BackSpace", "bs": "BackSpace",
    "tab": "Tab", "space": "space", "spacebar": "space", "home": "Home", "end": "End", "pgup": "Prior",
    "pageup": "Prior", "page_up": "Prior", "prior": "Prior", "pgdn": "Next", "pgdown": "Next", "pagedown": "Next",
    "page_down": "Next", "next": "Next", "up": "Up", "down": "Down", "left": "Left", "right": "Right",
    "arrowup": "Up", "arrowdown": "Down", "arrowleft": "Left", "arrowright": "Right", "capslock": "Caps_Lock",
    "caps_lock": "Caps_Lock", "numlock": "Num_Lock", "scrolllock": "Scroll_Lock", "printscreen": "Print",
    "prtsc": "Print", "print": "Print", "break": "Break", "pause": "Pause", "menu": "Menu", "contextmenu": "Menu",
    "apps": "Menu", "help": "Help", "back": "XF86Back", "forward": "XF86Forward", "volumeup": "XF86AudioRaiseVolume",
    "volumedown": "XF86AudioLowerVolume", "volumemute": "XF86AudioMute", "playpause": "XF86AudioPlay",
    # punctuation by the names people use
    "dash": "minus", "hyphen": "minus", "dot": "period", "quote": "apostrophe", "backquote": "grave",
    "backtick": "grave", "equals": "equal", "pipe": "bar", "tilde": "asciitilde", "caret": "asciicircum",
    "hash": "numbersign", "dollarsign": "dollar", "openbracket": "bracketleft", "closebracket": "bracketright",
}  # fmt: skip

_MODIFIER_SYMS = frozenset(
    [
        *(
            f"{name}_{side}"
            for name in ("Control", "Shift", "Alt", "Meta", "Super", "Hyper")
            for side in "LR"
        ),
        "ISO_Level3_Shift",
    ]
)
_UNICODE_PLUS = re.compile(r"(?<![^+\s])[Uu]\+(?=[0-9A-Fa-f]{4,6}\s*(?:\+|$))")
_UNICODE_NAME = re.compile(r"[Uu]\+?([0-9A-Fa-f]{4,6})\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stroke:
    """One item of a key sequence: a ``chord`` of canonical key names, pressed in order, or a ``text`` to type."""

    kind: Literal["chord", "text"]
    keys: tuple[str, ...] = ()
    text: str = ""


@cache
def keysyms() -> dict[str, int]:
    """All keysym names and their values, from X's own lists (``Return``, ``eacute``, ``XF86AudioPlay``).

    Where there is no X, those of the keys that can be pressed there.
    """
    try:
        import xcffib.keysymdef
        import xcffib.xf86keysym
    except ImportError:
        return dict(PORTABLE_KEYSYMS)

    found = {name[3:]: value for name, value in vars(xcffib.keysymdef).items() if name.startswith("XK_")}
    found |= {
        "XF86" + name[7:]: value
        for name, value in vars(xcffib.xf86keysym).items()
        if name.startswith("XF86XK_")
    }
    return found


@cache
def _folded() -> dict[str, str]:
    return {name.lower(): name for name in reversed(keysyms()) if len(name) > 1}


def key_name(text: str) -> str:
    """The canonical keysym name of a key as written: a name, an alias, or one character itself.

    InvalidStep, with suggestions, for what is none of these.
    """
    if len(text) == 1:
        return _character_name(text)
    if text in keysyms():
        return text
    low = text.lower()
    if low in _ALIASES:
        return _ALIASES[low]
    if found := _UNICODE_NAME.match(text):
        return _character_name(chr(int(found[1], 16))) if int(found[1], 16) <= 0x10FFFF else _unknown(text)
    return _folded().get(low) or _unknown(text)


def keysym(name: str) -> int:
    """The keysym of a key name, alias or character (see `key_name`)."""
    canonical = key_name(name)
    known = keysyms().get(canonical)
    return known if known is not None else int(canonical[1:], 16) | 0x01000000


def character_keysym(character: str) -> int:
    """The keysym that types one character: Latin-1 directly, all else by the Unicode rule (X protocol, appendix A)."""
    code = ord(character)
    return code if 0x20 <= code <= 0x7E or 0xA0 <= code <= 0xFF else 0x01000000 | code


def is_modifier(name: str) -> bool:
    """Whether a canonical key name is a modifier."""
    return name in _MODIFIER_SYMS


def modifier(text: str) -> str:
    """The canonical name of a modifier as written. InvalidStep when it is no modifier."""
    name = key_name(text)
    if not is_modifier(name):
        raise InvalidStep(f"{text!r} is not a modifier; use ctrl, shift, alt or super")
    return name


def parse_keys(text: str) -> tuple[Stroke, ...]:
    """A key expression as strokes.

    A sequence is split at ``;`` (``\\;`` is a semicolon). Each item is ``t:text``, typed as it stands; ``kp:key``, one
    key or chord; or a key or chord: ``ctrl+shift+t``, ``ctrl++``, ``Return``. InvalidStep names what means nothing.
    """
    strokes = []
    for raw in re.split(r"(?<!\\);", text):
        item = raw.replace("\\;", ";")
        lead = item.lstrip()
        if lead[:2].lower() == "t:":
            strokes.append(Stroke(kind="text", text=lead[2:]))
            continue
        chord = lead.strip()
        if chord[:3].lower() == "kp:":
            chord = chord[3:].strip()
        if not chord:
            if raw and raw.isspace() and len(text) == len(raw):
                chord = "space"
            elif not raw and strokes and text.endswith(";"):
                continue  # a sequence may end in its separator
            else:
                raise InvalidStep(f"there is an empty item in the keys {text!r}")
        strokes.append(Stroke(kind="chord", keys=_chord(chord)))
    return tuple(strokes)


def _chord(text: str) -> tuple[str, ...]:
    if text == "+":
        return ("plus",)
    parts = _UNICODE_PLUS.sub("U", text).split("+")
    if text.endswith("++"):
        parts = [*parts[:-2], "plus"]
    if any(not part.strip() for part in parts):
        raise InvalidStep(
            f"{text!r} is not a chord: write ctrl+shift+t, and plus (or a last +) for the plus key"
        )
    names = tuple(key_name(part.strip()) for part in parts)
    if len(names) > 1 and any(is_modifier(name) for name in names):
        # In a chord a capital names the key, not another Shift: Ctrl+T is what menus print for ctrl+t.
        names = tuple(name.lower() if len(name) == 1 and "A" <= name <= "Z" else name for name in names)
    return names


@cache
def _names_by_sym() -> dict[int, str]:
    found: dict[int, str] = {}
    for name, value in keysyms().items():
        found.setdefault(value, name)
    # X lists old spellings beside the current ones.
    return found | {0x27: "apostrophe", 0x60: "grave"}


def _character_name(character: str) -> str:
    control = {
        "\n": "Return",
        "\r": "Return",
        "\t": "Tab",
        "\x1b": "Escape",
        "\x7f": "Delete",
        "\b": "BackSpace",
    }
    if character in control:
        return control[character]
    code = ord(character)
    if code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000:
        _unknown(character)
    sym = character_keysym(character)
    return _names_by_sym().get(sym) or f"U{code:04X}"


def _unknown(text: str) -> NoReturn:
    from rapidfuzz import fuzz, process

    choices = {name: name.lower() for name in (*_ALIASES, *keysyms()) if len(name) > 1}
    near = process.extract(text.lower(), choices, scorer=fuzz.ratio, limit=8, score_cutoff=60)
    suggestions = list(dict.fromkeys(name for _, _, name in near))[:3]
    hint = (
        f"did you mean {', '.join(suggestions)}?" if suggestions else "use X keysym names: Return, Prior, F5"
    )
    raise InvalidStep(f"there is no key named {text!r}: {hint}")
