"""The two forms of rule sheets, KIF and infix, how names are spelled in each, and their comments.

::

    (<= (legal ?r (mark ?x ?y))         legal(R,mark(X,Y)) :-
        (true (cell ?x ?y b))               true(cell(X,Y,b)) &
        (not (closed ?x)))                  ~closed(X)

Spelling is one to one. What KIF can name and the infix form cannot stands in quotes there, with a quote
inside doubled:

=================  =============  ===================================================================
KIF                infix
=================  =============  ===================================================================
``noop``, ``01``   the same       a lower-case letter or a digit, then letters, digits, underscores
``King``, ``+``    ``'King'``     every other constant
``?row``           ``Row``        a lower-case letter, then letters, digits, underscores
``?Row``, ``?1``   ``_Row _1``    a capital or a digit, then letters, digits, underscores
``?_row``          ``_row``       underscores, a lower-case letter, then letters, digits, underscores
``?x+y``           ``?'x+y'``     every other variable
=================  =============  ===================================================================
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from anygame.language.source import Source

#: How the rules of a sheet are written.
Form = Literal["kif", "infix"]

#: What starts a comment, which runs to the end of its line.
COMMENT_MARKS: Final[dict[Form, str]] = {"kif": ";", "infix": "%"}

_COMMENT: Final[dict[Form, re.Pattern[str]]] = {
    "kif": re.compile(r";[^\r\n]*"),
    "infix": re.compile(r"'(?:[^'\r\n]|'')*'|(%[^\r\n]*)"),
}
_SUFFIXES: Final[dict[str, Form]] = {".kif": "kif", ".hrf": "infix", ".infix": "infix"}
_INFIX_START: Final = re.compile(r"\s*(?:%|(?:'[^'\s]+'|[A-Za-z0-9_]+)(?:\(|\s*:-))")
_BARE_CONSTANT: Final = re.compile(r"[a-z0-9][A-Za-z0-9_]*")
_BARE_VARIABLE: Final = re.compile(r"[a-z][A-Za-z0-9_]*")
_AFTER_UNDERSCORE: Final = re.compile(r"[A-Z0-9][A-Za-z0-9_]*")
_WITH_UNDERSCORE: Final = re.compile(r"_+[a-z][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment.

    Attributes:
        text: with its marks, as in ``;; Moves``, without blanks at the end.
        start: offset of its first mark.
        end: offset after its last character.
        own_line: whether nothing else stands on its line; otherwise it belongs to what stands before it.
    """

    text: str
    start: int
    end: int
    own_line: bool


def form_of(source: Source) -> Form:
    """Return the form of a sheet: by the suffix of its name, else by how its first item starts.

    Files called ``.kif`` are KIF, those called ``.hrf`` or ``.infix`` are infix. In any other text the
    infix form shows by a ``%``, by a name with an opening parenthesis right after it, or by ``name :-``.
    """
    name = source.name.lower()
    for suffix, form in _SUFFIXES.items():
        if name.endswith(suffix):
            return form
    return "infix" if _INFIX_START.match(source.text) else "kif"


def infix_constant(name: str) -> str:
    """Return a constant as the infix form spells it.

    >>> infix_constant("noop"), infix_constant("King"), infix_constant("it's")
    ('noop', "'King'", "'it''s'")
    """
    return name if _BARE_CONSTANT.fullmatch(name) else _quoted(name)


def infix_variable(name: str) -> str:
    """Return a variable as the infix form spells it; its name is given without the question mark.

    >>> [infix_variable(name) for name in ("row", "Row", "1", "_row", "x+y")]
    ['Row', '_Row', '_1', '_row', "?'x+y'"]
    """
    if _BARE_VARIABLE.fullmatch(name):
        return name[0].upper() + name[1:]
    if _AFTER_UNDERSCORE.fullmatch(name):
        return f"_{name}"
    return name if _WITH_UNDERSCORE.fullmatch(name) else f"?{_quoted(name)}"


def kif_variable(name: str) -> str:
    """Return the KIF spelling, with its question mark, of a variable that the infix form spells bare.

    >>> [kif_variable(name) for name in ("Row", "_Row", "_1", "_row")]
    ['?row', '?Row', '?1', '?_row']
    """
    if name[0] != "_":
        return f"?{name[0].lower()}{name[1:]}"
    return f"?{name[1:]}" if _AFTER_UNDERSCORE.fullmatch(name, 1) else f"?{name}"


def comments_of(source: Source, form: Form) -> list[Comment]:
    """Return the comments of a sheet in the order of the text."""
    found = []
    mark = COMMENT_MARKS[form]
    for match in _COMMENT[form].finditer(source.text):
        if match[0][0] == mark:
            start = match.start()
            _, column = source.position(start)
            own_line = not source.text[start - column + 1 : start].strip()
            found.append(Comment(match[0].rstrip(), start, match.end(), own_line))
    return found


def places_of_comments(source: Source) -> list[tuple[int, int]]:
    """Return where the comments of a sheet start and end, in the order of the text."""
    return [(comment.start, comment.end) for comment in comments_of(source, form_of(source))]


def marked(text: str, form: Form) -> str:
    """Return a comment with the marks of a form in place of those it has.

    >>> marked(";;; Moves; and more", "infix")
    '%%% Moves; and more'
    """
    bare = text.lstrip(text[0])
    return COMMENT_MARKS[form] * (len(text) - len(bare)) + bare


def _quoted(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"
