"""What the tests of the orchestrator share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from deskhand.messages import Model
from deskhand.orchestrator.models import make_model


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests of a module that has ``REPLIES`` once for each of them."""
    if "streamed" in metafunc.fixturenames and hasattr(metafunc.module, "REPLIES"):
        metafunc.parametrize("streamed", metafunc.module.REPLIES, indirect=True)


@pytest.fixture
def streamed(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What a request holds because its reply is to be streamed, and does not hold otherwise."""
    return {} if getattr(request, "param", "streamed") == "whole" else {"stream": True}


@pytest.fixture
async def make(streamed: dict[str, Any]) -> AsyncIterator[Callable[..., Model]]:
    """`make_model`, with all models closed at the end."""
    made: list[Any] = []

    def make_and_keep(spec: str, settings: Any = None, **kwargs: Any) -> Model:
        own = settings.models if settings is not None else {}
        models = {"*": {"stream": bool(streamed)}, **own}
        made.append(make_model(spec, SimpleNamespace(model=None, models=models), **kwargs))
        model: Model = made[-1]
        return model

    yield make_and_keep
    for model in made:
        await model.aclose()
