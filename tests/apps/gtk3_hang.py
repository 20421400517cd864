"""A GTK 3 window whose main loop is blocked for good once its button is pressed: ``python3 gtk3_hang.py``."""

import time

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402


def hang(_button: Gtk.Button) -> None:
    """A moment later, so that the press itself is still answered."""
    GLib.timeout_add(50, lambda: time.sleep(1_000))


window = Gtk.Window(title="Hangs", default_width=300, default_height=200)
button = Gtk.Button(label="Hang")
button.connect("clicked", hang)
window.add(button)
window.connect("destroy", Gtk.main_quit)
window.show_all()
Gtk.main()
