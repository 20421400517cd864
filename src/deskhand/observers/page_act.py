"""Acting on a page's elements through Playwright: real, trusted input, its checks, a deadline on everything."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from deskhand.errors import Effect, TargetError, ToolError
from deskhand.messages import Node, Point
from deskhand.observers.node import quote
from deskhand.observers.page import Browser, handle_of
from deskhand.observers.page_errors import translated
from deskhand.observers.serialize import describe

if TYPE_CHECKING:
    from playwright.async_api import ElementHandle, Page

    Doing: TypeAlias = Callable[[Page, ElementHandle], Awaitable[Effect]]

ACT_MS: Final = 2_000
"""Milliseconds for an element to become ready to be acted on (visible, enabled, still, not covered)."""

DO_S: Final = 5.0
"""Seconds for a whole act: what an element that hangs in the page's own handlers costs."""

ANEW_S: Final = 2.5
"""Seconds, from its being read, in which an element that is drawn anew all the time is tried to be caught."""

_TAKEN: Final = """(e, text) => {
  const other = document.createElement('input');
  other.type = e.type;
  other.value = text;
  return other.value;
}"""
"""What an input of this type makes of a text: nothing, when it does not have the form."""

_LABELS: Final = (
    "e => e.tagName === 'SELECT' ? [...e.options].map(o => o.label.trim().replace(/\\s+/g, ' ')) : null"
)

_OVER: Final = """(e, [x, y]) => {
  let hit = e.ownerDocument.elementFromPoint(x, y);
  while (hit && hit.shadowRoot) {
    const inner = hit.shadowRoot.elementFromPoint(x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  for (let each = hit; each; each = each.parentElement || each.getRootNode().host) if (each === e) return null;
  if (!hit || (hit.closest('label') && hit.closest('label').control === e)) return null;
  return `<${hit.tagName.toLowerCase()}> ${(hit.innerText || '').slice(0, 80)}`.replace(/\\s+/g, ' ').trim();
}"""
"""What lies over an element at a point of its frame's viewport: none when a click there reaches it."""

_SPOT: Final = """e => {
  e.scrollIntoViewIfNeeded ? e.scrollIntoViewIfNeeded() : e.scrollIntoView();
  const box = e.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
  const hit = box.width && box.height ? e.getRootNode().elementFromPoint(x, y) : null;
  return hit && e.contains(hit) ? [x, y] : null;
}"""
"""The middle of an element in its frame's viewport, when a click there reaches it."""

Modifier = Literal["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]
_MODIFIERS: Final[dict[str, Modifier]] = {
    "alt": "Alt",
    "ctrl": "Control",
    "control": "Control",
    "shift": "Shift",
    "super": "Meta",
    "meta": "Meta",
    "cmd": "Meta",
    "win": "Meta",
}


async def click(
    browser: Browser,
    node: Node,
    *,
    button: Literal["left", "middle", "right"] = "left",
    count: int = 1,
    modifiers: Sequence[str] = (),
) -> Effect:
    """Click an element; choose an option of a native select; press a button of a JavaScript dialog.

    ``dispatched`` when a JavaScript dialog came up in answer. TargetError says why it could not be clicked.
    """
    handle = handle_of(node)
    if handle.document.startswith("dialog "):
        return await _answer(browser, handle.ref)
    if handle.option:
        return await select(browser, node, handle.option)
    keys = [_MODIFIERS[key.lower()] for key in modifiers]

    async def do(page: Page, element: ElementHandle) -> Effect:
        clicking = element.click(button=button, click_count=count, modifiers=keys, timeout=ACT_MS)
        return "done" if await browser.act(page, clicking) else "dispatched"

    async def at_once(page: Page, element: ElementHandle) -> Effect:
        spot = await element.evaluate(_SPOT)
        if spot is None:
            raise TargetError(
                "stale_ref", f"{_named(node)} is drawn anew all the time: wait for the page, then look again"
            )
        return "done" if await browser.act(page, _click_at(page, spot, button, count, keys)) else "dispatched"

    return await _act(browser, node, f"click {_named(node)}", do, at_once)


async def _click_at(
    page: Page,
    spot: Sequence[float],
    button: Literal["left", "middle", "right"],
    count: int,
    keys: Sequence[Modifier],
) -> None:
    for key in keys:
        await page.keyboard.down(key)
    try:
        await page.mouse.click(spot[0], spot[1], button=button, click_count=count)
    finally:
        for key in reversed(keys):
            await page.keyboard.up(key)


async def hover(browser: Browser, node: Node) -> Effect:
    """Put the page's pointer over an element."""

    async def do(page: Page, element: ElementHandle) -> Effect:
        await browser.act(page, element.hover(timeout=ACT_MS))
        return "done"

    return await _act(browser, node, f"hover {_named(node)}", do)


async def focus(browser: Browser, node: Node) -> Effect:
    """Give an element the keyboard focus."""

    async def do(page: Page, element: ElementHandle) -> Effect:
        # A page may have its focus while the keyboard is in the address bar: this takes it from there.
        await browser.act(page, page.bring_to_front())
        await browser.act(page, element.focus())
        await _refuse_gone(element)
        return "done"

    return await _act(browser, node, f"focus {_named(node)}", do)


async def fill(browser: Browser, node: Node, text: str) -> Effect:
    """Replace a field's text and read it back: ``done`` only when it then holds exactly ``text``.

    ToolError, which says the form, for a date, a time or a colour that is not in the form the field takes.
    """
    handle = handle_of(node)
    if handle.document.startswith("dialog "):
        await browser.answer(True, text)
        return "done"

    async def do(page: Page, element: ElementHandle) -> Effect:
        taken = await element.evaluate(_TAKEN, text) if node.hint else text
        if not taken and text:
            raise ToolError(f"{describe(node)} takes no {quote(text, 80)}: give it as {node.hint}")
        if not await browser.act(page, element.fill(taken, timeout=ACT_MS)):
            return "dispatched"
        held = await _held(element)
        await _refuse_gone(element)
        return "done" if held == taken.replace("\r\n", "\n") else "effect_unknown"

    return await _act(browser, node, f"fill {_named(node)}", do)


async def read_text(browser: Browser, node: Node) -> str | None:
    """What a field holds, to the character; None for a password, a JavaScript dialog, or what has gone."""
    if "password" in node.states or handle_of(node).document.startswith("dialog "):
        return None
    async with browser.held(node) as (_, element), translated("read it back"):
        return await _held(element)


async def press(browser: Browser, node: Node, key: str) -> Effect:
    """Press a key (Playwright's spelling: ``Enter``, ``Control+A``) while the element has the focus."""

    async def do(page: Page, element: ElementHandle) -> Effect:
        return "done" if await browser.act(page, element.press(key, timeout=ACT_MS)) else "dispatched"

    return await _act(browser, node, f"press {key}", do)


async def select(browser: Browser, node: Node, option: str) -> Effect:
    """Choose an option of a native select by its label. ``not_supported`` for a list that a page builds by itself.

    TargetError ``not_found`` lists the options that there are.
    """

    async def do(page: Page, element: ElementHandle) -> Effect:
        labels = await element.evaluate(_LABELS)
        if labels is None:
            return "not_supported"
        fitting = [i for i, label in enumerate(labels) if label == option] or [
            i for i, label in enumerate(labels) if label.casefold() == option.casefold()
        ]
        if not fitting:
            listed = ", ".join(quote(str(label), 40) for label in labels[:20])
            raise TargetError("not_found", f"no option {quote(option, 80)}; there are: {listed}")
        if len(fitting) > 1:
            raise TargetError("ambiguous", f"{len(fitting)} options are called {quote(option, 80)}")
        if not await browser.act(page, element.select_option(index=fitting[0], timeout=ACT_MS)):
            return "dispatched"
        chosen = await element.evaluate("e => [...e.selectedOptions].map(o => o.index)")
        await _refuse_gone(element)
        return "done" if fitting[0] in chosen else "effect_unknown"

    return await _act(browser, node, f"choose {quote(option, 80)}", do)


async def check(browser: Browser, node: Node, on: bool) -> Effect:
    """Check or uncheck a check box, radio button or switch; ``done`` only when it then is so."""

    async def do(page: Page, element: ElementHandle) -> Effect:
        if not await browser.act(page, element.set_checked(on, timeout=ACT_MS)):
            return "dispatched"
        is_on = await element.is_checked()
        await _refuse_gone(element)
        return "done" if is_on is on else "effect_unknown"

    return await _act(browser, node, f"{'check' if on else 'uncheck'} {_named(node)}", do)


async def upload(browser: Browser, node: Node, files: Sequence[str]) -> Effect:
    """Give a file input its files. They are copied to where the browser, in its box, can read them."""
    missing = [path for path in files if not Path(path).is_file()]
    if missing:
        raise TargetError("not_found", f"no file {quote(missing[0], 200)}")
    shared = [browser.share_file(path) for path in files]

    async def do(page: Page, element: ElementHandle) -> Effect:
        await browser.act(page, element.set_input_files(shared, timeout=ACT_MS))
        held = await element.evaluate("e => e.files ? e.files.length : -1")
        return "done" if held == len(files) else "effect_unknown"

    return await _act(browser, node, "upload", do)


async def scroll_into_view(browser: Browser, node: Node) -> None:
    """Scroll the page until the element can be seen."""
    async with browser.held(node) as (_, element), translated("scroll to it"):
        await element.scroll_into_view_if_needed(timeout=ACT_MS)


async def refuse_covered(browser: Browser, node: Node, point: Point) -> None:
    """TargetError ``covered`` when, in the element's document, a click at this screen point would not reach it."""
    place = handle_of(node).place
    if place is None:
        return
    x, y, ratio = place
    async with browser.held(node) as (_, element), translated("look what is in front of it"):
        over = await element.evaluate(_OVER, [(point.x - x) / ratio, (point.y - y) / ratio])
    if over is not None:
        raise TargetError(
            "covered", f"{quote(str(over), 120)} is in front of {_named(node)}: answer or close that first"
        )


async def _act(browser: Browser, node: Node, what: str, do: Doing, at_once: Doing | None = None) -> Effect:
    """Act on the very element; on the one that has come in its place since, where nothing else is called as it is.

    A page may draw everything anew many times a second: an element that was there a moment ago is caught as it is now.
    Nothing was done yet to one that went before it could be clicked; filling, choosing, checking may be done twice.
    ``at_once`` does the same in less time than such a page takes, without waiting for the element to be still.
    """
    if "disabled" in node.states:
        raise TargetError("not_supported", f"{_named(node)} is disabled")
    handle = handle_of(node)
    deadline = handle.read + ANEW_S if handle.lone else 0.0
    anew = False
    while True:
        caught = False
        try:
            async with browser.held(node, anew=anew) as (page, element):
                caught = True
                try:
                    async with translated(what), asyncio.timeout(DO_S):
                        return await (at_once if anew and at_once else do)(page, element)
                except TargetError as error:
                    if error.effect in (
                        "not_supported",
                        "covered",
                    ):  # said, too, of what went in the middle of it
                        await _refuse_gone(element)
                    raise
        except TargetError as error:
            # What cannot be caught at once is gone, and not drawn anew.
            if error.effect != "stale_ref" or time.monotonic() > deadline or (anew and not caught):
                raise
            anew = True


def _named(node: Node) -> str:
    return f"{node.role} {quote(node.name, 80)}"


async def _refuse_gone(element: ElementHandle) -> None:
    """TargetError ``stale_ref`` when the page has put another element in its place by now."""
    async with translated("ask whether it is there"), asyncio.timeout(DO_S):
        there = await element.evaluate("e => e.isConnected")
    if not there:
        raise TargetError("stale_ref", "the page has drawn it anew; look again")


async def _held(element: ElementHandle) -> str:
    """What a field holds now: an input's value, or the text of an editable region."""
    held = await element.evaluate(
        "e => 'value' in e ? e.value : (e.control && 'value' in e.control ? e.control.value : e.innerText)"
    )
    return str(held).replace("\r\n", "\n")


async def _answer(browser: Browser, part: str) -> Effect:
    if part not in ("accept", "dismiss"):
        return "not_supported"
    await browser.answer(part == "accept")
    return "done"
