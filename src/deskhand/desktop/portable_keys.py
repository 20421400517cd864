"""Keys of the portable desktop: X's names (see `desktop.keys`), and what pyautogui calls them."""

from __future__ import annotations

import string
from typing import Final

from deskhand.errors import TargetError

_NAMED: Final[dict[str, tuple[str, ...]]] = {
    "Return": ("enter",), "KP_Enter": ("enter",), "Tab": ("tab",), "Escape": ("esc",), "BackSpace": ("backspace",),
    "Delete": ("delete", "del"), "Insert": ("insert",), "Home": ("home",), "End": ("end",), "Prior": ("pageup",),
    "Page_Up": ("pageup",), "Next": ("pagedown",), "Page_Down": ("pagedown",), "Up": ("up",), "Down": ("down",),
    "Left": ("left",), "Right": ("right",), "space": ("space",), "Pause": ("pause",), "Print": ("printscreen",),
    "Caps_Lock": ("capslock",), "Num_Lock": ("numlock",), "Scroll_Lock": ("scrolllock",), "Help": ("help",),
    "Menu": ("apps",), "Control_L": ("ctrl",), "Control_R": ("ctrlright", "ctrl"), "Shift_L": ("shift",),
    "Shift_R": ("shiftright", "shift"), "Alt_L": ("alt", "option"), "Alt_R": ("altright", "optionright", "alt"),
    "ISO_Level3_Shift": ("altright", "optionright"), "Super_L": ("command", "winleft", "win"),
    "Super_R": ("command", "winright", "win"), "Meta_L": ("command", "winleft", "win"),
    "XF86AudioRaiseVolume": ("volumeup",), "XF86AudioLowerVolume": ("volumedown",), "XF86AudioMute": ("volumemute",),
    "XF86AudioPlay": ("playpause",), "XF86Back": ("browserback",), "XF86Forward": ("browserforward",),
    **{f"F{number}": (f"f{number}",) for number in range(1, 25)},
    **{f"KP_{digit}": (f"num{digit}",) for digit in range(10)},
    **{character: (character,) for character in string.ascii_letters + string.digits},
    # punctuation, by X's names
    "exclam": ("!",), "quotedbl": ('"',), "numbersign": ("#",), "dollar": ("$",), "percent": ("%",),
    "ampersand": ("&",), "apostrophe": ("'",), "parenleft": ("(",), "parenright": (")",), "asterisk": ("*",),
    "plus": ("+",), "comma": (",",), "minus": ("-",), "period": (".",), "slash": ("/",), "colon": (":",),
    "semicolon": (";",), "less": ("<",), "equal": ("=",), "greater": (">",), "question": ("?",), "at": ("@",),
    "bracketleft": ("[",), "backslash": ("\\",), "bracketright": ("]",), "asciicircum": ("^",),
    "underscore": ("_",), "grave": ("`",), "braceleft": ("{",), "bar": ("|",), "braceright": ("}",),
    "asciitilde": ("~",),
}  # fmt: skip


PORTABLE_KEYSYMS: Final[dict[str, int]] = {
    # keysymdef.h and XF86keysym.h of the X protocol
    "BackSpace": 0xFF08, "Tab": 0xFF09, "Return": 0xFF0D, "Pause": 0xFF13, "Scroll_Lock": 0xFF14, "Escape": 0xFF1B,
    "Home": 0xFF50, "Left": 0xFF51, "Up": 0xFF52, "Right": 0xFF53, "Down": 0xFF54, "Prior": 0xFF55,
    "Page_Up": 0xFF55, "Next": 0xFF56, "Page_Down": 0xFF56, "End": 0xFF57, "Print": 0xFF61, "Insert": 0xFF63,
    "Menu": 0xFF67, "Help": 0xFF6A, "Num_Lock": 0xFF7F, "KP_Enter": 0xFF8D, "Shift_L": 0xFFE1, "Shift_R": 0xFFE2,
    "Control_L": 0xFFE3, "Control_R": 0xFFE4, "Caps_Lock": 0xFFE5, "Meta_L": 0xFFE7, "Alt_L": 0xFFE9,
    "Alt_R": 0xFFEA, "Super_L": 0xFFEB, "Super_R": 0xFFEC, "Delete": 0xFFFF, "ISO_Level3_Shift": 0xFE03,
    "XF86AudioLowerVolume": 0x1008FF11, "XF86AudioMute": 0x1008FF12, "XF86AudioRaiseVolume": 0x1008FF13,
    "XF86AudioPlay": 0x1008FF14, "XF86Back": 0x1008FF26, "XF86Forward": 0x1008FF27, "space": 0x20,
    **{f"F{number}": 0xFFBD + number for number in range(1, 25)},
    **{f"KP_{digit}": 0xFFB0 + digit for digit in range(10)},
    **{name: ord(keys[0]) for name, keys in _NAMED.items() if len(keys[0]) == 1},
}  # fmt: skip
"""The keys of `portable_names`, for where X's own lists are not at hand."""


def portable_names(name: str) -> tuple[str, ...]:
    """What pyautogui calls a key of this canonical name, likeliest first. TargetError when it has no such key."""
    if found := _NAMED.get(name):
        return found
    raise TargetError("not_supported", f"the key {name!r} cannot be pressed on this desktop")
