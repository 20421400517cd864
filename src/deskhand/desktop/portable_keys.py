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


def portable_names(name: str) -> tuple[str, ...]:
    """What pyautogui calls a key of this canonical name, likeliest first. TargetError when it has no such key."""
    if found := _NAMED.get(name):
        return found
    raise TargetError("not_supported", f"the key {name!r} cannot be pressed on this desktop")
