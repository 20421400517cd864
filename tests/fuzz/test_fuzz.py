"""Whatever comes in, from a model, a user, a file, a page or an app, is taken or refused in words, and soon.

A few hundred cases a target in every run of the suite; ``make fuzz`` tries as many as FUZZ_CASES says (100,000).
"""

from __future__ import annotations

import dataclasses
import io
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from deskhand.audit.chain import ZERO, seal
from deskhand.audit.read import read_events
from deskhand.audit.report import write_report
from deskhand.audit.review import AUDIT_COLUMNS, Reviewer, audit_line
from deskhand.audit.table import Table
from deskhand.audit.verify import verify_log
from deskhand.config import Settings
from deskhand.desktop.keys import parse_keys
from deskhand.errors import DeskhandError, InvalidStep
from deskhand.messages import Rect, ToolCall, WindowInfo
from deskhand.observers.aria import parse_snapshot
from deskhand.observers.assemble import assemble
from deskhand.observers.raw import App, Harvest, Raw
from deskhand.observers.refs import RefTable
from deskhand.observers.selector import parse_selector
from deskhand.observers.serialize import render
from deskhand.orchestrator.order import prepare
from deskhand.orchestrator.recipes import load_recipe
from deskhand.terms import Limits, Policy, Private
from deskhand.tools.arguments import Act, Ask, Find, Finish, Observe, WaitFor
from deskhand.tools.plan import parse_steps
from deskhand.tools.schema import STEP_TYPES
from deskhand.tools.toolbox import parse_arguments

CASES = int(os.environ.get("FUZZ_CASES", "40"))

BOUND = 5.0
"""Seconds that one case may take; the machine may be crowded."""

TABLE = Table(AUDIT_COLUMNS, width=120)

many = settings(max_examples=CASES, deadline=None, database=None, suppress_health_check=list(HealthCheck))


@contextmanager
def taken_or_refused(*refusals: type[Exception]) -> Iterator[None]:
    """What is inside does not take long, and raises nothing but these, with words."""
    start = time.process_time()
    said = "-"
    with suppress(*refusals):
        try:
            yield
        except refusals as error:
            said = str(error)
            raise
        finally:
            assert time.process_time() - start < BOUND
    assert said


texts = st.one_of(
    st.text(max_size=40), st.sampled_from(["", "e4", "button[name='Save']", "\u202ex", "\0", "a" * 5000])
)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts)
values = st.recursive(
    scalars,
    lambda below: st.one_of(st.lists(below, max_size=4), st.dictionaries(texts, below, max_size=4)),
    max_leaves=12,
)
aims = st.one_of(
    texts,
    st.fixed_dictionaries({"x": scalars, "y": scalars}, optional={"image": texts}),
    st.lists(texts, max_size=3),
)


def near(model: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments like those of a model of fields: some of its fields, with values that may be right."""
    names = [field.alias or name for name, field in model.model_fields.items()]
    likely = st.one_of(
        aims,
        scalars,
        values,
        st.lists(aims, max_size=3),
        st.sampled_from(["left", "focus", "present", "Return"]),
    )
    return st.dictionaries(st.one_of(st.sampled_from(names), texts) if names else texts, likely, max_size=6)


steps = st.sampled_from(sorted(STEP_TYPES)).flatmap(
    lambda kind: near(STEP_TYPES[kind]).map(lambda fields: {**fields, "kind": kind})
)


@many
@given(st.one_of(values, st.lists(st.one_of(steps, values), max_size=5)))
def test_any_batch(raw: Any) -> None:
    with taken_or_refused(InvalidStep):
        parse_steps(raw, images={})


@many
@given(
    st.sampled_from([Act, Ask, Find, Finish, Observe, WaitFor]).flatmap(
        lambda model: st.tuples(st.just(model), near(model))
    )
)
def test_any_arguments_of_a_tool(asked: tuple[Any, dict[str, Any]]) -> None:
    model, arguments = asked
    with taken_or_refused(InvalidStep):
        parse_arguments(model, ToolCall(id="1", name="tool", arguments=arguments))


pieces = st.sampled_from(
    [
        *"button [name='x'] [checked] [ ] ' \" \\ :nth(2) :nth( :has-text('a') * [name*= , (((( e12 ! - /* */".split(),
        *(" > ", " ", "push button:Save", "\n", "\ufffd", "\U0001f642", "[role~='a b']", "\\31 "),
    ]
)


@many
@given(st.one_of(st.text(max_size=200), st.lists(pieces, max_size=20).map("".join)))
def test_any_selector(text: str) -> None:
    with taken_or_refused(InvalidStep):
        parse_selector(text)


@many
@given(
    st.one_of(
        st.text(max_size=200),
        st.lists(
            st.sampled_from(["ctrl", "+", ";", "t:", "kp:", "tab", "\\", "shift", "F13", "é", " "]),
            max_size=20,
        ).map("".join),
    )
)
def test_any_keys(text: str) -> None:
    with taken_or_refused(InvalidStep):
        assert parse_keys(text)


def _toml(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


names = st.one_of(st.sampled_from(sorted(Settings.model_fields)), texts)
tables = st.dictionaries(names, st.one_of(values, st.dictionaries(names, values, max_size=3)), max_size=5)


@many
@given(
    text=st.one_of(
        st.text(max_size=200),
        tables.map(lambda table: "\n".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in table.items())),
    )
)
def test_any_settings_file(text: str) -> None:
    path = Path(os.environ["DESKHAND_CONFIG"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8", errors="replace")
    with taken_or_refused(ValueError):
        Settings()


@many
@given(
    text=st.one_of(
        st.text(max_size=300),
        values.map(json.dumps),
        st.lists(steps, max_size=3).map(lambda found: json.dumps({"goal": "x", "steps": found})),
    )
)
def test_any_recipe(text: str) -> None:
    path = Path(os.environ["DESKHAND_CONFIG"]).with_name("recipe.yaml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8", errors="replace")
    with taken_or_refused(ValueError, InvalidStep):
        load_recipe(path)


@many
@given(
    st.fixed_dictionaries(
        {"goal": st.one_of(texts, scalars)},
        optional={
            "timeout": scalars,
            "context": st.one_of(texts, scalars),
            "inputs": st.one_of(values, st.dictionaries(texts, texts, max_size=2)),
            "secrets": st.one_of(values, st.dictionaries(texts, texts, max_size=2)),
            "expect": st.one_of(values, st.lists(texts, max_size=2)),
            "output": values,
            "model": st.one_of(
                texts, scalars, st.sampled_from(["embedded", "openai:", ":x", "scripted:/none"])
            ),
            "computer": st.one_of(texts, scalars, st.sampled_from(["display::99999", "private"])),
            "record": st.one_of(scalars, st.just(False)),
            "background": scalars,
            "resume": st.one_of(st.none(), texts),
        },
    )
)
def test_any_arguments_of_a_task(arguments: dict[str, Any]) -> None:
    """What an MCP host, or a script, hands over."""
    home = Path(os.environ["DESKHAND_HOME"])
    with taken_or_refused(ValueError, TypeError, DeskhandError):
        order = prepare(**{**arguments, "model": arguments.get("model") or "embedded"})
        order.callbacks.close()
        assert order.directory.is_relative_to(home)
    shutil.rmtree(home, ignore_errors=True)


@many
@given(st.sampled_from([Private, Limits, Policy]), st.data())
def test_any_terms_of_a_task(kind: Any, data: st.DataObject) -> None:
    fields = [field.name for field in dataclasses.fields(kind)]
    given = data.draw(st.dictionaries(st.sampled_from(fields), st.one_of(values, aims), max_size=4))
    with taken_or_refused(ValueError, TypeError):
        kind(**given)


KINDS = (
    "task_started desktop_ready observation model_call action consent question answer human verification error"
    " task_finished of_tomorrow"
)
FIELDS = (
    "goal step target settled effect verdict seconds t ts evidence status reason result usage error message before"
    " after image recording model size route risk question answer"
)
events = st.one_of(
    st.dictionaries(texts, values, max_size=5),
    st.fixed_dictionaries(
        {"kind": st.sampled_from(KINDS.split())}, optional=dict.fromkeys(FIELDS.split(), values)
    ),
)


@many
@given(found=st.lists(st.one_of(events, st.binary(max_size=60)), max_size=6))
@example(found=[{"kind": "task_started", "recording": "\0.mp4"}])
def test_any_log(found: list[Any]) -> None:
    directory = Path(os.environ["DESKHAND_HOME"], "tasks", "any")
    directory.mkdir(parents=True, exist_ok=True)
    head, lines = ZERO, []
    for seq, event in enumerate(found):
        if isinstance(event, bytes):
            lines.append(event + b"\n")
        else:
            try:
                line, head = seal({"v": 1, "seq": seq, **event}, head)
            except ValueError:  # not a number of JSON's
                continue
            lines.append(line)
    path = directory / "audit.jsonl"
    path.write_bytes(b"".join(lines))
    with taken_or_refused():
        verify_log(path)
        reviewer = Reviewer()
        for event in read_events(path):
            assert len(audit_line(TABLE, reviewer.row(event)).splitlines()) == 1
        out = io.StringIO()
        write_report(directory, out)
    assert "<script>alert" not in out.getvalue()


lines = st.tuples(
    st.integers(0, 6),
    st.sampled_from(
        ["- button", "- text: ", '- link "', "- /url: x", "- ", "", "  ", "- iframe [ref=f1e2]:", "- 'a: b'"]
    ),
    st.text(max_size=20),
)


@many
@given(
    st.one_of(
        st.text(max_size=400),
        st.lists(lines, max_size=25).map(
            lambda found: "\n".join("  " * depth + start + rest for depth, start, rest in found)
        ),
    )
)
def test_any_snapshot_of_a_page(text: str) -> None:
    with taken_or_refused():
        parse_snapshot(text)


rects = st.one_of(st.none(), st.builds(Rect, *[st.integers(-(2**31), 2**31)] * 4))
paths = st.sampled_from([f"/{number}" for number in range(8)])
raws = st.builds(
    Raw,
    path=paths,
    parent=paths,
    index=st.integers(-1, 9),
    count=st.integers(-1, 2**31),
    interfaces=st.frozensets(
        st.sampled_from(["Action", "Text", "EditableText", "Value", "Selection", "Component", "Table"]),
        max_size=3,
    ),
    name=texts,
    role=st.one_of(
        texts,
        st.sampled_from(
            [
                "frame",
                "dialog",
                "push button",
                "menu item",
                "table cell",
                "list item",
                "page tab",
                "password text",
            ]
        ),
    ),
    description=texts,
    states=st.frozensets(
        st.sampled_from(
            ["visible", "showing", "active", "modal", "focused", "checked", "busy", "defunct", "x"]
        ),
        max_size=5,
    ),
    children=st.lists(paths, max_size=6),
    window_extents=rects,
    screen_extents=rects,
    nowhere=st.booleans(),
    value=st.one_of(st.none(), texts),
    labelled_by=st.lists(paths, max_size=2),
)
windows = st.builds(
    WindowInfo,
    **{
        field.name: {
            "title": texts,
            "app": texts,
            "pid": st.one_of(st.none(), st.just(7)),
            "rect": st.builds(Rect, *[st.integers(-5000, 5000)] * 4),
        }.get(field.name, st.integers(0, 1))
        for field in dataclasses.fields(WindowInfo)
    },
)


EMPTY = Raw(
    path="/0",
    parent="/0",
    index=0,
    count=0,
    interfaces=frozenset(),
    name="",
    role="frame",
    description="",
    states=frozenset({"showing"}),
    screen_extents=Rect(0, 0, 0, 0),
)
"""A window without a size."""
OWN = WindowInfo(id=1, title="", pid=7)


@many
@given(found=st.lists(raws, max_size=8), shown=st.lists(windows, max_size=3), shows=st.booleans())
@example(found=[EMPTY], shown=[OWN], shows=False)
def test_any_tree_of_an_app(found: list[Raw], shown: list[WindowInfo], shows: bool) -> None:
    """Children that hold their own parents, or that two parents hold, among them."""
    known = {raw.path: raw for raw in found}
    for raw in found:
        raw.children = [path for path in raw.children if path in known]
        raw.labelled_by = [path for path in raw.labelled_by if path in known]
    reading = Harvest(App(bus=":1.1", pid=7), known, sorted(known)[:2], shows)
    with taken_or_refused():
        text = render(RefTable().show(assemble(reading, shown)), limit_chars=4000)
    assert len(text) <= 4100
