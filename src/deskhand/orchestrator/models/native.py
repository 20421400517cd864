"""The vendors' own computer tools in our vocabulary: one ``act`` and the looks around it, and the answers taken apart.

A turn of native actions becomes at most one batch, so that it is validated, gated, settled and stopped like any other,
and a look after it, because who aims at pixels needs to see them. On replay the same turn is read again from what the
provider wrote, so nothing has to be remembered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile, takewhile
from typing import Any

from deskhand.messages import Image, Json, ToolCall, ToolResult
from deskhand.orchestrator.models.images import Pictures

AFTER_FAILURE = "Not executed: an earlier computer action in this turn failed."
TOO_MANY = "Not executed: at most {limit} actions run in one turn. Look, then go on."
LATE_LOOK = "See the picture at the end of this turn."
NOT_OFFERED = "the computer tool is not on offer any more; use the tools that are"
DONE = "Done."
COMPUTER = "computer"
MOST_AIMED, MOST = 8, 32
"""How many steps a batch may have, with and without points among them."""
LOOK = ".look"
"""Ends the id of the look after a batch; its start is the id of the batch."""

# Anthropic's members (and the actions of its older single tool); what is not here looks or acts as below.
_CLICKS: dict[str, Json] = {
    "left_click": {},
    "right_click": {"button": "right"},
    "middle_click": {"button": "middle"},
    "double_click": {"count": 2},
    "triple_click": {"count": 3},
}
_LOOKS = frozenset({"screenshot", "zoom", "cursor_position"})
_AIMLESS = frozenset({"key", "keypress", "hold_key", "type", "wait"})
_DETENTS = {"down": ("down", 1), "up": ("down", -1), "right": ("right", 1), "left": ("right", -1)}
_MODIFIERS = {
    **dict.fromkeys(("ctrl", "control", "ctl"), "ctrl"),
    "shift": "shift",
    **dict.fromkeys(("alt", "option", "opt"), "alt"),
    **dict.fromkeys(("super", "cmd", "command", "meta", "win", "windows"), "super"),
}
_BUTTONS = {"wheel": "middle"}
_PIXELS_A_DETENT = 100
"""OpenAI scrolls by pixels; a detent of the wheel moves most toolkits about this far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One native action as it was written: the id that its answer names, what it does, and with what."""

    id: str
    name: str
    input: Json

    @property
    def looks(self) -> bool:
        return self.name in _LOOKS


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one native action is answered."""

    text: str = ""
    images: tuple[Image, ...] = ()
    is_error: bool = False


class NativeTurn:
    """The native actions of one turn of a model, in order."""

    def __init__(self, actions: Sequence[Action]) -> None:
        acting = [n for n, action in enumerate(actions) if not action.looks]
        self._actions = actions
        self._limit = MOST_AIMED if any(_aims(actions[n]) for n in acting) else MOST
        self._acting, self._over = acting[: self._limit], frozenset(acting[self._limit :])
        first, last = (acting[0], acting[-1]) if acting else (0, -1)
        looks = [n for n, action in enumerate(actions) if action.looks]
        self._before = [n for n in looks if n < first]
        self._amid = frozenset(n for n in looks if first < n < last)
        self._after = [n for n in looks if n > last]

    @property
    def act_id(self) -> str:
        """The id of the call that carries the batch."""
        return self._actions[self._acting[0]].id

    def calls(self, pictures: Pictures, *, offered: bool = True) -> list[ToolCall]:
        """The calls that do it all. Points are read as pixels of the last whole picture that was sent."""
        calls = [self._look(n, pictures) for n in self._before]
        if self._acting:
            steps = [_step(self._actions[n], pictures) for n in self._acting]
            calls.append(ToolCall(id=self.act_id, name="act", arguments={"steps": steps}))
        calls += (self._look(n, pictures) for n in self._after)
        if self._acting and not self._after:
            calls.append(ToolCall(id=self.act_id + LOOK, name="observe", arguments={"screenshot": True}))
        if not offered:
            return [ToolCall(id=call.id, name=call.name, invalid=NOT_OFFERED) for call in calls]
        return calls

    def answers(self, results: Mapping[str, ToolResult]) -> list[Answer]:
        """An answer to each action, in order, from the results of `calls`."""
        answers: list[Answer] = []
        for n, action in enumerate(self._actions):
            if n in self._amid:
                answers.append(Answer(text=LATE_LOOK))
            elif n in self._over:
                answers.append(Answer(text=TOO_MANY.format(limit=self._limit), is_error=True))
            elif action.looks:
                answers.append(_whole(results.get(action.id)))
            else:
                answers.append(self._acted(self._acting.index(n), results))
        if self._acting and (look := results.get(self.act_id + LOOK)) is not None:
            answers[-1] = _joined(answers[-1], _whole(look))
        return answers

    def _look(self, n: int, pictures: Pictures) -> ToolCall:
        action = self._actions[n]
        region = pictures.region(action.input.get("region")) if action.name == "zoom" else None
        arguments: Json = {"region": region} if region is not None else {"screenshot": True}
        return ToolCall(id=action.id, name="observe", arguments=arguments)

    def _acted(self, index: int, results: Mapping[str, ToolResult]) -> Answer:
        """The whole report goes to the action at which the batch came to its end."""
        result = results.get(self.act_id)
        if result is None:
            return Answer(text=AFTER_FAILURE, is_error=True)
        reports = result.batch.steps if result.batch is not None else ()
        ran = len(reports) or (1 if result.is_error else len(self._acting))
        if index >= ran:
            return Answer(text=AFTER_FAILURE, is_error=True)
        if index < ran - 1:
            return Answer(text=(reports[index].message if reports else "") or DONE)
        return _whole(result)


def modifiers(keys: Any) -> list[str]:
    """Names of modifiers in our spelling, from ``"ctrl+shift"`` or a list; what is unknown stays, to be refused."""
    names = keys.split("+") if isinstance(keys, str) else keys if isinstance(keys, list) else []
    return [_MODIFIERS.get(str(name).strip().lower(), str(name)) for name in names if str(name).strip()]


def chord(keys: Any) -> str:
    """A key expression in our grammar, from xdotool's spelling (keys apart by spaces) or a list held together."""
    if isinstance(keys, list):
        return "+".join("space" if str(key) == " " else str(key).replace(";", "\\;") for key in keys)
    return ";".join(str(keys or "").replace(";", "\\;").split()) or "space"


def is_native(block: Json) -> bool:
    """Whether a block of Anthropic's is an action of the toolset, or of the older single tool."""
    return block.get("type") == "tool_use" and COMPUTER in (block.get("toolset_name"), block.get("name"))


def native_run(blocks: Sequence[Json]) -> tuple[NativeTurn | None, frozenset[str]]:
    """The first native actions that stand together, and their ids. Others are not run: they would lose their order."""
    run = takewhile(is_native, dropwhile(lambda block: not is_native(block), blocks))
    actions = [_anthropic_action(block) for block in run]
    return (NativeTurn(actions) if actions else None), frozenset(action.id for action in actions)


def _anthropic_action(block: Json) -> Action:
    given = block.get("input")
    given = given if isinstance(given, dict) else {}
    name = block.get("name") if "toolset_name" in block else given.get("action")
    return Action(id=str(block.get("id", "")), name=str(name), input=given)


def openai_turn(items: Sequence[Json]) -> NativeTurn | None:
    """All native actions of a turn of OpenAI's, over its computer calls. Each is answered by the picture at the end,
    so of its own looks one is left, and that only if nothing else is done."""
    actions: list[Action] = []
    for call in items:
        if call.get("type") != "computer_call":
            continue
        listed = call.get("actions")
        for action in listed if isinstance(listed, list) else [call.get("action")]:
            if isinstance(action, dict):
                id_ = f"{call.get('call_id')}.{len(actions)}" if actions else str(call.get("call_id"))
                actions.append(Action(id=id_, name=str(action.get("type")), input=action))
    acting = [action for action in actions if not action.looks]
    return NativeTurn(acting or actions[:1]) if actions else None


def _aims(action: Action) -> bool:
    return action.name not in _AIMLESS


def _whole(result: ToolResult | None) -> Answer:
    if result is None:
        return Answer(text=AFTER_FAILURE, is_error=True)
    return Answer(text=result.text, images=result.images, is_error=result.is_error)


def _joined(one: Answer, other: Answer) -> Answer:
    text = "\n\n".join(part for part in (one.text, other.text) if part)
    return Answer(text=text, images=(*one.images, *other.images), is_error=one.is_error)


def _step(action: Action, pictures: Pictures) -> Json:
    """One action as one step. What is missing or wrong in it is left to the validation of steps, which says so."""
    given = action.input
    if "coordinate" not in given and {"x", "y"} <= given.keys():
        given = {**given, "coordinate": [given["x"], given["y"]]}
    aimed = {"target": point if (point := pictures.point(given.get("coordinate"))) is not None else "pointer"}
    held = {"modifiers": names} if (names := modifiers(given.get("keys", given.get("text")))) else {}
    name = action.name
    if name in _CLICKS:
        step = {"kind": "click", **aimed, **_CLICKS[name], **held}
    elif name == "click":
        button = str(given.get("button", "left"))
        step = {"kind": "click", **aimed, "button": _BUTTONS.get(button, button), **held}
    elif name in ("mouse_move", "move"):
        step = {"kind": "move", **aimed}
    elif name in ("left_mouse_down", "left_mouse_up"):
        step = {"kind": "press" if name == "left_mouse_down" else "release", **aimed}
    elif name in ("left_click_drag", "drag"):
        ends = (
            given.get("path") if name == "drag" else [given.get("start_coordinate"), given.get("coordinate")]
        )
        points = [pictures.point(end) for end in ends] if isinstance(ends, list) else []
        step = {"kind": "drag", "path": points, **held}
    elif name == "scroll":
        step = {"kind": "scroll", **aimed, **_scrolled(given), **held}
    elif name in ("key", "keypress"):
        times = {"times": given["repeat"]} if given.get("repeat") not in (None, 1) else {}
        step = {"kind": "key", "keys": chord(given.get("keys", given.get("text"))), **times}
    elif name == "hold_key":
        step = {"kind": "key", "keys": chord(given.get("text")), "hold": given.get("duration", 1)}
    elif name == "type":
        step = {"kind": "type", "text": given.get("text", "")}
    elif name == "wait":
        step = {"kind": "wait", "seconds": given.get("duration") or 2}
    else:
        step = {"kind": name}
    return step


def _scrolled(given: Json) -> Json:
    if "scroll_direction" in given:
        axis, sign = _DETENTS.get(str(given["scroll_direction"]), ("down", 1))
        amount = given.get("scroll_amount")
        return {axis: sign * (amount if isinstance(amount, int) else 3)}
    wheel = {"down": given.get("scroll_y"), "right": given.get("scroll_x")}
    return {
        axis: _detents(pixels)
        for axis, pixels in wheel.items()
        if isinstance(pixels, (int, float)) and pixels
    }


def _detents(pixels: float) -> int:
    return round(pixels / _PIXELS_A_DETENT) or (1 if pixels > 0 else -1)
