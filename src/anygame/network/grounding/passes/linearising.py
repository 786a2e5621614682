"""Linearising recursion: chains grow by a link at a time, not by chains of any length.

::

    joined(x, y) :- touching(x, y)
    joined(x, y) :- joined(y, x)
    joined(x, z) :- joined(x, y), joined(y, z)

becomes::

    joined(x, y) :- link(x, y)
    joined(x, z) :- joined(x, y), link(y, z)
    link(x, y) :- first(x, y)
    link(x, y) :- first(y, x)
    first(x, y) :- touching(x, y)

which derives the same: both are the transitive closure of ``link``. Of a board of n places with a few
neighbours each, the first has n^3 instances and the second n^2 (Zhang, Yu and Troy 1990, "Necessary and
sufficient conditions to linearize doubly recursive programs in logic databases").
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from anygame.datalog.relations import FlatAtom, Unequal, reads_of
from anygame.language.terms import Variable
from anygame.network.grounding.rules import GroundRule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.datalog.relations import Relation
    from anygame.network.grounding.passes.context import Context

__all__ = ["linearise"]

#: Places of a relation's columns: the first and the last of a chain, as pairs that are of one kind.
Ends = frozenset[tuple[int, int]]


def linearise(rules: Sequence[GroundRule], context: Context) -> list[GroundRule]:
    """Make linear the rules of views that are the transitive closure of what their other rules derive."""
    by_head: dict[Relation, list[GroundRule]] = defaultdict(list)
    for rule in rules:
        by_head[rule.head.relation].append(rule)
    instead: dict[int, list[GroundRule]] = {}
    for relation, own in by_head.items():
        if not context.is_view(relation) or context.has_facts(relation):
            continue
        closure = _closure_of(relation, own)
        if closure is not None and not any(_reaches(rule, relation, by_head) for rule in closure.base):
            instead[id(own[0])] = _linear(closure, context)
            instead |= {id(rule): [] for rule in own[1:]}
    return [made for rule in rules for made in instead.get(id(rule), [rule])]


@dataclass(frozen=True, slots=True)
class _Closure:
    """A relation that is the transitive closure of its base.

    Attributes:
        composition: the rule that puts two chains together.
        base: the rules that do not recur.
        ends: the columns of the first and the last of a chain.
        is_symmetric: whether chains can be turned round.
    """

    composition: GroundRule
    base: list[GroundRule]
    ends: Ends
    is_symmetric: bool


def _closure_of(relation: Relation, rules: list[GroundRule]) -> _Closure | None:
    """Return a relation as a transitive closure; None where its rules are not of that form."""
    recursive = [rule for rule in rules if any(atom.relation == relation for atom in rule.positives)]
    base = [rule for rule in rules if rule not in recursive]
    compositions = {rule: _ends_of(rule) for rule in recursive if len(rule.positives) == 2}
    turns = {rule: _turned(rule) for rule in recursive if len(rule.positives) == 1}
    if len(compositions) != 1 or len(compositions) + len(turns) != len(recursive) or not base:
        return None
    ((composition, ends),) = compositions.items()
    if ends is None:
        return None
    pairs = {frozenset(pair) for pair in ends}
    if any(turned != pairs for turned in turns.values()):
        return None
    return _Closure(composition, base, ends, bool(turns))


def _ends_of(rule: GroundRule) -> Ends | None:
    """Return the columns at which a rule puts two chains together; None where it does something else.

    That the ends of a chain differ may be asked: walks that come back to where they began have a shorter
    one to the same place.
    """
    one, other = rule.positives
    head = rule.head.columns
    if not _is_plain(rule) or one.relation != rule.head.relation or other.relation != rule.head.relation:
        return None
    for first, second in ((one, other), (other, one)):
        ends = _ends(head, first, second)
        if ends is not None and all(_is_of_ends(test, head, ends) for test in rule.tests):
            return ends
    return None


def _ends(head: Sequence[object], one: FlatAtom, other: FlatAtom) -> Ends | None:
    """Return the columns at which one atom's last is the other's first, all else being as in the head."""
    last = [place for place, term in enumerate(head) if one.columns[place] is not term]
    first = [place for place, term in enumerate(head) if other.columns[place] is not term]
    if not last or set(first) & set(last) or len(first) != len(last):
        return None
    middle = {other.columns[place]: place for place in first}
    if len(middle) != len(first) or {one.columns[place] for place in last} != set(middle):
        return None
    if any(not isinstance(term, Variable) or term in head for term in middle):
        return None
    return frozenset((middle[one.columns[place]], place) for place in last)


def _turned(rule: GroundRule) -> set[frozenset[int]] | None:
    """Return the columns that a rule of one literal exchanges; None where it does something else."""
    head, body = rule.head.columns, rule.positives[0].columns
    if not _is_plain(rule) or rule.tests or set(head) != set(body):
        return None
    places = {place: body.index(term) for place, term in enumerate(head)}
    if any(places[other] != place for place, other in places.items()):
        return None
    return {frozenset(pair) for pair in places.items() if pair[0] != pair[1]}


def _is_plain(rule: GroundRule) -> bool:
    """Whether a rule has nothing but positive literals and tests, and each column of its head is free."""
    head = rule.head.columns
    is_free = len(set(head)) == len(head) and all(isinstance(term, Variable) for term in head)
    return is_free and not (rule.negatives or rule.guards or rule.composed)


def _is_of_ends(test: object, head: Sequence[object], ends: Ends) -> bool:
    """Whether a test asks no more than that the ends of a chain of one column differ."""
    ((first, last), *more) = ends
    return (
        isinstance(test, Unequal)
        and not test.negated
        and not more
        and {test.left, test.right} == {head[first], head[last]}
    )


def _reaches(rule: GroundRule, relation: Relation, by_head: dict[Relation, list[GroundRule]]) -> bool:
    """Whether what a rule reads depends on a relation within one state."""
    waiting: list[GroundRule] = [rule]
    seen: set[Relation] = set()
    while waiting:
        for read in _reads(waiting.pop()):
            if read == relation:
                return True
            if read not in seen:
                seen.add(read)
                waiting += by_head.get(read, [])
    return False


def _reads(rule: GroundRule) -> Iterator[Relation]:
    for atom in (*rule.atoms, *(read.atom for read in reads_of(rule.tests))):
        yield atom.relation


def _linear(closure: _Closure, context: Context) -> list[GroundRule]:
    """Return the rules of a closure with one recursive literal."""
    head = closure.composition.head
    first = context.new_relation(len(head.columns))
    made = [replace(rule, head=FlatAtom(first, rule.head.columns)) for rule in closure.base]
    link = first
    if closure.is_symmetric:
        link = context.new_relation(len(head.columns))
        turned = list(head.columns)
        for one, other in closure.ends:
            turned[one], turned[other] = head.columns[other], head.columns[one]
        made += [
            GroundRule(FlatAtom(link, head.columns), positives=(FlatAtom(first, tuple(columns)),))
            for columns in (head.columns, turned)
        ]
    made.append(GroundRule(head, positives=(FlatAtom(link, head.columns),)))
    chain, last = closure.composition.positives
    return [*made, replace(closure.composition, positives=(chain, FlatAtom(link, last.columns)))]
