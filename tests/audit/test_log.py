from __future__ import annotations

import hashlib
import json
import math
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from deskhand.audit.log import AuditLog, LogBroken, LogBusy
from deskhand.audit.read import read_events
from deskhand.audit.store import TaskStore
from deskhand.audit.verify import verify_log
from deskhand.messages import Point, Rect, Settled, Target


def test_a_line_is_sealed_by_the_hash_of_its_own_bytes(log: AuditLog) -> None:
    first = log.write("task_started", goal="ünïcode “quotes” \\ \n end")
    second = log.write("action", step={"kind": "key", "keys": "ctrl+s"})
    lines = log.path.read_bytes().split(b"\n")
    assert lines.pop() == b""
    for line, event in zip(lines, (first, second), strict=True):
        hashed, _, rest = line.rpartition(b',"hash":')
        assert hashlib.sha256(hashed).hexdigest() == event["hash"] == json.loads(b'{"hash":' + rest)["hash"]
        assert line.isascii()
        assert json.loads(line) == event
    assert (first["prev"], second["prev"]) == ("0" * 64, first["hash"])
    assert log.head == second["hash"]
    assert list(first) == ["v", "seq", "ts", "t", "conversation", "kind", "goal", "prev", "hash"]


def test_an_event_cannot_overrule_the_keys_of_the_chain(log: AuditLog) -> None:
    with pytest.raises(ValueError, match="hash, seq"):
        log.write("error", seq=7, hash="x")
    with pytest.raises(ValueError, match="kind must be one of"):
        log.write("gossip")
    assert log.path.read_bytes() == b""


def test_values_of_our_own_become_plain_json(log: AuditLog, tmp_path: Path) -> None:
    event = log.write(
        "action",
        target=Target(role="button", name="Save", rect=Rect(1, 2, 3, 4), point=Point(5, 6)),
        settled=Settled(verdict="settled", waited=0.25, regions=(Rect(0, 0, 9, 9),)),
        states=frozenset({"focused", "checked"}),
        path=tmp_path,
        ratio=math.nan,
        odd="\ud800",
    )
    assert event["target"] == {"role": "button", "name": "Save", "rect": [1, 2, 3, 4], "point": [5, 6]}
    assert event["settled"]["regions"] == [[0, 0, 9, 9]]
    assert event["states"] == ["checked", "focused"]
    assert (event["path"], event["ratio"], event["odd"]) == (str(tmp_path), None, "\ud800")
    assert verify_log(log.path).intact


def test_what_is_kept_is_private(log: AuditLog) -> None:
    log.write("task_started")
    log.store_image(b"picture")
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in [log.directory, *log.directory.rglob("*")]}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}
    assert len(modes) == 4


def test_a_second_writer_is_told_that_the_task_is_running(log: AuditLog) -> None:
    with pytest.raises(LogBusy, match=f"{log.conversation} is running"):
        AuditLog.create(log.directory, log.conversation, resume=True)
    log.close()
    AuditLog.create(log.directory, log.conversation, resume=True).close()


def test_a_log_that_is_there_is_not_begun_anew(finished: Path) -> None:
    before = finished.read_bytes()
    with pytest.raises(FileExistsError):
        AuditLog.create(finished.parent, finished.parent.name)
    assert finished.read_bytes() == before


def test_many_threads_write_one_chain(log: AuditLog) -> None:
    seen: list[int] = []
    log._on_event = lambda event: seen.append(event["seq"])
    threads = [
        threading.Thread(target=lambda: [log.write("observation", n=n) for n in range(25)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verify_log(log.path).lines == 100
    assert seen == list(range(100))


def test_a_listener_that_fails_does_not_end_the_task(
    store: TaskStore, caplog: pytest.LogCaptureFixture
) -> None:
    name, directory = store.new()

    def listener(event: dict[str, object]) -> None:
        raise RuntimeError("nobody listens")

    with AuditLog.create(directory, name, on_event=listener) as log:
        log.write("task_started")
        log.write("task_finished")
    assert [event["kind"] for event in read_events(log.path)] == ["task_started", "task_finished"]
    assert "nobody listens" in caplog.text


def test_a_resumed_task_goes_on_with_the_chain(finished: Path) -> None:
    with AuditLog.create(finished.parent, finished.parent.name, resume=True) as log:
        event = log.write("task_started", goal="and now close it")
    assert event["seq"] == 6
    assert verify_log(finished, log.head).expected_at == 7
    assert verify_log(finished).lines == 7


def test_nothing_is_appended_to_a_broken_log(finished: Path) -> None:
    data = finished.read_bytes().replace(b"press Save", b"press Quit")
    finished.write_bytes(data)
    with pytest.raises(LogBroken, match="line 1"):
        AuditLog.create(finished.parent, finished.parent.name, resume=True)
    assert finished.read_bytes() == data


def test_a_torn_line_stays_and_is_sealed_by_the_next_one(finished: Path) -> None:
    torn = b'{"v":1,"seq":6,"ts":"20'
    before = finished.read_bytes() + torn
    finished.write_bytes(before)
    assert verify_log(finished).torn
    with AuditLog.create(finished.parent, finished.parent.name, resume=True) as log:
        event = log.write("task_started", goal="again")
    assert finished.read_bytes().startswith(before + b"\n")
    assert event["torn"] == {"bytes": len(torn), "sha256": hashlib.sha256(torn).hexdigest()}
    checked = verify_log(finished, log.head)
    assert checked.ok
    assert checked.sealed == 1
    assert checked.lines == 7
    assert not checked.torn
    finished.write_bytes(finished.read_bytes().replace(torn, torn[:-1] + b"1"))
    assert (verify_log(finished).bad_line, verify_log(finished).intact) == (7, False)


def test_a_last_line_that_only_lacks_its_lf_is_kept_as_it_is(finished: Path) -> None:
    whole = finished.read_bytes()
    finished.write_bytes(whole[:-1])
    checked = verify_log(finished)
    assert checked.intact
    assert checked.torn
    assert checked.lines == 5
    with AuditLog.create(finished.parent, finished.parent.name, resume=True) as log:
        assert log.write("task_started")["seq"] == 6
    assert finished.read_bytes().startswith(whole)
    assert verify_log(finished, log.head).ok


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from deskhand.audit.log import AuditLog
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limit = resource.getrlimit(resource.RLIMIT_FSIZE)
with AuditLog.create(Path(sys.argv[1]), "full") as log:
    log.write("task_started", goal="g")
    for spare in (10, 40):
        resource.setrlimit(resource.RLIMIT_FSIZE, (log.path.stat().st_size + spare, limit[1]))
        try:
            log.write("action", step={"kind": "click"})
        except OSError:
            print("refused")
    resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    log.write("error", message="the disk was full")
    print(log.head)
"""


def test_a_full_disk_tears_a_line_and_the_log_goes_on_after_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path / "full")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    first, second, head = done.stdout.split()
    assert (first, second) == ("refused", "refused")
    checked = verify_log(tmp_path / "full" / "audit.jsonl", head)
    assert checked.ok
    assert checked.sealed == 1
    assert checked.lines == 2


WRITER = """
import sys
from pathlib import Path
from deskhand.audit.log import AuditLog
log = AuditLog.create(Path(sys.argv[1]), "killed")
while True:
    log.write("action", step={"kind": "type", "text": "x" * 5000})
    print(log.head, flush=True)
"""


def test_a_killed_writer_leaves_a_log_that_verifies(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path / "killed")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        for _ in range(20):
            head = writer.stdout.readline().strip()
        writer.send_signal(signal.SIGKILL)
    checked = verify_log(tmp_path / "killed" / "audit.jsonl", head)
    assert checked.ok
    assert checked.lines >= 20


def test_secrets_are_replaced_by_their_names_everywhere(store: TaskStore) -> None:
    name, directory = store.new()
    secrets = {"password": 'p"ss wörd', "pin": "4711", "word": "secret"}
    with AuditLog.create(directory, name, secrets=secrets) as log:
        event = log.write(
            "action",
            step={"kind": "type", "text": 'p"ss wörd', "more": [{"4711": "is 4711"}]},
            quoted=json.dumps({"typed": 'p"ss wörd'}),
            url="https://x.example/?q=p%22ss%20w%C3%B6rd",
            note="the secret",
            number=4711,
        )
    kept = log.path.read_text()
    assert "ss w" not in kept.replace("<secret:password>", "")
    assert "p%22ss" not in kept
    assert event["step"] == {
        "kind": "type",
        "text": "<secret:password>",
        "more": [{"<secret:pin>": "is <secret:pin>"}],
    }
    assert event["note"] == "the <secret:word>"
    assert log.scrub("ab4711" + "0" * 58) == "ab4711" + "0" * 58
    assert log.scrub('say "p\\"ss w\\u00f6rd"') == 'say "<secret:password>"'
    assert log.scrub_json({"a": ["4711", 4711]}) == {"a": ["<secret:pin>", 4711]}


def test_only_the_length_of_typed_text_is_kept_when_that_is_asked_for(store: TaskStore) -> None:
    name, directory = store.new()
    with AuditLog.create(directory, name, audit_text="length") as log:
        log.write("action", step={"kind": "type", "text": "dear diary"}, note="typed 'dear diary'")
        log.write("action", step={"kind": "key", "keys": "ctrl+l;t:hello there;kp:tab"})
        log.write("action", step={"kind": "fill", "text": "ab", "target": "textbox"})
        log.write("observation", window="dear diary - Editor")
    first, second, third, fourth = read_events(log.path)
    assert first["step"]["text"] == "<10 characters>"
    assert first["note"] == "typed '<10 characters>'"
    assert second["step"]["keys"] == "ctrl+l;t:<11 characters>;kp:tab"
    assert third["step"]["text"] == "<2 characters>"
    assert fourth["window"] == "<10 characters> - Editor"


def test_a_picture_is_stored_once_under_its_hash(log: AuditLog) -> None:
    digest = log.store_image(b"\x89PNG same")
    assert digest == log.store_image(b"\x89PNG same") == hashlib.sha256(b"\x89PNG same").hexdigest()
    assert [path.name for path in log.images.directory.iterdir()] == [f"{digest}.png"]
    assert log.images.find(digest) == (log.images.directory / f"{digest}.png", "image/png")
    assert log.images.find("0" * 64) is None
    with pytest.raises(ValueError, match="64 lower-case hex"):
        log.images.find("../audit.jsonl")
