"""A GTK 3 window that is busy for a while at each key and says so in its tree: ``python3 gtk3_busy.py SECONDS [gone]``.

Its label reads "ready", at a key nothing changes on the screen, and after ``SECONDS`` the label reads "done N". With
``gone`` what was busy vanishes at once without taking it back, and nothing follows.
"""

import sys

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("Atk", "1.0")
from gi.repository import Atk, GLib, Gtk  # noqa: E402


class Slow(Gtk.Window):
    """The window."""

    def __init__(self, seconds: float, gone: bool) -> None:
        super().__init__(title="Slow")
        self.seconds, self.gone, self.count = seconds, gone, 0
        self.box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, margin=20)
        self.label = Gtk.Label(label="ready")
        spare = Gtk.Label(label=" ")
        self.box.add(self.label)
        self.box.add(spare)
        self.spare = spare
        self.add(self.box)
        self.set_default_size(300, 200)
        self.connect("key-press-event", self.pressed)
        self.connect("destroy", Gtk.main_quit)
        self.show_all()

    def pressed(self, *_event: object) -> bool:
        """Become busy."""
        worker = self.spare if self.gone else self.label
        worker.get_accessible().notify_state_change(Atk.StateType.BUSY, True)
        if self.gone:
            GLib.timeout_add(20, self.vanish)
        else:
            GLib.timeout_add(int(self.seconds * 1000), self.done)
        return True

    def vanish(self) -> bool:
        """Without a word."""
        self.spare.destroy()
        return False

    def done(self) -> bool:
        """The result."""
        self.count += 1
        self.label.set_text(f"done {self.count}")
        self.label.get_accessible().notify_state_change(Atk.StateType.BUSY, False)
        return False


if __name__ == "__main__":
    Slow(float(sys.argv[1]), "gone" in sys.argv)
    Gtk.main()
