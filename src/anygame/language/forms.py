"""The two forms of rule sheets, KIF and infix: the spelling of names, and comments.

::

    (<= (legal ?r (mark ?x ?y))         legal(R,mark(X,Y)) :-
        (true (cell ?x ?y b))               true(cell(X,Y,b)) &
        (not (closed ?x)))                  ~closed(X)

Each name has exactly one spelling in each form. In infix, a name that is not a plain word is quoted, and a
quote inside the name is doubled:

=================  =============  ===================================================================
KIF                infix
=================  =============  ===================================================================
``noop``, ``01``   the same       a lower-case letter or a digit, then letters, digits, underscores
``-1``             the same       a minus sign and a digit, then letters, digits, underscores
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
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.language.source import Source

#: Syntax of a rule sheet.
Form = Literal["kif", "infix"]

#: The arity of each relation with a meaning in GDL. The last two relations belong to GDL-II.
KEYWORDS: Final = {
    "role": 1, "init": 1, "true": 1, "does": 2, "next": 1, "legal": 2, "goal": 2, "terminal": 0,
    "base": 1, "input": 2,
    "sees": 2, "percept": 2,
}  # fmt: skip

#: Mark at the start of a comment, which ends at the end of the line.
COMMENT_MARKS: Final[dict[Form, str]] = {"kif": ";", "infix": "%"}

_COMMENT: Final[dict[Form, re.Pattern[str]]] = {
    "kif": re.compile(r";[^\r\n]*"),
    "infix": re.compile(r"'(?:[^'\r\n]|'')*'|(%[^\r\n]*)"),
}
_SUFFIXES: Final[dict[str, Form]] = {".kif": "kif", ".hrf": "infix", ".infix": "infix"}
#: Pattern of comments in both forms and of the start of an item. Only KIF items start with a parenthesis.
_START: Final = re.compile(
    r"(?:\s|[;%][^\r\n]*(?![^\r\n]))*(?:(?P<kif>\()|(?P<infix>(?:'[^'\s]+'|[A-Za-z0-9_]+)(?:\(|\s*:-)))?"
)
_KIF_RULE: Final = re.compile(r"^[ \t]*\(<=", re.MULTILINE)
#: Piece of a message: a KIF name, a parenthesis, or any other character.
_PIECE: Final = re.compile(r"""[()]|[^\s():,;`'"]+|.""", re.DOTALL)
_BARE_CONSTANT: Final = re.compile(r"-?[0-9][A-Za-z0-9_]*|[a-z][A-Za-z0-9_]*")
_BARE_VARIABLE: Final = re.compile(r"[a-z][A-Za-z0-9_]*")
_OPERATORS: Final = frozenset(("<=", "not", "and", "or"))
_NO_NAMES: Final = ("(", ":", ",", ";", "`", "'", '"', "\n", "\t")
_AFTER_UNDERSCORE: Final = re.compile(r"[A-Z0-9][A-Za-z0-9_]*")
_WITH_UNDERSCORE: Final = re.compile(r"_+[a-z][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment with its marks, without trailing blanks. If ``own_line``, no code precedes the comment."""

    text: str
    start: int
    end: int
    own_line: bool


def form_of(source: Source) -> Form:
    """Return the form of a sheet, determined by its first item, or else by the suffix of its file name.

    A KIF item starts with a parenthesis, an infix item with a name before an opening parenthesis or ``:-``. A
    text with ``(<=`` at the start of a line is always KIF.
    """
    text = source.text
    start = _START.match(text)
    assert start is not None
    if start["infix"]:
        return "kif" if _KIF_RULE.search(text) else "infix"
    name = source.name.lower()
    form = next((form for suffix, form in _SUFFIXES.items() if name.endswith(suffix)), None)
    is_infix = form == "infix" or (form is None and text.lstrip().startswith("%"))
    return "infix" if is_infix and not start["kif"] else "kif"


def infix_constant(name: str) -> str:
    """Return the infix spelling of a constant.

    >>> infix_constant("noop"), infix_constant("King"), infix_constant("it's")
    ('noop', "'King'", "'it''s'")
    """
    return name if _BARE_CONSTANT.fullmatch(name) else _quoted(name)


def infix_variable(name: str) -> str:
    """Return the infix spelling of a variable, given its name without the question mark.

    >>> [infix_variable(name) for name in ("row", "Row", "1", "_row", "x+y")]
    ['Row', '_Row', '_1', '_row', "?'x+y'"]
    """
    if _BARE_VARIABLE.fullmatch(name):
        return name[0].upper() + name[1:]
    if _AFTER_UNDERSCORE.fullmatch(name):
        return f"_{name}"
    return name if _WITH_UNDERSCORE.fullmatch(name) else f"?{_quoted(name)}"


def kif_variable(name: str) -> str:
    """Return the KIF spelling, with a question mark, of an infix variable without quotes.

    >>> [kif_variable(name) for name in ("Row", "_Row", "_1", "_row")]
    ['?row', '?Row', '?1', '?_row']
    """
    if name[0] != "_":
        return f"?{name[0].lower()}{name[1:]}"
    return f"?{name[1:]}" if _AFTER_UNDERSCORE.fullmatch(name, 1) else f"?{name}"


def as_infix(message: str, text: str) -> str:
    """Return a message about an infix sheet with its KIF variables and terms converted to infix.

    Words in parentheses stay unchanged unless they form a term in ``text``, the text of the sheet.

    >>> as_infix("nothing binds ?Row: it occurs in (p ?Row (f ?_any1)) (here)", "p(_Row,f(_))")
    'nothing binds _Row: it occurs in p(_Row,f(_)) (here)'
    """
    pieces = _PIECE.findall(message)
    written, place = [], 0
    while place < len(pieces):
        term, end = _read_kif(pieces, place)
        if not _is_of_sheet(term, text):
            term, end = "", place + 1
        written.append(_in_infix(term, text) if term else pieces[place])
        place = end
    return "".join(written)


_Tree: TypeAlias = "str | list[_Tree]"


def _read_kif(pieces: Sequence[str], place: int) -> tuple[_Tree, int]:
    """Return the term or single piece at position ``place`` of a message, and the next position."""
    first, end = pieces[place], place + 1
    if first != "(":
        return first, end
    parts: list[_Tree] = []
    while end < len(pieces) and pieces[end] != ")":
        part, end = _read_kif(pieces, end)
        if part in _NO_NAMES:
            break
        if part != " ":
            parts.append(part)
    is_term = end < len(pieces) and pieces[end] == ")" and len(parts) > 1 and isinstance(parts[0], str)
    return (parts, end + 1) if is_term else (first, place + 1)


def _is_of_sheet(term: _Tree, text: str) -> bool:
    if isinstance(term, str):
        return term[0] == "?" and len(term) > 1
    name = str(term[0])
    is_known = name in KEYWORDS or name in _OPERATORS or f"{infix_constant(name)}(" in text
    return is_known or any(_is_of_sheet(part, text) for part in term)


def _in_infix(term: _Tree, text: str) -> str:
    if isinstance(term, str):
        if term[0] != "?":
            return term if term == "..." else infix_constant(term)
        name = infix_variable(term[1:])
        return "_" if name.startswith("_any") and name not in text else name
    name, parts = str(term[0]), [_in_infix(part, text) for part in term[1:]]
    if name == "not" and len(parts) == 1:
        return f"~{parts[0]}"
    if name in {"and", "or"} and len(parts) > 1:
        return f"({(' | ' if name == 'or' else ' & ').join(parts)})"
    if name == "<=":
        return f"{parts[0]} :- {' & '.join(parts[1:])}"
    return f"{infix_constant(name)}({','.join(parts)})"


def comments_of(source: Source, form: Form) -> list[Comment]:
    """Return the comments of a sheet in the order of the text."""
    comments = []
    mark = COMMENT_MARKS[form]
    for match in _COMMENT[form].finditer(source.text):
        if match[0][0] == mark:
            start = match.start()
            _, column = source.position(start)
            own_line = not source.text[start - column + 1 : start].strip()
            comments.append(Comment(match[0].rstrip(), start, match.end(), own_line))
    return comments


def places_of_comments(source: Source) -> list[tuple[int, int]]:
    """Return the start and end of each comment of a sheet, in the order of the text."""
    return [(comment.start, comment.end) for comment in comments_of(source, form_of(source))]


def marked(text: str, form: Form) -> str:
    """Return a comment with the comment marks of ``form``.

    >>> marked(";;; Moves; and more", "infix")
    '%%% Moves; and more'
    """
    bare = text.lstrip(text[0])
    return COMMENT_MARKS[form] * (len(text) - len(bare)) + bare


def _quoted(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"
