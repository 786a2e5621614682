"""The same programs for an independent reasoner: GDL written as answer set programming, for clingo."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import pytest
from tests.datalog.programs import choices

from anygame.language.rules import And, Distinct, Literal, Not
from anygame.language.terms import Compound, Term, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import clingo

    from anygame.language.rules import Atom, Formula, Program
else:
    clingo = pytest.importorskip("clingo")

#: Rows by name and arity, as text.
Model: TypeAlias = dict[tuple[str, int], set[tuple[str, ...]]]


def _term(term: Term) -> str:
    if isinstance(term, Variable):
        return f"V_{term.name}"
    if isinstance(term, Compound):
        return f"f_{term.functor.replace('.', '__')}({','.join(map(_term, term.arguments))})"
    return f"c_{term}"


def _atom(name: str, arguments: Sequence[Term]) -> str:
    return f"r_{name}({','.join(map(_term, arguments))})" if arguments else f"r_{name}"


def _part(formula: Formula) -> str:
    if isinstance(formula, Literal):
        return _atom(formula.atom.predicate, formula.atom.arguments)
    if isinstance(formula, Distinct):
        return f"{_term(formula.left)} != {_term(formula.right)}"
    assert isinstance(formula, Not)
    inner = formula.formula
    if isinstance(inner, Distinct):
        return f"{_term(inner.left)} = {_term(inner.right)}"
    return f"not {_part(inner)}"


def _lines(program: Program, given: Iterable[Atom]) -> Iterator[str]:
    for rule in program.rules:
        head = _atom(rule.head.predicate, rule.head.arguments)
        for choice in choices(And(rule.body)):
            yield f"{head} :- {', '.join(map(_part, choice))}." if choice else f"{head}."
    for atom in given:
        yield f"{_atom(atom.predicate, atom.arguments)}."


def _kif(symbol: clingo.Symbol) -> str:
    name = symbol.name[2:].replace("__", ".")
    return f"({name} {' '.join(map(_kif, symbol.arguments))})" if symbol.arguments else name


def model(program: Program, given: Iterable[Atom]) -> Model:
    """Return the one model of a stratified program and some facts, by relation, as text."""
    control = clingo.Control(["--models=2", "--warn=none"])
    control.add("base", [], "\n".join(_lines(program, given)))
    control.ground([("base", [])])
    found: list[Model] = []
    with control.solve(yield_=True) as answers:
        for answer in answers:
            relations: Model = {}
            for symbol in answer.symbols(atoms=True):
                row = tuple(map(_kif, symbol.arguments))
                relations.setdefault((symbol.name[2:], len(row)), set()).add(row)
            found.append(relations)
    assert len(found) == 1, f"a stratified program has one model, but clingo finds {len(found)}"
    return found[0]
