"""One task as a program that a trial can watch and kill: prints its events and, last, its status as JSON lines."""

from __future__ import annotations

import json
import sys
import traceback
from typing import Any


def main() -> int:
    """Run the task that the file named by the first argument describes."""
    from deskhand import Private, computer_task

    with open(sys.argv[1], encoding="utf-8") as file:
        arguments: dict[str, Any] = json.load(file)

    def tell(event: dict[str, Any]) -> None:
        print(json.dumps({"event": event["kind"], "seq": event["seq"]}), flush=True)

    arguments["computer"] = Private(**arguments.pop("private", {}))
    try:
        status = computer_task(**arguments, on_event=tell)
    except Exception as error:
        traceback.print_exc()
        print(json.dumps({"raised": type(error).__name__, "said": str(error)}), flush=True)
        return 1
    print(json.dumps({"status": status}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
