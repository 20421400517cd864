"""A text field in GTK 3 that notes each change in a file: seconds of the system's clock, a tab, the text as JSON."""

import json
import sys
import time

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gtk  # noqa: E402


def changed(buffer: Gtk.TextBuffer) -> None:
    """Note it."""
    text = buffer.get_text(*buffer.get_bounds(), True)
    with open(sys.argv[1], "a", encoding="utf-8") as out:
        out.write(f"{time.monotonic()}\t{json.dumps(text)}\n")


window = Gtk.Window(title="Field", default_width=700, default_height=400)
view = Gtk.TextView(wrap_mode=Gtk.WrapMode.CHAR)
view.get_buffer().connect("changed", changed)
window.add(view)
window.connect("destroy", Gtk.main_quit)
window.show_all()
Gtk.main()
