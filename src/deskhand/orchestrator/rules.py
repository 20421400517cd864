"""Which acts are sensitive, and which of them the caller's own words allow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import urlsplit

from deskhand.messages import Json, Node, Target
from deskhand.observers.node import flatten, quote
from deskhand.orchestrator.brief import Brief
from deskhand.orchestrator.commands import dangers
from deskhand.orchestrator.named import covered, names, other_than_named
from deskhand.orchestrator.place import Place, agrees, declines, deletes_by_key, sends_by_key
from deskhand.orchestrator.risks import (
    Kind,
    asked_for,
    is_custom,
    kinds_on,
    kinds_threatened,
    plain_words,
    same,
)

_SECRET: Final = re.compile(r"<secret:([^<>\s]+)>")

_FIELDS: Final = frozenset({"textbox", "searchbox", "spinbutton", "slider", "document", "window"})
"""What a click only puts the focus into."""

_CONTENT: Final = frozenset(
    "text paragraph heading listitem row cell gridcell article treeitem checkbox radio option".split()
)
"""What is a control only when it says little."""

_FEW_WORDS: Final = 2

_PRESSES: Final = {"click", "invoke", "toggle", "select", "menu"}


_LOG_IN: Final = frozenset(
    """
log login logon sign signin password passphrase passwort anmelden kennwort connexion contraseña senha pin secret
secrets credentials authenticate unlock
""".split()
)

_CREDENTIALS: Final = frozenset(
    "user username email mail name account id key token code otp number card cvc cvv iban benutzername nutzer".split()
)
"""Words on fields, besides those of logging in, that a secret may be entered into."""

_ADDRESS: Final = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
_EMAIL: Final = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*\w")


def _in_domains(address: str, domains: Iterable[str]) -> bool:
    if address.startswith("about:"):
        return True
    host = (urlsplit(address if "://" in address else f"https://{address}").hostname or "").casefold()
    plain = [domain.casefold().lstrip("*.") for domain in domains]
    return any(host == domain or host.endswith(f".{domain}") for domain in plain)


class Rules:
    """The rules of one task: what its caller said, and what was typed so far."""

    def __init__(self, brief: Brief, extra: Iterable[str] = ()) -> None:
        self._brief, self._extra = brief, tuple(extra)
        self._texts = (brief.goal, brief.context, *brief.inputs, *brief.inputs.values(), *brief.expect)
        if brief.answer is not None:
            self._texts = (*self._texts, brief.answer)
        self._raw = "\n".join(self._texts)
        self._said = self._raw.casefold()
        self._asked = asked_for(self._texts)
        self._typed: list[str] = []
        self._line = ""

    def sensitive(self, step: Json, target: Target | None, node: Node | None, place: Place) -> str:
        """What makes an act sensitive and not authorised by the caller's own words; empty when nothing does."""
        kind = str(step.get("kind", ""))
        why = (
            self._files(step)
            or self._secret(step, target, node)
            or self._outside(step, target, node, place)
            or self._command(step, place)
            or self._deletion(step, node, place)
            or self._press(step, target, node, place)
        )
        if not why and kind in ("fill", "type", "clipboard", "key"):
            self._typed.append(str(step.get("text") or step.get("keys") or ""))
        return why

    # --- what is entered ---------------------------------------------------------------------------------------

    def _files(self, step: Json) -> str:
        """The files of an upload that the caller named neither by path nor by name."""
        if step.get("kind") != "upload":
            return ""
        if self._asked.words & {"upload", "attach"} and not re.search(r"\w\.\w{2,5}\b", self._said):
            return ""
        files = step.get("files") or ()
        given = [files] if isinstance(files, str) else list(files)
        unnamed = ", ".join(
            str(each)
            for each in given
            if str(each).casefold() not in self._said
            and PurePosixPath(str(each)).name.casefold() not in self._said
        )
        return f"uploading {unnamed}" if unnamed else ""

    def _secret(self, step: Json, target: Target | None, node: Node | None) -> str:
        text = " ".join(str(step.get(key) or "") for key in ("text", "keys", "url", "app"))
        secrets = _SECRET.findall(text)
        field = target.name if target is not None else ""
        is_password = node is not None and "password" in node.states
        if secrets and not self._may_log_in(secrets, field, is_password=is_password):
            return f"entering the secret {', '.join(secrets)} where the caller did not ask for it"
        if step.get("kind") in ("fill", "type") and is_password:
            given = str(step.get("text", ""))
            known = given in self._brief.inputs.values() or (
                bool(given and self._asked.words & _LOG_IN)
                and re.search(rf"(?<!\w){re.escape(given)}(?!\w)", self._raw) is not None
            )
            if not (re.fullmatch(r"<secret:[^>]+>", given) or known):
                return "entering a password that the caller did not give"
        return ""

    def _may_log_in(self, secrets: Iterable[str], field: str, *, is_password: bool) -> bool:
        """Whether the caller spoke of entering secrets at all, or of these; and whether this is a field for one."""
        spoken = bool(self._asked.words & _LOG_IN) or all(
            name.casefold() in self._said or name.casefold().replace("_", " ") in self._said
            for name in secrets
        )
        if not spoken or is_password or not field:
            return spoken
        label = set(plain_words(field))
        wanted = {word for name in secrets for word in plain_words(name.replace("_", " "))}
        return bool(label & (_LOG_IN | _CREDENTIALS | wanted)) or field.casefold() in self._said

    # --- where it goes -----------------------------------------------------------------------------------------

    def _outside(self, step: Json, target: Target | None, node: Node | None, place: Place) -> str:
        """How an act would leave the allow-lists, or is done outside of them; empty when there are none."""
        policy = self._brief.policy
        app = step.get("app")
        said = " ".join(map(str, app)) if isinstance(app, list | tuple) else str(app or "")
        address = str(step.get("url") or "") or next(iter(_ADDRESS.findall(said)), "")
        if node is not None and node.role == "link" and "://" in node.url:
            address = node.url
        if policy.domains is not None:
            if address and not _in_domains(address, policy.domains):
                return f"going to {address[:200]}, which is outside the allowed domains"
            here = place.address
            acts_here = (node is not None and node.source == "page") or step.get("kind") in ("key", "dialog")
            if acts_here and not address and here and not _in_domains(here, policy.domains):
                return f"acting on {here[:200]}, which is outside the allowed domains"
        if policy.apps is None or address:
            return ""
        used = said or (target.app if target is not None else "")
        if not used and step.get("kind") in ("key", "type", "click", "press", "drag"):
            used = place.app
        allowed = [each.casefold() for each in policy.apps]
        if used and not any(each in used.casefold() for each in allowed):
            return f"using {used[:100]}, which is not among the allowed apps"
        return ""

    # --- what it does ------------------------------------------------------------------------------------------

    def _command(self, step: Json, place: Place) -> str:
        """What a command line that is typed or launched would do. A line may be typed in several pieces."""
        kind, app = step.get("kind"), step.get("app")
        if kind == "launch":
            line = " ".join(map(str, app)) if isinstance(app, list | tuple) else str(app or "")
            found = "" if "://" in line.split(" ")[0] else dangers(line, self._asked, self._texts)
            return f"{found} with {quote(line, 120)}" if found else ""
        if not place.in_terminal:
            return ""
        if kind in ("type", "fill"):
            entered = str(step.get("text", ""))
        elif kind == "key":
            entered = "".join(_entered_by_keys(str(step.get("keys", "")), self._typed))
        else:
            return ""
        line = self._line + entered
        found = dangers(line, self._asked, self._texts)
        if found:
            return f"{found} with {quote(line.strip(), 120)}"
        ends = bool(step.get("enter")) or sends_by_key(step, None)
        self._line = "" if ends else line.rsplit("\n", 1)[-1]
        return ""

    def _deletion(self, step: Json, node: Node | None, place: Place) -> str:
        if not deletes_by_key(step) or place.in_text or (node is None and not place.selected):
            return ""
        if (
            node is not None
            and not place.selected
            and node.role not in ("listitem", "row", "treeitem", "icon")
        ):
            return ""
        items = place.selected or (node.name if node is not None else "",)
        why = f"deleting what is selected ({', '.join(quote(item, 40) for item in items[:5])})"
        if "deleting" not in self._asked.kinds:
            return why
        named = names(self._raw) or re.findall(r"[\w-]+\.\w{1,5}\b", self._raw)
        if len(items) > 1 and named and not self._asked.weighty("all"):
            return ""
        strangers = [item for item in items if named and not any(covered(each, item) for each in named)]
        return f"{why}, which the goal does not name" if strangers else ""

    def _press(self, step: Json, target: Target | None, node: Node | None, place: Place) -> str:
        label = self._pressed(step, target, node, place)
        if not label:
            return ""
        role = target.role if target is not None else ""
        most = 2 * _FEW_WORDS if role in ("text", "paragraph") else _FEW_WORDS
        if step.get("kind") in _PRESSES and role in _CONTENT and len(plain_words(label)) > most:
            return ""
        kinds = kinds_on(label, is_link=role == "link" or role in _CONTENT)
        custom = is_custom(label, self._extra)
        why = f"pressing {label!r}"
        if not kinds and place.dialog and (agrees(label) or (role == "button" and not declines(label))):
            kinds = kinds_threatened(place.dialog)
            why = f"pressing {label!r} on {quote(place.dialog, 160)}"
        if custom and not self._asked.names(custom):
            return why
        if not kinds:
            return ""
        if any(kind.name not in self._asked.kinds and not self._named(kind, label) for kind in kinds):
            return why
        if weighty := self._asked.weighty(label):
            return f"{why}: the goal does not speak of {weighty!r}"
        other = next(self._others(label, place), "")
        return f"{why}: {other}" if other else ""

    def _pressed(self, step: Json, target: Target | None, node: Node | None, place: Place) -> str:
        """The label of what a step presses; empty when it presses nothing."""
        kind = step.get("kind")
        if kind == "menu":
            return " ".join(str(part) for part in step.get("path", ())[-1:])
        if kind == "dialog":
            return "OK" if step.get("accept", True) else ""
        if kind in _PRESSES or kind == "release":
            if target is None or target.role in _FIELDS:
                return ""
            return target.name or (node.description if node is not None else "")
        if not (sends_by_key(step, node) or _strikes_space(step)):
            return ""
        if place.in_text:
            return "" if _strikes_space(step) else place.submit
        return target.name if target is not None and target.role not in _FIELDS else ""

    def _named(self, kind: Kind, label: str) -> bool:
        """Whether the caller has the very word of the label, where it is one of an act."""
        return (
            any(
                same(word, other)
                for word in plain_words(label)
                if word in kind.labels
                for other in self._asked.words
            )
            and kind.name in self._asked.kinds
        )

    def _others(self, label: str, place: Place) -> Iterator[str]:
        """How an act that the caller named is about to be done to something else."""
        yield from other_than_named(self._raw, place.dialog or place.row, place.roots)
        named = names(self._raw)
        own = plain_words(label)
        if named and len(own) > 1 and not any(covered(each, label) for each in named):
            for node in flatten(place.roots).nodes:
                beside = plain_words(node.name) if node.role in ("button", "link", "menuitem") else []
                if beside[:1] == own[:1] and any(covered(each, node.name) for each in named):
                    yield f"the goal names what {quote(node.name, 60)} is for"
                    return
        told = set(_EMAIL.findall(self._said))
        strangers = set(_EMAIL.findall(" ".join(self._typed).casefold())) - told
        if told and strangers:
            yield f"it would go to {sorted(strangers)[0]}, whom the goal does not name"


def _strikes_space(step: Json) -> bool:
    keys = str(step.get("keys", "")).split(";")[-1].strip().casefold()
    return step.get("kind") == "key" and keys in ("space", "kp_space", "kp:space")


def _entered_by_keys(keys: str, typed: Iterable[str]) -> Iterator[str]:
    """The text that a key step brings into a terminal: what it types, and what it pastes."""
    for part in keys.split(";"):
        stroke = part.strip()
        if stroke[:2].casefold() == "t:":
            yield part.split(":", 1)[1]
        elif stroke.casefold() in ("ctrl+shift+v", "shift+insert", "shift+ctrl+v"):
            yield next(reversed(list(typed)), "")
