"""A text field in Tk. Return empties it; each text that it held is appended to a file, one JSON string a line."""

import json
import sys
import tkinter as tk

root = tk.Tk(className="text field")
root.title("Text field")
entry = tk.Entry(root, width=60)
entry.pack()
entry.focus_set()


def enter(event: object) -> None:
    """Note what is there and empty the field."""
    with open(sys.argv[1], "a", encoding="utf-8") as file:
        file.write(json.dumps(entry.get()) + "\n")
    entry.delete(0, "end")


entry.bind("<Return>", enter)
root.mainloop()
