"""The window that `desktop.self_check` works on: it notes what reaches it in a file, one JSON list a line.

Run as a program of its own (``python self_check_window.py FILE``), by any Python that has tkinter.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def main(path: str) -> None:
    """Show a coloured field, which says with its colour that it was clicked, and a text field below it."""
    import tkinter as tk

    root = tk.Tk()
    root.title("deskhand self-check")
    root.geometry("+140+120")
    root.attributes("-topmost", True)
    field = tk.Canvas(root, width=320, height=160, background="#d01c8b", highlightthickness=0)
    field.pack()
    entry = tk.Entry(root, width=34, font=("", 13))
    entry.pack(fill="x")

    def note(*what: Any) -> None:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(what) + "\n")

    def clicked(event: Any) -> None:
        field.configure(background="#1c9b3b")
        note("click", event.x, event.y)

    def entered(_: Any) -> None:
        note("text", entry.get())
        entry.delete(0, "end")

    field.bind("<Button-1>", clicked)
    field.bind("<Double-Button-1>", lambda _: note("double click"))
    for number in (2, 3):  # the right button is the second on a Mac
        field.bind(f"<Button-{number}>", lambda _: note("right click"))
    field.bind("<ButtonRelease-1>", lambda event: note("release", event.x, event.y))
    field.bind("<B1-Motion>", lambda event: note("motion", event.x, event.y))
    field.bind("<MouseWheel>", lambda event: note("wheel", "down" if event.delta < 0 else "up"))
    field.bind("<Button-4>", lambda _: note("wheel", "up"))
    field.bind("<Button-5>", lambda _: note("wheel", "down"))
    entry.bind("<Return>", entered)
    root.after(60_000, root.destroy)  # whatever happens to who started it
    root.mainloop()


if __name__ == "__main__":
    main(sys.argv[1])
