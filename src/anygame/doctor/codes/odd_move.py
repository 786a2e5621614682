"""A move without arguments that is called as something else in the sheet is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, Check, Code
from anygame.language.diagnostics import Note, Severity, shown
from anygame.language.rules import KEYWORDS, atoms_in
from anygame.language.terms import Compound, Constant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Atom
    from anygame.language.terms import Term

_OF_MOVES: Final = ("legal", "input", "does")

_CODE: Final = Code(
    "odd-move",
    Severity.WARNING,
    "a move that no rule asks about, called as something else is",
    demand="A move that is there to wait has a name of its own.",
    why="What is a role, a mark or a number elsewhere was hardly meant as a move: another name was.",
    source=PRACTICE,
    bad="(role x) (role o)\n(other x o) (other o x)\n(<= (legal x o) (true (turn o)))",
    good="(role x) (role o)\n(other x o) (other o x)\n(<= (legal x noop) (true (turn o)))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report moves without arguments that nobody asks about, and that are what a rule or fact speaks of."""
    for (name, arity), heads in sheet.moves.items():
        if not arity and sheet.is_never_asked(Constant(name)):
            other = _other_use(sheet, Constant(name))
            if other:
                message = (
                    f"{shown(name)} is a move here that no rule asks about, and something else elsewhere"
                )
                yield _CODE.found(message, heads[0].span, Note("as here", other.span))


def _other_use(sheet: Sheet, name: Constant) -> Atom | None:
    """Return an atom in which a name stands, not as a move or a value of a goal."""
    for rule in sheet.program.rules:
        for atom in (rule.head, *(atom for atom, _ in atoms_in(rule.body))):
            terms = atom.arguments[:-1] if atom.predicate in _OF_MOVES else atom.arguments
            is_keyword = KEYWORDS.get(atom.predicate) == len(atom.arguments) and atom.predicate != "role"
            if any(name in _inside(term, is_keyword) for term in terms):
                return atom
    return None


def _inside(term: Term, is_keyword: bool) -> tuple[Term, ...]:
    """Return the arguments of a fluent, and what stands at the place of a relation's."""
    return term.arguments if isinstance(term, Compound) else () if is_keyword else (term,)


CHECK: Final = Check((_CODE,), _check)
