"""How many desktops fit: by the machine's own account of its memory and of what waits for its cores."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from deskhand.orchestrator.batch.capacity import PACE, Capacity

CORES = len(os.sched_getaffinity(0))


def machine(tmp_path: Path, *, free: int, waiting: float) -> Path:
    """A /proc with so many MiB free of 8 GiB, where processes waited for a core in so many per cent of the time."""
    (tmp_path / "pressure").mkdir(exist_ok=True)
    (tmp_path / "meminfo").write_text(f"MemTotal: {8 << 20} kB\nMemAvailable: {free << 10} kB\n")
    (tmp_path / "pressure" / "cpu").write_text(f"some avg10={waiting} avg60=0 avg300=0 total=1\n")
    return tmp_path


def test_the_first_task_always_starts_and_others_while_there_is_memory(tmp_path: Path) -> None:
    short = Capacity(proc=machine(tmp_path, free=500, waiting=0.0))
    assert short.admits(0)
    assert not short.admits(1)
    assert Capacity(proc=machine(tmp_path, free=4000, waiting=0.0)).admits(1)


def test_what_a_task_really_takes_counts_once_it_is_known(tmp_path: Path) -> None:
    capacity = Capacity(proc=machine(tmp_path, free=2000, waiting=0.0))
    assert capacity.admits(1)
    capacity.unit = 1500 << 20
    assert not capacity.admits(1)


def test_beyond_one_a_core_more_start_one_by_one_while_the_cores_have_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    idle = Capacity(proc=machine(tmp_path, free=6000, waiting=5.0))
    idle.started()
    assert not idle.admits(CORES)
    now[0] += PACE
    assert idle.admits(CORES)
    assert not idle.admits(idle.bound)
    machine(tmp_path, free=6000, waiting=95.0)
    assert not idle.admits(CORES)


def test_a_number_that_was_chosen_is_all_that_counts(tmp_path: Path) -> None:
    chosen = Capacity(3, proc=machine(tmp_path, free=1, waiting=99.0))
    assert [chosen.admits(running) for running in range(4)] == [True, True, True, False]
