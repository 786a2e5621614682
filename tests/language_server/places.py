"""Sheets with a mark where somebody types or points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.language_server.findings import Settings
from anygame.language_server.sheet import WrittenSheet
from anygame.language_server.worker import examine

if TYPE_CHECKING:
    from anygame.language_server.findings import DomainTable
    from anygame.language_server.sheet import Occurrence, Range

MARK = "¦"


def marked(text: str, name: str = "game.kif") -> tuple[WrittenSheet, int]:
    """Return a sheet without its mark, and where that stood."""
    assert text.count(MARK) == 1
    return WrittenSheet(name, text.replace(MARK, "")), text.index(MARK)


def domains(text: str, name: str = "game.kif") -> DomainTable:
    """Return what can stand where in a sheet."""
    return examine(name, text.replace(MARK, ""), Settings()).domains


def applied(text: str, edits: list[tuple[Range, str]]) -> str:
    """Return a text after edits that do not overlap."""
    for place, new in sorted(edits, key=lambda edit: edit[0], reverse=True):
        text = text[: place.start] + new + text[place.end :]
    return text


def lines_of(sheet: WrittenSheet, names: list[Occurrence]) -> list[int]:
    """Return the lines, from 1, in which names start."""
    return [sheet.source.position(each.start)[0] for each in names]


#: A small game: two roles take turns to mark three cells.
GAME = """\
;; Who plays.
(role white)
(role black)
(index 1) (index 2) (index 3)

(init (cell 1 b)) (init (cell 2 b)) (init (cell 3 b))
(init (control white))

;; Who is in control
;; marks a cell.
(<= (legal ?player (mark ?n))
    (true (control ?player))
    (true (cell ?n b)))
(<= (legal ?player noop)
    (role ?player)
    (not (true (control ?player))))

(<= (next (cell ?n ?player))
    (does ?player (mark ?n)))
(<= (next (cell ?n ?c))
    (true (cell ?n ?c))
    (not (marked ?n)))
(<= (marked ?n)
    (does ?player (mark ?n)))
(<= (next (control black)) (true (control white)))
(<= (next (control white)) (true (control black)))

(<= open
    (index ?n)
    (true (cell ?n b)))
(<= terminal (not open))
(<= (goal ?player 100) (true (cell 2 ?player)) (role ?player))
(<= (goal ?player 0) (role ?player) (not (true (cell 2 ?player))))
"""

INFIX = """\
% Who plays.
role(white)
role(black)
init(control(white))
legal(P,go) :- true(control(P))
legal(P,'Wait') :- role(P) & ~true(control(P))
next(control(Q)) :- true(control(P)) & other(P,Q)
other(white,black)
other(black,white)
terminal :- true(control(black))
goal(P,50) :- role(P)
"""
