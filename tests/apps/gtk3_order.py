"""An order dialog of six fields in GTK 3; what was entered is in a file once it was sent.

Runs on the system's Python: ``python3 gtk3_order.py OUT.json [--without FIELD] [--slow SECONDS]``. A field can be left
out; the button that sends comes SECONDS late.
"""

import argparse
import json

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402

SIZES = ("Small", "Medium", "Large")


def field(grid: Gtk.Grid, row: int, label: str, widget: Gtk.Widget) -> Gtk.Widget:
    """One labelled row."""
    named = Gtk.Label(label=label, xalign=0, use_underline=True, mnemonic_widget=widget)
    grid.attach(named, 0, row, 1, 1)
    grid.attach(widget, 1, row, 1, 1)
    return widget


class Order(Gtk.Window):
    """The dialog."""

    def __init__(self, out: str, without: str, slow: float) -> None:
        super().__init__(title="Order")
        self.out = out
        self.grid = Gtk.Grid(row_spacing=6, column_spacing=12, margin=12)
        self.add(self.grid)
        self.fields: dict[str, Gtk.Widget] = {}
        size = Gtk.ComboBoxText()
        for each in SIZES:
            size.append_text(each)
        makers: list[tuple[str, Gtk.Widget]] = [
            ("_Name", Gtk.Entry()),
            ("_City", Gtk.Entry()),
            ("_Quantity", Gtk.SpinButton.new_with_range(1, 99, 1)),
            ("_Size", size),
            ("_Notes", Gtk.Entry()),
        ]
        for row, (label, widget) in enumerate(makers):
            if label.strip("_") != without:
                self.fields[label.strip("_")] = field(self.grid, row, label, widget)
        if without != "Gift wrap":
            self.fields["Gift wrap"] = Gtk.CheckButton(label="Gift wrap")
            self.grid.attach(self.fields["Gift wrap"], 0, 6, 2, 1)
        self.connect("destroy", Gtk.main_quit)
        self.show_all()
        if slow:
            GLib.timeout_add(int(slow * 1000), self.ready)
        else:
            self.ready()

    def ready(self) -> bool:
        """The button comes last, when the app has loaded."""
        send = Gtk.Button(label="Send order")
        send.connect("clicked", self.send)
        self.grid.attach(send, 1, 7, 1, 1)
        self.show_all()
        return False

    def send(self, button: Gtk.Button) -> None:
        """Write what was entered, and go."""
        found = {}
        for name, widget in self.fields.items():
            if isinstance(widget, Gtk.ComboBoxText):
                found[name] = widget.get_active_text()
            elif isinstance(widget, Gtk.SpinButton):
                found[name] = widget.get_value_as_int()
            elif isinstance(widget, Gtk.CheckButton):
                found[name] = widget.get_active()
            else:
                found[name] = widget.get_text()
        with open(self.out, "w", encoding="utf-8") as file:
            json.dump(found, file)
        self.destroy()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--without", default="")
    parser.add_argument("--slow", type=float, default=0)
    asked = parser.parse_args()
    Order(asked.out, asked.without, asked.slow)
    Gtk.main()
