"""What was entered must still be there: a field that cuts, corrects or takes back what it was given was not set."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from deskhand.messages import Node
from deskhand.observers.node import comparable, quote, walk
from deskhand.orchestrator.witness import Act, Scene

_SWITCHES: Final = frozenset({"checkbox", "switch", "radio", "menuitemcheckbox", "menuitemradio"})
_SIGNS: Final = re.compile(r"[\W_]+")


def taken_back(acts: Sequence[Act], now: Scene) -> Iterator[str]:
    """The fields that do not hold what they were given, in words; what a form holds once it was sent does not count."""
    done = [act for act in acts if not act.failed and act.effect != "skipped"]
    for index, act in enumerate(done):
        later = done[index + 1 :]
        if (
            act.target is None
            or act.target.role == "terminal"
            or any(_same_target(act, other) for other in later)
        ):
            continue
        following = next((other.before for other in later if other.before is not None), now)
        sent = following is not now
        if act.target.role in _SWITCHES and act.kind in ("click", "invoke", "toggle", "select"):
            yield from _sprung_back(act, following)
            if sent:
                yield from _sprung_back(act, now, itself=True)
        elif (text := _given(act)) and act.before is not None:
            yield from _differs(act, text, following)
            if sent and (was := _find(act, act.before)) is not None:
                yield from _differs(act, text, now, was=was)


def _given(act: Act) -> str:
    if act.kind in ("fill", "type") and not act.step.get("enter"):
        return str(act.step.get("text") or "")
    return str(act.step.get("option") or "") if act.kind == "select" else ""


def _differs(act: Act, text: str, scene: Scene, *, was: Node | None = None) -> Iterator[str]:
    """``was`` is the field as it was at first: once a form was sent, it may be empty or so again."""
    node = _find(act, scene, itself=was is not None)
    if node is None or node.value is None or "password" in node.states or text.startswith("<secret:"):
        return
    if was is not None and comparable(node.value) in ("", comparable(was.value or "")):
        return
    if not _holds(node.value, text):
        yield f"{quote(node.name, 60)} says {quote(node.value, 60)} and not {quote(text, 60)}"


def _holds(value: str, text: str) -> bool:
    """Whether a field shows a text, in whatever form it likes to show dates and numbers."""
    shown, given = _SIGNS.sub("", comparable(value)), _SIGNS.sub("", comparable(text))
    if given in shown:
        return True
    there, wanted = _numbers(value), _numbers(text)
    plain = not any(char.isalpha() for char in value)
    return plain and bool(wanted) and wanted <= there and (len(there) <= 3 or there == wanted)


def _numbers(text: str) -> set[float]:
    return {float(number.replace(",", ".")) for number in re.findall(r"\d+(?:[.,]\d+)?", text)}


def _sprung_back(act: Act, scene: Scene, *, itself: bool = False) -> Iterator[str]:
    if act.before is None:
        return
    before, after = _find(act, act.before), _find(act, scene, itself=itself)
    if before is None or after is None:
        return
    if act.kind == "toggle" and (wanted := act.step.get("on")) is not None:
        stays = ("checked" in after.states) == wanted
    else:
        stays = ("checked" in after.states) != ("checked" in before.states) or (
            act.target is not None and "radio" in act.target.role and "checked" in after.states
        )
    if not stays and int(act.step.get("times") or act.step.get("count") or 1) == 1:
        state = "on" if "checked" in after.states else "off"
        yield f"{quote(after.name, 60)} is {state} again"


def _same_target(act: Act, other: Act) -> bool:
    one, two = act.target, other.target
    if one is not None and two is not None and one.ref and two.ref:
        return one.ref == two.ref  # a window's title says "changed" as soon as one types
    return (
        one is not None
        and two is not None
        and (one.role, one.name, one.window, one.ref) == (two.role, two.name, two.window, two.ref)
    )


def _find(act: Act, scene: Scene, *, itself: bool = False) -> Node | None:
    """The field as it is in a scene: by its ref; else, unless it must be ``itself``, the only one of its name."""
    assert act.target is not None
    target = act.target
    alike = [node for node in walk(scene.roots) if (node.role, node.name) == (target.role, target.name)]
    same = [node for node in alike if target.ref and node.ref == target.ref]
    if same or itself:
        return same[0] if same else None
    return alike[0] if len(alike) == 1 else None
