"""Projecting moves: a move that ties literals together is replaced by its parts.

::

    next(at(u, v, p)) :- does(r, go(x, y, u, v)), true(at(x, y, p))

becomes::

    next(at(u, v, p)) :- from(r, x, y), to(r, u, v), true(at(x, y, p))
    from(r, x, y) :- does(r, go(x, y, u, v))
    to(r, u, v) :- does(r, go(x, y, u, v))

A role makes exactly one move, so a move holds exactly where all its projections do, and literals that only
the move ties together come apart: instances add where they multiplied. That exactly one
does is the game model's (Genesereth, Love and Pell 2005, "General game playing: overview of the AAAI
competition").
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from anygame.datalog.relations import FlatAtom
from anygame.language.terms import Variable, variables_of
from anygame.network.grounding.rules import (
    GroundRule,
    connected,
    in_order,
    items_of,
    variables_of_atom,
    variables_of_items,
)

if TYPE_CHECKING:
    from anygame.network.grounding.passes.context import Context

_NOTHING: Final[frozenset[Variable]] = frozenset()


def project_moves(rule: GroundRule, context: Context) -> list[GroundRule]:
    """Replace the only move of a rule by its projections, where it ties literals together."""
    moves = [atom for atom in rule.positives if atom.relation.predicate == "does"]
    if rule.composed or len(moves) != 1 or len(rule.positives) + len(rule.negatives) < 2:
        return [rule]
    move = moves[0]
    groups = _groups(rule, move)
    if groups is None:
        return [rule]
    made, projections = [], []
    for group in groups:
        columns = in_order(group)
        atom = FlatAtom(context.new_relation(len(columns)), columns)
        made.append(GroundRule(atom, positives=(move,)))
        projections.append(atom)
    index = rule.positives.index(move)
    positives = (*rule.positives[:index], *projections, *rule.positives[index + 1 :])
    return [*made, replace(rule, positives=positives)]


def _groups(rule: GroundRule, move: FlatAtom) -> list[frozenset[Variable]] | None:
    """Return the variables of each projection of a move; None where it is better left as it is."""
    head = frozenset(variables_of_atom(rule.head))
    role = frozenset(variables_of(move.columns[0]))
    own = frozenset(variables_of_atom(move))
    others = [item for item in items_of(rule) if item.what is not move]
    wanted = [
        variables_of_items(part) & own
        for part in connected(others, head | role)
        if any(item.is_dynamic for item in part)
    ]
    rest = own & (head | variables_of_items(others))
    rest -= _NOTHING.union(*wanted) - head
    groups = [group | role for group in [*wanted, rest] if group - role]
    # One part that needs the whole move needs it unprojected.
    if len(groups) < 2 or any(group >= own & (head | role) for group in wanted if rest - role):
        return None
    return groups
