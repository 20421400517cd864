"""What providers do with a request before a model reads it: context edits, and a cache of what was sent before.

A request becomes a list of blocks, each with its tokens: a quarter of the bytes that a model reads of it (texts, names,
arguments), FRAME for what holds it together, and a picture by its size (a token for each 28 x 28 pixels).
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import PIL.Image

Json = dict[str, Any]

FRAME = 8
SMALLEST, STEP = 1024, 128
"""Tokens of the shortest beginning that is cached, and (OpenAI) the step in which it grows."""
_WRAPPING = frozenset(
    "type id call_id tool_use_id tool_call_id status role signature encrypted_content cache_control media_type detail "
    "annotations citations toolset_name".split()
)
LOOK_BACK = 20
"""Blocks before a mark in which Anthropic looks for a beginning that it has."""


@dataclass
class Block:
    """A part of a prompt. ``marked``: the cache is to be written and read up to here."""

    text: str
    tokens: int
    images: int = 0
    marked: bool = False
    thinking: str = ""


@dataclass
class Counted:
    """What one request came to, after the edits. ``dropped``: thinking blocks that no longer fitted their prefix."""

    total: int
    cached: int
    images: int
    trees: int
    dropped: int = 0

    @property
    def fresh(self) -> int:
        return self.total - self.cached


@dataclass
class Cache:
    """A provider's memory of the beginnings it was sent, and of what the thinking that it gave was bound to."""

    beginnings: dict[str, int] = field(default_factory=dict)
    last: list[Block] = field(default_factory=list)
    bound: dict[str, str] = field(default_factory=dict)

    def count(self, path: str, body: Json, tree: str) -> Counted:
        """Count a request. ``tree`` is in every whole tree and nowhere else."""
        if path.endswith("/messages"):
            return self._anthropic(body, tree)
        items = body.get("input") or body["messages"]
        opening = [_block(body.get("tools", []), tools=True), _block(body.get("instructions", ""))]
        blocks = [*opening, *map(_block, items)]
        same = 0
        for old, new in zip(self.last, blocks, strict=False):
            if old.text != new.text:
                break
            same += new.tokens
        self.last = blocks
        return _counted(blocks, same // STEP * STEP if same >= SMALLEST else 0, tree)

    def thought(self, signature: str, body: Json) -> None:
        """Thinking was given in answer to this request, and is bound to what it holds."""
        self.bound[signature] = _prefix([block for block in _anthropic_blocks(body) if not block.thinking])

    def _anthropic(self, body: Json, tree: str) -> Counted:
        keep, dropped = _thinking_kept(body), 0
        blocks: list[Block] = []
        for block in _anthropic_blocks(body):
            if block.thinking:
                if block.thinking not in keep:
                    continue
                if self.bound[block.thinking] != _prefix([each for each in blocks if not each.thinking]):
                    assert body["thinking"]["block_binding"]["prefix_mismatch_behavior"] == "drop_block"
                    dropped += 1
                    continue
            blocks.append(block)
        ends = [0]
        for block in blocks:
            ends.append(ends[-1] + block.tokens)
        marks = [n for n, block in enumerate(blocks) if block.marked]
        assert len(marks) <= 4
        names = [_prefix(blocks[: n + 1]) for n in range(len(blocks))]
        seen = {n for mark in marks for n in range(max(0, mark - LOOK_BACK + 1), mark + 1)}
        cached = max((ends[n + 1] for n in seen if names[n] in self.beginnings), default=0)
        self.beginnings |= {names[n]: ends[n + 1] for n in marks if ends[n + 1] >= SMALLEST}
        counted = _counted(blocks, cached, tree)
        counted.dropped = dropped
        return counted


def _anthropic_blocks(body: Json) -> Iterator[Block]:
    yield _block(body.get("tools", []), tools=True)
    for block in body.get("system", []):
        yield _block(block)
    for message in body["messages"]:
        for block in message["content"]:
            yield _block({"role": message["role"], **block})


def _thinking_kept(body: Json) -> set[str]:
    """Signatures that the edit in the request leaves: those of the newest turns that have thinking."""
    turns = [
        [block["signature"] for block in message["content"] if block["type"] == "thinking"]
        for message in body["messages"]
        if message["role"] == "assistant"
    ]
    edits = {edit["type"]: edit for edit in body.get("context_management", {}).get("edits", [])}
    keep = edits.get("clear_thinking_20251015", {}).get("keep", {}).get("value", len(turns))
    return {signature for turn in turns[len(turns) - keep :] for signature in turn}


def _block(value: Any, *, tools: bool = False) -> Block:
    marked = isinstance(value, dict) and "cache_control" in value
    sizes: list[tuple[int, int]] = []
    text = json.dumps(_without(value, sizes), separators=(",", ":"), sort_keys=True)
    read = [json.dumps(value, separators=(",", ":"))] if tools else _read(value)
    tokens = FRAME + math.ceil(sum(len(part.encode()) for part in read) / 4)
    tokens += sum(math.ceil(w / 28) * math.ceil(h / 28) for w, h in sizes)
    thinking = value["signature"] if isinstance(value, dict) and value.get("type") == "thinking" else ""
    return Block(text=text, tokens=tokens, images=len(sizes), marked=marked, thinking=thinking)


def _read(value: Any) -> Iterator[str]:
    """What a model reads of a block: its words, and arguments as JSON, without their wrapping."""
    if isinstance(value, str):
        yield "" if _is_picture(value) else value
    elif isinstance(value, list):
        for each in value:
            yield from _read(each)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "input":
                yield json.dumps(item, separators=(",", ":"))
            elif key not in _WRAPPING:
                yield from _read(item)


def _without(value: Any, sizes: list[tuple[int, int]]) -> Any:
    """The same without cache marks, and with each picture as its hash; its size goes to ``sizes``."""
    if isinstance(value, dict):
        return {key: _without(item, sizes) for key, item in value.items() if key != "cache_control"}
    if isinstance(value, list):
        return [_without(item, sizes) for item in value]
    if isinstance(value, str) and _is_picture(value):
        data = base64.b64decode(value.partition(",")[2] or value)
        with PIL.Image.open(io.BytesIO(data)) as picture:
            sizes.append(picture.size)
        return hashlib.sha256(data).hexdigest()[:8]
    return value


def _is_picture(text: str) -> bool:
    return text.startswith(("data:image/", "iVBOR")) and len(text) > 200


def _prefix(blocks: list[Block]) -> str:
    return hashlib.sha256("\0".join(block.text for block in blocks).encode()).hexdigest()


def _counted(blocks: list[Block], cached: int, tree: str) -> Counted:
    return Counted(
        total=sum(block.tokens for block in blocks),
        cached=cached,
        images=sum(block.images for block in blocks),
        trees=sum(block.text.count(tree) for block in blocks),
    )
