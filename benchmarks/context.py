"""What a long task's context costs: 100 scripted steps over each provider's wire, counted as the provider would.

``python benchmarks/context.py [--check] [--steps N]`` prints a table, then one JSON line. The child, its loop and its
tools are the product's; the desktop is the in-memory one, and the model's server is a stand-in that applies the context
edits a request asks for, keeps a cache as the provider's documentation describes it, and replies with at least 80
tokens a step. Each act changes at least 150 tokens of a large window; one step in ten looks at the whole window,
another one takes a picture of the screen. The definition of a provider's own computer tool counts nowhere.

*fresh*: input tokens a step that the cache did not have, the median and (in brackets) the mean of the twenty steps at
about 10, 50 and 100 (none after 100, and not the very first, which finds no cache). *cached*: the part of all input
that the cache had. *of pictures*: all input, as a share of what a picture of 1280×800 at every step and nothing ever
dropped would come to. *most*: of pictures and of whole trees in one request. *unbound*: blocks of thinking that were
sent back and no longer fitted. ``--check`` exits 1 unless both figures of fresh at 50 and 100 are within a quarter of
those at 10, cached is at least 85 %, of pictures at most 20 %, and there are never more than 3 pictures and 1 tree.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from child_stage import act, child_on, finish, outcome_of  # noqa: E402
from deskhand.orchestrator.models import make_model  # noqa: E402
from deskhand.terms import Limits  # noqa: E402
from fake_desk import Element, World, open_fake_desk  # noqa: E402
from provider_cache import Cache, Counted  # noqa: E402
from wire import Request, Wire  # noqa: E402

SPECS = ("anthropic:claude-sonnet-5-5", "openai:gpt-5.6-sol", "openai-chat:any")
AT = (10, 50, 100)
NEAR = 10
PICTURE = {"screenshot": True, "query": "Book"}
REPLY_TOKENS, DIFF_TOKENS = 80, 150
PICTURE_TOKENS = 46 * 29
CALL_TOKENS = 40
"""A click at a point, its result without the picture, and the frames around both."""

ROWS = 60
TREE = "nothing below this line"
"""Stands in every whole tree and never changes."""
WORDS = (
    "The order of row {n:3} has gone through: its amount, its date and its state read as they should after the click, "
    "and the total at the bottom has grown by the same amount. Nothing else on the window has moved. Next comes the "
    "button of the row after it, which is enabled now, and then the total has to be read once more before I go on."
)


def world() -> World:
    """A window with many rows; its button changes some of them each time."""
    rows = [
        Element("row", f"Article {n:05}", value=f"open, 0.00 EUR, not yet counted, shelf {n % 7}")
        for n in range(1, ROWS + 1)
    ]
    done = 0

    def book(world: World) -> None:
        nonlocal done
        for n in range(6):
            row = rows[(done * 6 + n) % ROWS]
            row.value = f"booked in step {done}, {done * 3.25 + n:.2f} EUR, counted twice, shelf {done % 7}"
        done += 1

    return World(
        [
            Element(
                "window", "Stock", [Element("button", "Book", on_invoke=book), *rows, Element("text", TREE)]
            )
        ],
        size=(1280, 800),
    )


def script(steps: int, counts: list[Counted], cache: Cache) -> Callable[[Request], dict[str, Any]]:
    """The model: acts, looks at times, ends. Counts each request on its way."""

    def reply(request: Request) -> dict[str, Any]:
        counted = cache.count(request.path, request.body, TREE)
        counts.append(counted)
        step = len(counts)
        if step % 10 == 5:
            call: dict[str, Any] = {
                "name": "observe",
                "input": {"screenshot": True} if step % 20 == 5 else {},
            }
        else:
            call = act({"kind": "click", "target": "button[name='Book']"})
        call = call if step <= steps else finish(evidence=["button[name='Book']"])
        cache.thought(f"signed-{request.number}", request.body) if "messages" in request.path else None
        usage = {"input": counted.fresh, "cached": counted.cached, "output": REPLY_TOKENS}
        return {
            "thinking": "The row reads as it should.",
            "text": WORDS.format(n=step),
            "calls": [call],
            "usage": usage,
        }

    return reply


@dataclass
class Figures:
    """What one provider's run came to."""

    fresh: list[float]
    mean: list[float]
    cached: float
    of_pictures: float
    images: int
    trees: int
    unbound: int
    largest: int


async def measure(spec: str, steps: int) -> Figures:
    """Play the task with one provider."""
    counts: list[Counted] = []
    with Wire() as wire, tempfile.TemporaryDirectory() as directory:
        os.environ.update(wire.environ)
        wire.play(script(steps, counts, Cache()))
        desk, model = open_fake_desk(world()), make_model(spec)
        with child_on(desk, model, Path(directory) / "task", limits=Limits(steps=None), seconds=600) as child:
            outcome = await outcome_of(child)
        await model.aclose()  # type: ignore[attr-defined]
        if outcome.reason is not None or len(counts) != steps + 1:
            raise SystemExit(f"{spec}: the task did not end as scripted: {outcome}")
        _bounds_of_script(wire)
    own = counts[:steps]
    base = counts[0].total
    pictured = sum(base + n * (PICTURE_TOKENS + REPLY_TOKENS + CALL_TOKENS) for n in range(steps))
    return Figures(
        fresh=[statistics.median(_around(own, at)) for at in AT if at <= steps],
        mean=[round(statistics.mean(_around(own, at)), 1) for at in AT if at <= steps],
        cached=round(sum(each.cached for each in own) / sum(each.total for each in own), 4),
        of_pictures=round(sum(each.total for each in own) / pictured, 4),
        images=max(each.images for each in own),
        trees=max(each.trees for each in own),
        unbound=sum(each.dropped for each in own),
        largest=max(each.total for each in own),
    )


def _around(steps: list[Counted], at: int) -> list[int]:
    """The fresh tokens of the twenty steps around the one with this number, or before the end; without the first."""
    end = min(len(steps), at + NEAR)
    return [step.fresh for step in steps[max(1, end - 2 * NEAR) : end]]


def _bounds_of_script(wire: Wire) -> None:
    """The script is as large as it claims to be."""
    assert len(WORDS.format(n=1)) / 4 >= REPLY_TOKENS
    second = json.dumps(wire.bodies[1])
    assert len(second) - len(json.dumps(wire.bodies[0])) > 4 * (REPLY_TOKENS + DIFF_TOKENS)


def missed(figures: Figures) -> list[str]:
    """The bounds that do not hold."""
    flat = [abs(each / found[0] - 1) <= 0.25 for found in (figures.fresh, figures.mean) for each in found[1:]]
    bounds = {
        "fresh": all(flat),
        "cached": figures.cached >= 0.85,
        "of pictures": figures.of_pictures <= 0.2,
        "most": figures.images <= 3 and figures.trees <= 1,
    }
    return [name for name, holds in bounds.items() if not holds]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()
    found = {spec: asyncio.run(measure(spec, arguments.steps)) for spec in SPECS}
    heads = (("fresh at 10", 13), ("50", 13), ("100", 13), ("cached", 9), ("of pictures", 13), ("most", 8))
    print(" " * 28 + "".join(f"{name:>{width}}" for name, width in (*heads, ("unbound", 9), ("largest", 9))))
    for spec, figures in found.items():
        both = zip(figures.fresh, figures.mean, strict=True)
        fresh = "".join(f"{f'{median:.0f} ({mean:.0f})':>13}" for median, mean in both)
        most = f"{figures.images}, {figures.trees}"
        print(
            f"{spec:28}{fresh}{figures.cached:9.1%}{figures.of_pictures:13.1%}{most:>8}"
            f"{figures.unbound:9}{figures.largest:9}"
        )
    failures = {spec: names for spec, figures in found.items() if (names := missed(figures))}
    summary = {spec: asdict(figures) for spec, figures in found.items()}
    print(json.dumps({"benchmark": "context", "steps": arguments.steps, **summary, "missed": failures}))
    return 1 if arguments.check and failures else 0


if __name__ == "__main__":
    sys.exit(main())
