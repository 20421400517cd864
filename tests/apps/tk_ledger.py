"""A window that no tree tells of (Tk). What is pressed is appended to the file that is its argument."""

from __future__ import annotations

import sys
import tkinter as tk

NOTED = open(sys.argv[1], "a", buffering=1)  # noqa: SIM115 (open as long as the window)
ROWS = ("Rent for October", "Electricity and water", "Train to Hamburg", "Books and paper")


def pressed(name: str) -> None:
    NOTED.write(f"{name}\n")
    said.set(f"Last pressed: {name}")
    if name == "Sort entries":  # what stood in one place stands in another
        for place, label in enumerate(reversed(labels)):
            label.place(x=30, y=30 + 40 * place)


root = tk.Tk()
root.title("Ledger")
root.geometry("560x380+160+120")
said = tk.StringVar(value="Balance: 1,204.50 EUR")
bar = tk.Menu(root)
file = tk.Menu(bar, tearoff=0)
for item in ("Open ledger", "Export as CSV"):
    file.add_command(label=item, command=lambda item=item: pressed(item))  # type: ignore[misc]
bar.add_cascade(label="File", menu=file)
bar.add_cascade(label="Help", menu=tk.Menu(bar, tearoff=0))
root.config(menu=bar)
labels = [tk.Label(root, text=text, cursor="hand2", font=("DejaVu Sans", 11)) for text in ROWS]
for place, label in enumerate(labels):
    label.place(x=30, y=30 + 40 * place)
    label.bind("<Button-1>", lambda _, text=ROWS[place]: pressed(text))  # type: ignore[misc]
for place, name in enumerate(("Add entry", "Sort entries")):
    tk.Button(root, text=name, command=lambda name=name: pressed(name)).place(x=30 + 160 * place, y=210)  # type: ignore[misc]
tk.Label(root, textvariable=said, font=("DejaVu Sans", 11)).place(x=30, y=280)
root.mainloop()
