"""Sharing parts: relations that grounding made with the same rules become one.

::

    part(x) :- true(at(x, y)), [cell(y)]
    other(z) :- true(at(z, w)), [cell(w)]

The second is the first under another name: whoever reads it reads the first (Cocke 1970, "Global common
subexpression elimination", for rules).
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from anygame.datalog.relations import FlatAtom
from anygame.network.grounding.rules import GroundRule, is_own
from anygame.network.grounding.substitution import named_by_place, substituted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anygame.datalog.relations import Relation
    from anygame.network.grounding.passes.context import Context


def share_parts(rules: Sequence[GroundRule], _: Context) -> list[GroundRule]:
    """Replace parts by others with the same rules, until no two are alike."""
    found = list(dict.fromkeys(rules))
    while True:
        same = _alike(found)
        if not same:
            return found
        kept = [rule for rule in found if rule.head.relation not in same]
        found = list(dict.fromkeys(_renamed(rule, same) for rule in kept))


def _alike(rules: Sequence[GroundRule]) -> dict[Relation, Relation]:
    """Return parts to be replaced, and by which."""
    of_relation: dict[Relation, list[GroundRule]] = defaultdict(list)
    for rule in rules:
        if is_own(rule.head.relation):
            of_relation[rule.head.relation].append(rule)
    first: dict[object, Relation] = {}
    same: dict[Relation, Relation] = {}
    for relation, made in of_relation.items():
        if any(rule.composed or not rule.atoms for rule in made):
            continue
        key = frozenset(map(_meaning, made))
        known = first.setdefault(key, relation)
        if known != relation:
            same[relation] = known
    return same


def _meaning(rule: GroundRule) -> object:
    """Return what is equal for two rules that differ in names of variables and of the head only."""
    same = substituted(rule, named_by_place((rule.head, *rule.atoms), " {} "))
    return same.head.columns, same.positives, same.negatives, same.guards, same.tests


def _renamed(rule: GroundRule, same: Mapping[Relation, Relation]) -> GroundRule:
    if not any(atom.relation in same for atom in rule.atoms):
        return rule
    return rule.with_atoms(lambda atom: FlatAtom(same.get(atom.relation, atom.relation), atom.columns))
