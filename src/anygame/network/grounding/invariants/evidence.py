"""What a game shows about itself before anything is proved: its rules, values, and states of random play."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

from anygame.analysis.domains import Domains
from anygame.language.terms import Constant
from anygame.network.budget import QUESTION
from anygame.network.grounding.invariants.keys import keys_of_fluents
from anygame.network.grounding.invariants.knowledge import Knowledge

if TYPE_CHECKING:
    from anygame.datalog.reasoner import Move, Reasoner
    from anygame.datalog.relations import Relation
    from anygame.language.terms import Term
    from anygame.network.budget import Budget
    from anygame.network.grounding.static import StaticRelations

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
