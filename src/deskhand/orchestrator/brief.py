"""All that crosses the wall: the brief that goes down, the frames between, and the status dict that comes up."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypedDict

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from deskhand.errors import Reason, Status
from deskhand.messages import Json
from deskhand.terms import Limits, Private

WIRE_VERSION = 1


class UsageDict(TypedDict):
    """Tokens and cost of a task; ``cost_usd`` is None when the price of the model is not known."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int
    images: int
    cost_usd: float | None


class Evidence(TypedDict):
    """One selector or quote, and whether it held on the live desktop at the end."""

    check: str
    holds: bool


class TaskStatus(TypedDict):
    """What the caller gets: plain, JSON-ready, no image, at most 400 tokens besides ``data``."""

    status: Status
    reason: Reason | None
    result: str
    verified: bool | None
    evidence: list[Evidence]
    data: Any
    agent_id: str
    conversation: str
    logdir: str | None
    recording: str | None
    final_image: str | None
    audit_hash: str | None
    steps: int
    seconds: float
    usage: UsageDict
    model: str
    computer: str


class PolicyBrief(BaseModel):
    """`Policy` as it crosses: a ``confirm`` callable stays with the caller and becomes ``"ask"``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    confirm: Literal["ask", "allow", "deny"] | None = None
    tools: tuple[str, ...] | None = None
    apps: tuple[str, ...] | None = None
    domains: tuple[str, ...] | None = None
    verify: Literal["auto", "checks", "off"] = "auto"
    audit_text: Literal["full", "length"] = "full"


class Brief(BaseModel):
    """The task as the worker gets it: the first line down the pipe.

    With ``answer`` it continues ``conversation``, which has a log and a transcript already.
    ``model`` is a spec, or ``"caller"`` when the caller's own `Model` answers over the pipe (``model_name`` names it).
    ``deadline`` and ``started`` are CLOCK_MONOTONIC seconds, a clock that all processes of a machine share.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=False)

    v: int = WIRE_VERSION
    goal: str
    answer: str | None = None
    conversation: str
    home: str
    context: str = ""
    inputs: dict[str, str] = Field(default_factory=dict)
    secrets: dict[str, str] = Field(default_factory=dict)
    expect: tuple[str, ...] = ()
    output: Json | None = None
    checks_output: bool = False
    model: str
    model_name: str = ""
    computer: str | Private = Private()
    limits: Limits = Limits()
    policy: PolicyBrief = PolicyBrief()
    record: bool | str = False
    background: bool = False
    answers: bool = False
    timeout: float
    started: float
    deadline: float


# --- frames: one JSON object a line, both ways -------------------------------------------------------------------


class EventFrame(BaseModel):
    """Up: one audit event, as it was written."""

    type: Literal["event"] = "event"
    event: Json


class QuestionFrame(BaseModel):
    """Up: something only the caller's side can answer; the matching `AnswerFrame` carries the same id."""

    type: Literal["question"] = "question"
    id: int
    kind: Literal["confirm", "question", "model", "output"]
    payload: Json


class ClockFrame(BaseModel):
    """Up: the seconds left as this is sent (None: they stand still while a person is asked); ``closing``: ending."""

    type: Literal["clock"] = "clock"
    left: float | None
    closing: bool = False


class FilesFrame(BaseModel):
    """Up, from elsewhere: a piece of the task's files, as a tar stream in base64; the ``last`` one may be empty."""

    type: Literal["files"] = "files"
    data: str = ""
    last: bool = False


class StatusFrame(BaseModel):
    """Up, last: the result. ``lease``: seconds that the worker keeps its desktop from now on."""

    type: Literal["status"] = "status"
    status: Json
    lease: float = 0.0


class AnswerFrame(BaseModel):
    """Down: the answer to a question; ``error`` when the callback failed."""

    type: Literal["answer"] = "answer"
    id: int
    value: Any = None
    error: str | None = None


class CancelFrame(BaseModel):
    """Down: end the task."""

    type: Literal["cancel"] = "cancel"
    by: Literal["caller", "person"] = "caller"


UpFrame = Annotated[
    EventFrame | QuestionFrame | ClockFrame | FilesFrame | StatusFrame, Field(discriminator="type")
]
DownFrame = Annotated[AnswerFrame | CancelFrame, Field(discriminator="type")]

UP: TypeAdapter[EventFrame | QuestionFrame | ClockFrame | FilesFrame | StatusFrame] = TypeAdapter(UpFrame)
DOWN: TypeAdapter[AnswerFrame | CancelFrame] = TypeAdapter(DownFrame)


def line(frame: BaseModel) -> bytes:
    """A frame as one line of the pipe."""
    return frame.model_dump_json().encode() + b"\n"
