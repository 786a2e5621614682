"""Refuting cases: by what follows without a choice, and by going through all choices where there are few.

A method of tableaux (Smullyan 1968, "First-order logic") that knows what a game is: a move that is made is
legal, a role makes one move, and a view holds by one of its rules. To refute takes a bounded number of steps;
what is not refuted may be impossible all the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from anygame.datalog.relations import Alternatives, Relation
from anygame.language.terms import Variable
from anygame.network.budget import CASE
from anygame.network.grounding.invariants.cases import Known, assumed, equated, settled
from anygame.network.grounding.rules import variables_of_atom

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.datalog.relations import FlatAtom
    from anygame.language.terms import Term
    from anygame.network.budget import Budget
    from anygame.network.grounding.invariants.cases import Case
    from anygame.network.grounding.invariants.knowledge import Knowledge
    from anygame.network.grounding.rules import GroundRule

#: Cases that are looked at to refute one, and in all: most that can be refuted take fewer than twenty.
_MOST_CASES: Final = 120
#: A choice among more than this is not gone through.
_MOST_BRANCHES: Final = 24
#: Views in views are opened this deep.
_DEEPEST: Final = 4


class Refutation:
    """Refutes cases, from what is known.

    Args:
        knowledge: what is known.
        budget: what a case costs is spent before it.

    Attributes:
        cases: how many cases may still be looked at.
    """

    def __init__(self, knowledge: Knowledge, cases: int, budget: Budget) -> None:
        self.cases = cases
        self._knowledge = knowledge
        self._budget = budget

    def refutes(self, case: Case) -> bool:
        """Whether a case is sure to be impossible."""
        most = min(_MOST_CASES, self.cases)
        waiting, looked_at = [case], 0
        while waiting and looked_at < most:
            self._budget.spend(CASE)
            looked_at += 1
            found = settled(waiting.pop(), self._knowledge)
            if found is None:
                continue
            branches = self._branches(found)
            if branches is None:
                break
            waiting += branches
        else:
            self.cases -= looked_at
            return not waiting
        self.cases -= looked_at
        return False

    def _branches(self, case: Case) -> list[Case] | None:
        """Return cases of which one holds if the case does; None where there is no choice to go through."""
        ways = [(index, self._rules_for(known)) for index, known in enumerate(case.positives)]
        known_ways = [(index, rules) for index, rules in ways if rules is not None]
        best = None
        if known_ways:
            best = self._opened(case, *min(known_ways, key=lambda way: len(way[1])))
        for test in case.tests:
            if isinstance(test, Alternatives) and (best is None or len(test.choices) < len(best)):
                rest = tuple(other for other in case.tests if other is not test)
                best = [replace(case, tests=(*rest, *choice)) for choice in test.choices]
        if best is not None and len(best) <= 1:
            return best
        by_value = self._by_value(case)
        if by_value is not None and (best is None or len(by_value) < len(best)):
            return by_value
        return best

    def _rules_for(self, known: Known) -> list[GroundRule] | None:
        """Return the rules by which an atom may hold; None where it is not to be opened."""
        atom = known.atom
        if known.is_open or known.depth >= _DEEPEST or self._knowledge.is_static(atom.relation):
            return None
        relation = atom.relation
        if relation.predicate == "true":
            return None
        if relation.predicate == "does":
            relation = Relation("legal", relation.shapes)
        rules = self._knowledge.rules_of(relation)
        if rules is None or len(rules) > _MOST_BRANCHES:
            return None
        return [rule for rule in rules if self._knowledge.may_derive(rule, atom)]

    def _opened(self, case: Case, index: int, rules: Sequence[GroundRule]) -> list[Case]:
        """Return a case for each of the rules by which an atom may hold."""
        known = case.positives[index]
        atom = known.atom
        opened = (*case.positives[:index], replace(known, is_open=True), *case.positives[index + 1 :])
        branches = []
        for rule in map(self._knowledge.renamed, rules):
            branch = assumed(replace(case, positives=opened), rule, known.depth + 1)
            found = equated(branch, zip(atom.columns, rule.head.columns, strict=True))
            if found is not None:
                branches.append(found)
        return branches

    def _by_value(self, case: Case) -> list[Case] | None:
        """Return a case for each value of a variable on which it depends whether an atom holds and fails."""
        best: tuple[int, Variable, frozenset[Term]] | None = None
        for atom in case.negatives:
            for known in case.positives:
                if known.atom.relation != atom.relation:
                    continue
                for variable in _in_the_way(case, known.atom, atom):
                    values = self._values(case, variable)
                    if values is not None and (best is None or len(values) < best[0]):
                        best = len(values), variable, values
        if best is None or best[0] > _MOST_BRANCHES:
            return None
        _, variable, values = best
        branches = [equated(case, [(variable, value)]) for value in sorted(values, key=str)]
        return [branch for branch in branches if branch is not None]

    def _values(self, case: Case, variable: Variable) -> frozenset[Term] | None:
        found: frozenset[Term] | None = None
        for known in case.positives:
            for column, term in enumerate(known.atom.columns):
                if term == variable:
                    values = self._knowledge.values(known.atom, column)
                    if values is not None:
                        found = values if found is None else found & values
        return found


def _in_the_way(case: Case, held: FlatAtom, failing: FlatAtom) -> list[Variable]:
    """Return the variables of the case without which two atoms would be the same; none if they differ."""
    fixed = {v for known in case.positives for v in variables_of_atom(known.atom)}
    found = []
    for one, other in zip(held.columns, failing.columns, strict=True):
        if one == other or (isinstance(other, Variable) and other not in fixed):
            continue
        variables = [term for term in (one, other) if isinstance(term, Variable)]
        if not variables:
            return []
        found += variables
    return found
