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
  const FOUND = 60, FEW = 60, LONG = 2000, HUGE = 20000, CROWD = 2000, STRAYS = 30, LOOK_MS = 100;
  const GRIDS = [[3, 3], [8, 2], [24, 6]];
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

  // Notes what is at the points of ever finer grids over the view, for as long as that may take: where one text has
  // very many lines, each point costs much.
  function lookAround(path) {
    const until = performance.now() + LOOK_MS;
    for (const [rows, columns] of GRIDS)
      for (let row = 0; row < rows; row++)
        for (let column = 0; column < columns; column++) {
          path(document.elementFromPoint(innerWidth * (column + .5) / columns, innerHeight * (row + .5) / rows));
          if (performance.now() > until) return;
        }
  }

  // The first and the last character of a text of megabytes that can be seen; null when none can. Measuring all of it
  // would take seconds.
  function visible(text) {
    const box = text.parentElement.getBoundingClientRect();
    const left = Math.max(0, box.left) + 5, right = Math.min(innerWidth, box.right) - 5;
    const top = Math.max(0, box.top) + 5, bottom = Math.min(innerHeight, box.bottom) - 5;
    const offsets = [[left, top], [right, bottom], [left, bottom], [left, (top + bottom) / 2]].map(([x, y]) => {
      const caret = document.caretRangeFromPoint(x, y);
      return caret && caret.startContainer === text ? caret.startOffset : -1;
    }).filter(offset => offset >= 0);
    return offsets.length ? [Math.min(...offsets), Math.max(...offsets)] : null;
  }

  // Of a text of megabytes: what is around the first of the words, else what can be seen of it.
  function excerpt(text, words, seen) {
    let [start, end] = seen || [0, 0];
    const said = words.length ? text.toLowerCase() : '';
    const at = words.map(word => said.indexOf(word)).find(index => index >= 0);
    if (at !== undefined) start = end = at;
    start = Math.max(0, start - (at === undefined ? 0 : 50));
    const word = start < 50 ? 0 : text.slice(start - 50, start).search(/\\s\\S*$/) + start - 49;  // where it begins
    if (word > start - 50 || !word) start = word;
    end = Math.min(text.length, end + (at === undefined ? LONG : 90), start + HUGE);
    return (start ? '… ' : '') + text.slice(start, end) + (end < text.length ? ' …' : '');
  }

  // Of very many children: those at the grid's points and what is near beside them. Each costs a measurement.
  function beside(children, paths, isNear) {
    const near = new Set(), known = new Set();
    children.forEach((child, index) => {
      if (!paths.has(child)) return;
      near.add(child);
      for (const step of [1, -1])
        for (let i = index + step, strays = 0; strays < STRAYS && children[i] && !known.has(children[i]); i += step) {
          known.add(children[i]);
          if (children[i].nodeType !== Node.ELEMENT_NODE) continue;
          if (isNear(children[i].getBoundingClientRect())) { near.add(children[i]); strays = 0; } else strays++;
        }
    });
    return near;
  }

  // The nodes to pass over, and the texts to be shortened with what is said in their place.
  function far(words, most) {
    const passed = new Set(), whole = new Set(), paths = new Set(), shortened = new Map();
    const path = element => { for (let e = element; e && !paths.has(e); e = e.parentElement) paths.add(e); };
    for (const element of saying(words)) {
      const each = around(element);
      whole.add(each);
      path(each);
    }
    path(document.activeElement);
    lookAround(path);  // what can be seen is read, wherever it hangs in the document
    const reach = innerHeight / 2;
    const isNear = rect => !rect.width || !rect.height ||
      (rect.bottom > -reach && rect.top < innerHeight + reach && rect.right > -reach && rect.left < innerWidth + reach);
    const range = document.createRange();
    const lies = text => {
      if (text.length > HUGE) return visible(text) !== null;
      range.selectNode(text);
      return isNear(range.getBoundingClientRect());
    };
    const shorten = text => {
      if (text.length > HUGE) shortened.set(text, excerpt(text.data, words, visible(text)));
    };
    let kept = 0;
    const stack = [document.body];
    while (stack.length) {
      const element = stack.pop();
      const children = [...element.childNodes];
      const near = children.length > CROWD && beside(children, paths, isNear);
      for (const child of children) {
        if (child.nodeType === Node.TEXT_NODE && child.length > LONG) {
          if (lies(child) || whole.has(element)) shorten(child);
          else passed.add(child);
        } else if (near && child.nodeType === Node.TEXT_NODE && !near.has(child.previousSibling)) passed.add(child);
        if (child.nodeType !== Node.ELEMENT_NODE) continue;
        if (whole.has(child)) {
          kept += FEW / 2;
          const texts = document.createTreeWalker(child, NodeFilter.SHOW_TEXT);
          while (texts.nextNode()) shorten(texts.currentNode);
          continue;
        }
        const isThere = () => near ? near.has(child) : isNear(child.getBoundingClientRect());
        if (paths.has(child) || (kept < most && isThere())) {
          kept++;
          stack.push(child);
        } else passed.add(child);
      }
    }
    return [passed, shortened];
  }

  function passOver(passed, shortened) {
    const own = ['firstChild', 'nextSibling', 'nodeValue'].map(
      name => [name, Object.getOwnPropertyDescriptor(Node.prototype, name)]);
    const next = own[1][1].get;
    const value = own[2][1].get;
    Object.defineProperty(Node.prototype, 'nodeValue', { configurable: true, enumerable: true, get() {
      return shortened.has(this) ? shortened.get(this) : value.call(this);
    } });
    for (const [name, { get }] of own.slice(0, 2))
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
    if (document.body) passOver(...far(words.map(comparable).filter(word => word), most));
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
