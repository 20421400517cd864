"""Pictures never leave larger than a provider takes them, and points come back to the pixel that was meant."""

from __future__ import annotations

import base64
import io
import os

import pytest
from PIL import Image as Pillow

from deskhand.messages import Image, Words
from deskhand.orchestrator.models.capabilities import Capabilities, capabilities
from deskhand.orchestrator.models.images import Pictures, fitted_size

MODELS = [
    ("anthropic", "claude-3-7-sonnet-latest"),
    ("anthropic", "claude-sonnet-4-6"),
    ("anthropic", "claude-opus-4-7"),
    ("anthropic", "claude-sonnet-5-5"),
    ("openai", "gpt-5.6-sol"),
    ("openai", "gpt-4o"),
    ("openai-chat", "any"),
]


def image(width: int, height: int, id: str = "i1") -> Image:  # noqa: A002
    """A picture of noise: nothing compresses it."""
    out = io.BytesIO()
    Pillow.frombytes("RGB", (width, height), os.urandom(width * height * 3)).save(
        out, "PNG", compress_level=0
    )
    return Image(data=out.getvalue(), width=width, height=height, id=id)


@pytest.mark.parametrize(("provider", "model"), MODELS)
@pytest.mark.parametrize("count", [1, 21])
def test_every_shape_fits_what_the_model_takes(provider: str, model: str, count: int) -> None:
    limits = capabilities(provider, model)
    for width, height in ((1280, 800), (1920, 1080), (7680, 2160), (400, 5000), (1, 9000), (30, 30)):
        wide, high = fitted_size(width, height, limits, count)
        edge = limits.image_edge if count <= limits.many_images else min(limits.image_edge, limits.many_edge)
        assert 1 <= max(wide, high) <= edge
        assert limits.image_pixels is None or wide * high <= limits.image_pixels
        assert (wide, high) <= (width, height)


def test_a_picture_that_is_too_large_is_sent_smaller_and_points_map_back() -> None:
    big = image(2400, 1500)
    limits = Capabilities(image_edge=1200, image_bytes=900_000)
    pictures = Pictures((Words(role="user", text="", images=(big,)),), limits)
    sent = base64.b64decode(pictures.encode(big).base64)
    assert len(sent) <= limits.image_bytes
    with Pillow.open(io.BytesIO(sent)) as opened:
        assert opened.size == (1200, 750)
    step = {"steps": [{"kind": "click", "target": {"x": 600, "y": 700, "image": "i1"}}]}
    assert pictures.to_image(step)["steps"] == [
        {"kind": "click", "target": {"x": 1200, "y": 1400, "image": "i1"}}
    ]


def test_a_picture_within_the_limits_is_sent_byte_for_byte() -> None:
    small = image(640, 400)
    pictures = Pictures((Words(role="user", text="", images=(small,)),), Capabilities())
    assert base64.b64decode(pictures.encode(small).base64) == small.data
