"""A text field in GTK 4. Each text that it held when it was emptied is appended to a file, one JSON string a line."""

import json
import sys

import gi

gi.require_version("Gtk", "4.0")
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


def activate(app: Gtk.Application) -> None:
    """Show the window."""
    window = Gtk.ApplicationWindow(application=app, title="Text field", default_width=500, default_height=300)
    view = Gtk.TextView()
    view.update_property([Gtk.AccessibleProperty.LABEL], ["Text"])
    view.get_buffer().connect("changed", changed)
    window.set_child(view)
    window.present()


app = Gtk.Application(application_id="org.example.TextField")
app.connect("activate", activate)
app.run(None)
