"""A small window in GTK 3 that says something and notes what is done to it.

Runs on the system's Python: ``python3 gtk3_message.py OUT --title T --text TEXT [--button LABEL]… [--item NAME]…
[--entry LABEL]``. Each button that is pressed, and each item that Delete is pressed on, becomes a line of OUT.
"""

import argparse

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("Gdk", "3.0")
from gi.repository import Gdk, Gtk  # noqa: E402


class Message(Gtk.Window):
    """The window."""

    def __init__(self, asked: argparse.Namespace) -> None:
        super().__init__(title=asked.title)
        self.out = asked.out
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6, margin=12)
        self.add(box)
        box.add(Gtk.Label(label=asked.text, wrap=True, max_width_chars=50))
        if asked.entry:
            row = Gtk.Box(spacing=6)
            entry = Gtk.Entry()
            row.add(Gtk.Label(label=asked.entry, mnemonic_widget=entry))
            row.add(entry)
            entry.connect("activate", lambda _: self.note(asked.button[0] if asked.button else "entered"))
            box.add(row)
        if asked.item:
            items = Gtk.ListBox()
            for name in asked.item:
                items.add(Gtk.Label(label=name, xalign=0))
            items.connect("key-press-event", self.pressed)
            box.add(items)
        for label in asked.button:
            button = Gtk.Button(label=label)
            button.connect("clicked", lambda pressed: self.note(pressed.get_label()))
            box.add(button)
        self.connect("destroy", Gtk.main_quit)
        self.show_all()

    def pressed(self, items: Gtk.ListBox, event: Gdk.EventKey) -> bool:
        """Delete on an item."""
        row = items.get_selected_row()
        if event.keyval == Gdk.KEY_Delete and row is not None:
            self.note(f"deleted {row.get_child().get_label()}")
            items.remove(row)
        return False

    def note(self, what: str) -> None:
        """One line more."""
        with open(self.out, "a", encoding="utf-8") as file:
            file.write(f"{what}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--title", default="Message")
    parser.add_argument("--text", default="")
    parser.add_argument("--entry", default="")
    parser.add_argument("--button", action="append", default=[])
    parser.add_argument("--item", action="append", default=[])
    Message(parser.parse_args())
    Gtk.main()
