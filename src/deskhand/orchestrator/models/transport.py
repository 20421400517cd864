"""One way out to every provider: JSON posted within the deadline, what may pass retried, all errors made ours.

Replies are streamed where the request asks for it, so that a provider that has gone silent is told from one that is
still at work; a server that answers in one piece all the same is understood too.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import math
import random
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any, TypeAlias, TypeVar

from deskhand.errors import ContextTooLong, ModelError, ModelRefused
from deskhand.messages import Json
from deskhand.orchestrator.models.streams import DONE, Assembler, event_data

T = TypeVar("T")

Remaining: TypeAlias = Callable[[], float]
"""Seconds that are left; asked anew each time, because the clock of a task stands still while a person holds it."""

ATTEMPTS = 8
MALFORMED_ATTEMPTS = 3
FIRST_DELAY = 0.5
LONGEST_DELAY = 30.0
LONGEST_REQUEST = 600.0
"""Seconds for one request: what both SDKs allow by default. A server that never ends costs this or the deadline."""
DRAIN = 0.2
"""Seconds to wait for the end of a stream whose reply is whole, so that its connection can be used again."""

_MEANING = {
    400: "the request was not accepted",
    401: "the key was refused",
    402: "the account cannot pay for this",
    403: "the key may not do this",
    404: "there is no such model or address",
    408: "the server timed out",
    409: "the request collided with another one",
    413: "the request is too large",
    422: "the request was not accepted",
    429: "too many requests",
    529: "the provider is overloaded",
}
_RETRYABLE = frozenset({408, 409, 425, 429})
_FINAL_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "credit_balance_too_low"})
_REFUSAL_CODES = frozenset({"content_policy_violation", "content_filter", "invalid_prompt"})
_TOO_LONG_CODES = frozenset({"context_length_exceeded", "request_too_large"})
_TOO_LONG = re.compile(
    r"prompt is too long|context (length|window)|maximum context|too many (input )?tokens", re.I
)
"""Not every server has a code for it; the words alone decide nothing but whether a shorter request is tried once."""

# An error in the middle of a stream has no status of its own: that which the same error has before its start.
_STATUS_OF_CODE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}


class MalformedReply(ModelError):
    """A reply that is not what the format promises. The same request may well work the next time."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=True)


class StatusError(ModelError):
    """The provider answered with an error status. ``code`` is its own name for the error, "" when it gave none.

    ``begun``: a reply had begun before.
    """

    def __init__(
        self, message: str, *, status: int, code: str, retryable: bool, retry_after: float | None = None
    ) -> None:
        super().__init__(message, retryable=retryable, retry_after=retry_after)
        self.status, self.code, self.begun = status, code, False


class TooLong(StatusError, ContextTooLong):
    """The provider cannot take a request of this size."""


def countdown(timeout: float | Remaining | None) -> Remaining:
    """Seconds left: of ``timeout`` seconds from now, of a caller's own clock, or without end for None."""
    if timeout is None:
        return lambda: math.inf
    if callable(timeout):
        return timeout
    end = time.monotonic() + timeout
    return lambda: end - time.monotonic()


class Transport:
    """Posts JSON through one SDK client, whose own retries are off.

    ``provider`` names it in errors, ``key`` the variable that holds its key. ``silence``: seconds that a streamed reply
    may stand still. The client is made at the first request and belongs to the event loop of that request.
    """

    def __init__(
        self,
        sdk: ModuleType,
        make_client: Callable[[], Any],
        *,
        provider: str,
        key: str,
        remaining: Remaining,
        silence: float = LONGEST_REQUEST,
    ) -> None:
        self._sdk, self._make_client, self._silence = sdk, make_client, silence
        self._provider, self._key, self._remaining = provider, key, remaining
        self._client: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def client(self) -> Any:
        """The SDK's client for the running event loop. ModelError when its settings do not make one."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            try:
                self._client, self._loop = self._make_client(), loop
            except Exception as error:
                raise self._translate(error) from None
        return self._client

    @property
    def base_url(self) -> str:
        return str(self.client.base_url)

    async def aclose(self) -> None:
        """Close the connections, if any were opened in this event loop."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.close()

    async def post(
        self,
        path: str,
        body: Json,
        read: Callable[[Json], T],
        *,
        headers: Mapping[str, str] | None = None,
        stream: type[Assembler] | None = None,
    ) -> T:
        """What ``read`` makes of the reply, a JSON object. ModelError when there is none in the time that is left.

        ``stream`` puts the reply together from its events; None: it is asked for in one piece.
        """
        delay, failures, malformed = FIRST_DELAY, 0, 0
        while True:
            try:
                return read(await self._send(path, body, headers or {}, stream))
            except ModelError as error:
                failures += 1
                malformed += isinstance(error, MalformedReply)
                if not error.retryable or failures >= ATTEMPTS or malformed >= MALFORMED_ATTEMPTS:
                    raise
                wait = delay * random.uniform(0.75, 1.25) if error.retry_after is None else error.retry_after
                left = self._remaining()
                if wait >= min(left, 120.0):
                    # Waiting would outlast the task, or be an answer of its own (a quota that comes back tomorrow).
                    raise _too_long(error, wait, left) from error
            await asyncio.sleep(wait)
            delay = min(delay * 2, LONGEST_DELAY)

    async def _send(
        self, path: str, body: Json, headers: Mapping[str, str], stream: type[Assembler] | None
    ) -> Json:
        import httpx2

        left = self._remaining()
        if left <= 0:
            raise ModelError(f"{self._provider}: no time is left to ask")
        seconds = min(left, LONGEST_REQUEST)
        silence = self._silence if stream is not None and self._silence < seconds else seconds + 1
        options = {
            "headers": dict(headers),
            "timeout": httpx2.Timeout(seconds + 1, connect=min(10.0, seconds), read=silence),
            "max_retries": 0,
        }
        client = self.client
        try:
            async with asyncio.timeout(seconds):
                if stream is None:
                    reply = await client.post(path, cast_to=httpx2.Response, body=body, options=options)
                    return self._parsed(reply.content)
                response = await client.post(
                    path,
                    cast_to=httpx2.Response,
                    body={**body, "stream": True},
                    options=options,
                    stream=True,
                    stream_cls=self._sdk.AsyncStream,
                )
                return await self._receive(response, stream())
        except TimeoutError:
            raise ModelError(
                f"{self._provider}: no answer within {seconds:.3g} s", retryable=left > seconds
            ) from None
        except ModelError:
            raise
        except Exception as error:
            raise self._translate(error) from None

    async def _receive(self, response: Any, assembler: Assembler) -> Json:
        """The reply of a streamed response, whole. The response is closed."""
        try:
            if "text/event-stream" not in response.headers.get("content-type", "text/event-stream"):
                return self._parsed(await response.aread())
            events = event_data(response.aiter_lines())
            begun = ended = False
            async for data in events:
                if data == DONE:
                    ended = begun  # not every server says why it ended
                    break
                self._take(self._parsed(data), assembler)
                begun = True
                if assembler.complete:
                    break
            with suppress(TimeoutError):
                async with asyncio.timeout(DRAIN):
                    async for _ in events:
                        pass
            if not (assembler.usable or ended):
                raise ModelError(
                    f"{self._provider}: the connection failed (the reply broke off)", retryable=True
                )
            return assembler.whole()
        finally:
            await response.aclose()

    def _take(self, event: Json, assembler: Assembler) -> None:
        if event.get("type") == "error" or isinstance(event.get("error"), (dict, str)):
            raise self._error_in_stream(event)
        try:
            assembler.add(event)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):
            raise MalformedReply(
                f"{self._provider}: the reply has an event that is none: {_short(repr(event))}"
            ) from None

    def _parsed(self, content: bytes | str) -> Json:
        try:
            value = json.loads(content)
        except (ValueError, RecursionError):
            raise MalformedReply(
                f"{self._provider}: the reply is not JSON: {_short(repr(content[:80]))}"
            ) from None
        if not isinstance(value, dict):
            raise MalformedReply(f"{self._provider}: the reply is not a JSON object: {_short(repr(value))}")
        return value

    def _translate(self, error: Exception) -> ModelError:
        """The one border for foreign errors: whatever the SDK or its HTTP library raises becomes a `ModelError`."""
        import httpx2

        sdk = self._sdk
        if isinstance(error, sdk.APIStatusError):
            return self._status_error(error)
        if isinstance(error, (sdk.APITimeoutError, httpx2.TimeoutException)):
            return ModelError(f"{self._provider}: it has gone silent", retryable=True)
        if isinstance(error, (sdk.APIConnectionError, httpx2.TransportError)):
            cause = error.__cause__ or error
            return ModelError(
                f"{self._provider}: the connection failed ({_short(str(cause))})", retryable=True
            )
        return ModelError(f"{self._provider}: cannot be asked; is {self._key} set? ({_short(str(error))})")

    def _status_error(self, error: Any) -> ModelError:
        headers = error.response.headers
        code, words = error_body(error.body)
        retryable = False if headers.get("x-should-retry") == "false" else None
        return self._declined(int(error.status_code), code, words, retryable, retry_after(headers))

    def _error_in_stream(self, event: Json) -> ModelError:
        code, words = error_body(event)
        error = self._declined(_STATUS_OF_CODE.get(code, 500), code, words)
        if isinstance(error, StatusError):
            error.begun = True
        return error

    def _declined(
        self, status: int, code: str, words: str, retryable: bool | None = None, wait: float | None = None
    ) -> ModelError:
        """The error for a status and what the provider says of it. ``retryable`` None: the status decides."""
        meaning = _MEANING.get(status, "the provider failed" if status >= 500 else "the provider declined")
        message = f"{self._provider}: {meaning} (HTTP {status})"
        if status == 401:  # the provider's words may quote a part of the key
            message += f"; check {self._key}"
        elif words:
            message += f": {_short(words)}"
        if code in _REFUSAL_CODES:
            return ModelRefused(message)
        if status == 413 or code in _TOO_LONG_CODES or (status == 400 and _TOO_LONG.search(words)):
            return TooLong(message, status=status, code=code, retryable=False)
        if retryable is None:
            retryable = (status in _RETRYABLE or status >= 500) and code not in _FINAL_CODES
        return StatusError(message, status=status, code=code, retryable=retryable, retry_after=wait)


def error_body(body: Any) -> tuple[str, str]:
    """(code, message) of an error body as OpenAI, Anthropic and their likes write it; empty strings where absent."""
    if isinstance(body, dict):
        inner = body.get("error", body)
        if isinstance(inner, dict):
            code = inner.get("code") or inner.get("type") or ""
            return str(code), str(inner.get("message") or "")
        return "", str(inner)
    return "", str(body or "")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: a number, a date, or milliseconds in a header of its own."""
    milliseconds = headers.get("retry-after-ms")
    value = headers.get("retry-after")
    try:
        if milliseconds is not None:
            return max(0.0, float(milliseconds) / 1000)
        if value is not None:
            return max(0.0, float(value))
    except ValueError:
        pass
    if value is not None:
        try:
            return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
        except ValueError:
            return None
    return None


def _too_long(error: ModelError, wait: float, left: float) -> ModelError:
    why = f"{error}; it asks to wait {wait:.0f} s" if error.retry_after is not None else f"{error}; giving up"
    if not math.isinf(left):
        why += f", {max(0.0, left):.0f} s are left"
    return ModelError(why, retry_after=error.retry_after)


def _short(text: str, limit: int = 300) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
