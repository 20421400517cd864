"""A window that changes under the eyes of whoever looks at it, and writes down what was really pressed.

Runs on the system's Python: ``python3 fickle.py 3|4 DIR``. Commands come as lines through the pipe DIR/ask, each is
answered by a line in DIR/told once it shows on the screen. DIR/pressed holds one line for each press:
``Save 3`` (what the button was called then, and its number, which it never changes) or ``row File 7``.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import gi

GTK4 = sys.argv[1] == "4"
gi.require_version("Gtk", "4.0" if GTK4 else "3.0")
from gi.repository import Gio, GLib, Gtk  # noqa: E402

NAMES = ("Save", "Cancel", "Delete", "Print")
ROWS = 10_000
HOME = Path(sys.argv[2])


def pressed(what: str) -> None:
    """One line, there before anybody can ask."""
    with (HOME / "pressed").open("a", encoding="utf-8") as file:
        file.write(what + "\n")


class Fickle(Gtk.Window):
    """Four buttons in a row above a long list."""

    def __init__(self) -> None:
        super().__init__(title="Ledger", default_width=560, default_height=420)
        self.random = random.Random(0)
        self.count = 0
        self.dialog: Gtk.Window | None = None
        self.page = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=12)
        self.bar = Gtk.Box(spacing=12, homogeneous=True)
        self.holder = Gtk.ScrolledWindow(vexpand=True)
        self.put(self.page, self.bar)
        self.put(self.page, self.holder)
        self.holder_child(self.list_of_buttons() if GTK4 else self.table())
        self.set_child(self.page) if GTK4 else self.add(self.page)
        self.fill("0")
        self.present() if GTK4 else self.show_all()

    # --- commands -----------------------------------------------------------------------------------------------------

    def fill(self, seed: str) -> None:
        """Begin anew: fresh buttons in some order, the list at its top, no dialog."""
        self.random.seed(int(seed))
        if self.dialog is not None:
            self.dialog.destroy()
            self.dialog = None
        for button in self.buttons():
            self.bar.remove(button)
        for name in self.random.sample(NAMES, len(NAMES)):
            self.put(self.bar, self.button(name))
        self.holder.get_vadjustment().set_value(0)

    def nothing(self) -> None:
        """Only answer."""

    def reorder(self) -> None:
        """No button stays where it was."""
        buttons = self.buttons()
        moved = buttons[1:] + buttons[:1]
        for place, button in enumerate(moved):
            if GTK4:
                self.bar.reorder_child_after(button, moved[place - 1] if place else None)
            else:
                self.bar.reorder_child(button, place)

    def rename(self) -> None:
        """Save and Delete swap what they are called and what they do."""
        for button in self.buttons():
            name = button.get_label()
            button.set_label({"Save": "Delete", "Delete": "Save"}.get(name, name))

    def twin(self) -> None:
        """In the place of Save stands another one that looks like it."""
        buttons = self.buttons()
        place = next(i for i, button in enumerate(buttons) if button.get_label() == "Save")
        self.bar.remove(buttons[place])
        fresh = self.button("Save")
        self.put(self.bar, fresh)
        if GTK4:
            self.bar.reorder_child_after(fresh, buttons[place - 1] if place else None)
        else:
            self.bar.reorder_child(fresh, place)

    def modal(self) -> None:
        """A dialog with buttons of the same names asks something."""
        self.dialog = Gtk.Window(title="Overwrite?", transient_for=self, modal=True)
        box = Gtk.Box(spacing=12)
        for name in ("Delete", "Save", "Cancel"):
            self.put(box, self.button(name))
        self.dialog.set_child(box) if GTK4 else self.dialog.add(box)
        self.dialog.present() if GTK4 else self.dialog.show_all()

    def scroll(self) -> None:
        """Far down the list: its rows are used again for others."""
        adjustment = self.holder.get_vadjustment()
        adjustment.set_value(adjustment.get_upper() * self.random.uniform(0.3, 0.7))

    # --- parts --------------------------------------------------------------------------------------------------------

    def button(self, name: str) -> Gtk.Button:
        self.count += 1
        number = self.count
        button = Gtk.Button(label=name)
        button.connect("clicked", lambda button: pressed(f"{button.get_label()} {number}"))
        return button

    def buttons(self) -> list[Gtk.Button]:
        if not GTK4:
            return self.bar.get_children()
        found, child = [], self.bar.get_first_child()
        while child is not None:
            found.append(child)
            child = child.get_next_sibling()
        return found

    def put(self, box: Gtk.Box, child: Gtk.Widget) -> None:
        if GTK4:
            box.append(child)
        else:
            box.pack_start(child, True, True, 0)
            child.show_all()

    def holder_child(self, child: Gtk.Widget) -> None:
        self.holder.set_child(child) if GTK4 else self.holder.add(child)

    def table(self) -> Gtk.TreeView:
        """GTK 3: rows that are drawn only while they can be seen."""
        model = Gtk.ListStore(str)
        for number in range(ROWS):
            model.append([f"File {number}"])
        view = Gtk.TreeView(model=model)
        view.append_column(Gtk.TreeViewColumn("Files", Gtk.CellRendererText(), text=0))
        view.get_selection().connect("changed", self.chosen)
        return view

    def chosen(self, selection: Gtk.TreeSelection) -> None:
        model, row = selection.get_selected()
        if row is not None:
            pressed(f"row {model[row][0]}")
            selection.unselect_all()

    def list_of_buttons(self) -> Gtk.ListView:
        """GTK 4: a few row widgets, used again and again, each with a button that is called the same in every row."""
        factory = Gtk.SignalListItemFactory()
        factory.connect("setup", self.set_up_row)
        factory.connect("bind", self.bind_row)
        names = Gtk.StringList.new([f"File {number}" for number in range(ROWS)])
        return Gtk.ListView(model=Gtk.SingleSelection(model=names, autoselect=False), factory=factory)

    def set_up_row(self, factory: Gtk.SignalListItemFactory, item: Gtk.ListItem) -> None:
        row = Gtk.Box(spacing=12)
        row.append(Gtk.Label(hexpand=True, xalign=0))
        button = Gtk.Button(label="Open")
        button.connect("clicked", lambda _: pressed(f"row {item.get_item().get_string()}"))
        row.append(button)
        item.set_child(row)

    def bind_row(self, factory: Gtk.SignalListItemFactory, item: Gtk.ListItem) -> None:
        item.get_child().get_first_child().set_label(item.get_item().get_string())


class Commands:
    """Reads commands, and answers each when a few frames have been drawn since."""

    def __init__(self, window: Fickle) -> None:
        self.window = window
        # Both for reading and writing: a pipe without a writer is at its end.
        self.ask, self.told = (open(HOME / pipe, "rb+", 0) for pipe in ("ask", "told"))  # noqa: SIM115
        self.stream = Gio.DataInputStream.new(Gio.UnixInputStream.new(self.ask.fileno(), False))
        self.next()

    def next(self) -> None:
        self.stream.read_line_async(GLib.PRIORITY_DEFAULT, None, self.got)

    def got(self, stream: Gio.DataInputStream, result: Gio.AsyncResult) -> None:
        words = stream.read_line_finish_utf8(result)[0].split()
        getattr(self.window, words[0])(*words[1:])
        frames = iter(range(4))
        shown = self.window.dialog or self.window
        shown.add_tick_callback(lambda *_: next(frames, None) is not None or self.answer())

    def answer(self) -> bool:
        self.told.write(b"done\n")
        self.next()
        return False


if __name__ == "__main__":
    loop = GLib.MainLoop()
    ledger = Fickle()
    ledger.connect("close-request" if GTK4 else "destroy", lambda *_: loop.quit())
    commands = Commands(ledger)
    loop.run()
