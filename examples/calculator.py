"""One task: hand over a goal, get a dict back. Needs no key; run it with `python examples/calculator.py`."""

from __future__ import annotations

import json

from deskhand import computer_task

status = computer_task(
    "In gnome-calculator compute 12 × 34 and tell me the result",
    timeout=120,
    model="embedded",  # leave it out to use the model that your settings or keys name
    on_event=lambda event: print(event["kind"]),
)
print(json.dumps(status, indent=2, ensure_ascii=False))
