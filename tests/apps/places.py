"""A window full of buttons, in GTK 3, GTK 4 or Qt, that writes down which were pressed.

Runs on the system's Python: ``python3 places.py gtk3|gtk4|qt FILE``.
"""

from __future__ import annotations

import sys

KIND, FILE = sys.argv[1], sys.argv[2]
NAMES = [f"Place {number}" for number in range(12)]


def pressed(name: str) -> None:
    """One line, there before anybody can ask."""
    with open(FILE, "a", encoding="utf-8") as file:
        file.write(name + "\n")


def gtk(version: str) -> None:
    """GTK 3 or 4."""
    import gi

    gi.require_version("Gtk", version)
    from gi.repository import GLib, Gtk

    window = Gtk.Window(title="Places", default_width=300, default_height=260)
    grid = Gtk.Grid(column_spacing=8, row_spacing=8)
    for place, name in enumerate(NAMES):
        button = Gtk.Button(label=name)
        button.connect("clicked", lambda _, name=name: pressed(name))
        grid.attach(button, place % 3, place // 3, 1, 1)
    if version == "4.0":
        window.set_child(grid)
        window.present()
    else:
        window.add(grid)
        window.show_all()
    GLib.MainLoop().run()


def qt() -> None:
    """Qt 5."""
    from PyQt5.QtWidgets import QApplication, QGridLayout, QPushButton, QWidget

    app = QApplication(["places"])
    window = QWidget()
    window.setWindowTitle("Places")
    grid = QGridLayout(window)
    for place, name in enumerate(NAMES):
        button = QPushButton(name)
        button.clicked.connect(lambda _, name=name: pressed(name))
        grid.addWidget(button, place // 3, place % 3)
    window.show()
    app.exec_()


if KIND == "qt":
    qt()
else:
    gtk({"gtk3": "3.0", "gtk4": "4.0"}[KIND])
