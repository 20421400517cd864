"""A secret has a name for the model and for everything that is kept; its value is only ever typed.

Every byte that the product wrote, sent to the model and printed is searched for it, in the ways it might be spelt.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from deskhand import Private, computer_task
from watching import Watch
from wire import Wire

SECRETS = {"site_password": 'Tülip "9" & <no>  more', "token": "S3cr3t+Value/=?7711", "pin": "904417"}

PAGE = """<!doctype html><meta charset=utf-8><title>Sign in</title>
<label>User <input id=u value=mira></label><label>Password <input id=p type=password></label>
<label>Token <input id=t></label><label>PIN <input id=n></label><button onclick="tell()">Sign in</button>
<div id=out></div><script>
const $ = id => document.getElementById(id);
function tell() {
  const said = [$('p').value, $('t').value, $('n').value];
  const base64 = text => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
  for (const each of said) for (const form of [each, encodeURIComponent(each), encodeURI(each), JSON.stringify(each),
      JSON.stringify(JSON.stringify(each)), new URLSearchParams({q: each}).toString(), base64(each),
      base64('x' + each + 'y'), base64('ab' + each + '!'), new Option(each).innerHTML]) {
    const line = document.createElement('p');
    line.textContent = 'Echo: ' + form;
    $('out').append(line);
  }
  const button = document.createElement('button');
  button.setAttribute('aria-label', 'Copy ' + said[0]);
  button.title = 'It is ' + said[1];
  $('out').append(button);
  document.title = 'Welcome ' + said[1];
  history.replaceState(null, '', '?' + new URLSearchParams({password: said[0], token: said[1], pin: said[2]}));
  console.error(said.join(' '));
  setTimeout(() => alert('Signed in with ' + said.join(' ')), 50);
}
</script>"""


def spellings(value: str) -> Iterator[str]:
    """A value as other texts may carry it."""
    for ascii_only in (True, False):
        escaped = " ".join(value.split())
        for _ in range(4):
            escaped = json.dumps(escaped, ensure_ascii=ascii_only)[1:-1]
            yield escaped
    yield from (value, " ".join(value.split()), html.escape(value))
    yield from (
        json.dumps(value, ensure_ascii=False)[1:-1],
        quote(value),
        quote(value, safe=""),
        quote_plus(value),
    )
    data = value.encode()
    for before in range(3):
        whole = base64.b64encode(bytes(before) + data).decode()
        inner = whole[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        yield from (inner, inner.replace("+", "-").replace("/", "_"))


def found_in(text: str) -> list[str]:
    return [
        f"{name}: {form}" for name, value in SECRETS.items() for form in set(spellings(value)) if form in text
    ]


def strings(value: Any) -> Iterator[str]:
    """Every string of JSON data, pictures left out."""
    if isinstance(value, str):
        if not re.fullmatch(r"[A-Za-z0-9+/=]{2000,}", value):
            yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


class Arguments(Watch):
    """Watches the arguments and the environments of all processes of a task, too."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: set[str] = set()

    def look(self) -> None:
        super().look()
        for process in self.seen:
            for name in ("cmdline", "environ"):
                try:
                    text = Path(f"/proc/{process.pid}/{name}").read_bytes().decode("utf-8", "replace")
                except OSError:
                    continue
                self.lines.add(text.replace("\0", " "))


def test_no_byte_that_is_kept_sent_or_printed_holds_a_secret(
    wire: Wire,
    tmp_path: Path,
    deskhand_home: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    temporary = tmp_path / "t"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    shared = tmp_path / "site"
    shared.mkdir()
    (shared / "login.html").write_text(PAGE, "utf-8")
    fields = [("Password", "site_password"), ("Token", "token"), ("PIN", "pin")]
    sign_in = [
        {"kind": "launch", "app": f"file://{shared}/login.html"},
        *(
            {"kind": "fill", "target": f"textbox[name='{label}']", "text": f"<secret:{name}>"}
            for label, name in fields
        ),
        {"kind": "click", "target": "button[name='Sign in']"},
    ]
    wrong = [
        {
            "kind": "fill",
            "target": "textbox[name='<secret:token>']",
            "text": "<secret:nothing>",
            "timeout": 0.2,
        },
    ]
    finish = {"result": "Signed in.", "evidence": ["Signed in"]}
    wire.play(
        [
            {"calls": [{"name": "act", "input": {"steps": sign_in}}]},
            {"calls": [{"name": "act", "input": {"steps": [{"kind": "dialog", "accept": True}]}}]},
            {"calls": [{"name": "observe", "input": {"detail": True}}]},
            {"calls": [{"name": "find", "input": {"selector": "paragraph", "limit": 50}}]},
            {"calls": [{"name": "act", "input": {"steps": [{"kind": "clipboard"}]}}]},
            {"calls": [{"name": "act", "input": {"steps": wrong}}]},
            {"calls": [{"name": "finish", "input": finish}]},
            {"calls": [{"name": "finish", "input": finish}]},
        ]
    )
    watch = Arguments()
    status = computer_task(
        "Sign in with the site password, the token and the PIN",
        60,
        "openai-chat:local",
        secrets=SECRETS,
        computer=Private(share=(str(shared),)),
        record=True,
        on_event=watch,
    )
    actions = [event for event in watch.events if event["kind"] == "action"]
    assert [event["effect"] for event in actions[:5]] == ["done", *["dispatched"] * 3, "done"], actions
    sent = [text for body in wire.bodies for text in strings(body)]
    assert any("<secret:token>" in text for text in sent)
    lines = [line for text in sent for line in text.splitlines() if "Echo: " in line]
    assert lines
    assert [line for line in lines if "<secret:" not in line] == []
    assert [found for text in sent if (found := found_in(text))] == []
    assert found_in(json.dumps(wire.bodies, ensure_ascii=False)) == []

    kept = [path for root in (deskhand_home, temporary) for path in root.rglob("*") if path.is_file()]
    assert {"audit.jsonl", "transcript.jsonl", "result.json"} <= {path.name for path in kept}
    for path in kept:
        assert found_in(path.read_bytes().decode("utf-8", "replace")) == [], path
        assert found_in(str(path)) == []
    printed = capfd.readouterr()
    for text in (printed.out, printed.err, *strings(dict(status)), *strings(watch.events), *watch.lines):
        assert found_in(text) == []
