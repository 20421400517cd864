"""A real application under pytest, on a desktop of its own: `pytest examples/test_calculator.py`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from deskhand import open_desktop_sync


@pytest.fixture
def calculator() -> Iterator[Any]:
    with open_desktop_sync() as desk:
        desk.launch("gnome-calculator")
        yield desk


def test_seven_times_eight_is_fifty_six(calculator: Any) -> None:
    calculator.act([{"kind": "key", "keys": "t:7*8;Return"}])
    assert calculator.wait_for("*[name*='56']") is not None
