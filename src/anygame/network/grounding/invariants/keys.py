"""Keys of fluents: columns in which no two facts of a state are equal.

That a cell holds one piece, or that there is one step, is an invariant of a game (mutually exclusive
facts; Edelkamp and Helmert 1999, "Exhibiting knowledge in planning problems to minimize state encoding
length"). It is proved by induction over the rules, all keys at once: they hold at first, and if all hold in
a state, no two rules for ``next`` give facts that violate one (on proving properties of games, see Haufe,
Schiffel and Thielscher 2012, "Automated verification of state sequence invariants in general game playing").
"""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement
from random import Random
from typing import TYPE_CHECKING, Final

from anygame.analysis.domains import Domains
from anygame.datalog.relations import Relation, Unequal
from anygame.language.terms import Constant
from anygame.network.budget import QUESTION
from anygame.network.grounding.invariants.cases import Case, assumed, equated
from anygame.network.grounding.invariants.knowledge import Knowledge
from anygame.network.grounding.invariants.refutation import Refutation

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from anygame.datalog.reasoner import Move, Reasoner
    from anygame.language.terms import Term
    from anygame.network.budget import Budget
    from anygame.network.grounding.invariants.knowledge import Key
    from anygame.network.grounding.static import StaticRelations

    Row = tuple[int, ...]

#: Wider fluents have too many sets of columns.
_WIDEST: Final = 6
#: Cases that are looked at for all keys of a game together: some seconds.
_MOST_CASES: Final = 6_000

#: States of random play that are looked at: most that does not always hold shows in one of them.
_SAMPLES: Final = 24
_SEED: Final = 20121


def known_of(reasoner: Reasoner, static: StaticRelations, budget: Budget) -> Knowledge:
    """Return what is known of the rules of a game, with the keys of fluents that were proved.

    Args:
        reasoner: the rules.
        static: their static relations.
        budget: what this costs is spent from it.
    """
    domains = Domains(reasoner.rules)
    knowledge = Knowledge(
        static.rules_by_head(),
        static.is_static,
        static.rows_as_terms,
        lambda relation, column: _constants(domains, relation, column),
    )
    keys_of_fluents(knowledge, samples(reasoner, budget), budget)
    return knowledge


def samples(reasoner: Reasoner, budget: Budget) -> dict[Relation, list[list[tuple[int, ...]]]]:
    """Return, per relation of fluents, its rows in the first state and some others of random play."""
    relations = reasoner.layout.variants(("true", 1))
    found: dict[Relation, list[list[tuple[int, ...]]]] = {relation: [] for relation in relations}
    random = Random(_SEED)

    def name(move: Move) -> str:
        return str(reasoner.move_term(move))

    state = reasoner.initial()
    for _ in range(_SAMPLES):
        budget.spend(QUESTION)
        for relation, rows in zip(relations, state, strict=True):
            found[relation].append([relation.unpacked(row) for row in rows])
        frame = reasoner.frame(state)
        legal = list(reasoner.legal(frame).values())
        if reasoner.terminal(frame) or not all(legal):
            state = reasoner.initial()
        else:
            state = reasoner.next(frame, [random.choice(sorted(moves, key=name)) for moves in legal])
    return found


def _constants(domains: Domains, relation: Relation, column: int) -> frozenset[Term] | None:
    """Return the constants that can stand in a column of a relation; None where terms can."""
    places = [
        (argument, part)
        for argument, shape in enumerate(relation.shapes)
        for part in (range(shape[1]) if isinstance(shape, tuple) else [None])
    ]
    argument, part = places[column]
    shape = relation.shapes[argument]
    if part is None or not isinstance(shape, tuple):
        tops = domains.tops(*relation.key, argument)
    else:
        tops = domains.below((*relation.key, argument), shape, part)
    constants: frozenset[Term] = frozenset([top for top in tops if isinstance(top, Constant)])
    return constants if len(constants) == len(tops) else None


def keys_of_fluents(
    knowledge: Knowledge,
    samples: Mapping[Relation, Collection[Sequence[Row]]],
    budget: Budget,
) -> dict[Relation, list[Key]]:
    """Return keys that were proved, the smallest of each relation.

    Args:
        knowledge: the rules; its ``assumed`` keys are those returned afterwards.
        samples: per relation of fluents the rows of the first state, and of some others that can be reached.
        budget: what proofs cost is spent from it.
    """
    assumed_keys = {relation: _candidates(relation, states) for relation, states in samples.items()}
    refutation = Refutation(knowledge, _MOST_CASES, budget)
    knowledge.assumed = assumed_keys
    changed = True
    while changed:
        changed = False
        for relation in assumed_keys:
            for key in list(assumed_keys[relation]):
                if _is_implied(key, assumed_keys[relation]):
                    continue
                if not _is_kept(relation, key, knowledge, refutation):
                    assumed_keys[relation].remove(key)
                    changed = True
    found = {
        relation: [key for key in keys if not _is_implied(key, keys)]
        for relation, keys in assumed_keys.items()
    }
    knowledge.assumed = {relation: keys for relation, keys in found.items() if keys}
    return knowledge.assumed


def _candidates(relation: Relation, states: Collection[Sequence[Row]]) -> list[Key]:
    """Return the sets of columns that are keys in all samples."""
    if relation.width > _WIDEST:
        return []
    return [
        key
        for size in range(relation.width)
        for key in combinations(range(relation.width), size)
        if all(len({tuple([row[n] for n in key]) for row in rows}) == len(rows) for rows in states)
    ]


def _is_implied(key: Key, others: Sequence[Key]) -> bool:
    return any(set(other) < set(key) for other in others)


def _is_kept(relation: Relation, key: Key, knowledge: Knowledge, refutation: Refutation) -> bool:
    """Whether no two facts of the next state violate a key, if this state violates none."""
    rules = knowledge.rules_of(Relation("next", relation.shapes))
    if rules is None:
        return False
    others = [number for number in range(relation.width) if number not in key]
    for rules_of_two in combinations_with_replacement(rules, 2):
        one, other = map(knowledge.renamed, rules_of_two)
        for number in others:
            pairs = [(one.head.columns[at], other.head.columns[at]) for at in key]
            differing = Unequal(one.head.columns[number], other.head.columns[number])
            both = assumed(assumed(Case(tests=(differing,)), one), other)
            case = equated(both, pairs)
            if case is not None and not refutation.refutes(case):
                return False
    return True
