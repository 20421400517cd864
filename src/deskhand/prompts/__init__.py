"""What the child is told: Markdown files with strict rendering."""

from __future__ import annotations

from importlib.resources import files
from string import Template


def render(name: str, **variables: str) -> str:
    """The text of ``name``.md with its ``$variables`` filled in.

    Raises KeyError for a variable that the text wants and was not given, and for one that was given and it does not
    know: a prompt and its caller cannot drift apart unnoticed.
    """
    template = Template(files(__name__).joinpath(f"{name}.md").read_text("utf-8"))
    known = set(template.get_identifiers())
    if missing := known - variables.keys():
        raise KeyError(f"prompt {name!r} wants {', '.join(sorted(missing))}")
    if unknown := variables.keys() - known:
        raise KeyError(f"prompt {name!r} does not know {', '.join(sorted(unknown))}")
    return template.substitute(variables).strip()
