"""Acting on a page's elements through Playwright: real, trusted input, its checks, a deadline on everything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from deskhand.errors import Effect, TargetError
from deskhand.messages import Node
from deskhand.observers.node import quote
from deskhand.observers.page import Browser, handle_of
from deskhand.observers.page_errors import translated

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page

ACT_MS: Final = 2_000
"""Milliseconds for an element to become ready to be acted on (visible, enabled, still, not covered)."""

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
    what = f"click {node.role} {quote(node.name, 80)}"
    page, locator = await _ready(browser, node)
    keys = [_MODIFIERS[key.lower()] for key in modifiers]
    async with translated(what):
        done = await browser.act(
            page, locator.click(button=button, click_count=count, modifiers=keys, timeout=ACT_MS)
        )
    return "done" if done else "dispatched"


async def hover(browser: Browser, node: Node) -> Effect:
    """Put the page's pointer over an element."""
    page, locator = await _ready(browser, node)
    async with translated(f"hover {node.role} {quote(node.name, 80)}"):
        await browser.act(page, locator.hover(timeout=ACT_MS))
    return "done"


async def focus(browser: Browser, node: Node) -> Effect:
    """Give an element the keyboard focus."""
    page, locator = await _ready(browser, node)
    async with translated(f"focus {node.role} {quote(node.name, 80)}"):
        # A page may have its focus while the keyboard is in the address bar: this takes it from there.
        await browser.act(page, page.bring_to_front())
        await browser.act(page, locator.focus(timeout=ACT_MS))
    return "done"


async def fill(browser: Browser, node: Node, text: str) -> Effect:
    """Replace a field's text and read it back: ``done`` only when it then holds exactly ``text``."""
    handle = handle_of(node)
    if handle.document.startswith("dialog "):
        await browser.answer(True, text)
        return "done"
    page, locator = await _ready(browser, node)
    async with translated(f"fill {node.role} {quote(node.name, 80)}"):
        if not await browser.act(page, locator.fill(text, timeout=ACT_MS)):
            return "dispatched"
        return "done" if await _held(locator) == text.replace("\r\n", "\n") else "effect_unknown"


async def read_text(browser: Browser, node: Node) -> str | None:
    """What a field holds, to the character; None for a password, a JavaScript dialog, or what has gone."""
    if "password" in node.states or handle_of(node).document.startswith("dialog "):
        return None
    _, locator = await browser.locate(node)
    async with translated("read it back"):
        return await _held(locator)


async def press(browser: Browser, node: Node, key: str) -> Effect:
    """Press a key (Playwright's spelling: ``Enter``, ``Control+A``) while the element has the focus."""
    page, locator = await _ready(browser, node)
    async with translated(f"press {key}"):
        done = await browser.act(page, locator.press(key, timeout=ACT_MS))
    return "done" if done else "dispatched"


async def select(browser: Browser, node: Node, option: str) -> Effect:
    """Choose an option of a native select by its label. ``not_supported`` for a list that a page builds by itself.

    TargetError ``not_found`` lists the options that there are.
    """
    what = f"choose {quote(option, 80)}"
    page, locator = await _ready(browser, node)
    async with translated(what):
        labels = await locator.evaluate(
            "e => e.tagName === 'SELECT' ? [...e.options].map(o => o.label.trim().replace(/\\s+/g, ' ')) : null",
            timeout=ACT_MS,
        )
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
        if not await browser.act(page, locator.select_option(index=fitting[0], timeout=ACT_MS)):
            return "dispatched"
        chosen = await locator.evaluate("e => [...e.selectedOptions].map(o => o.index)", timeout=ACT_MS)
    return "done" if fitting[0] in chosen else "effect_unknown"


async def check(browser: Browser, node: Node, on: bool) -> Effect:
    """Check or uncheck a check box, radio button or switch; ``done`` only when it then is so."""
    page, locator = await _ready(browser, node)
    async with translated(f"{'check' if on else 'uncheck'} {node.role} {quote(node.name, 80)}"):
        if not await browser.act(page, locator.set_checked(on, timeout=ACT_MS)):
            return "dispatched"
        return "done" if await locator.is_checked(timeout=ACT_MS) is on else "effect_unknown"


async def upload(browser: Browser, node: Node, files: Sequence[str]) -> Effect:
    """Give a file input its files. They are copied to where the browser, in its box, can read them."""
    missing = [path for path in files if not Path(path).is_file()]
    if missing:
        raise TargetError("not_found", f"no file {quote(missing[0], 200)}")
    page, locator = await _ready(browser, node)
    shared = [browser.share_file(path) for path in files]
    async with translated("upload"):
        await browser.act(page, locator.set_input_files(shared, timeout=ACT_MS))
        held = await locator.evaluate("e => e.files ? e.files.length : -1", timeout=ACT_MS)
    return "done" if held == len(files) else "effect_unknown"


async def _ready(browser: Browser, node: Node) -> tuple[Page, Locator]:
    if "disabled" in node.states:
        raise TargetError("not_supported", f"{node.role} {quote(node.name, 80)} is disabled")
    return await browser.locate(node)


async def scroll_into_view(browser: Browser, node: Node) -> None:
    """Scroll the page until the element can be seen."""
    _, locator = await browser.locate(node)
    async with translated("scroll to it"):
        await locator.scroll_into_view_if_needed(timeout=ACT_MS)


async def _held(locator: Locator) -> str:
    """What a field holds now: an input's value, or the text of an editable region."""
    held = await locator.evaluate(
        "e => 'value' in e ? e.value : (e.control && 'value' in e.control ? e.control.value : e.innerText)",
        timeout=ACT_MS,
    )
    return str(held).replace("\r\n", "\n")


async def _answer(browser: Browser, part: str) -> Effect:
    if part not in ("accept", "dismiss"):
        return "not_supported"
    await browser.answer(part == "accept")
    return "done"
