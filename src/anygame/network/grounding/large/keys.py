"""Proofs of keys of fluents: sets of columns in which no two facts of a state are equal.

For example, a cell has one piece, and a state has one step counter. Such invariants are mutual exclusions
(Edelkamp and Helmert 1999, "Exhibiting knowledge in planning problems to minimize state encoding length").
All keys are proved together by induction. They hold initially. If all keys hold in a state, no two rules for
``next`` derive facts that violate a key (Haufe, Schiffel and Thielscher 2012, "Automated verification of
state sequence invariants in general game playing").
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Final

from anygame.datalog.relations import Alternatives, Relation, Unequal
from anygame.language.terms import Variable
from anygame.network.budget import CASE
from anygame.network.grounding.large.cases import Case, Invariant, KnownAtom, assumed, equated, settled
from anygame.network.grounding.rules import variables_of_atom

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.datalog.relations import FlatAtom
    from anygame.language.terms import Term
    from anygame.network.budget import Budget
    from anygame.network.grounding.large.cases import Premises
    from anygame.network.grounding.rules import GroundRule

#: Maximum number of cases examined for all keys of a game. Examining that many takes a few seconds.
_MOST_CASES: Final = 6_000


class InvariantProver:
    """Proves likely keys of fluents on request, and removes keys without a proof from the premises.

    ``proved`` has the proved invariants, including invariants that proofs assume. If all proved invariants
    hold in a state, they hold in the next state.
    """

    def __init__(self, premises: Premises, budget: Budget) -> None:
        self.proved: set[Invariant] = set()
        self._premises = premises
        self._refutation = Refutation(premises, _MOST_CASES, budget)

    def holds(self, invariant: Invariant) -> bool:
        """Return whether an invariant is proved to hold in all reachable states."""
        while self._is_likely(invariant):
            proved: set[Invariant] = set()
            pending = {invariant}
            while pending:
                current = pending.pop()
                self._premises.used = set()
                if not self._is_kept(current):
                    if current.value is not None:
                        self._premises.lone.remove(current)
                    else:
                        self._premises.assumed[current.relation].remove(current.key)
                    break
                proved.add(current)
                pending |= self._premises.used - proved - self.proved
            else:
                self.proved |= proved
                return True
        return False

    def _is_likely(self, invariant: Invariant) -> bool:
        if invariant.value is not None:
            return invariant in self._premises.lone
        return invariant.key in self._premises.keys(invariant.relation)

    def _is_kept(self, invariant: Invariant) -> bool:
        """Return whether an invariant holds in the next state if all likely invariants hold in this state."""
        if invariant in self.proved:
            return True
        relation, key = invariant.relation, invariant.key
        rules = self._premises.rules_of(Relation("next", relation.shapes))
        if rules is None:
            return False
        dependent = [number for number in range(relation.width) if number not in key]
        for rules_of_two in combinations_with_replacement(rules, 2):
            self._premises.begin_anew()
            one, other = map(self._premises.renamed, rules_of_two)
            for number in dependent:
                pairs = [(one.head.columns[at], other.head.columns[at]) for at in key]
                pairs += [
                    (one.head.columns[at], invariant.value) for at in key if invariant.value is not None
                ]
                differing = Unequal(one.head.columns[number], other.head.columns[number])
                both = assumed(assumed(Case(tests=(differing,)), one), other)
                case = equated(both, pairs)
                if case is not None and not self._refutation.refutes(case):
                    return False
        return True


#: Maximum number of cases examined to refute a case. Most refutations need fewer than 20.
_MOST_CASES_OF_ONE: Final = 120
#: Maximum number of cases into which a case splits.
_MOST_BRANCHES: Final = 24
#: Maximum nesting depth of expanded views.
_DEEPEST: Final = 4


class Refutation:
    """Refutes cases by a tableau method (Smullyan 1968, "First-order logic") with knowledge about games.

    Each move is legal, each role makes one move, and each view that holds follows from one of its rules.
    Since the number of cases is bounded, a case that is not refuted may still be impossible.
    """

    def __init__(self, premises: Premises, cases: int, budget: Budget) -> None:
        self.cases = cases
        self._premises = premises
        self._budget = budget

    def refutes(self, case: Case) -> bool:
        """Whether a case is proved to be impossible."""
        most = min(_MOST_CASES_OF_ONE, self.cases)
        waiting, looked_at = [case], 0
        while waiting and looked_at < most:
            self._budget.spend(CASE)
            looked_at += 1
            concluded = settled(waiting.pop(), self._premises)
            if concluded is None:
                continue
            branches = self._branches(concluded)
            if branches is None:
                waiting.append(concluded)
                break
            waiting += branches
        self.cases -= looked_at
        return not waiting

    def _branches(self, case: Case) -> list[Case] | None:
        """Return the cases into which a case splits; None if there is nothing to split."""
        ways = [
            (index, rules)
            for index, known in enumerate(case.positives)
            if (rules := self._rules_for(known)) is not None
        ]
        best = None
        if ways:
            # Moves allow the most conclusions, so expand the move with the fewest rules first.
            moves = [way for way in ways if case.positives[way[0]].atom.relation.predicate == "does"]
            best = self._opened(case, *min(moves or ways, key=lambda way: len(way[1])))
        for test in case.tests:
            if isinstance(test, Alternatives) and (best is None or len(test.choices) < len(best)):
                other_tests = tuple(other for other in case.tests if other is not test)
                best = [replace(case, tests=(*other_tests, *choice)) for choice in test.choices]
        if best is not None and len(best) <= 1:
            return best
        by_value = self._by_value(case)
        if by_value is not None and (best is None or len(by_value) < len(best)):
            return by_value
        return best

    def _rules_for(self, known: KnownAtom) -> list[GroundRule] | None:
        relation = known.atom.relation
        if known.is_open or known.depth >= _DEEPEST or relation.predicate == "true":
            return None
        if relation.predicate == "does":
            relation = Relation("legal", relation.shapes)
        rules = self._premises.rules_of(relation)
        if rules is None or len(rules) > _MOST_BRANCHES:
            return None
        return [rule for rule in rules if self._premises.may_derive(rule, known.atom)]

    def _opened(self, case: Case, index: int, rules: Sequence[GroundRule]) -> list[Case]:
        known = case.positives[index]
        atom = known.atom
        opened = (*case.positives[:index], replace(known, is_open=True), *case.positives[index + 1 :])
        branches = []
        for rule in map(self._premises.renamed, rules):
            branch = assumed(replace(case, positives=opened), rule, known.depth + 1)
            opened_case = equated(branch, zip(atom.columns, rule.head.columns, strict=True))
            if opened_case is not None:
                branches.append(opened_case)
        return branches

    def _by_value(self, case: Case) -> list[Case] | None:
        """Split a case by the values of a variable that may make a positive and a negative equal."""
        best: tuple[int, Variable, frozenset[Term]] | None = None
        holding = [known.atom for known in case.positives]
        for failing in case.negatives:
            for atom in holding:
                for variable in _in_the_way(holding, atom, failing):
                    values = self._premises.values_in(holding, variable)
                    if values is not None and (best is None or len(values) < best[0]):
                        best = len(values), variable, values
        if best is None or best[0] > _MOST_BRANCHES:
            return None
        _, variable, values = best
        branches = [equated(case, [(variable, value)]) for value in sorted(values, key=str)]
        return [branch for branch in branches if branch is not None]


def _in_the_way(holding: Sequence[FlatAtom], held: FlatAtom, failing: FlatAtom) -> list[Variable]:
    """Return the variables in which two atoms differ; an empty list if no values make the atoms equal."""
    if held.relation != failing.relation:
        return []
    fixed = {variable for atom in holding for variable in variables_of_atom(atom)}
    differing = []
    for one, other in zip(held.columns, failing.columns, strict=True):
        if one == other or (isinstance(other, Variable) and other not in fixed):
            continue
        variables = [term for term in (one, other) if isinstance(term, Variable)]
        if not variables:
            return []
        differing += variables
    return differing
