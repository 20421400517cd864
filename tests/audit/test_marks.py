"""What a film of a task says, and where it points."""

from __future__ import annotations

from typing import Any

from deskhand.audit.films import began_of, film_of, name_of, runs_of
from deskhand.audit.marks import marks_of

EVENTS: list[dict[str, Any]] = [
    {"kind": "task_started", "t": 0.1, "goal": "press Save"},
    {"kind": "desktop_ready", "t": 0.5},
    {"kind": "model_call", "t": 3.0, "seconds": 2.0, "model": "m"},
    {
        "kind": "action", "t": 4.0, "seconds": 0.8, "step": {"kind": "click"}, "effect": "done", "route": "pointer",
        "target": {"role": "button", "name": "Save", "rect": [10, 20, 80, 30]},
    },
    {
        "kind": "action", "t": 5.0, "seconds": 0.5, "step": {"kind": "click"}, "effect": "no_change",
        "target": {"point": [7, 8]},
    },
    {"kind": "observation", "t": 5.2},
    {"kind": "task_finished", "t": 6.0, "status": "success", "result": "saved"},
]  # fmt: skip


def test_each_act_has_a_caption_from_its_beginning_until_the_next() -> None:
    marks = marks_of(EVENTS)
    assert [(round(mark.start, 2), mark.end and round(mark.end, 2)) for mark in marks] == [
        (1.0, 3.2),
        (3.2, 4.5),
        (4.5, 6.0),
        (6.0, None),
    ]
    assert [mark.caption for mark in marks] == [
        "1 thinking…",
        "1.1 click button “Save” · done",
        "1.2 click 7, 8 · no_change",
        "saved · success",
    ]


def test_the_steps_of_a_task_that_was_resumed_are_counted_on() -> None:
    assert marks_of(EVENTS, EVENTS)[1].caption == "2.1 click button “Save” · done"


def test_it_points_where_it_acted_and_until_the_next_place_at_most() -> None:
    first, second = (mark for mark in marks_of(EVENTS) if mark.box or mark.point)
    assert (first.box, first.point) == ((10, 20, 80, 30), (50, 35))
    assert (second.box, second.point) == (None, (7, 8))
    assert round(first.pointed, 2) == 4.4
    assert round(second.pointed, 2) == 5.7


def test_what_a_newer_version_wrote_points_nowhere_and_breaks_nothing() -> None:
    odd = [
        {"kind": "action", "t": "soon", "target": {"rect": [1, 2], "point": "here"}, "step": 7},
        {"kind": "action", "target": {"rect": [1, 2, 3, "x"], "point": [None, 2]}},
        {"kind": "dream", "t": 4},
        {},
    ]
    assert [(mark.box, mark.point) for mark in marks_of(odd)] == [(None, None), (None, None)]
    assert marks_of([]) == []


def test_a_task_that_was_resumed_has_a_recording_for_each_run(tmp_path: Any) -> None:
    runs = runs_of([*EVENTS, *EVENTS[:2]])
    assert [len(run) for run in runs] == [7, 2]
    (tmp_path / name_of(0)).write_bytes(b"\0\0\0\x18ftypiso5 and more")
    (tmp_path / name_of(1)).write_bytes(b"half a line of something else")
    first, second = (film_of(tmp_path, number, run) for number, run in enumerate(runs))
    assert first is not None
    assert first.path.name == "recording.mp4"
    assert second is None  # no file that a page should carry
    named = film_of(tmp_path, 1, [*runs[1], {"kind": "task_finished", "recording": str(first.path)}])
    assert named is not None
    assert named.path == first.path


def test_when_a_recording_began_is_what_the_log_says_or_just_after_the_desktop_was_there() -> None:
    assert began_of([*EVENTS[:-1], {**EVENTS[-1], "recording_t": 0.71}]) == 0.71
    assert 0.5 < began_of(EVENTS) < 1.0
    assert began_of([{"kind": "task_started", "t": 40.0}]) == 40.0
