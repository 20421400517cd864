"""Reading only what is near the view of a page that is too large to be read whole.

Playwright's snapshot visits every element; tens of thousands take it from seconds to for ever. A selector engine of
ours, evaluated in the same call and in Playwright's own world (the page cannot see it), has that visit pass over what
is far from the view and was not asked for. Nothing of the page is changed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playwright.async_api import Locator, Page, Playwright

LARGE: Final = 4_000
"""Elements of a page from which on only what is near the view is read: about 0.4 s of snapshot."""

LONG: Final = 500_000
"""Characters of a page's text from which on the same is done."""

ENGINE: Final = "deskhand_near"

_SCRIPT: Final = """
(() => {
  const FOUND = 60, FEW = 60, LONG = 2000;
  const comparable = text => (text || '').normalize('NFC').replace(/\\s+/g, ' ').trim().toLowerCase();

  // Elements that say one of the words, as deep as can be, in document order.
  function saying(words) {
    const found = new Set();
    if (!words.length) return found;
    const says = text => { const said = comparable(text); return said && words.some(word => said.includes(word)); };
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (found.size < FOUND && texts.nextNode())
      if (says(texts.currentNode.data)) found.add(texts.currentNode.parentElement);
    const fields = '[aria-label],[title],[alt],[placeholder],input,textarea';
    for (const e of document.body.querySelectorAll(fields)) {
      if (found.size >= FOUND) break;
      const told = ['aria-label', 'title', 'alt', 'placeholder'].some(name => says(e.getAttribute(name)));
      if (told || (e.type !== 'password' && says(e.value))) found.add(e);
    }
    return found;
  }

  // What belongs to an element so closely that it has to be read with it: its row, or what it is in.
  function around(element) {
    const row = element.closest('li,tr,article,label,[role=row],[role=listitem],[role=article],[role=option]');
    for (const each of [row, element.parentElement])
      if (each && each !== document.body && each.getElementsByTagName('*').length <= FEW) return each;
    return element;
  }

  // The elements to pass over.
  function far(words, most) {
    const passed = new Set(), whole = new Set(), paths = new Set();
    const path = element => { for (let e = element; e && !paths.has(e); e = e.parentElement) paths.add(e); };
    for (const element of saying(words)) {
      const each = around(element);
      whole.add(each);
      path(each);
    }
    path(document.activeElement);
    for (let y = 0; y < 3; y++)  // what can be seen is read, wherever it hangs in the document
      for (let x = 0; x < 3; x++)
        path(document.elementFromPoint(innerWidth * (x + .5) / 3, innerHeight * (y + .5) / 3));
    const reach = innerHeight / 2;
    const isNear = rect => !rect.width || !rect.height ||
      (rect.bottom > -reach && rect.top < innerHeight + reach && rect.right > -reach && rect.left < innerWidth + reach);
    const range = document.createRange();
    const lies = text => { range.selectNode(text); return isNear(range.getBoundingClientRect()); };
    let kept = 0;
    const stack = [document.body];
    while (stack.length) {
      const element = stack.pop();
      for (const child of element.childNodes) {
        if (child.nodeType === Node.TEXT_NODE && child.length > LONG && !lies(child)) passed.add(child);
        if (child.nodeType !== Node.ELEMENT_NODE) continue;
        if (whole.has(child)) { kept += FEW / 2; continue; }
        if (paths.has(child) || (kept < most && isNear(child.getBoundingClientRect()))) {
          kept++;
          stack.push(child);
        } else passed.add(child);
      }
    }
    return passed;
  }

  function passOver(passed) {
    const own = ['firstChild', 'nextSibling'].map(
      name => [name, Object.getOwnPropertyDescriptor(Node.prototype, name)]);
    const next = own[1][1].get;
    for (const [name, { get }] of own)
      Object.defineProperty(Node.prototype, name, { configurable: true, enumerable: true, get() {
        let node = get.call(this);
        while (node && passed.has(node)) node = next.call(node);
        return node;
      } });
    // The snapshot is taken in this very task.
    queueMicrotask(() => { for (const [name, was] of own) Object.defineProperty(Node.prototype, name, was); });
  }

  function body(asked) {
    const { words, most } = JSON.parse(decodeURIComponent(asked));
    if (document.body) passOver(far(words.map(comparable).filter(word => word), most));
    return document.body ? [document.body] : [];
  }
  return { query: (_, asked) => body(asked)[0] || null, queryAll: (_, asked) => body(asked) };
})()
"""


async def register(playwright: Playwright) -> None:
    """Make the engine known, before any page is read."""
    await playwright.selectors.register(ENGINE, _SCRIPT, content_script=True)


def near_view(page: Page, words: Sequence[str]) -> Locator:
    """The page's body, of which a snapshot holds what is near the view, and what says one of the ``words``."""
    asked = quote(json.dumps({"words": list(words), "most": LARGE}), safe="")
    return page.locator(f"{ENGINE}={asked}")
