"""What proofs about rules start from: rules by their heads, static rows, values of columns, keys so far."""

from __future__ import annotations

from itertools import combinations, count
from typing import TYPE_CHECKING, Final

from anygame.datalog.relations import FlatAtom, Negated, Unequal
from anygame.language.terms import Term, Variable
from anygame.language.unification import unify_all
from anygame.network.grounding.rules import renamed_apart

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from anygame.datalog.relations import Relation
    from anygame.network.grounding.rules import GroundRule, Test

    Rows = Sequence[tuple[Term, ...]]
    Key = tuple[int, ...]

#: Keys of wider static relations are not looked for: there are as many candidates as sets of columns.
_WIDEST: Final = 4


class Knowledge:
    """What proofs start from.

    Args:
        rules: per relation, all rules that derive it, facts among them; what is missing has none, and what
            has None has too many to be gone through.
        is_static: whether a relation depends on neither state nor moves.
        rows: the rows of a static relation; None where there are too many.
        values: the values that can stand in a column of a relation that changes; None where that is not
            known.
    """

    def __init__(
        self,
        rules: Mapping[Relation, Sequence[GroundRule] | None],
        is_static: Callable[[Relation], bool],
        rows: Callable[[Relation], Rows | None],
        values: Callable[[Relation, int], frozenset[Term] | None],
    ) -> None:
        self.is_static = is_static
        #: Keys of fluents that are taken for granted.
        self.assumed: dict[Relation, list[Key]] = {}
        self._rules = rules
        self._rows = rows
        self._values = values
        self._numbers = count(1)
        self._by_columns: dict[tuple[Relation, Key], dict[tuple[Term, ...], Rows] | None] = {}
        #: The heads of rules with variables that no case has, by identity: the rules are kept.
        self._heads: dict[int, tuple[Term, ...]] = {}
        self._static_keys: dict[Relation, list[Key]] = {}

    def rules_of(self, relation: Relation) -> Sequence[GroundRule] | None:
        """Return all rules that derive a relation; None where there are too many."""
        return self._rules.get(relation, ())

    def renamed(self, rule: GroundRule) -> GroundRule:
        """Return a rule with variables of its own."""
        return renamed_apart(rule, next(self._numbers))

    def may_derive(self, rule: GroundRule, atom: FlatAtom) -> bool:
        """Whether the head of a rule of the game and an atom have an instance in common."""
        if id(rule) not in self._heads:
            self._heads[id(rule)] = self.renamed(rule).head.columns
        return unify_all(zip(atom.columns, self._heads[id(rule)], strict=True), {}) is not None

    def rows_like(self, atom: FlatAtom) -> Rows | None:
        """Return the rows of a static relation that an atom could stand for; None where that is not known."""
        if not self.is_static(atom.relation):
            return None
        known = tuple(number for number, term in enumerate(atom.columns) if term.is_ground)
        index = self._index(atom.relation, known)
        if index is None:
            return None
        rows = index.get(tuple([atom.columns[number] for number in known]), ())
        twice = [
            (one, other)
            for one, other in combinations(range(len(atom.columns)), 2)
            if isinstance(atom.columns[one], Variable) and atom.columns[one] == atom.columns[other]
        ]
        return [row for row in rows if all(row[one] == row[other] for one, other in twice)] if twice else rows

    def keys(self, relation: Relation) -> Sequence[Key]:
        """Return sets of columns in which no two rows are equal."""
        if not self.is_static(relation):
            return self.assumed.get(relation, ())
        if relation not in self._static_keys:
            self._static_keys[relation] = self._keys_of_rows(relation)
        return self._static_keys[relation]

    def decided(self, test: Test) -> bool | None:
        """Return whether a condition holds; None where that depends on values or on the state."""
        if isinstance(test, Unequal):
            if test.left == test.right:
                return test.negated
            return not test.negated if test.left.is_ground and test.right.is_ground else None
        if isinstance(test, FlatAtom):
            rows = self.rows_like(test)
            if rows is None:
                return None
            if not rows:
                return False
            return True if all(term.is_ground for term in test.columns) else None
        if isinstance(test, Negated):
            holds = self.decided(test.atom)
            return None if holds is None else not holds
        return None

    def values(self, atom: FlatAtom, column: int) -> frozenset[Term] | None:
        """Return what can stand in a column of an atom; None where that is not known."""
        if self.is_static(atom.relation):
            rows = self.rows_like(atom)
            return None if rows is None else frozenset([row[column] for row in rows])
        return self._values(atom.relation, column)

    def _index(self, relation: Relation, known: Key) -> dict[tuple[Term, ...], Rows] | None:
        if (relation, known) not in self._by_columns:
            rows = self._rows(relation)
            index: dict[tuple[Term, ...], list[tuple[Term, ...]]] = {}
            for row in rows or ():
                index.setdefault(tuple([row[number] for number in known]), []).append(row)
            self._by_columns[relation, known] = None if rows is None else dict(index)
        return self._by_columns[relation, known]

    def _keys_of_rows(self, relation: Relation) -> list[Key]:
        rows = self._rows(relation)
        if rows is None or relation.width > _WIDEST:
            return []
        found: list[Key] = []
        for size in range(1, relation.width):
            for key in combinations(range(relation.width), size):
                if any(set(smaller) <= set(key) for smaller in found):
                    continue
                if len({tuple([row[number] for number in key]) for row in rows}) == len(rows):
                    found.append(key)
        return found
