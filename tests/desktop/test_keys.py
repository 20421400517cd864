"""Key names and the key grammar."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.keys import Stroke, character_keysym, key_name, keysym, modifier, parse_keys
from deskhand.errors import InvalidStep


def chord(*keys: str) -> Stroke:
    return Stroke(kind="chord", keys=keys)


def text(words: str) -> Stroke:
    return Stroke(kind="text", text=words)


@pytest.mark.parametrize(
    ("written", "strokes"),
    [
        ("Return", (chord("Return"),)),
        ("a", (chord("a"),)),
        ("A", (chord("A"),)),
        ("ctrl+shift+t", (chord("Control_L", "Shift_L", "t"),)),
        ("Ctrl+T", (chord("Control_L", "t"),)),
        ("ctrl+plus", (chord("Control_L", "plus"),)),
        ("ctrl++", (chord("Control_L", "plus"),)),
        ("+", (chord("plus"),)),
        ("ctrl+;".replace(";", "\\;"), (chord("Control_L", "semicolon"),)),
        ("cmd+c", (chord("Super_L", "c"),)),
        ("alt+F4", (chord("Alt_L", "F4"),)),
        ("f5", (chord("F5"),)),
        ("ctrl + l", (chord("Control_L", "l"),)),
        ("é", (chord("eacute"),)),
        ("U+20AC", (chord("U20AC"),)),
        (" ", (chord("space"),)),
        ("ctrl+l;t:hello;kp:tab", (chord("Control_L", "l"), text("hello"), chord("Tab"))),
        (
            "ctrl+l;t:hello;kp:tab;return",
            (chord("Control_L", "l"), text("hello"), chord("Tab"), chord("Return")),
        ),
        (r"t:a\;b;enter", (text("a;b"), chord("Return"))),
        ("t: two  spaces ", (text(" two  spaces "),)),
        ("t:1+1;enter;", (text("1+1"), chord("Return"))),
    ],
)
def test_an_expression_means_its_strokes(written: str, strokes: tuple[Stroke, ...]) -> None:
    assert parse_keys(written) == strokes


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("enter", "Return"),
        ("esc", "Escape"),
        ("del", "Delete"),
        ("pgup", "Prior"),
        ("PageDown", "Next"),
        ("backspace", "BackSpace"),
        ("win", "Super_L"),
        ("super", "Super_L"),
        ("altgr", "ISO_Level3_Shift"),
        ("ArrowLeft", "Left"),
        ("volumeup", "XF86AudioRaiseVolume"),
        ("KP_Enter", "KP_Enter"),
    ],
)
def test_usual_names_are_understood(alias: str, name: str) -> None:
    assert key_name(alias) == name


@pytest.mark.parametrize(
    ("wrong", "hint"), [("Retrun", "Return"), ("cntrl+c", "ctrl"), ("ctlr+c", "ctrl"), ("escpae", "escape")]
)
def test_an_unknown_name_is_refused_with_what_was_meant(wrong: str, hint: str) -> None:
    with pytest.raises(InvalidStep, match=hint):
        parse_keys(wrong)


@pytest.mark.parametrize("wrong", ["", "ctrl+", "+a", "a;;b", "ctrl+ +x", "U+110000", "\x01"])
def test_what_means_nothing_is_refused(wrong: str) -> None:
    with pytest.raises(InvalidStep):
        parse_keys(wrong)


def test_a_modifier_has_to_be_one() -> None:
    assert modifier("shift") == "Shift_L"
    with pytest.raises(InvalidStep, match="not a modifier"):
        modifier("a")


def test_keysyms_are_those_of_the_x_protocol() -> None:
    assert keysym("Return") == 0xFF0D
    assert keysym("a") == 0x61
    assert keysym("U20AC") == 0x010020AC
    assert character_keysym("é") == 0xE9
    assert character_keysym("日") == 0x010065E5
    assert character_keysym("🎉") == 0x0101F389


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=1))
def test_any_character_names_its_own_key(character: str) -> None:
    assert keysym(character) & 0x00FFFFFF in (ord(character), keysym(key_name(character)))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_typed_text_survives_the_grammar(words: str) -> None:
    assert parse_keys("t:" + words.replace(";", "\\;")) == (text(words),)
