"""The interface of a network: the atoms of its inputs and outputs, with their names and their order."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from anygame.datalog.relations import Relation
from anygame.errors import LimitError
from anygame.language.diagnostics import shown
from anygame.language.terms import integer_of
from anygame.network.grounding.static import SEEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from anygame.language.terms import Term
    from anygame.network.grounding.grounder import Grounding
    from anygame.network.grounding.large.cases import Key
    from anygame.network.logic.atoms import Atoms

#: Maximum number of digits of a goal, so that the goal fits into 32 bits.
_MOST_DIGITS: Final = 9


class Exclusions:
    """Groups of mutually exclusive fluents: in a reachable state, at most one fluent of a group holds.

    A network may rely on these groups, so callers must check states that no match has reached. Each array of
    ``groups``, int [fluents], has the number of each fluent's group, or -1 for a fluent without a group.
    """

    def __init__(self, groups: Sequence[NDArray[np.int64]] = ()) -> None:
        self.groups = tuple(groups)

    def __bool__(self) -> bool:
        return bool(self.groups)

    def pair_among(self, fluents: Iterable[int]) -> tuple[int, int] | None:
        """Return two mutually exclusive fluents of a set, or None."""
        present = np.unique(np.fromiter(fluents, np.int64))
        for groups in self.groups:
            numbers = present[np.argsort(groups[present], kind="stable")]
            for one, other in pairwise(numbers.tolist()):
                if groups[one] == groups[other] >= 0:
                    return one, other
        return None

    def pair_in(self, states: NDArray[Any]) -> tuple[int, int, int] | None:
        """Return the number of a state and two exclusive fluents that hold in the state, or None."""
        for groups in self.groups:
            members = np.flatnonzero(groups >= 0)
            order = members[np.argsort(groups[members], kind="stable")]
            if not len(order):
                continue
            starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
            several = (np.add.reduceat(states[:, order].astype(np.int64), starts, axis=1) > 1).any(axis=1)
            for state in np.flatnonzero(several)[:1].tolist():
                pair = self.pair_among(np.flatnonzero(states[state]).tolist())
                assert pair is not None
                return state, *pair
        return None


class Interface:
    """The atoms of a network's inputs and outputs. Fluents and the moves of a role are sorted by text.

    Attributes:
        next_state: per fluent the atom of its next value, or None if no rule gives it a next value.
        legal: per action, role after role, the atom of its legality, or None if it is never legal.
        terminal: the atom of ``terminal``, or None if the game never ends.
        goals: per role its goal values with their atoms, in ascending order.
        percepts: per role the terms that it can ever see (GDL-II).
    """

    def __init__(self, grounding: Grounding, atoms: Atoms) -> None:
        reasoner = grounding.reasoner
        self._grounding = grounding
        self._atoms = atoms
        roles = {reasoner.terms.number(role): index for index, role in enumerate(reasoner.roles)}
        fluents: list[tuple[str, Term, int, int | None, bool]] = []
        for relation in atoms.fluents:
            terms = self._terms(relation, 0)
            starts = set(grounding.initial.get(relation, np.zeros(0, np.int64)).tolist())
            next_state = self._same_rows("next", relation)
            columns = zip(terms, atoms.of(relation).tolist(), next_state, strict=True)
            for row, (term, atom, after) in enumerate(columns):
                fluents.append((str(term), term, atom, after, row in starts))
        fluents.sort(key=lambda item: item[0])
        self.fluents = tuple(item[1] for item in fluents)
        self.fluent_atoms = [item[2] for item in fluents]
        self.next_state = [item[3] for item in fluents]
        self.exclusions = Exclusions(list(self._groups()))
        self.initial = np.array([item[4] for item in fluents], np.bool_)
        self.actions, self.action_atoms = self._by_text(("does", 2), roles)
        legal: dict[int, int | None] = {}
        for relation in atoms.actions:
            legal.update(zip(atoms.of(relation).tolist(), self._same_rows("legal", relation), strict=True))
        self.legal = [legal[atom] for moves in self.action_atoms for atom in moves]
        terminal = atoms.of(reasoner.layout.variants(("terminal", 0))[0]).tolist()
        self.terminal: int | None = terminal[0] if terminal else None
        self.goals = self._goals(roles)
        self.percepts, self.percept_atoms = self._by_text(SEEN, roles)

    def _groups(self) -> Iterator[NDArray[np.int64]]:
        """Yield per key an array of ``Exclusions.groups``: fluents that agree in the key form a group."""
        numbers = {atom: number for number, atom in enumerate(self.fluent_atoms)}
        values: dict[tuple[Relation, Key], list[Term | None]] = {}
        for invariant in self._grounding.invariants:
            values.setdefault((invariant.relation, invariant.key), []).append(invariant.value)
        for (relation, key), of_key in values.items():
            table = self._grounding.tables.get(relation)
            if table is None or not table.count:
                continue
            columns = [table.column(number) for number in key]
            agreeing = np.zeros(table.count, np.int64)
            if columns:
                _, agreeing = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
            if None not in of_key:
                terms = self._grounding.reasoner.terms
                lone = [terms.number(value) for value in of_key if value is not None]
                agreeing = np.where(np.isin(columns[0], lone), agreeing.reshape(-1), -1)
            groups = np.full(len(numbers), -1, np.int64)
            groups[[numbers[atom] for atom in self._atoms.of(relation).tolist()]] = agreeing.reshape(-1)
            yield groups

    def outputs(self) -> dict[str, NDArray[np.int64]]:
        """Return the atoms of the outputs by kind, with -1 for an output that never holds."""
        by_kind: dict[str, Sequence[int | None]] = {
            "terminal": [self.terminal],
            "legal": self.legal,
            "goal": [atom for role in self.goals for _, atom in role],
            "next": self.next_state,
            "sees": [atom for of_role in self.percept_atoms for atom in of_role],
        }
        return {
            name: np.array([-1 if atom is None else atom for atom in atoms], np.int64)
            for name, atoms in by_kind.items()
        }

    def _terms(self, relation: Relation, argument: int) -> list[Term]:
        values = self._grounding.reasoner.terms.terms
        rows = self._grounding.tables[relation].rows().tolist()
        return [relation.arguments(tuple([values[number] for number in row]))[argument] for row in rows]

    def _same_rows(self, predicate: str, relation: Relation) -> list[int | None]:
        table = self._grounding.tables[relation]
        other = Relation(predicate, relation.shapes)
        source = self._grounding.tables.get(other)
        if source is None:
            return [None] * table.count
        numbers = source.find([table.column(n) for n in range(table.width)], table.count)
        atoms = self._atoms.of(other, numbers).tolist()
        return [None if number < 0 else atom for number, atom in zip(numbers.tolist(), atoms, strict=True)]

    def _of_roles(self, key: tuple[str, int], roles: dict[int, int]) -> Iterator[tuple[int, Term, int]]:
        """Yield role index, second argument and atom of each instance of a predicate such as ``goal``."""
        for relation in self._grounding.reasoner.layout.variants(key):
            if relation in self._grounding.tables:
                players = self._grounding.tables[relation].column(0).tolist()
                atoms = self._atoms.of(relation).tolist()
                for term, role, atom in zip(self._terms(relation, 1), players, atoms, strict=True):
                    if role in roles:
                        yield roles[role], term, atom

    def _by_text(
        self, key: tuple[str, int], roles: dict[int, int]
    ) -> tuple[tuple[tuple[Term, ...], ...], list[list[int]]]:
        by_role: list[list[tuple[Term, int]]] = [[] for _ in roles]
        for role, term, atom in self._of_roles(key, roles):
            by_role[role].append((term, atom))
        for of_role in by_role:
            of_role.sort(key=lambda item: str(item[0]))
        terms = tuple(tuple(term for term, _ in of_role) for of_role in by_role)
        return terms, [[atom for _, atom in of_role] for of_role in by_role]

    def _goals(self, roles: dict[int, int]) -> list[list[tuple[int, int]]]:
        goals: list[list[tuple[int, int]]] = [[] for _ in roles]
        for role, value, atom in self._of_roles(("goal", 2), roles):
            goal = integer_of(value)
            if goal is None or abs(goal) >= 10**_MOST_DIGITS:
                message = f"the goal value {shown(str(value))} is not an integer of up to nine digits"
                raise LimitError(message, "goals", _MOST_DIGITS)
            goals[role].append((goal, atom))
        return [sorted(values) for values in goals]
