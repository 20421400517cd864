"""What the name of an app means."""

from __future__ import annotations

from pathlib import Path

import pytest

from deskhand.desktop.apps import App, resolve_app
from deskhand.desktop.environment import locale_for
from deskhand.errors import InvalidStep

ENTRIES = {
    "org.example.Calc": "Name=Calculator\nGenericName=Sums\nExec=/bin/true --gui %U",
    "editor": 'Name=Text Editor\nExec=/bin/true "%f" --say "two words" --part 1%%\n[Desktop Action New]\nExec=wrong',
    "second-editor": "Name=Other\nGenericName=Text Editor\nExec=/bin/true second",
    "twin-a": "Name=Twin\nExec=/bin/true a",
    "twin-b": "Name=Twin\nExec=/bin/true b",
    "hidden": "Name=Hidden\nExec=/bin/true\nHidden=true",
    "helper": "Name=Helper\nExec=/bin/true helper\nNoDisplay=true",
    "a-link": "Name=A link\nType=Link\nURL=https://example.org",
    "broken": 'Name=Broken\nExec="unfinished',
    "escaped": r"Name=Escaped" + "\n" + r'Exec=/bin/true "a\\$b"',
}


@pytest.fixture
def data(tmp_path: Path) -> tuple[str]:
    """A data directory with these applications."""
    applications = tmp_path / "applications"
    applications.mkdir()
    for name, keys in ENTRIES.items():
        (applications / f"{name}.desktop").write_text(f"# a comment\n[Desktop Entry]\n{keys}\n")
    (applications / "mimeinfo.cache").write_text("not an application")
    return (str(tmp_path),)


@pytest.mark.parametrize(
    ("said", "argv"),
    [
        ("org.example.Calc", ["/bin/true", "--gui"]),
        ("org.example.Calc.desktop", ["/bin/true", "--gui"]),
        ("calculator", ["/bin/true", "--gui"]),
        ("  Calculator ", ["/bin/true", "--gui"]),
        ("sums", ["/bin/true", "--gui"]),
        ("text editor", ["/bin/true", "--say", "two words", "--part", "1%"]),
        ("other", ["/bin/true", "second"]),
        ("helper", ["/bin/true", "helper"]),
        ("escaped", ["/bin/true", "a$b"]),
        ("sh -c 'echo one two'", ["sh", "-c", "echo one two"]),
        ("/opt/some/thing --flag", ["/opt/some/thing", "--flag"]),
        (["any", "words at all"], ["any", "words at all"]),
    ],
)
def test_a_name_means_an_application_or_a_command(
    said: str | list[str], argv: list[str], data: tuple[str]
) -> None:
    assert resolve_app(said, data_directories=data) == App(tuple(argv))


@pytest.mark.parametrize(
    "url", ["https://example.org/a?b", "http://localhost:1", "about:blank", "file:///tmp/x.html"]
)
def test_an_address_means_the_browser(url: str, data: tuple[str]) -> None:
    assert resolve_app(url, data_directories=data) == App(url=url)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("calculater", "'Calculator'"),
        ("twin", "several applications: 'twin-a', 'twin-b'"),
        ("hidden", "no application"),
        ("a-link", "no application"),
        ("no such thing at all", "no application"),
        ("'unfinished", "no application"),
        ("", "empty"),
        ("a\0b", "empty"),
        ([], "list of words"),
        (["a", ""], "list of words"),
    ],
)
def test_what_means_nothing_is_refused_with_what_is_near(
    said: str | list[str], message: str, data: tuple[str]
) -> None:
    with pytest.raises(InvalidStep, match=message):
        resolve_app(said, data_directories=data)


def test_the_systems_calculator_is_found_by_the_name_people_say() -> None:
    assert resolve_app("calculator").argv[0] == "gnome-calculator"


@pytest.mark.parametrize(
    ("environ", "lang"),
    [
        ({}, "C.UTF-8"),
        ({"LANG": "C"}, "C.UTF-8"),
        ({"LANG": "xx_YY.UTF-8"}, "C.UTF-8"),
        ({"LANG": "C.UTF-8", "LC_ALL": "POSIX"}, "C.UTF-8"),
        ({"LANG": "C.utf8"}, "C.utf8"),
    ],
)
def test_apps_speak_the_users_language_when_it_is_installed(environ: dict[str, str], lang: str) -> None:
    assert locale_for(environ) == {"LANG": lang}
