"""What the tests of the orchestrator share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from deskhand.messages import Model
from deskhand.orchestrator.models import make_model


@pytest.fixture
async def make() -> AsyncIterator[Callable[..., Model]]:
    """`make_model`, with all models closed at the end."""
    made: list[Any] = []

    def make_and_keep(spec: str, *args: Any, **kwargs: Any) -> Model:
        made.append(make_model(spec, *args, **kwargs))
        model: Model = made[-1]
        return model

    yield make_and_keep
    for model in made:
        await model.aclose()
