"""The frames of a page: where each stands, which document it shows, which fields it has. All are asked at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from deskhand.observers.aria import Aria
from deskhand.observers.page_inputs import SPECIAL, Input, find_inputs

if TYPE_CHECKING:
    from playwright.async_api import Frame, Page

PLACE_MS: Final = 4_000
"""Milliseconds for a frame to say where it stands, when it has to be asked by itself."""

ANSWER_MS: Final = 800
"""Milliseconds for a document to answer at all: what one that hangs costs."""

# A frame and the element that shows it know one another by a number only: the frame's place among its parent's, which
# both can tell whatever their origins are. Shadow roots are documents within the document.
_ACCOUNT: Final = """special => {
  const box = e => {
    const r = e.getBoundingClientRect();
    return [r.x, r.y, r.width, r.height].map(each => Math.round(each)).join(',');
  };
  const roots = [document];
  for (const root of roots) for (const e of root.querySelectorAll('*')) if (e.shadowRoot) roots.push(e.shadowRoot);
  const all = selector => roots.flatMap(root => [...root.querySelectorAll(selector)]);
  const place = (above, content) => {
    try { for (let i = 0; i < above.length; i++) if (above[i] === content) return i; } catch {}
    return -1;
  };
  const inset = e => {
    const style = getComputedStyle(e);
    return [e.clientLeft + parseFloat(style.paddingLeft), e.clientTop + parseFloat(style.paddingTop)];
  };
  const words = id => (document.getElementById(id) || {}).textContent || '';
  const name = e => e.getAttribute('aria-label')
    || (e.getAttribute('aria-labelledby') || '').split(' ').map(words).join(' ') || e.alt || e.title || e.textContent;
  const named = '[aria-label],[aria-labelledby],[alt],[title],a,button,h1,h2,h3,h4,h5,h6';
  return {
    origin: String(performance.timeOrigin),
    place: parent === window ? -1 : place(parent, window),
    frames: all('iframe,frame').map(e => [box(e), place(window, e.contentWindow), ...inset(e)]),
    names: all(named).filter(e => name(e).length > 800).slice(0, 200).map(e => [box(e), name(e).slice(0, 20000)]),
    fields: all(special).map(e => [e.type, box(e)]),
  };
}"""
_INSET: Final = """e => {
  const style = getComputedStyle(e);
  return [e.clientLeft + parseFloat(style.paddingLeft), e.clientTop + parseFloat(style.paddingTop)];
}"""


_NAMED: Final = frozenset(
    "button link heading img checkbox radio switch tab menuitem textbox searchbox combobox slider spinbutton".split()
)


@dataclass(slots=True)
class PageFrame:
    """Where the boxes of a frame count from, in CSS pixels of the top viewport, and which document it shows."""

    document: str
    x: float = 0
    y: float = 0
    inputs: dict[str, Input] = field(default_factory=dict)
    frame: Frame | None = None


@dataclass(frozen=True, slots=True)
class _Account:
    """What a document says of itself.

    ``place`` is its number among the frames of its parent; ``frames`` are its own, by the box of their element: the
    number, and how far inside of the box the document begins.
    """

    origin: str
    place: int
    frames: dict[str, tuple[int, float, float]]
    fields: list[tuple[str, str]]
    names: dict[str, str]
    """Names that are too long for the snapshot, which leaves them out; by the box of the element."""


async def find_frames(page: Page, elements: Sequence[Aria], document: str) -> dict[str, PageFrame]:
    """The frames that show something, by the ref of their iframe element; the page's own document under ``""``.

    ``elements`` are the snapshot's. A frame that does not say where it stands and what it holds is left out.
    """
    level = [("", each) for each in own(elements) if _is_frame(each)]
    asked = page.frames if level else [page.main_frame]
    told = await asyncio.gather(*map(_account, asked))
    accounts = {frame: account for frame, account in zip(asked, told, strict=True) if account is not None}
    top = PageFrame(document, frame=page.main_frame)
    top.inputs = await _fields(page, elements, accounts.get(page.main_frame))
    found = {"": top}
    while level:
        frames = await asyncio.gather(
            *(_frame(page, iframe, found.get(outer), accounts) for outer, iframe in level),
            return_exceptions=True,
        )
        for (outer, iframe), frame in zip(level, frames, strict=True):
            if isinstance(frame, PageFrame) and outer in found:
                frame.x += found[outer].x
                frame.y += found[outer].y
                found[iframe.ref] = frame
        level = [(outer.ref, each) for _, outer in level for each in own(outer.children) if _is_frame(each)]
    return found


def own(elements: Iterable[Aria]) -> Iterator[Aria]:
    """The elements of one document: what is inside its frames is not."""
    stack = list(elements)[::-1]
    while stack:
        element = stack.pop()
        yield element
        if element.role != "iframe":
            stack.extend(reversed(element.children))


def _is_frame(element: Aria) -> bool:
    return element.role == "iframe" and bool(element.ref and element.children)


async def _account(frame: Frame) -> _Account | None:
    from playwright.async_api import Error

    try:
        async with asyncio.timeout(ANSWER_MS / 1000):
            told: dict[str, Any] = await frame.evaluate(_ACCOUNT, SPECIAL)
    except (Error, TimeoutError):
        return None
    counts = Counter(box for box, *_ in told["frames"])
    return _Account(
        origin=str(told["origin"]),
        place=int(told["place"]),
        # Of two at one place the box does not tell which is which.
        frames={box: (place, x, y) for box, place, x, y in told["frames"] if counts[box] == 1 and place >= 0},
        fields=[(kind, box) for kind, box in told["fields"]],
        names=dict(told["names"]),
    )


async def _frame(
    page: Page, iframe: Aria, outer: PageFrame | None, accounts: dict[Frame, _Account]
) -> PageFrame:
    """A frame, placed within the one around it."""
    above = outer.frame if outer is not None else None
    account = accounts.get(above) if above is not None else None
    told = account.frames.get(iframe.attributes.get("box", "")) if account is not None else None
    if told is None:
        return await _asked(page, iframe)
    place, x, y = told
    inside = [
        frame for frame, each in accounts.items() if frame.parent_frame is above and each.place == place
    ]
    if len(inside) != 1:
        return await _asked(page, iframe)
    box = iframe.box or (0, 0, 0, 0)
    mine = accounts[inside[0]]
    found = PageFrame(mine.origin, box[0] + x, box[1] + y, frame=inside[0])
    found.inputs = await _fields(page, iframe.children, mine)
    return found


async def _asked(page: Page, iframe: Aria) -> PageFrame:
    """The same, by asking for this one frame alone."""
    async with asyncio.timeout(PLACE_MS / 1000):
        element = await page.locator(f"aria-ref={iframe.ref}").element_handle(timeout=PLACE_MS)
        content = await element.content_frame()
        if content is None:
            raise ValueError("not a frame")
        account, inset = await asyncio.gather(_account(content), element.evaluate(_INSET))
        if account is None:
            raise ValueError("the frame does not answer")
        box = iframe.box or (0, 0, 0, 0)
        found = PageFrame(account.origin, box[0] + inset[0], box[1] + inset[1], frame=content)
        found.inputs = await _fields(page, iframe.children, account)
    return found


async def _fields(page: Page, elements: Sequence[Aria], account: _Account | None) -> dict[str, Input]:
    mine = list(own(elements))
    if account is not None and account.names:
        for each in mine:
            if each.ref and not each.name and each.role in _NAMED:
                each.name = account.names.get(each.attributes.get("box", ""), "")
    async with asyncio.timeout(PLACE_MS / 1000):
        return await find_inputs(page, mine, account.fields if account is not None else [("password", "")])
