"""The demo: its shop, and that it fails when anything it shows is not so."""

from __future__ import annotations

import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import pytest

import deskhand
from deskhand import demo


def _order(url: str, **form: str) -> str:
    data = urllib.parse.urlencode(form).encode()
    with urllib.request.urlopen(f"{url}order", data, timeout=10) as reply:
        return str(reply.read().decode())


def test_the_shop_shows_its_page_and_confirms_each_order_with_a_number_of_its_own() -> None:
    with demo.shop() as shop:
        with urllib.request.urlopen(shop.url, timeout=10) as reply:
            assert "Order a mug" in reply.read().decode()
        first = _order(shop.url, name="Zoë", colour="Blue")
        second = _order(shop.url, name="Zoë", colour="Blue")
    assert first.startswith("Thank you, Zoë. Your blue mug is order ")
    assert first != second
    assert [said for _, said in shop.orders] == [first, second]


def test_the_shop_is_closed_after_the_block() -> None:
    with demo.shop() as shop:
        pass
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(shop.url, timeout=5)


def test_a_file_that_is_no_recording_has_no_duration(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(b"no film")
    assert demo.duration(str(tmp_path / "a.mp4")) == 0.0
    assert demo.duration(str(tmp_path / "none.mp4")) == 0.0


def test_the_demo_does_both_tasks_and_shows_the_steps_the_dict_and_the_files(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status = demo.main()
    said, wrong = capsys.readouterr()
    assert (status, wrong) == (0, "")
    assert "408" in said
    assert "Thank you, Ana. Your blue mug is order " in said
    assert said.count('"status": "success"') == 2
    assert said.count("audit.jsonl") >= 2
    assert said.count("recording.mp4") >= 2


def test_the_demo_fails_aloud_when_its_tasks_are_not_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lazy(goal: str, **_: Any) -> dict[str, Any]:
        return {
            "status": "success",
            "reason": None,
            "verified": True,
            "result": "all done, trust me",
            "logdir": None,
            "recording": None,
        }

    monkeypatch.setattr(deskhand, "computer_task", lazy, raising=False)
    assert demo.main() == 1
    wrong = capsys.readouterr().err
    assert "does not contain 408" in wrong
    assert "0 orders instead of one" in wrong
    assert "there is no log" in wrong
    assert "no duration" in wrong
