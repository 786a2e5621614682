"""Instances of rules that derive an atom in a state: the answers to ``why`` questions.

The reasoner evaluates each literal of a body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.errors import LimitError, QueryError
from anygame.language.rules import And, Atom, Distinct, Literal, Not, Or, map_terms
from anygame.language.terms import Variable
from anygame.language.unification import apply, match_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.game.state import State
    from anygame.language.rules import Formula
    from anygame.language.terms import Term

    Bindings = dict[Variable, Term]

#: Maximum number of instances of one atom.
_MOST_INSTANCES: Final = 500
#: Maximum number of lookups for the instances in a state. Each lookup of a cached literal counts once.
_MOST_LOOKUPS: Final = 200_000
#: A query of the reasoner counts as this number of lookups.
_LOOKUPS_OF_A_QUERY: Final = 40


class Instances:
    """The instances of rules in a state. Rules about moves need a joint move, ``moves``."""

    def __init__(self, state: State, moves: Sequence[Term] = ()) -> None:
        self._state = state
        self._moves = list(moves) or None
        self._known: dict[str, list[Bindings]] = {}
        self._lookups = 0

    def of(self, atom: Atom) -> Iterator[tuple[str, ...]]:
        """Yield the body, in KIF, of each rule instance that derives the atom; facts are skipped.

        Raises:
            LimitError: there are too many instances, or too many literals to look up.
        """
        found = 0
        for rule in self._state.game.program.rules:
            bindings: Bindings = {}
            if rule.head.key != atom.key or not rule.body:
                continue
            if match_all(rule.head.arguments, atom.arguments, bindings):
                for conditions in self._bodies(list(rule.body), bindings, ()):
                    found += 1
                    if found > _MOST_INSTANCES:
                        message = f"more than {_MOST_INSTANCES:,} instances of rules derive {atom}"
                        raise LimitError(message, "instances", _MOST_INSTANCES)
                    yield tuple(sorted(set(conditions)))

    def holds(self, formula: Formula) -> bool:
        """Return whether a formula without variables holds."""
        if isinstance(formula, Literal):
            return bool(self._matches(formula.atom))
        if isinstance(formula, Distinct):
            return formula.left is not formula.right
        if isinstance(formula, Not):
            return not self.holds(formula.formula)
        return (all if isinstance(formula, And) else any)(map(self.holds, formula.parts))

    def _bodies(
        self, items: list[Formula], bindings: Bindings, held: tuple[str, ...]
    ) -> Iterator[tuple[str, ...]]:
        if not items:
            yield held
            return
        item = min(items, key=lambda formula: _rank(formula, bindings))
        rest = [formula for formula in items if formula is not item]
        bound = map_terms(item, lambda term: apply(term, bindings))
        if isinstance(bound, And):
            yield from self._bodies([*bound.formulas, *rest], bindings, held)
        elif isinstance(bound, Or):
            for part in bound.formulas:
                yield from self._bodies([part, *rest], bindings, held)
        elif isinstance(bound, Literal):
            for found in self._matches(bound.atom):
                text = str(map_terms(bound, lambda term, found=found: apply(term, found)))  # type: ignore[misc]
                yield from self._bodies(rest, bindings | found, (*held, text))
        elif self.holds(bound):
            yield from self._bodies(rest, bindings, (*held, str(bound)))

    def _matches(self, atom: Atom) -> list[Bindings]:
        key = str(atom)
        self._lookups += 1 if key in self._known else _LOOKUPS_OF_A_QUERY
        if self._lookups > _MOST_LOOKUPS:
            message = f"finding the instances of rules needs more than {_MOST_LOOKUPS:,} look-ups of literals"
            raise LimitError(message, "literals", _MOST_LOOKUPS)
        if key not in self._known:
            try:
                rows = list(self._state.query(atom, self._moves))
            except QueryError:
                rows = []  # no rule defines the relation
            self._known[key] = [{Variable(name[1:]): term for name, term in row.items()} for row in rows]
        return self._known[key]


def _rank(item: Formula, bindings: Bindings) -> tuple[int, int]:
    """Return a sort key: ground formulas come first, then literals with few unbound variables."""
    unbound = sum(not apply(variable, bindings).is_ground for variable in set(item.variables()))
    return (0 if not unbound else 1 if isinstance(item, Literal) else 2, unbound)
