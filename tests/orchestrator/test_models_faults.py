"""Every fault of a provider ends in the right error, within the time that is left, for each of the three APIs."""

from __future__ import annotations

import asyncio
import math
import time
from email.utils import formatdate

import pytest

from deskhand.errors import ModelError, ModelRefused
from deskhand.messages import Json, Words
from deskhand.orchestrator.models import transport
from model_helpers import BRIEF, MOSTLY_STREAMED, RULES, TOOL, Make, picture
from wire import Request, Wire

SPECS = ("anthropic:claude-sonnet-5-5", "openai:gpt-5.6-sol", "openai-chat:any")

REPLIES = MOSTLY_STREAMED

pytestmark = pytest.mark.parametrize("spec", SPECS)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Back-off that starts at a millisecond."""
    monkeypatch.setattr(transport, "FIRST_DELAY", 0.001)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
@pytest.mark.usefixtures("quick")
async def test_what_may_pass_is_asked_again(wire: Wire, make: Make, spec: str, status: int) -> None:
    wire.play([{"http": status}, {"http": status}, {"text": "ok"}])
    assert (await make(spec, timeout=10).turn([RULES, BRIEF], [TOOL])).text == "ok"
    assert len(wire.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
async def test_what_will_not_pass_is_said_at_once(
    wire: Wire, make: Make, spec: str, status: int, streamed: Json
) -> None:
    wire.play([{"http": status, "message": "because"}])
    with pytest.raises(ModelError, match=f"HTTP {status}") as caught:
        await make(spec, timeout=10).turn([RULES, BRIEF], [TOOL])
    # A compatible server may mean that it cannot stream: that is tried, once.
    tried_whole = streamed and spec.startswith("openai-chat") and status in (400, 422)
    assert len(wire.requests) == (2 if tried_whole else 1)
    assert not caught.value.retryable
    assert ("because" in str(caught.value)) == (status != 401)


@pytest.mark.usefixtures("quick")
async def test_a_provider_that_stays_down_is_given_up(wire: Wire, make: Make, spec: str) -> None:
    wire.play(lambda request: {"http": 500, "message": "down"})
    with pytest.raises(ModelError, match="down") as caught:
        await make(spec, timeout=10).turn([RULES, BRIEF], [TOOL])
    assert len(wire.requests) == transport.ATTEMPTS
    assert caught.value.retryable


async def test_a_wait_that_is_asked_for_is_waited(wire: Wire, make: Make, spec: str) -> None:
    wire.play([{"http": 429, "headers": {"retry-after": "0.2"}}, {"text": "ok"}])
    started = time.monotonic()
    await make(spec, timeout=10).turn([RULES, BRIEF], [TOOL])
    assert 0.2 <= time.monotonic() - started < 2


@pytest.mark.parametrize("form", ["seconds", "milliseconds", "date"])
@pytest.mark.parametrize("timeout", [30, None])
async def test_a_wait_longer_than_the_time_left_is_an_answer(
    wire: Wire, make: Make, spec: str, form: str, timeout: float | None
) -> None:
    headers = {
        "seconds": {"retry-after": "86400"},
        "milliseconds": {"retry-after-ms": "86400000"},
        "date": {"retry-after": formatdate(time.time() + 86400, usegmt=True)},
    }[form]
    wire.play([{"http": 429, "headers": headers}])
    with pytest.raises(ModelError, match=r"it asks to wait 86\d\d\d s") as caught:
        await make(spec, timeout=timeout).turn([RULES, BRIEF], [TOOL])
    assert caught.value.retry_after == pytest.approx(86400, abs=5)
    assert len(wire.requests) == 1


async def test_an_empty_account_is_not_asked_again(wire: Wire, make: Make, spec: str) -> None:
    wire.play([{"http": 429, "code": "insufficient_quota", "message": "no money"}])
    with pytest.raises(ModelError, match="no money"):
        await make(spec, timeout=10).turn([RULES, BRIEF], [TOOL])
    assert len(wire.requests) == 1


async def test_a_server_that_says_not_to_ask_again_is_believed(wire: Wire, make: Make, spec: str) -> None:
    wire.play([{"http": 500, "headers": {"x-should-retry": "false"}}])
    with pytest.raises(ModelError, match="HTTP 500"):
        await make(spec, timeout=10).turn([RULES, BRIEF], [TOOL])
    assert len(wire.requests) == 1


async def test_a_request_that_is_refused_for_what_it_says_is_a_refusal(
    wire: Wire, make: Make, spec: str
) -> None:
    wire.play([{"http": 400, "code": "content_policy_violation", "message": "not this"}])
    with pytest.raises(ModelRefused, match="not this"):
        await make(spec, timeout=10).turn([RULES, BRIEF], [TOOL])


async def test_a_hung_server_costs_the_time_that_is_left_and_no_more(
    wire: Wire, make: Make, spec: str
) -> None:
    wire.play([{"hang": 60}])
    started = time.monotonic()
    with pytest.raises(ModelError, match="no answer within"):
        await make(spec, timeout=0.3).turn([RULES, BRIEF], [TOOL])
    assert time.monotonic() - started < 1
    assert await asyncio.to_thread(wire.requests[0].left.wait, 2)


async def test_a_request_longer_than_its_bound_is_asked_again_while_there_is_time(
    wire: Wire, make: Make, spec: str, monkeypatch: pytest.MonkeyPatch, quick: None
) -> None:
    monkeypatch.setattr(transport, "LONGEST_REQUEST", 0.3)
    wire.play([{"hang": 60}, {"text": "ok"}])
    assert (await make(spec, timeout=10).turn([RULES, BRIEF], [TOOL])).text == "ok"


async def test_cancelling_a_turn_closes_its_request(wire: Wire, make: Make, spec: str) -> None:
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()

    def arrived(request: Request) -> None:
        loop.call_soon_threadsafe(asked.set)

    wire.on_request = arrived
    wire.play([{"hang": 60}])
    turn = asyncio.create_task(make(spec).turn([RULES, BRIEF], [TOOL]))
    await asyncio.wait_for(asked.wait(), 5)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert await asyncio.to_thread(wire.requests[0].left.wait, 2)


@pytest.mark.usefixtures("quick")
async def test_a_reply_that_breaks_off_is_asked_for_again(wire: Wire, make: Make, spec: str) -> None:
    wire.play([{"text": "half", "drop": True}, {"text": "whole"}])
    assert (await make(spec, timeout=10).turn([RULES, BRIEF], [TOOL])).text == "whole"


@pytest.mark.usefixtures("quick")
async def test_a_connection_that_always_breaks_is_an_error(wire: Wire, make: Make, spec: str) -> None:
    wire.play(lambda request: {"text": "half", "drop": True})
    with pytest.raises(ModelError, match="connection failed"):
        await make(spec, timeout=10).turn([RULES, BRIEF], [TOOL])


@pytest.mark.usefixtures("quick")
async def test_no_server_at_all_is_an_error(
    wire: Wire, make: Make, spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/v1")
    with pytest.raises(ModelError, match="connection failed"):
        await make(spec, timeout=10).turn([RULES, BRIEF], [TOOL])


@pytest.mark.parametrize(
    "raw", ["not json", "", "[1, 2]", "null", '{"half": ', "{}", '{"content": 1, "output": 1}']
)
@pytest.mark.usefixtures("quick")
async def test_replies_that_are_no_replies_end_in_an_error(
    wire: Wire, make: Make, spec: str, raw: str
) -> None:
    wire.play(lambda request: {"raw": raw})
    with pytest.raises(ModelError, match="the reply"):
        await make(spec, timeout=10).turn([RULES, BRIEF], [TOOL])
    assert len(wire.requests) == transport.MALFORMED_ATTEMPTS


@pytest.mark.usefixtures("quick")
async def test_a_malformed_reply_followed_by_a_good_one_is_a_turn(wire: Wire, make: Make, spec: str) -> None:
    wire.play([{"raw": "<html>"}, {"text": "ok"}])
    assert (await make(spec, timeout=10).turn([RULES, BRIEF], [TOOL])).text == "ok"


async def test_an_error_page_that_is_not_json_is_still_its_status(wire: Wire, make: Make, spec: str) -> None:
    wire.play([{"http": 404, "raw": "<html>nothing here</html>"}])
    with pytest.raises(ModelError, match="HTTP 404"):
        await make(spec, timeout=10).turn([RULES, BRIEF], [TOOL])


async def test_without_a_key_the_error_names_the_variable(
    wire: Wire, make: Make, spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name)
    variable = "ANTHROPIC_API_KEY" if spec.startswith("anthropic") else "OPENAI_API_KEY"
    with pytest.raises(ModelError, match=variable):
        await make(spec, timeout=10).turn([RULES, BRIEF], [TOOL])
    assert wire.requests == []


async def test_with_no_time_left_nothing_is_sent(wire: Wire, make: Make, spec: str) -> None:
    with pytest.raises(ModelError, match="no time is left"):
        await make(spec, timeout=lambda: 0.0).turn([RULES, BRIEF], [TOOL])
    assert wire.requests == []


async def test_the_time_left_is_asked_anew_each_time(wire: Wire, make: Make, spec: str) -> None:
    left = iter([math.inf, 0.0, 0.0])
    wire.play([{"http": 500, "message": "down"}])
    with pytest.raises(ModelError, match="down; giving up"):
        await make(spec, timeout=lambda: next(left)).turn([RULES, BRIEF], [TOOL])


async def test_numbers_missing_from_a_reply_count_as_nothing(wire: Wire, make: Make, spec: str) -> None:
    body = {
        "content": [{"type": "text", "text": "ok"}],
        "choices": [{"message": {"content": "ok"}}],
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "ok"}]}],
    }
    wire.play([{"body": body}])
    turn = await make(spec, timeout=10).turn([RULES, BRIEF], [TOOL])
    assert (turn.text, turn.usage.input_tokens, turn.usage.output_tokens) == ("ok", 0, 0)


async def test_a_blind_model_is_told_what_it_cannot_see(wire: Wire, make: Make, spec: str) -> None:
    from types import SimpleNamespace

    wire.play([{"text": "ok"}])
    settings = SimpleNamespace(model=None, models={spec: {"vision": False}})
    words = Words(role="user", text="Look", images=(picture(8, 6, name="i1"),))
    turn = await make(spec, settings).turn([RULES, words], [TOOL])
    assert turn.usage.images == 0
    assert "image i1, 8x6, was left out" in str(wire.bodies[0])
    assert "base64" not in str(wire.bodies[0])


async def test_one_model_serves_one_event_loop_after_another(wire: Wire, spec: str) -> None:
    from deskhand.orchestrator.models import make_model

    wire.play([{"text": "one"}, {"text": "two"}])
    model = make_model(spec)

    async def once() -> str:
        turn = await model.turn([RULES, BRIEF], [TOOL])
        await model.aclose()  # type: ignore[attr-defined]
        return turn.text

    def both() -> list[str]:
        return [asyncio.run(once()), asyncio.run(once())]

    assert await asyncio.to_thread(both) == ["one", "two"]
