"""From a page's ARIA snapshot to `Node`s: documents told apart, frames put in their place, passwords left out."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from deskhand.messages import Node, Rect, WindowInfo
from deskhand.observers.aria import Aria, parse_snapshot
from deskhand.observers.frames import ANSWER_MS, PageFrame, find_frames
from deskhand.observers.near import LARGE, LONG, near_view
from deskhand.observers.node import clean_name, clean_value, comparable
from deskhand.observers.page_inputs import FORMS
from deskhand.observers.page_words import add_words
from deskhand.observers.worth import READ

if TYPE_CHECKING:
    from playwright.async_api import Page

SNAPSHOT_MS: Final = 4_000
"""Milliseconds a page may take to describe itself."""

_VALUED: Final = frozenset("textbox searchbox combobox spinbutton slider progressbar meter scrollbar".split())
_STATES: Final = ("checked", "disabled", "expanded", "invalid", "pressed", "selected")

_GEOMETRY: Final = """() => ({
  origin: String(performance.timeOrigin), title: document.title, url: location.href,
  inner: [innerWidth, innerHeight], ratio: devicePixelRatio,
  outer: [screenX, screenY, outerWidth, outerHeight],
  size: document.getElementsByTagName('*').length,
  text: document.body ? document.body.textContent.length : 0,
  plain: /^(text\\/(?!html)|application\\/(x-)?(json|javascript|yaml))/.test(document.contentType),
})"""
LINES: Final = 400
"""Lines of a text file that are read at once."""

_LINES: Final = """([most, words]) => {
  const text = document.body ? document.body.textContent : '', lines = text.split(/\\r?\\n/);
  const height = document.documentElement.scrollHeight || 1;
  // How far down the view begins: lines that are wrapped make this a guess, so a few more are read above.
  const first = scrollY > 0 ? Math.max(0, Math.floor(lines.length * scrollY / height) - 5) : 0;
  const near = lines.slice(first, first + most).map(line => line.slice(0, 2000));
  const found = [];
  for (let i = 0; words.length && i < lines.length && found.length < 60; i++) {
    const line = lines[i].toLowerCase();
    if ((i < first || i >= first + most) && words.some(word => line.includes(word)))
      found.push(lines[i].slice(0, 2000));
  }
  return { lines: [...near, ...found], near: near.length, first, count: lines.length };
}"""


@dataclass(frozen=True, slots=True)
class PageHandle:
    """Where an element of a page lives. ``document`` is new with every load, as Playwright's refs start over then.

    ``option`` names an option of the native select that ``ref`` is: options have no refs of their own. ``lone`` says
    that nothing else in the page had its role and name when it was read, at the moment ``read`` (monotonic clock).
    """

    tab: int
    document: str
    ref: str
    option: str = ""
    words: tuple[str, int] | None = None
    """Words in running text that can be pressed (`page_words`) have no ref either: the text, and which of them."""
    lone: bool = field(default=False, compare=False)
    read: float = field(default=0.0, compare=False)
    place: tuple[float, float, float] | None = field(default=None, compare=False)
    """Where its frame's viewport begins, in screen pixels, and how many of these a CSS pixel is; None: not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a page says of itself and where its content stands: ``area`` is its viewport in screen pixels."""

    title: str
    url: str
    document: str
    ratio: float
    area: Rect | None
    size: int = 0
    """How many elements its document has."""
    text: int = 0
    """How many characters of text."""
    plain: bool = False
    """Whether it is a text file, and no document with elements."""


@dataclass(slots=True)
class _Context:
    tab: int
    view: View
    window: str
    app: str
    began: float
    frames: dict[str, PageFrame] = field(default_factory=dict)
    """By the ref of their iframe element; the top document under ``""``."""
    names: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often each role and name is there."""


async def read_view(page: Page, window: Rect | None) -> View:
    """The page's own account of itself. ``window`` is the client area of its X window, in screen pixels."""
    async with asyncio.timeout(ANSWER_MS / 1000):
        told = await page.evaluate(_GEOMETRY)
    ratio = float(told["ratio"]) or 1.0
    width, height = (float(each) * ratio for each in told["inner"])
    if window is None:
        x, y, outer_width, outer_height = (float(each) * ratio for each in told["outer"])
        window = Rect(round(x), round(y), round(outer_width), round(outer_height))
    # The browser's own border is as wide below the page as beside it; its bars are above.
    border = max(0.0, (window.width - width) / 2)
    area = Rect(round(window.x + border), round(window.bottom - border - height), round(width), round(height))
    return View(
        title=clean_name(str(told["title"])),
        url=clean_name(str(told["url"])),
        document=str(told["origin"]),
        ratio=ratio,
        area=area,
        size=int(told["size"]),
        text=int(told["text"]),
        plain=bool(told["plain"]),
    )


async def read_page(
    page: Page, tab: int, window: WindowInfo | None, *, shown: bool = True, words: Sequence[str] = ()
) -> Node:
    """The page as one ``document`` node. Rectangles are in screen pixels when the tab is ``shown``, else None.

    Of a page with more than `LARGE` elements: what is near the view, and what says one of the ``words``.
    """
    began = time.monotonic()
    view = await read_view(page, window.rect if window else None)
    if view.plain:
        return await _read_lines(page, tab, window, view, words)
    whole = view.size <= LARGE and view.text <= LONG
    told = page if whole else near_view(page, words)
    text = await told.aria_snapshot(mode="ai", boxes=True, timeout=SNAPSHOT_MS)
    elements = await asyncio.to_thread(parse_snapshot, text)
    title, app = (window.title, window.app.partition(" (")[0]) if window else (view.title, "browser")
    context = _Context(tab, view if shown else replace(view, area=None), title, app, began)
    if elements and whole:
        await add_words(page, elements)
    if elements:
        context.frames = await find_frames(page, elements, view.document)
    context.names.update((each.role, each.name) for each in _all(elements))
    for body in elements:
        if body.role == "generic":  # it has the focus when nothing has
            body.attributes.pop("active", None)
    children = _build(elements, context)
    return Node(
        role="document",
        name=view.title,
        hint=""
        if whole
        else f"long page, {view.size} elements; only those near the view are here: scroll, or query",
        url=view.url,
        source="page",
        rect=context.view.area,
        app=app,
        window=title,
        handle=PageHandle(tab, view.document, ""),
        children=children,
    )


async def _read_lines(
    page: Page, tab: int, window: WindowInfo | None, view: View, words: Sequence[str]
) -> Node:
    """A text file: its lines, from the top of the view on, and those that say one of the ``words``."""
    asked = [comparable(each) for each in words]
    async with asyncio.timeout(SNAPSHOT_MS / 1000):
        told = await page.evaluate(_LINES, [LINES, [each for each in asked if each]])
    title, app = (window.title, window.app.partition(" (")[0]) if window else (view.title, "browser")
    lines = [
        Node(role="paragraph", value=clean_name(str(line)), source="page", app=app, window=title)
        for line in told["lines"]
        if line
    ]
    first, count = int(told["first"]), int(told["count"])
    rest = f"lines {first + 1}–{first + int(told['near'])} of {count}: scroll, or query for others"
    return Node(
        role="document",
        name=view.title,
        hint=rest if count > int(told["near"]) else "",
        url=view.url,
        source="page",
        rect=view.area,
        app=app,
        window=title,
        handle=PageHandle(tab, view.document, ""),
        children=tuple(lines),
    )


def _all(elements: Iterable[Aria]) -> Iterator[Aria]:
    stack = list(elements)
    while stack:
        element = stack.pop()
        yield element
        stack.extend(element.children)


# --- nodes --------------------------------------------------------------------------------------------------------


def _build(elements: Sequence[Aria], context: _Context) -> tuple[Node, ...]:
    done: dict[int, Node] = {}
    stack: list[tuple[Aria, str, str, bool]] = [(each, "", "", False) for each in reversed(elements)]
    while stack:
        element, frame, select, ready = stack.pop()
        if ready:
            children = tuple(done[id(child)] for child in element.children)
            done[id(element)] = _node(element, children, context, frame, select)
            continue
        stack.append((element, frame, select, True))
        inner = frame
        if element.role == "iframe":
            inner = element.ref if element.ref in context.frames else "?"
        inside = element.ref if element.role in ("combobox", "listbox") else select
        stack.extend((child, inner, inside, False) for child in reversed(element.children))
    return tuple(done[id(each)] for each in elements)


def _node(element: Aria, children: tuple[Node, ...], context: _Context, frame: str, select: str) -> Node:
    place = context.frames.get(frame, PageFrame(""))
    role, name, text = element.role, clean_name(element.name), element.text
    states = {state for state in _STATES if element.attributes.get(state, "false") not in ("false", "mixed")}
    if "mixed" in (element.attributes.get("checked"), element.attributes.get("pressed")):
        states.add("mixed")
    if "active" in element.attributes:
        states.add("focused")
    if role in ("textbox", "searchbox", "spinbutton"):
        states.add("editable")
    pointer = element.attributes.get("cursor") == "pointer"
    value = clean_value(text) if text is not None else None
    kind = place.inputs.get(element.ref) if element.ref else None
    if kind is not None and kind.type == "password":
        states.add("password")
        value, children = None, ()
    elif kind is not None and kind.value is not None:
        states.update({"multiline"} if kind.type == "textarea" else ())
        value = clean_value(kind.value)
    elif role in _VALUED:
        value = value if value is not None else _chosen(role, children)
    elif value is not None and role == "generic" and not name and not pointer:
        role, name, value = "text", clean_name(value), None
    handle = None
    if element.ref and place.document:
        lone = not frame and bool(name) and context.names[element.role, element.name] == 1
        handle = PageHandle(
            context.tab,
            place.document,
            element.ref,
            lone=lone,
            read=context.began,
            place=_begin(context.view, place),
        )
    if "words" in element.attributes and value is not None:
        words = (value, int(element.attributes["words"]))
        place_ = _begin(context.view, place)
        handle = PageHandle(
            context.tab, context.view.document, "", words=words, read=context.began, place=place_
        )
    if role == "option" and handle is None and select and place.document:
        handle = PageHandle(context.tab, place.document, select, name)
    rect, off = _screen(element, context.view, place)
    if off:
        states.add("offscreen")
    return Node(
        role=role,
        name=name,
        value=value,
        description=clean_name(element.placeholder),
        hint=FORMS.get(kind.type, "") if kind is not None else "",
        states=frozenset(states),
        rect=rect,
        actions=("click",) if pointer and (role == "generic" or role in READ) else (),
        level=_level(element),
        url=clean_name(element.url),
        source="page",
        app=context.app,
        window=context.window,
        handle=handle,
        children=children,
    )


def _chosen(role: str, children: Sequence[Node]) -> str | None:
    """What an input without text of its own holds: the selected option of a combo box, else nothing."""
    if role == "combobox":
        return next((each.name for each in children if "selected" in each.states), None if children else "")
    return "" if role in ("textbox", "searchbox") and not children else None


def _level(element: Aria) -> int | None:
    level = element.attributes.get("level", "")
    return int(level) if level.isdecimal() else None


def _begin(view: View, frame: PageFrame) -> tuple[float, float, float] | None:
    if view.area is None:
        return None
    return view.area.x + frame.x * view.ratio, view.area.y + frame.y * view.ratio, view.ratio


def _screen(element: Aria, view: View, frame: PageFrame) -> tuple[Rect | None, bool]:
    """The element's rectangle in screen pixels, clipped to the viewport; and whether it is scrolled out of view."""
    box, area = element.box, view.area
    if box is None or area is None or box[2] <= 0 or box[3] <= 0 or not frame.document:
        return None, False
    x, y, width, height = (
        (frame.x + box[0]) * view.ratio,
        (frame.y + box[1]) * view.ratio,
        box[2] * view.ratio,
        box[3] * view.ratio,
    )
    rect = Rect(round(area.x + x), round(area.y + y), max(1, round(width)), max(1, round(height)))
    seen = rect.intersection(area)
    return seen, seen is None
