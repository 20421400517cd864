"""From one app's raw elements to `Node`s: roles, names, states, screen rectangles, reading order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from deskhand.messages import Node, Rect, WindowInfo
from deskhand.observers.atspi import Handle
from deskhand.observers.node import CONTAINERS, comparable, walk
from deskhand.observers.raw import Harvest, Raw
from deskhand.observers.reading import (
    ORDERED,
    chosen_in,
    in_reading_order,
    label_by_neighbours,
    one_cell,
    same_button,
    words_in,
)
from deskhand.observers.roles import ARIA_OF

_INTERACTIVE: Final = frozenset(
    "button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio searchbox slider "
    "spinbutton switch tab textbox treeitem".split()
)
_NAMED_BY_CONTENT: Final = frozenset(
    "button cell checkbox columnheader gridcell heading link listitem menuitem menuitemcheckbox menuitemradio option "
    "radio row rowheader switch tab tooltip treeitem".split()
)
_SAME_STATES: Final = frozenset(
    "active busy checked editable expanded focused invalid mixed modal multiline pressed required selected".split()
)
_WIDGET_CLASS: Final = re.compile(r"(Gtk|Adw|Gd|Hdy|Gsk)[A-Z]\w*")
_POPOVER: Final = re.compile(r"GtkPopover(Menu)?")
_CAMEL_CASE: Final = re.compile(r"(?:[A-Z][a-z]+){2,}")
_CONTENT_CHARS: Final = 200
_SCROLLED: Final = frozenset({"scroll pane", "viewport", "list", "list box", "table", "tree", "tree table"})
"""What shows a part of what is in it. GTK 4 calls all of it visible."""
_HEADERS: Final = frozenset({"column header", "table column header"})
_MOST_HEADERS: Final = 50
_BOXES: Final = frozenset({"filler", "panel", "viewport", "scroll pane", "grouping", "section"})
_ON_TOP: Final = frozenset({"menu", "popup menu", "window", "dialog", "tool tip"})
"""What is drawn over everything, wherever it hangs in the tree."""


@dataclass(frozen=True, slots=True)
class _Place:
    """How an element's own coordinates become screen pixels."""

    x: float = 0
    y: float = 0
    scale: float = 1
    within_window: bool = False
    view: Rect | None = None
    """What is outside of this is scrolled out of sight; None where nothing is scrolled."""

    def screen(self, raw: Raw) -> Rect | None:
        """Where it can be seen, in screen pixels; None where it does not say or cannot be seen at all."""
        rect = self._whole(raw)
        return rect if rect is None or self.view is None else _common(rect, self.view)

    def hides(self, raw: Raw) -> bool:
        """Whether it is scrolled out of sight. A box without a size may hold what has one."""
        if self.view is None:
            return False
        if self._whole(raw) is None:
            return raw.nowhere and raw.role not in _BOXES
        return self.screen(raw) is None

    def _whole(self, raw: Raw) -> Rect | None:
        rect = raw.window_extents if self.within_window else raw.screen_extents
        if rect is None:
            return None
        return Rect(
            round(self.x + rect.x * self.scale),
            round(self.y + rect.y * self.scale),
            round(rect.width * self.scale),
            round(rect.height * self.scale),
        )


def _common(one: Rect, other: Rect) -> Rect | None:
    x, y = max(one.x, other.x), max(one.y, other.y)
    width, height = min(one.right, other.right) - x, min(one.bottom, other.bottom) - y
    return Rect(x, y, width, height) if width > 0 and height > 0 else None


def assemble(
    reading: Harvest, windows: Sequence[WindowInfo] = (), popups: Sequence[WindowInfo] = ()
) -> tuple[Node, ...]:
    """The app's windows as trees, the active one first, dialogs before what they belong to.

    ``windows`` and ``popups`` are those of the X server (all of them: the app's own are picked by pid); they give what
    toolkits get wrong: titles, which window is active, and where GTK 4 stands on the screen.
    """
    own = [window for window in windows if window.pid == reading.app.pid]
    popups = [popup for popup in popups if popup.pid == reading.app.pid]
    roots: list[tuple[int, Node]] = []
    for top in reading.tops:
        raw = reading.raws[top]
        if not {"showing", "visible"} & raw.states:
            continue
        window = _own_window(raw, own)
        roots.append((own.index(window) if window else -1, _Builder(reading, top, window, popups).build()))
    roots.sort(key=lambda root: root[0])
    return tuple(root for _, root in roots)


def _own_window(raw: Raw, windows: Sequence[WindowInfo]) -> WindowInfo | None:
    """The X window that an accessible window is: by title, else by size."""
    named = [window for window in windows if comparable(window.title) == comparable(raw.name)]
    candidates = named or list(windows)
    size = raw.window_extents or raw.screen_extents
    if len(candidates) <= 1 or size is None:
        return candidates[0] if candidates and (named or len(windows) == 1) else None
    return min(candidates, key=lambda w: abs(w.rect.width - size.width) + abs(w.rect.height - size.height))


class _Builder:
    """Builds the tree of one top-level window."""

    def __init__(
        self, reading: Harvest, top: str, window: WindowInfo | None, popups: Sequence[WindowInfo]
    ) -> None:
        self.reading, self.top, self.window, self.popups = reading, top, window, popups
        self.gtk4 = reading.app.toolkit == "GTK"
        self.title = reading.raws[top].name or (window.title if window else "")
        self.done: dict[str, Node] = {}
        self.below: dict[str, list[str]] = {}

    def build(self) -> Node:
        stack: list[tuple[str, _Place, bool, bool]] = [(self.top, self._place(), True, False)]
        seen = {self.top}
        while stack:
            path, place, visible, ready = stack.pop()
            raw = self.reading.raws[path]
            if ready:
                self.done[path] = self._node(raw, place, visible)
                continue
            popup = self._popup(raw, place)
            if popup is not None:
                place = popup
            elif self.gtk4 and (raw.role == "menu" or _POPOVER.fullmatch(raw.name)):
                visible = False  # closed: it says it is visible all the same
            elif raw.role == "document web" and self.reading.app.toolkit == "Chromium":
                place = replace(
                    place, scale=1
                )  # pages count in device pixels, the frame around them does not
            if raw.role in _ON_TOP:
                place = replace(place, view=None)
            visible = visible and (path == self.top or self.reading.on_screen(raw)) and not place.hides(raw)
            stack.append((path, place, visible, True))
            inside = replace(place, view=self._view(raw, place)) if raw.role in _SCROLLED else place
            # LibreOffice lists some children twice, with all that is in them: each element has one place.
            fresh = (child for child in raw.children if child in self.reading.raws and child not in seen)
            self.below[path] = list(dict.fromkeys(fresh))
            seen.update(self.below[path])
            for child in self.below[path]:
                header = self.reading.raws[child].role in _HEADERS
                stack.append((child, place if header else inside, visible, False))
        return label_by_neighbours(self.done[self.top])

    # --- where ------------------------------------------------------------------------------------------------

    def _place(self) -> _Place:
        raw = self.reading.raws[self.top]
        size = raw.window_extents or raw.screen_extents
        if self.window is None or size is None or size.width <= 0:
            return _Place(within_window=self.gtk4)
        area = self.window.rect
        # Toolkits count in logical pixels: a window's real width tells how many device pixels each of them is.
        scale = max(1, round(area.width / size.width))
        if not self.gtk4:
            return _Place(scale=scale)
        # GTK 4 counts from the inside of the frame that it draws itself, the same on both sides.
        left, top = (area.width - scale * size.width) / 2, (area.height - scale * size.height) / 2
        return _Place(area.x + left - scale * size.x, area.y + top - scale * size.y, scale, True)

    def _view(self, raw: Raw, place: _Place) -> Rect | None:
        """Where its contents can be seen: below the headers, which do not scroll with them."""
        view = place.screen(raw)
        children = [
            self.reading.raws[child] for child in raw.children[:_MOST_HEADERS] if child in self.reading.raws
        ]
        headers = [place.screen(child) for child in children if child.role in _HEADERS]
        if view is None or not (bottoms := [each.bottom for each in headers if each is not None]):
            return view
        top = min(view.bottom, max(view.y, *bottoms))
        return Rect(view.x, top, view.width, view.bottom - top)

    def _popup(self, raw: Raw, place: _Place) -> _Place | None:
        """GTK 4 gives what is in a popover the wrong origin: take it from the popover's own X window."""
        rect = raw.window_extents
        if not self.gtk4 or rect is None:
            return None
        for popup in self.popups:
            if (popup.rect.width, popup.rect.height) == (
                round(rect.width * place.scale),
                round(rect.height * place.scale),
            ):
                return _Place(
                    popup.rect.x - rect.x * place.scale,
                    popup.rect.y - rect.y * place.scale,
                    place.scale,
                    True,
                )
        return place

    # --- what -------------------------------------------------------------------------------------------------

    def _node(self, raw: Raw, place: _Place, visible: bool) -> Node:
        children = [self.done[child] for child in self.below[raw.path]]
        role = self._role(raw)
        if role == "button" and (inner := same_button(children)) is not None:
            return inner
        if role == "cell" and children and all(child.role == "cell" for child in children):
            children = one_cell(children)
        if role in ORDERED:
            children = in_reading_order(children)
        name, value = self._name_and_value(raw, role, children)
        if role == "combobox" and self.gtk4:
            # Of the list only what is chosen is there: that is the value. A popover is another matter.
            children = [child for child in children if child.role == "menu"]
        if role == "cell" and [child.name for child in children] == [name]:
            children = []
        states = self._states(raw, role, visible)
        app = self.reading.app
        return Node(
            role=role,
            name=name,
            value=value,
            description=raw.description if comparable(raw.description) != comparable(name) else "",
            states=states,
            rect=place.screen(raw) if visible else None,
            app=app.name,
            window=self.title,
            handle=self._handle(raw),
            children=tuple(children),
        )

    def _handle(self, raw: Raw) -> Handle:
        app = self.reading.app
        return Handle(
            app.bus,
            raw.path,
            pid=app.pid,
            interfaces=raw.interfaces,
            parent=raw.parent,
            toolkit=app.toolkit,
            index=raw.index,
            size=max(raw.count, len(raw.children)),
        )

    def _role(self, raw: Raw) -> str:
        role = ARIA_OF.get(raw.role, "generic")
        if raw.path == self.top:
            return "dialog" if role in ("alert", "dialog") else "window"
        if raw.role == "menu" and self._own_name(raw):
            return "menuitem"  # GTK 3: the entry of a menu bar, with its items as children
        return role

    def _own_name(self, raw: Raw) -> str:
        """The name, without the widget classes that GTK 4 gives for want of one."""
        name = raw.name
        if raw.path == self.top:
            return name or self.title
        if not self.gtk4:
            return name
        wrapper = ARIA_OF.get(raw.role, "generic") in CONTAINERS
        if _WIDGET_CLASS.fullmatch(name) or (wrapper and _CAMEL_CASE.fullmatch(name)):
            return ""
        half, rest = name[: len(name) // 2], name[len(name) // 2 + 1 :]
        if half and half == rest:  # GTK 4.8 joins the label with itself
            inside = (self.done[child].name for child in raw.children if child in self.done)
            if half in inside or any(self._label(path) == half for path in raw.labelled_by) or raw.children:
                return half
        return name

    def _label(self, path: str) -> str:
        raw = self.reading.raws.get(path)
        return (raw.name or raw.value or "") if raw else ""

    def _name_and_value(self, raw: Raw, role: str, children: Sequence[Node]) -> tuple[str, str | None]:
        name, value = self._own_name(raw), raw.value
        editable = "editable" in raw.states or role in ("textbox", "searchbox")
        if role == "combobox" and self.gtk4:
            value = value or chosen_in(children, name)
        elif role == "combobox" and name and name in {each.name for each in walk(children)}:
            name, value = "", name  # GTK 3 names a combo box after what is chosen in it
        if (
            value is not None
            and not editable
            and role not in ("combobox", "spinbutton", "slider", "progressbar", "meter")
        ):
            # The text of something that cannot be edited is what it is called.
            name, value = name or ("" if children else " ".join(value.split())), None
        if not name:
            name = " ".join(filter(None, (self._label(path) for path in raw.labelled_by)))
        if not name and role in _NAMED_BY_CONTENT:
            name = words_in(children, typed=False)[:_CONTENT_CHARS]
        if not name and role in _INTERACTIVE:
            name = raw.description  # a tooltip is the last resort, as in ARIA's rules for names
        return name, value

    def _states(self, raw: Raw, role: str, visible: bool) -> frozenset[str]:
        states = set(raw.states & _SAME_STATES)
        if role in _INTERACTIVE and not {"sensitive", "enabled"} & raw.states:
            states.add("disabled")
        if raw.role == "toggle button" and "checked" in states:
            states.discard("checked")
            states.add("pressed")
        if "collapsed" in raw.states or ("expandable" in raw.states and "expanded" not in raw.states):
            states.add("collapsed")
        if raw.role == "password text":
            states.add("password")
        elif role == "textbox" and ("readonly" in raw.states or "editable" not in raw.states):
            states.add("readonly")
        if raw.path != self.top:
            states -= {"active"}
        elif self.window is not None:
            states = states - {"active"} | ({"active"} if self.window.active else set())
        if not visible:
            states.add("offscreen")
        return frozenset(states)
