"""The status dict stays within its bound and can be made from a log alone."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from deskhand.audit.log import AuditLog
from deskhand.messages import Usage
from deskhand.orchestrator.result import TOKEN_BOUND, Outcome, Receipt, from_log, make_status, tokens

RECEIPT = Receipt(
    conversation="20261130-231500-calm-otter", logdir=Path("/data/x"), model="embedded", computer="private"
)


@given(
    result=st.text(max_size=9000),
    evidence=st.lists(st.tuples(st.text(max_size=900), st.booleans()), max_size=25),
)
def test_a_status_is_at_most_400_tokens_whatever_the_child_says(
    result: str, evidence: list[tuple[str, bool]]
) -> None:
    checks = tuple({"check": check, "holds": holds} for check, holds in evidence)
    status = make_status(Outcome(reason=None, result=result, verified=True, evidence=checks), RECEIPT)  # type: ignore[arg-type]
    assert tokens({**status, "data": None}) <= TOKEN_BOUND


def test_a_cut_result_points_to_the_log_and_data_is_left_whole() -> None:
    data = {"rows": ["x" * 100] * 100}
    status = make_status(Outcome(reason="gave_up", result="é" * 5000, data=data), RECEIPT)
    assert status["result"].endswith("(cut; the whole is in the log)")
    assert status["data"] == data
    assert status["status"] == "failure"


def test_a_short_status_is_left_as_it_is() -> None:
    evidence = ({"check": "text[name='408']", "holds": True},)
    status = make_status(Outcome(reason=None, result="408", verified=True, evidence=evidence), RECEIPT)  # type: ignore[arg-type]
    assert (status["status"], status["reason"], status["result"], status["verified"]) == (
        "success",
        None,
        "408",
        True,
    )
    assert status["evidence"] == [{"check": "text[name='408']", "holds": True}]
    assert status["agent_id"] == status["conversation"] == RECEIPT.conversation
    json.dumps(status)


def test_a_lost_workers_status_tells_its_last_three_steps(tmp_path: Path) -> None:
    with AuditLog.create(tmp_path, "c") as log:
        log.write("task_started", goal="g", model="embedded", computer="private")
        log.write("model_call", input_tokens=3, output_tokens=2, cached_tokens=0, images=0, cost_usd=None)
        for name in ("One", "Two", "Three", "Four"):
            step = {"kind": "click", "target": f"button[name='{name}']"}
            last = log.write("action", step=step, target={"role": "button", "name": name}, effect="done")
    status = from_log(tmp_path, "c", "computer_lost", "the worker process died", 1.5)
    assert status["status"] == "failure"
    assert "Two" in status["result"]
    assert "One" not in status["result"]
    assert status["audit_hash"] == last["hash"]
    assert status["steps"] == 1
    assert status["usage"]["cost_usd"] is None
    assert Usage(**status["usage"]).input_tokens == 3


def test_a_log_that_says_how_the_task_ended_is_believed_although_its_worker_was_lost(tmp_path: Path) -> None:
    said = make_status(
        Outcome(reason=None, result="408", verified=True),
        Receipt(conversation="c", logdir=tmp_path, model="m", computer="private"),
    )
    logged = {key: value for key, value in said.items() if key not in ("conversation", "agent_id", "logdir")}
    del logged["audit_hash"]
    with AuditLog.create(tmp_path, "c") as log:
        log.write("task_started", goal="x", model="m")
        event = log.write("task_finished", **logged)
    status = from_log(tmp_path, "c", "computer_lost", "the worker process died", 1.5)
    assert status == {**said, "audit_hash": event["hash"]}
