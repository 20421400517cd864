"""Words within running text that can be pressed: Playwright's snapshot joins them to the text around them."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from deskhand.observers.aria import Aria
from deskhand.observers.frames import ANSWER_MS
from deskhand.observers.node import clean_name

if TYPE_CHECKING:
    from playwright.async_api import ElementHandle, Page

MOST: Final = 200
"""Such words of one page that are told."""

_WORDS: Final = """
const words = (most) => {
  const found = [];
  const plain = 'span, b, i, em, strong, u, font, small, mark, code, label, a:not([href])';
  for (const each of document.querySelectorAll(plain)) {
    if (found.length >= most) break;
    if (each.childNodes.length !== 1 || each.firstChild.nodeType !== Node.TEXT_NODE) continue;
    const taken = 'a[href], button, label, [role=button], [role=link], [aria-hidden=true]';
    if (each.hasAttribute('role') || each.closest(taken)) continue;
    const text = each.textContent.trim().replace(/\\s+/g, ' ');
    if (!text || text.length > 200) continue;
    const style = getComputedStyle(each);
    if (style.cursor !== 'pointer' || style.display !== 'inline' || style.visibility !== 'visible') continue;
    const above = each.parentElement && getComputedStyle(each.parentElement);
    if (above && above.cursor === 'pointer') continue;
    const box = each.getBoundingClientRect();
    if (box.width <= 0 || box.height <= 0) continue;
    found.push([each, text, Math.round(box.x), Math.round(box.y), Math.round(box.width), Math.round(box.height)]);
  }
  return found;
};
"""
_TELL: Final = f"most => {{ {_WORDS} return words(most).map(each => each.slice(1)); }}"
_TAKE: Final = f"""([most, text, nth]) => {{ {_WORDS}
  return (words(most).filter(each => each[1] === text)[nth] || [null])[0];
}}"""


async def add_words(page: Page, elements: Sequence[Aria]) -> None:
    """Put the words that can be pressed below the elements whose text they are in.

    They become ``generic`` elements with the attributes ``cursor=pointer`` and ``words``: how many of the same text
    come before. Boxes are in CSS pixels of the page's viewport, as the snapshot's.
    """
    async with asyncio.timeout(ANSWER_MS / 1000):
        told = await page.evaluate(_TELL, MOST)
    before: defaultdict[str, int] = defaultdict(int)
    for text, x, y, width, height in told:
        nth, before[text] = before[text], before[text] + 1
        holder = _holder(elements, text, x + width / 2, y + height / 2)
        if holder is not None:
            box = f"{x},{y},{width},{height}"
            attributes = {"cursor": "pointer", "box": box, "words": str(nth)}
            holder.children.append(Aria("generic", text=text, attributes=attributes))


async def take(page: Page, text: str, nth: int) -> ElementHandle | None:
    """The very element of such words; None when it is gone."""
    found = await page.evaluate_handle(_TAKE, [MOST, text, nth])
    element = found.as_element()
    if element is None:
        await found.dispose()
    return element


def _holder(elements: Iterable[Aria], text: str, x: float, y: float) -> Aria | None:
    """The smallest element that holds this text at this point of the viewport, where it does not stand for itself."""
    best: tuple[float, Aria] | None = None
    stack = list(elements)
    while stack:
        element = stack.pop()
        stack.extend(element.children)
        box = element.box
        if box is None or not (box[0] <= x <= box[0] + box[2] and box[1] <= y <= box[1] + box[3]):
            continue
        area = float(box[2] * box[3])
        if best is None or area <= best[0]:
            best = (area, element)
    if best is None or clean_name(best[1].text or "") == text or best[1].name == text:
        return None
    return best[1]
