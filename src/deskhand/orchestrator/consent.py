"""Consent: sensitive acts that the caller did not name are put to whoever is there, before they happen."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from deskhand.audit.log import AuditLog
from deskhand.config import load_settings
from deskhand.errors import StopTask
from deskhand.messages import Json, Node, Target
from deskhand.orchestrator.brief import Brief
from deskhand.orchestrator.limits import Meter
from deskhand.orchestrator.link import CallerGone, Link

RISK_WORDS = """
pay buy purchase order checkout subscribe donate transfer withdraw bid
send submit-payment publish post tweet share-publicly reply-all
delete remove erase discard-all uninstall wipe format deactivate unsubscribe
grant revoke invite make-public change-password reset-password
bezahlen kaufen bestellen überweisen senden veröffentlichen löschen entfernen
payer acheter commander envoyer publier supprimer
pagar comprar pedir enviar publicar eliminar borrar
pagare acquistare ordinare inviare pubblicare eliminare
支付 购买 发送 发布 删除 購入 支払う 送信 公開 削除
""".split()
"""Words on a control whose pressing pays, buys, sends, publishes, deletes or changes access, in several languages."""

_YES = {"y", "yes", "allow", "true", "ok", "ja", "oui", "sí", "si", "sim", "是", "はい"}

_SECRET = re.compile(r"<secret:([^<>\s]+)>")

_NOT = re.compile(
    r"(?i)\b(?:do not|don't|never|without|nicht|ne|sans|sin|senza)\s+\w+(?:\s+(?:or|oder|ou|o)\s+\w+)?"
)
"""What the caller rules out is not what the caller names."""

_LOG_IN = frozenset(
    """
log login logon sign signin password passphrase passwort anmelden kennwort connexion contraseña senha pin secret
secrets credentials authenticate unlock
""".split()
)

_FIELDS = frozenset({"textbox", "searchbox", "spinbutton", "slider", "document", "window"})
"""What a click only puts the focus into."""

_PRESSES = {"click", "invoke", "toggle", "select", "menu"}


def words_of(text: str) -> set[str]:
    return set(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


def risky_words(label: str, extra: Iterable[str] = ()) -> set[str]:
    """The risk words that a label carries."""
    found = words_of(label)
    listed = {word.casefold() for word in (*RISK_WORDS, *extra)}
    plain = {word for word in listed if "-" not in word}
    phrases = {word for word in listed if "-" in word and words_of(word.replace("-", " ")) <= found}
    scripts = {word for word in plain if not word.isascii() and len(word) > 1 and word in label.casefold()}
    return (found & plain) | phrases | scripts


def _strikes(step: Json) -> bool:
    """Whether a key step presses what has the focus."""
    if step.get("kind") != "key":
        return False
    keys = re.split(r"[;+]", str(step.get("keys", "")).casefold())
    return keys[-1].strip() in ("return", "enter", "space", "kp_enter")


def _same(word: str, other: str) -> bool:
    """The same word or a form of it: ``delete``, ``deleting``."""
    return word == other or (len(word) > 3 and other.startswith(word[:-1]) and len(other) - len(word) <= 3)


def _in_domains(address: str, domains: Iterable[str]) -> bool:
    host = (urlsplit(address if "://" in address else f"https://{address}").hostname or "").casefold()
    plain = [domain.casefold().lstrip("*.") for domain in domains]
    return any(host == domain or host.endswith(f".{domain}") for domain in plain)


class Gate:
    """Called before each act with what it is aimed at; returns a refusal, or None to go on."""

    def __init__(
        self, brief: Brief, link: Link, log: AuditLog, meter: Meter, send_clock: Callable[[], None]
    ) -> None:
        self._brief, self._link, self._log, self._meter, self._send_clock = (
            brief,
            link,
            log,
            meter,
            send_clock,
        )
        self._extra = load_settings().risk_words
        named = (brief.goal, brief.context, *brief.inputs, *brief.inputs.values(), *brief.expect)
        self._said = " ".join(named).casefold()
        self._named = set().union(*(words_of(_NOT.sub(" ", text)) for text in named))
        self._decided: dict[str, bool] = {}
        self.pending = ""
        """What the task ended over, for want of somebody to ask."""

    async def __call__(self, step: Json, target: Target | None, node: Node | None) -> str | None:
        why = self.sensitive(step, target, node)
        if not why:
            return None
        allowed, by = await self.decide(why, step, target)
        self._log.write("consent", what=why, step=step, target=target, allowed=allowed, by=by)
        return None if allowed else f"denied: {why}. Do not try to reach it another way."

    async def agree(self, why: str) -> bool:
        """Whether something that the provider wants a person to see may happen; recorded like every consent."""
        allowed, by = await self.decide(why, {}, None)
        self._log.write("consent", what=why, allowed=allowed, by=by)
        return allowed

    def sensitive(self, step: Json, target: Target | None, node: Node | None) -> str:
        """What makes this act sensitive and not authorised by the caller's own words; empty when nothing does."""
        kind = step.get("kind")
        if kind == "upload" and (unnamed := self._unnamed_files(step)):
            return f"uploading {unnamed}"
        if (secrets := _SECRET.findall(str(step.get("text", "")))) and not self._may_log_in(secrets):
            return f"entering the secret {', '.join(secrets)} where the caller did not ask for it"
        if kind in ("fill", "type") and node is not None and "password" in node.states:
            text = str(step.get("text", ""))
            if not (re.fullmatch(r"<secret:[^>]+>", text) or text in self._brief.inputs.values()):
                return "entering a password that the caller did not give"
        if outside := self._outside(step, target, node):
            return outside
        if not (kind in _PRESSES or _strikes(step)) or (target is not None and target.role in _FIELDS):
            return ""
        label = target.name if target is not None else ""
        if kind == "menu":
            label = " ".join(str(part) for part in step.get("path", ())[-1:])
        words = risky_words(label, self._extra)
        if not words or any(_same(word, named) for word in words for named in self._named):
            return ""
        return f"pressing {label!r}"

    def _outside(self, step: Json, target: Target | None, node: Node | None) -> str:
        """How an act would leave the allow-lists; empty when it does not, or when there are none."""
        policy = self._brief.policy
        app = step.get("app")
        address = str(step.get("url") or (app if isinstance(app, str) and "://" in app else "") or "")
        if node is not None and node.role == "link" and "://" in node.url:
            address = node.url
        if policy.domains is not None and address and not _in_domains(address, policy.domains):
            return f"going to {address[:200]}, which is outside the allowed domains"
        if policy.apps is None or address:
            return ""
        named = app if isinstance(app, str) else " ".join(map(str, app or ())) if app else ""
        used = named or (target.app if target is not None else "")
        allowed = [each.casefold() for each in policy.apps]
        if used and not any(each in used.casefold() for each in allowed):
            return f"using {used[:100]}, which is not among the allowed apps"
        return ""

    def _unnamed_files(self, step: Json) -> str:
        """The files of an upload that the caller named neither by path nor by name."""
        if self._named & {"upload", "attach"} and not re.search(r"\w\.\w{2,5}\b", self._said):
            return ""
        files = step.get("files") or ()
        given = [files] if isinstance(files, str) else list(files)
        return ", ".join(
            str(each)
            for each in given
            if str(each).casefold() not in self._said
            and PurePosixPath(str(each)).name.casefold() not in self._said
        )

    def _may_log_in(self, secrets: Iterable[str]) -> bool:
        """Whether the caller spoke of entering secrets at all, or of these."""
        return bool(self._named & _LOG_IN) or all(
            name.casefold() in self._said or name.casefold().replace("_", " ") in self._said
            for name in secrets
        )

    async def decide(self, why: str, step: Json, target: Target | None) -> tuple[bool, str]:
        """Whether it may happen, and who said so. StopTask ``consent`` when nobody is there to ask."""
        confirm = self._brief.policy.confirm
        if confirm in ("allow", "deny"):
            return confirm == "allow", "policy"
        if why in self._decided:
            return self._decided[why], "earlier answer"
        question = {
            "kind": "consent",
            "question": f"The task wants to do this: {why}. Allow it?",
            "what": why,
            "step": step,
            "target": {"role": target.role, "name": target.name, "app": target.app} if target else None,
        }
        self.pending = why
        if not self._brief.answers:
            raise StopTask("consent", f"{why} needs consent, and nobody was there to give it")
        self._meter.pause()
        self._send_clock()
        try:
            async with asyncio.timeout(self._brief.limits.human_wait):
                answer = await self._link.ask("confirm", question)
        except TimeoutError:
            raise StopTask("nobody_answered", f"{why} needs consent, and nobody answered") from None
        except CallerGone:
            raise StopTask("consent", f"{why} needs consent, and nobody was there to give it") from None
        finally:
            self._meter.resume()
            self._send_clock()
        self.settle(why, answer)
        return self._decided[why], "person"

    def settle(self, why: str, answer: object) -> None:
        """Take an answer to `pending` for the rest of the task: a yes allows it, anything else does not."""
        yes = str(answer).strip().casefold().partition(" ")[0].rstrip(".,!") in _YES
        self._decided[why] = answer is True or yes
        self.pending = ""
