"""The action vocabulary: every step once, as a pydantic model discriminated by ``kind`` (CONTRACT, Steps).

From these models come the schema that a model is shown (`tools.schema`), the validation of a batch (`tools.plan`) and
the step as it stands in the audit log. Field descriptions are written for the child: it reads them.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from pydantic import Field, model_validator

from deskhand.messages import Risk
from deskhand.tools.step import AimedAt, ButtonName, Modifier, StepBase, Text, Where, Words


class Click(StepBase):
    """Click. On an element the element's own action is used where it has one that means the same."""

    kind: Literal["click"]
    target: Where
    button: ButtonName = "left"
    count: int = Field(1, ge=1, le=3, description="2 double click, 3 triple")
    modifiers: list[Modifier] = Field(default_factory=list, description="held meanwhile")
    aim: Words | None = Field(
        None, description="what you mean to hit with {x,y}; the reply says how far off it was"
    )


class Press(StepBase):
    """Press a mouse button and keep it down."""

    kind: Literal["press"]
    target: Where
    button: ButtonName = "left"


class Release(StepBase):
    """Let go of a mouse button, at the target if there is one."""

    kind: Literal["release"]
    target: Where | None = None
    button: ButtonName = "left"


class Move(StepBase):
    """Move the pointer there (hover)."""

    kind: Literal["move"]
    target: Where

    @property
    def risk(self) -> Risk:
        return "read"


class Drag(StepBase):
    """Press at the first place, travel through the others, release at the last."""

    kind: Literal["drag"]
    path: list[Where] = Field(min_length=2, max_length=32, description="drag: targets; menu: item names")
    button: ButtonName = "left"
    modifiers: list[Modifier] = Field(default_factory=list)

    @property
    def aims(self) -> tuple[AimedAt, ...]:
        return tuple(self.path)


class Scroll(StepBase):
    """Turn the wheel by detents, at the target or in the middle of the active window."""

    kind: Literal["scroll"]
    target: Where | None = None
    down: int = Field(0, ge=-100, le=100, description="wheel detents, negative is up")
    right: int = Field(0, ge=-100, le=100, description="wheel detents, negative is left")
    modifiers: list[Modifier] = Field(default_factory=list)

    @model_validator(mode="after")
    def _moves(self) -> Scroll:
        if not (self.down or self.right):
            raise ValueError("down or right must be a number of wheel detents other than 0")
        return self

    @property
    def risk(self) -> Risk:
        return "read"


class Type(StepBase):
    """Type text at the caret, or into the target, which is focused first. Keeps what is there."""

    kind: Literal["type"]
    text: Text = Field(min_length=1)
    target: Where | None = None
    enter: bool = Field(False, description="press Return after the text")


class Key(StepBase):
    """Press keys: a chord, or a sequence with ';'."""

    kind: Literal["key"]
    keys: Words = Field(description="chord 'ctrl+shift+t', key 'Return', or sequence 'ctrl+l;t:hello;kp:tab'")
    hold: float = Field(0, ge=0, le=10, description="seconds to keep them down")


class Fill(StepBase):
    """Replace what a field holds by the text, and read it back."""

    kind: Literal["fill"]
    target: Where
    text: Text


class Invoke(StepBase):
    """Do the element's own main action (press a button, follow a link, pick a menu item)."""

    kind: Literal["invoke"]
    target: Where


class Toggle(StepBase):
    """Flip a checkbox, switch or toggle button, or bring it to a state."""

    kind: Literal["toggle"]
    target: Where
    on: bool | None = Field(None, description="toggle: the state to reach; absent flips it")


class Select(StepBase):
    """Choose: an option of a combobox or list by its text, or the target itself (tab, list item, radio)."""

    kind: Literal["select"]
    target: Where
    option: Words | None = Field(None, description="text of the option to choose")


class Expand(StepBase):
    """Open a tree item, a combobox or another element that unfolds; on=false folds it."""

    kind: Literal["expand"]
    target: Where
    on: bool = True

    @property
    def risk(self) -> Risk:
        return "read"


class Focus(StepBase):
    """Give an element the keyboard focus."""

    kind: Literal["focus"]
    target: Where

    @property
    def risk(self) -> Risk:
        return "read"


class Menu(StepBase):
    """Go through a menu of the active window: path is the items' names."""

    kind: Literal["menu"]
    path: list[Words] = Field(min_length=1, max_length=8)


class Launch(StepBase):
    """Start an application (or open a URL in the desktop's browser) and wait for its window."""

    kind: Literal["launch"]
    app: Words | Annotated[list[Words], Field(min_length=1, max_length=64)] = Field(
        description="command line or list of its words, application name, or URL"
    )


class Window(StepBase):
    """Manage a window, named by a part of its title or by a target inside it."""

    kind: Literal["window"]
    do: Literal["focus", "close", "move", "resize", "minimize", "maximize"] = "focus"
    title: Words | None = Field(None, description="part of a window's or tab's title")
    target: Where | None = None
    x: int | None = Field(None, ge=-32768, le=32767)
    y: int | None = Field(None, ge=-32768, le=32767)
    width: int | None = Field(None, ge=1, le=32767)
    height: int | None = Field(None, ge=1, le=32767)

    @model_validator(mode="after")
    def _whole(self) -> Window:
        if self.title is not None and self.target is not None:
            raise ValueError("name the window by title or by target, not by both")
        if self.do == "move" and (self.x is None or self.y is None):
            raise ValueError("to move a window give x and y in screen pixels")
        if self.do == "resize" and (self.width is None or self.height is None):
            raise ValueError("to resize a window give width and height in screen pixels")
        return self


class Clipboard(StepBase):
    """Write text to the clipboard; without text, read it."""

    kind: Literal["clipboard"]
    text: Text | None = None

    @property
    def risk(self) -> Risk:
        return "read" if self.text is None else "write"


class Navigate(StepBase):
    """Browser: go to a URL, or back, forward, reload."""

    kind: Literal["navigate"]
    url: Words | None = Field(None, description="http(s), file or about URL")
    to: Literal["back", "forward", "reload"] | None = None

    @model_validator(mode="after")
    def _somewhere(self) -> Navigate:
        if (self.url is None) == (self.to is None):
            raise ValueError("give url, or to='back', 'forward' or 'reload'")
        return self


class Tab(StepBase):
    """Browser: switch to, open or close a tab; which one by number (from 1) or part of its title or URL."""

    kind: Literal["tab"]
    do: Literal["switch", "open", "close"] = "switch"
    index: int | None = Field(None, ge=1, le=1000, description="tab number, from 1")
    title: Words | None = None
    url: Words | None = None

    @model_validator(mode="after")
    def _which(self) -> Tab:
        if self.do == "switch" and self.index is None and self.title is None:
            raise ValueError("to switch, name the tab by index or title")
        if self.do != "open" and self.url is not None:
            raise ValueError("url is for do='open'")
        return self


class Upload(StepBase):
    """Browser: put files into a file input, instead of its file chooser."""

    kind: Literal["upload"]
    target: Where
    files: list[Words] = Field(min_length=1, max_length=50, description="paths on this desktop")


class Dialog(StepBase):
    """Browser: answer an alert, confirm or (with text) prompt of the page."""

    kind: Literal["dialog"]
    accept: bool = True
    text: Text | None = None


class Wait(StepBase):
    """Wait for a selector to be present or absent, for any change on the screen, or for some seconds."""

    kind: Literal["wait"]
    for_: Words | None = Field(
        None, alias="for", description="selector, or 'change' for any change on the screen"
    )
    state: Literal["present", "absent"] = "present"
    seconds: float | None = Field(None, gt=0, le=60)

    @model_validator(mode="after")
    def _something(self) -> Wait:
        if (self.for_ is None) == (self.seconds is None):
            raise ValueError("give for=selector, for='change', or seconds")
        return self

    @property
    def risk(self) -> Risk:
        return "read"


class Check(StepBase):
    """Stop the batch here unless the selector matches."""

    kind: Literal["check"]
    selector: Words = Field(description="must match here, else the batch stops")

    @property
    def risk(self) -> Risk:
        return "read"


Step: TypeAlias = (
    Click
    | Press
    | Release
    | Move
    | Drag
    | Scroll
    | Type
    | Key
    | Fill
    | Invoke
    | Toggle
    | Select
    | Expand
    | Focus
    | Menu
    | Launch
    | Window
    | Clipboard
    | Navigate
    | Tab
    | Upload
    | Dialog
    | Wait
    | Check
)


def _kind_of(model: type[StepBase]) -> str:
    return str(get_args(model.model_fields["kind"].annotation)[0])


STEP_TYPES: Final[dict[str, Any]] = {_kind_of(model): model for model in get_args(Step)}
"""Each kind's model, in the order they are shown."""

OnNoChange: TypeAlias = Literal["auto", "never", "always"]
