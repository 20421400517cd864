"""The role vocabulary: ARIA's names, and AT-SPI's numbers and spellings mapped onto them.

Numbers and names are those of ``AtspiRole`` (at-spi2-core, atspi-constants.h): a role's index below is its number on
the bus. ARIA has no word for a few things that a desktop has; there we use the term that browsers' own snapshots use
(``text``, ``iframe``, ``window``, ``generic`` for a wrapper that says nothing).
"""

from __future__ import annotations

from typing import Final

_TABLE: Final = """
invalid:generic, accelerator label:text, alert:alert, animation:img, arrow:img, calendar:grid, canvas:img,
check box:checkbox, check menu item:menuitemcheckbox, color chooser:dialog, column header:columnheader,
combo box:combobox, date editor:group, desktop icon:img, desktop frame:generic, dial:slider, dialog:dialog,
directory pane:list, drawing area:img, file chooser:dialog, filler:generic, focus traversable:generic,
font chooser:dialog, frame:window, glass pane:generic, html container:document, icon:img, image:img,
internal frame:iframe, label:text, layered pane:generic, list:list, list item:listitem, menu:menu, menu bar:menubar,
menu item:menuitem, option pane:dialog, page tab:tab, page tab list:tablist, panel:group, password text:textbox,
popup menu:menu, progress bar:progressbar, push button:button, radio button:radio, radio menu item:menuitemradio,
root pane:generic, row header:rowheader, scroll bar:scrollbar, scroll pane:generic, separator:separator,
slider:slider, spin button:spinbutton, split pane:generic, status bar:status, table:table, table cell:cell,
table column header:columnheader, table row header:rowheader, tearoff menu item:menuitem, terminal:textbox,
text:textbox, toggle button:button, tool bar:toolbar, tool tip:tooltip, tree:tree, tree table:treegrid,
unknown:generic, viewport:generic, window:window, extended:generic, header:group, footer:group,
paragraph:paragraph, ruler:separator, application:application, autocomplete:combobox, editbar:toolbar,
embedded:generic, entry:textbox, chart:img, caption:caption, document frame:document, heading:heading, page:group,
section:generic, redundant object:generic, form:form, link:link, input method window:window, table row:row,
tree item:treeitem, document spreadsheet:document, document presentation:document, document text:document,
document web:document, document email:document, comment:comment, list box:listbox, grouping:group, image map:img,
notification:alert, info bar:status, level bar:meter, title bar:generic, block quote:blockquote, audio:audio,
video:video, definition:definition, article:article, landmark:region, log:log, marquee:marquee, math:math,
rating:slider, timer:timer, static:text, math fraction:math, math root:math, subscript:subscript,
superscript:superscript, description list:list, description term:term, description value:definition, footnote:note,
content deletion:deletion, content insertion:insertion, mark:mark, suggestion:suggestion, push button menu:button,
switch:switch
"""

_PAIRS: Final = tuple(
    (name, aria) for name, _, aria in (part.strip().partition(":") for part in _TABLE.split(","))
)

ATSPI_ROLES: Final[tuple[str, ...]] = tuple(pair[0] for pair in _PAIRS)
"""AT-SPI's role names; the index is the number on the bus."""

ARIA_OF: Final[dict[str, str]] = dict(_PAIRS)
"""AT-SPI role name → ours."""

# ARIA 1.2's roles that a page can have and that no AT-SPI role above maps to.
_WEB_ROLES: Final = """
alertdialog banner code complementary contentinfo deletion directory emphasis feed figure gridcell insertion main
mark menuitemcheckbox navigation none note option paragraph presentation radiogroup region rowgroup search searchbox
strong subscript superscript tabpanel time
""".split()

ROLES: Final[frozenset[str]] = frozenset(ARIA_OF.values()) | frozenset(_WEB_ROLES)
"""Every role a `Node` of ours can have. (A page may use others: they are kept as they are.)"""

_OTHER_SPELLINGS: Final[dict[str, frozenset[str]]] = {
    # AT-SPI calls the entry of a menu bar "menu", and an editable text "text"; a label is a "label" to everyone.
    "menu": frozenset({"menu", "menuitem"}),
    "text": frozenset({"text", "textbox"}),
    "alert": frozenset({"alert", "dialog", "alertdialog"}),
    "image": frozenset({"img"}),
    "option": frozenset({"option", "listitem", "menuitem"}),
}


def atspi_role(number: int) -> str:
    """AT-SPI's name of a role number; ``unknown`` for one that this table does not have yet."""
    return ATSPI_ROLES[number] if 0 <= number < len(ATSPI_ROLES) else "unknown"


def spellings(word: str) -> frozenset[str] | None:
    """The roles that a role word of any vocabulary may stand for, or None when it is no role word.

    Case and the choice of space, hyphen or underscore do not matter (``push button``, ``push-button``, ``AXButton``).
    """
    plain = " ".join(word.replace("-", " ").replace("_", " ").split()).lower()
    if plain in _OTHER_SPELLINGS:
        return _OTHER_SPELLINGS[plain]
    if plain in ARIA_OF:
        return frozenset({ARIA_OF[plain]})
    if plain in ROLES:
        return frozenset({plain})
    if plain.startswith("ax") and plain[2:] in ROLES:
        return frozenset({plain[2:]})
    return None
