"""Reading lines of text with RapidOCR's models, which come in its wheel: nothing is ever fetched."""

from __future__ import annotations

import importlib.util
import logging
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from deskhand.errors import MissingPart
from deskhand.messages import Rect
from deskhand.observers.ink import bands

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]

THREADS: Final = 2
"""Lines read at once, each on one processor thread. Threads that share a line wait for each other, spinning, and on a
busy machine that costs many times what it gains."""

FINE: Final = 960
"""Pixels up to which a picture's longer side is searched at full size."""

COARSE: Final = 0.75
"""A larger picture is searched at this scale: lines of 11 px type are still found, in half the time."""

_LEAST: Final = 96
"""Pixels that a searched picture has at least, by repeating its edge."""

_SMALLEST: Final = 6
"""Pixels, with the ground around it, below which nothing is a letter."""

_LOW: Final = 120
"""Pixel rows that one thread searches: less is not worth dividing."""

_MODELS: Final = {"Det": "*_det_*.onnx", "Rec": "*_rec_*.onnx"}


def available() -> bool:
    """Whether the parts are installed. Imports none of them."""
    return all(importlib.util.find_spec(name) is not None for name in ("rapidocr", "onnxruntime"))


def missing() -> MissingPart:
    """The error that says what brings them."""
    return MissingPart(
        "the extra `ocr`", "needed to read text that is only pixels", "pip install 'deskhand[ocr]'"
    )


class RapidEngine:
    """Detection and recognition on the processor. MissingPart when the parts or their models are not installed.

    ``model``: the path of another recognition model (ONNX, with its characters in it), for scripts that the built-in
    one, of Latin letters, Chinese and Japanese, cannot read.
    """

    def __init__(self, model: str = "") -> None:
        if not available():
            raise missing()
        from rapidocr import RapidOCR

        logging.getLogger("RapidOCR").setLevel(logging.ERROR)
        self._ocr: Any = RapidOCR(params=_parameters(model))
        self._readers = ThreadPoolExecutor(THREADS, thread_name_prefix="ocr")

    def detect(self, picture: Pixels) -> list[Rect]:
        """Where lines are, in pixels of the picture."""
        parts = list(bands(picture, max(_LOW, picture.shape[0] * 3 // 5)))
        found = self._readers.map(lambda part: self._detect(picture[part.y : part.bottom]), parts)
        return [
            Rect(line.x, line.y + part.y, line.width, line.height)
            for part, lines in zip(parts, found, strict=True)
            for line in lines
        ]

    def _detect(self, picture: Pixels) -> list[Rect]:
        import cv2
        import numpy as np

        height, width = picture.shape[:2]
        # The model's grid is 32 pixels wide: a narrower picture would come to nothing.
        missing = max(0, _LEAST - height), max(0, _LEAST - width)
        if any(missing):
            picture = np.pad(picture, ((0, missing[0]), (0, missing[1]), (0, 0)), mode="edge")

        scale = 1.0 if max(picture.shape[:2]) <= FINE else COARSE
        image = (
            picture
            if scale == 1.0
            else cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        )
        found = self._ocr(image, use_det=True, use_cls=False, use_rec=False)
        if found.boxes is None:
            return []
        lines: list[Rect] = []
        for box in found.boxes:
            (left, top), (right, bottom) = box.min(axis=0) / scale, box.max(axis=0) / scale
            x, y = max(0, int(left)), max(0, int(top))
            lines.append(Rect(x, y, min(width, round(right) + 1) - x, min(height, round(bottom) + 1) - y))
        return [line for line in lines if line.width > 1 and line.height > 1]

    def recognise(self, lines: Sequence[Pixels], until: float) -> list[tuple[str, float]]:
        """What lines say, and how sure that is (0–1): at least the first, and as many as are begun by ``until``."""
        begun = [lines[place : place + THREADS] for place in range(0, len(lines), THREADS)]
        said: list[tuple[str, float]] = []
        for several in begun:
            if said and time.monotonic() > until:
                break
            said.extend(self._readers.map(self._recognise, several))
        return said

    def _recognise(self, line: Pixels) -> tuple[str, float]:
        import numpy as np

        if min(line.shape[:2]) < _SMALLEST:
            return "", 0.0
        found = self._ocr(np.ascontiguousarray(line), use_det=False, use_cls=False, use_rec=True)
        if not found.txts:
            return "", 0.0
        return _western(str(found.txts[0])), float(found.scores[0])


def _parameters(model: str) -> dict[str, Any]:
    """One line at a time and no orientation stage: batches pad every line to the longest, and screens stand upright."""
    found = importlib.util.find_spec("rapidocr")
    assert found is not None
    assert found.origin is not None
    models = Path(found.origin).parent / "models"
    chosen: dict[str, Any] = {}
    for stage, pattern in _MODELS.items():
        paths = sorted(models.glob(pattern))
        if not paths:
            raise missing()
        chosen[f"{stage}.model_path"] = str(paths[-1])
    if model:
        chosen["Rec.model_path"] = model
    return chosen | {
        "Global.use_cls": False,
        "Global.log_level": "error",
        "Global.text_score": 0.0,
        "Global.min_side_len": 8,
        "Global.max_side_len": 8000,
        "Det.limit_type": "max",
        "Det.limit_side_len": 8000,
        "Rec.rec_batch_num": 1,
        "EngineConfig.onnxruntime.intra_op_num_threads": 1,
        "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        "EngineConfig.onnxruntime.enable_cpu_mem_arena": True,
    }


def _western(text: str) -> str:
    """Full-width forms of ASCII as ASCII, where nothing else in the line is of a script that uses them."""
    if any("\u2e80" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7af" for char in text):
        return text
    return "".join(chr(ord(c) - 0xFEE0) if "\uff01" <= c <= "\uff5e" else c for c in text)
