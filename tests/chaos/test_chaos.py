"""A few trials in every run of the suite; ``make chaos`` makes hundreds, with each fault many times."""

from __future__ import annotations

import pytest

from chaos.faults import FAULTS
from chaos.trial import try_once


@pytest.mark.parametrize(
    ("fault", "seed"),
    [
        ("kill the worker", 3),
        pytest.param("stop the recorder", 9, marks=pytest.mark.long),  # a task that was done timed out
        pytest.param("end the worker", 1, marks=pytest.mark.long),  # a display's socket was left
        pytest.param("stop Xvfb", 28, marks=pytest.mark.long),  # a desktop's directory was left
        pytest.param("stop Xvfb", 112, marks=pytest.mark.long),  # a directory of the browser driver was left
        pytest.param("stop Xvfb", 156, marks=pytest.mark.long),  # no status got past a display that hung
        *(pytest.param(name, 1, marks=pytest.mark.long) for name in sorted(FAULTS)),
    ],
)
def test_a_status_in_time_a_log_that_holds_and_nothing_left(fault: str, seed: int) -> None:
    outcome = try_once(seed, fault)
    assert outcome.violations == [], outcome.line()
