"""Recursion: growth without end, and what the definition of GDL restricts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import GDL, Check, Code
from anygame.doctor.likes.groups import groups_by_name
from anygame.language.diagnostics import Note, Severity
from anygame.language.rules import Literal
from anygame.language.terms import Compound, Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from anygame.analysis.normal import NormalRule
    from anygame.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Atom
    from anygame.language.terms import Term

_GROWING_RECURSION: Final = Code(
    "growing-recursion",
    Severity.WARNING,
    "a recursion that builds ever larger terms",
    demand="A recursive rule does not wrap its own results into larger terms.",
    why="Each round makes a new term, without end. A literal from outside the recursion that bounds the "
    "variable stops it; GDL's recursion restriction asks for that.",
    source=GDL,
    bad="(number zero)\n(<= (number (s ?x)) (number ?x))",
    good="(number zero)\n(<= (number (s ?x)) (number ?x) (small ?x))\n(small zero)",
)
_RECURSION_RESTRICTION: Final = Code(
    "recursion-restriction",
    Severity.INFO,
    "a recursion that the definition of GDL does not allow",
    demand=(
        "In a recursion each argument is ground, stands in the head as it is, or is bound outside the "
        "recursion."
    ),
    why=("The restriction keeps GDL decidable. Without functions nothing can grow, so that this plays here."),
    source=GDL,
    bad="(edge a b)\n(<= (path ?x ?y) (edge ?x ?y))\n(<= (path ?x ?z) (path ?x ?y) (path ?y ?z))",
    good="(edge a b)\n(<= (path ?x ?y) (edge ?x ?y))\n(<= (path ?x ?z) (edge ?x ?y) (path ?y ?z))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report recursive rules whose arguments can grow, and those that are merely too free."""
    for component in groups_by_name(sheet):
        if component.recursive:
            inside = {rule.head.key for rule in component.rules}
            for part in component.rules:
                yield from _of_rule(part, inside)


def _of_rule(part: NormalRule, inside: Container[Key]) -> Iterator[Diagnostic]:
    literals = [item.atom for item in part.body if isinstance(item, Literal)]
    recursive = [atom for atom in literals if atom.key in inside]
    bound = {v for atom in literals if atom.key not in inside for v in atom.variables()}
    for atom in recursive:
        for number, term in enumerate(part.head.arguments):
            variable = _growing(term, atom, bound)
            if variable is not None:
                yield _GROWING_RECURSION.found(
                    f"each round wraps {variable} into a larger term: {term}; this may never end",
                    part.head.node.argument(number).span
                    if part.head.node and part.head.node.children
                    else part.origin.span,
                    Note(f"{variable} comes from here", atom.span),
                    hint=f"bound {variable} by a literal of a relation outside the recursion",
                )
                return
    for atom in recursive:
        for number, term in enumerate(atom.arguments):
            if term.is_ground or term in part.head.arguments or set(variables_of(term)) <= bound:
                continue
            node = atom.node
            yield _RECURSION_RESTRICTION.found(
                f"in a recursion the definition of GDL wants {term} to stand in the head as it is, or to be "
                "bound by a literal outside the recursion",
                node.argument(number).span if node and node.children else part.origin.span,
                hint="this plays here; other systems may refuse it",
            )
            return


def _growing(term: Term, atom: Atom, bound: set[Variable]) -> Variable | None:
    """Return a variable that stands deeper in a head's argument than in the atom that alone binds it."""
    if not isinstance(term, Compound):
        return None
    above = _depths(atom.arguments)
    for variable, depth in _depths((term,)).items():
        if variable not in bound and variable in above and depth > above[variable]:
            return variable
    return None


def _depths(terms: tuple[Term, ...]) -> dict[Variable, int]:
    """Return how deep each variable stands, at the most."""
    result: dict[Variable, int] = {}
    pending = [(term, 0) for term in terms]
    while pending:
        term, depth = pending.pop()
        if isinstance(term, Variable):
            result[term] = max(depth, result.get(term, 0))
        elif isinstance(term, Compound):
            pending += [(inner, depth + 1) for inner in term.arguments]
    return result


CHECK: Final = Check(
    (
        _GROWING_RECURSION,
        _RECURSION_RESTRICTION,
    ),
    _check,
)
