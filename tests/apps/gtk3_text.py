"""A text field in GTK 3. Each text that it held when it was emptied is appended to a file, one JSON string a line."""

import json
import sys

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gtk  # noqa: E402

held = ""


def changed(buffer: Gtk.TextBuffer) -> None:
    """Keep what is there; note what was there before it was emptied."""
    global held
    now = buffer.get_text(*buffer.get_bounds(), True)
    if not now and held:
        with open(sys.argv[1], "a", encoding="utf-8") as file:
            file.write(json.dumps(held) + "\n")
    held = now


window = Gtk.Window(title="Text field", default_width=500, default_height=300)
view = Gtk.TextView()
view.get_accessible().set_name("Text")
view.get_buffer().connect("changed", changed)
window.add(view)
window.connect("destroy", Gtk.main_quit)
window.show_all()
Gtk.main()
