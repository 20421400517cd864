"""Which key types what: the display's layout, and spare keycodes mapped to whatever the layout lacks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from xcffib import xproto

from deskhand.desktop.ping import wait_until_read
from deskhand.desktop.x11 import MARKER, XConnection
from deskhand.errors import DesktopError

_MAIN_BLOCK = range(10, 66)
"""Keycodes of the letters, digits and punctuation of a PC keyboard (evdev codes plus 8)."""

_NEVER = frozenset({141, 142, 143, 145, 164, 166, 167, 169, 180, 181, 225})
"""Copy, open, paste, cut, bookmarks, back, forward, eject, home page, reload, search: Chromium goes by these keycodes,
whatever they are mapped to (each spare one was tried)."""

_XF86 = range(0x10080000, 0x10090000)
"""Keysyms of multimedia and vendor keys: on a display of our own their keycodes are free for the taking."""


@dataclass(frozen=True, slots=True)
class KeyPress:
    """A keycode, and whether it needs Shift."""

    code: int
    shift: bool


class NoSpareKeys(DesktopError):
    """The display has too few free keys for the characters that its layout lacks. Nothing was typed: paste it."""


class Keymap:
    """The keyboard mapping of one display.

    A character that the layout lacks gets half a spare keycode (plain or shifted) and keeps it as long as there are
    others, because clients read the mapping when they come to the event: a keycode that is mapped again too soon types
    the later character twice. That, one remap per character, is how other tools lose text.
    """

    def __init__(self, x: XConnection) -> None:
        self._x = x
        self._private = x.get_property(x.root, MARKER) is not None
        self._layout: dict[int, KeyPress] = {}
        self._placed: dict[int, KeyPress] = {}
        """Keysyms of ours, least recently placed first."""
        self._slots: tuple[KeyPress, ...] = ()
        self._changed: set[int] = set()
        self.refresh()

    def refresh(self) -> None:
        """Read the layout again, after somebody changed it."""
        setup = self._x.setup
        first, count = setup.min_keycode, setup.max_keycode - setup.min_keycode + 1
        reply = self._x.reply(self._x.core.GetKeyboardMapping(first, count))
        width = reply.keysyms_per_keycode
        flat = tuple(reply.keysyms)
        rows = {first + i: flat[i * width : (i + 1) * width] for i in range(count)}
        self._placed = {
            sym: slot for sym, slot in self._placed.items() if rows[slot.code][int(slot.shift)] == sym
        }
        self._changed |= {slot.code for slot in self._placed.values()}
        modifiers = frozenset(self._x.reply(self._x.core.GetModifierMapping()).keycodes)
        self._slots = self._spare(rows, modifiers)
        spares = {slot.code for slot in self._slots} & self._changed
        self._layout = _lookup({code: row for code, row in rows.items() if code not in spares}, self._group())

    def find(self, sym: int) -> KeyPress | None:
        """The key that types ``sym`` now."""
        return self._layout.get(sym) or self._placed.get(sym)

    def batches(self, syms: Sequence[int]) -> Iterator[Sequence[int]]:
        """``syms`` cut so that each part needs no more spare keys than there are."""
        part: list[int] = []
        needed: set[int] = set()
        for sym in syms:
            if sym not in self._layout and sym not in needed:
                if len(needed) == len(self._slots):
                    yield part
                    part, needed = [], set()
                needed.add(sym)
            part.append(sym)
        if part:
            yield part

    def reuses(self, syms: Sequence[int]) -> bool:
        """Whether `place` would have to take a key that stood for something else before."""
        missing = self._missing(syms)
        used = set(self._placed.values())
        return len(missing) > sum(slot not in used for slot in self._slots)

    def place(self, syms: Sequence[int]) -> None:
        """Give every keysym that the layout lacks a spare key, all in one go. NoSpareKeys when there are too few."""
        missing = self._missing(syms)
        if not missing:
            return
        wanted = set(syms)
        used = set(self._placed.values())
        free = [slot for slot in self._slots if slot not in used]
        for sym in [sym for sym in self._placed if sym not in wanted]:
            if len(free) >= len(missing):
                break
            free.append(self._placed.pop(sym))
        if len(free) < len(missing):
            raise NoSpareKeys(
                "the keyboard mapping of this display has no spare keys for what is to be typed"
            )
        self._placed.update(zip(missing, free, strict=False))
        self._write({slot.code for slot in free[: len(missing)]})

    @property
    def owes(self) -> bool:
        """Whether keys were changed that have to be given back: on a display that is not ours alone."""
        return bool(self._changed) and not self._private

    def restore(self) -> None:
        """Give every key that was changed its emptiness back."""
        self._placed.clear()
        self._write(set(self._changed))
        self._changed.clear()

    # --- under the bonnet ---------------------------------------------------------------------------------------------

    def _missing(self, syms: Sequence[int]) -> list[int]:
        return [sym for sym in dict.fromkeys(syms) if self.find(sym) is None]

    def _spare(self, rows: dict[int, tuple[int, ...]], modifiers: frozenset[int]) -> tuple[KeyPress, ...]:
        """Keycodes free for our use, the longest runs first, so that one request can map many."""

        def is_free(code: int, row: tuple[int, ...]) -> bool:
            if code in modifiers or code in _NEVER:
                return False
            return (
                code in self._changed
                or not any(row)
                or (self._private and all(s == 0 or s in _XF86 for s in row))
            )

        runs: list[list[int]] = []
        for code in sorted(code for code, row in rows.items() if is_free(code, row)):
            if runs and runs[-1][-1] == code - 1:
                runs[-1].append(code)
            else:
                runs.append([code])
        codes = [code for run in sorted(runs, key=len, reverse=True) for code in run]
        return tuple(KeyPress(code, shift) for code in codes for shift in (False, True))

    def _write(self, codes: set[int]) -> None:
        by_slot = {slot: sym for sym, slot in self._placed.items()}
        rows = {}
        for code in sorted(codes):
            plain, shifted = by_slot.get(KeyPress(code, False), 0), by_slot.get(KeyPress(code, True), 0)
            # A lone letter would be given its capital as the shifted level: say both levels.
            rows[code] = (plain or shifted, shifted or plain)
        for number, run in enumerate(_runs(rows)):
            if number:
                # Xlib forgets a change of which it is told while it fetches the one before: its clients (Tk, xterm)
                # would type with the old mapping.
                wait_until_read(self._x)
            with self._x.lock:
                flat = [sym for code in run for sym in rows[code]]
                self._x.core.ChangeKeyboardMapping(len(run), run[0], 2, flat)
                self._x.sync()
        self._changed |= codes

    def _group(self) -> int:
        """The active layout group (a user's second layout). A display of our own has one."""
        if self._private:
            return 0
        with contextlib.suppress(DesktopError):
            import xcffib.xkb

            xkb: Any = self._x.extension(xcffib.xkb)
            self._x.reply(xkb.UseExtension(1, 0))
            core_keyboard = 0x100
            return int(self._x.reply(xkb.GetState(core_keyboard)).group)
        return 0


def _lookup(rows: dict[int, tuple[int, ...]], group: int) -> dict[int, KeyPress]:
    """Keysym → key, by the first two levels of ``group``; the main block of the keyboard wins, then the plain level."""
    found: dict[int, tuple[tuple[bool, bool, int], KeyPress]] = {}
    for code, row in rows.items():
        column = 2 * group if 2 * group < len(row) and any(row[2 * group : 2 * group + 2]) else 0
        levels = list(row[column : column + 2])
        if len(levels) == 2 and not levels[1]:
            levels = _both_cases(levels[0])
        for shift, sym in enumerate(levels):
            rank = (code not in _MAIN_BLOCK, bool(shift), code)
            if sym and (sym not in found or rank < found[sym][0]):
                found[sym] = rank, KeyPress(code, bool(shift))
    return {sym: press for sym, (_, press) in found.items()}


def _both_cases(sym: int) -> list[int]:
    """The two levels of a key of which only one letter is given (X protocol, section 5: the capital is its Shift)."""
    letter = chr(sym) if sym <= 0xFF else ""
    return [sym, ord(letter.upper())] if letter.isalpha() and ord(letter.upper()) <= 0xFF else [sym, sym]


def _runs(codes: dict[int, Any]) -> Iterator[list[int]]:
    run: list[int] = []
    for code in sorted(codes):
        if run and code != run[-1] + 1:
            yield run
            run = []
        run.append(code)
    if run:
        yield run


def caps_lock_is_on(x: XConnection) -> bool:
    """Whether letters come out in the other case."""
    return bool(x.reply(x.core.QueryPointer(x.root)).mask & xproto.KeyButMask.Lock)
