"""One look at the desktop, laid out for a planner: elements with what they are called, and what is written where."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from deskhand.messages import Node, Observation, Rect, WindowInfo
from deskhand.observers.node import Flat, flatten, normalise, walk
from deskhand.orchestrator.models.embedded.lexicon import normal

FIELDS = frozenset({"textbox", "searchbox", "combobox", "spinbutton", "slider"})
TOGGLES = frozenset({"checkbox", "switch", "menuitemcheckbox"})
_LABELLED = FIELDS | TOGGLES | {"radio", "listbox", "button", "progressbar", "meter"}
_NAMED_BY_CONTENT = frozenset(
    {"button", "link", "option", "listitem", "cell", "gridcell", "row", "menuitem", "tab", "treeitem"}
)
_PLAIN = frozenset(
    "text paragraph heading img generic strong emphasis code mark time cell gridcell insertion".split()
)
_BLOCKS = frozenset({"alert", "status", "log", "dialog", "alertdialog", "note", "tooltip"})
_LABELS = frozenset("text paragraph caption heading generic cell rowheader columnheader".split())
_SILENT = frozenset(
    {"window", "application", "document", "menubar", "menu", "menuitem", "scrollbar", "separator"}
)
_TOPS = frozenset({"window", "dialog", "alertdialog", "application", "document"})
_WRITTEN = frozenset(
    "text paragraph heading cell gridcell listitem definition term caption blockquote code strong emphasis time link "
    "img option progressbar meter insertion mark figure".split()
)
_LABEL_GAP = 320
_STACK_GAP = 40
"""Screen pixels between a label and the field to its right, and between a label and the field below it."""


@dataclass(frozen=True, slots=True)
class Written:
    """Something that can be read: its words, the node that bears them, and the live region it is in, if any."""

    text: str
    node: Node
    block: Node | None
    is_value: bool = False

    @property
    def key(self) -> str:
        """What it is compared by between two looks."""
        bearer = f"{self.node.role}|{self.node.name}" if self.is_value else ""
        return f"{bearer}|{normalise(self.text)}"


@dataclass(slots=True, eq=False)
class Screen:
    """An observation's trees, flattened. Indices are those of ``flat.nodes``."""

    observation: Observation
    flat: Flat = field(init=False)
    _labels: dict[int, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.flat = flatten(self.observation.roots)

    @property
    def nodes(self) -> tuple[Node, ...]:
        return self.flat.nodes

    @property
    def windows(self) -> tuple[WindowInfo, ...]:
        return self.observation.windows

    def inside(self, index: int) -> range:
        """The indices of everything below a node."""
        return range(index + 1, self.flat.end[index])

    def above(self, index: int) -> Iterator[int]:
        return self.flat.path(index)

    def index(self, node: Node) -> int:
        return next(i for i, other in enumerate(self.nodes) if other is node)

    def shown(self, index: int) -> bool:
        """Whether the element is on the screen (or scrolled out of sight), rather than in something that is closed."""
        return "offscreen" not in self.nodes[index].states

    def names(self, index: int) -> tuple[str, ...]:
        """What the element may be called: its name, its content, else the label beside it."""
        node = self.nodes[index]
        found = [node.name] if node.name and node.name != node.value else []
        if node.role in _NAMED_BY_CONTENT and (text := self.content(index)):
            found.append(text)  # some toolkits put a class or the label twice into the name
        if not found and node.role in _LABELLED and (label := self.label(index)):
            found.append(label)
        if not found and (node.role in _WRITTEN or node.actions) and node.value:
            found.append(node.value)
        return tuple(dict.fromkeys(found))

    def hint(self, index: int) -> str:
        """The element's description (its tooltip) without the shortcut at its end."""
        return re.sub(r"\s*[\[(][^\[\]()]*[\])]$", "", self.nodes[index].description)

    def content(self, index: int) -> str:
        """The words below an element that are its own, not those of other controls in it."""
        plain = (self.nodes[i] for i in self.inside(index) if self.nodes[i].role in _PLAIN)
        return " ".join(filter(None, (each.name or each.value or "" for each in plain)))

    def label(self, index: int) -> str:
        """The text that a reader would take for the label of an unnamed control; empty when there is none."""
        if index not in self._labels:
            self._labels[index] = self._nearest_text(index)
        return self._labels[index]

    def _nearest_text(self, index: int) -> str:
        node = self.nodes[index]
        if node.rect is None:
            return self._text_before(index)
        if node.role in FIELDS and (inline := self._inline_before(index)):
            return inline
        best: tuple[int, str] | None = None
        after = node.role in TOGGLES or node.role == "radio"
        for other in self.nodes:
            words = other.name or other.value or ""
            if other.role not in _LABELS or not words or other.rect is None:
                continue
            distance = _gap(other.rect, node.rect, after=after)
            if distance is not None and (best is None or distance < best[0]):
                best = (distance, words)
        if best is None and not after:
            return self._text_before(index)
        return best[1] if best else ""

    def _inline_before(self, index: int) -> str:
        """The words right before a field that stand in one line of text with it, and so have no place of their own."""
        before = self.nodes[index - 1] if index else None
        if before is None or before.role != "text" or before.rect is not None:
            return ""
        return before.name if self.flat.parent[index - 1] == self.flat.parent[index] else ""

    def _text_before(self, index: int) -> str:
        for i in range(index - 1, max(-1, index - 3), -1):
            node = self.nodes[i]
            if node.role in _LABELLED:
                return ""
            if node.role == "text" and (node.name or node.value):
                return node.name or node.value or ""
        return ""

    def written(self) -> list[Written]:
        """Everything readable in document order; a password's value is never in a tree."""
        found: list[Written] = []
        for i, node in enumerate(self.nodes):
            if "offscreen" in node.states and node.rect is None and node.role in _SILENT:
                continue
            above = [self.nodes[j] for j in self.above(i)]
            if any(a.role in ("menu", "menubar", "menuitem") for a in above):
                continue
            block = next((a for a in (node, *above) if a.role in _BLOCKS), None)
            if node.role in FIELDS and node.value and "password" not in node.states:
                found.append(Written(node.value, node, block, is_value=True))
            words = node.name or (node.value or "" if node.role not in FIELDS else "")
            if not words or node.role in _SILENT or not (node.role in _WRITTEN or node.role in _BLOCKS):
                continue
            if any(normalise(words) == normalise(a.name) for a in above if a.name):
                continue  # a heading's own text child
            found.append(Written(words, node, block))
        return found

    def visible(self, text: str) -> bool:
        """Whether these words stand somewhere on the screen."""
        wanted = normalise(text).casefold()
        for node in self.nodes:
            for words in (node.name, node.value or ""):
                if wanted in normalise(words).casefold():
                    return True
        return any(
            wanted in normalise(self.content(i)).casefold()
            for i, node in enumerate(self.nodes)
            if node.role == "paragraph"
        )

    def window_for(self, name: str) -> WindowInfo | None:
        """The window that goes by this name: its application's or a part of its title, word by word."""
        wanted = _words(name)
        if not wanted:
            return None
        for window in sorted(self.windows, key=lambda w: not w.active):
            if wanted <= _words(window.app) or wanted <= _words(window.title):
                return window
        return None

    def root_for(self, name: str) -> int | None:
        """The root of the tree that goes by this name."""
        wanted = _words(name)
        for i, node in enumerate(self.nodes):
            if not wanted or node.role not in _TOPS:
                continue
            if wanted <= _words(node.name) or (self.flat.parent[i] < 0 and wanted <= _words(node.app)):
                return i
        return None


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", normal(text)))


def _gap(label: Rect, control: Rect, *, after: bool) -> int | None:
    """How far a text is from the control it may label, in screen pixels; None where no reader would join the two."""
    rows = min(label.bottom, control.bottom) - max(label.y, control.y)
    same_row = rows * 2 >= min(label.height, control.height)
    if after:
        right = label.x - control.right
        return right if same_row and -4 <= right <= 60 else None
    left = control.x - label.right
    if same_row and -4 <= left <= _LABEL_GAP:
        return left
    columns = min(label.right, control.right) - max(label.x, control.x)
    down = control.y - label.bottom
    if columns > 0 and -4 <= down <= _STACK_GAP:
        return 20 + down
    return None


def texts(root: Node) -> str:
    """All words of a node, those of its children included, each once."""
    parts: list[str] = []
    for node in walk((root,)):
        for words in (node.name, node.value or "" if node.role not in FIELDS else ""):
            if words and not any(words in part for part in parts):
                parts.append(words)
    return normalise(" ".join(parts))
