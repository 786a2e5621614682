"""Rules for the four sides of a board, or for two names that are used alike: one is missing, or is odd."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, Check, Code
from anygame.doctor.likes.exchanges import grown, odd_first, used_alike
from anygame.doctor.likes.likes import (
    are_near,
    exchanged,
    flat,
    is_said,
    normal,
    numbered,
    parts_of,
    turned,
)
from anygame.doctor.likes.odd_rules import differing_rule, rule_without_like
from anygame.doctor.likes.subsumption import Budget, is_same
from anygame.doctor.sheet import key_of, spoken_of
from anygame.language.diagnostics import Severity
from anygame.language.rules import KEYWORDS, Atom, Rule, atoms_in
from anygame.language.terms import Compound, Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.doctor.likes.likes import Turn
    from anygame.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.source import Span
    from anygame.language.terms import Term

#: Rules of one relation that are compared: fewer say too little, and more are written by programs.
_FEWEST: Final = 3
_MOST: Final = 40
#: Rules that are each other's likes: one pair may be so by chance.
_FEWEST_LIKES: Final = 2
#: Relations and fluents whose arguments are exchanged, for each relation.
_MOST_TURNED: Final = 6
_PAIR: Final = 2
#: Rules with likes for two names, and rules of a sheet that is compared.
_FEWEST_NAMED: Final = 4
_MOST_OF_SHEET: Final = 300
_MOST_WORDS: Final = 6_000
_OF_START: Final = frozenset(("init", "base", "input"))
#: Predicates of which the rules may well differ.
_MAY_DIFFER: Final = frozenset(("base", "input", "role", "goal"))

_OTHER_WAY: Final = "for the other direction"

_STEPS: Final = """\
(<= (near ?a ?b ?c ?b) (succ ?a ?c) (index ?b))
(<= (near ?a ?b ?c ?b) (succ ?c ?a) (index ?b))
(<= (near ?a ?b ?c ?d) (succ ?a ?c) (succ ?b ?d))
(<= (near ?a ?b ?c ?d) (succ ?c ?a) (succ ?d ?b))
(<= (near ?a ?b ?a ?c) (succ ?b ?c) (index ?a))
"""

_MISSING: Final = Code(
    "missing-sibling",
    Severity.WARNING,
    "a rule for one direction or name that has no like for the other one, where all others have",
    demand="Of rules that differ in the order of arguments alone, or in names used alike, none is missing.",
    why="What goes up and down goes left and right: most often a rule was forgotten.",
    source=PRACTICE,
    bad=_STEPS,
    good=f"{_STEPS}(<= (near ?a ?b ?a ?c) (succ ?c ?b) (index ?a))\n",
)
_ODD: Final = Code(
    "odd-sibling",
    Severity.WARNING,
    "a rule that differs from its like for another direction or name, where all others are the same",
    demand="Rules for directions differ in the order of arguments alone, others in names used alike.",
    why="A difference in one place alone is most often a slip of the one who copied the rule.",
    source=PRACTICE,
    bad=f"{_STEPS}(<= (near ?a ?b ?a ?c) (succ ?c ?b) (number ?a))\n",
    good=f"{_STEPS}(<= (near ?a ?b ?a ?c) (succ ?c ?b) (index ?a))\n",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report rules that have no like where arguments change places, or names."""
    told: set[Span | None] = set()
    for found in (*_by_directions(sheet), *_by_names(sheet)):
        if found.span not in told:
            told.add(found.span)
            yield found


def _by_names(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report the one rule that has no like where two names change places that are used alike otherwise."""
    rules = [rule for rule in sheet.program.rules if rule.body and rule.head.predicate not in _OF_START]
    if len(rules) > _MOST_OF_SHEET:
        return
    said = [parts_of(rule) for rule in rules]
    if sum(len(flat(parts)) for parts in said) > _MOST_WORDS:
        return
    roles = set(map(str, sheet.roles))
    for pair in used_alike(said):
        if roles.issuperset(pair):
            continue  # those are compared elsewhere
        exchange = grown(said, {pair[0]: pair[1], pair[1]: pair[0]})
        likes = [exchanged(parts, exchange) for parts in said]
        known = set(map(normal, said))
        moved = [n for n, parts in enumerate(said) if normal(likes[n]) != normal(parts)]
        alone = [n for n in moved if normal(likes[n]) not in known]
        if len(moved) - len(alone) < _FEWEST_NAMED:
            continue
        if len(alone) > _PAIR or any(is_said(likes[n], said) for n in alone):
            continue
        where = f"where {pair[0]} and {pair[1]} change places"
        if len(alone) == 1:
            (number,) = alone
            yield rule_without_like(_MISSING, rules[number], likes[number], where)
        elif len(alone) == _PAIR and are_near(said[alone[0]], likes[alone[1]]):
            odd, like = odd_first(alone, said, exchange)
            yield differing_rule(_ODD, rules[odd], rules[like], likes[like], where)


def _by_directions(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report the one rule of a relation that has no like where the arguments of a relation change places."""
    budget = Budget()
    for rules in _groups(sheet):
        bare = _without_names(rules)
        for turn in _turns(bare):
            fewest = 1 if turn[0] and len(turn[2]) == _PAIR else _PAIR
            found = _odd_one(rules, bare, [turned(rule, turn) for rule in bare], budget, fewest * _PAIR)
            if found:
                yield found
                break


def _groups(sheet: Sheet) -> Iterator[list[Rule]]:
    """Yield the rules that are compared: those of a relation, a fluent or a move, by what their heads name.

    A constant that stands in several heads, such as a piece, tells groups apart.
    """
    groups: dict[tuple[object, ...], list[Rule]] = defaultdict(list)
    for key, rules in sheet.heads.items():
        if key[0] not in _MAY_DIFFER and key[1]:
            for rule in rules:
                if rule.body:
                    groups[key, *_what(rule)].append(rule)
    for alike in groups.values():
        named = [
            [term if isinstance(term, Constant) else None for term in rule.head.arguments] for rule in alike
        ]
        often = [Counter(column) for column in zip(*named, strict=True)]
        apart: dict[tuple[object, ...], list[Rule]] = defaultdict(list)
        for rule, names in zip(alike, named, strict=True):
            apart[tuple(name if often[n][name] > 1 else None for n, name in enumerate(names))].append(rule)
        yield from (rules for rules in apart.values() if _FEWEST <= len(rules) <= _MOST)


def _what(rule: Rule) -> tuple[object, ...]:
    """Return the fluent or the move that a head speaks of."""
    is_keyword = KEYWORDS.get(rule.head.predicate) == len(rule.head.arguments)
    return (key_of(rule.head.arguments[-1]),) if is_keyword else ()


def _without_names(rules: Sequence[Rule]) -> list[Rule]:
    """Return rules without the arguments of their heads that are constants, such as a direction."""
    columns = list(zip(*(rule.head.arguments for rule in rules), strict=True))
    kept = [n for n, column in enumerate(columns) if not all(isinstance(term, Constant) for term in column)]
    heads = (Atom(rule.head.predicate, tuple(rule.head.arguments[n] for n in kept)) for rule in rules)
    return [Rule(head, rule.body, rule.node) for head, rule in zip(heads, rules, strict=True)]


def _turns(rules: Sequence[Rule]) -> list[Turn]:
    """Return what can be turned in some rules: relations of two arguments, the head, and fluents."""
    relations: Counter[Key] = Counter()
    functors: Counter[Key] = Counter()
    for rule in rules:
        for atom in (rule.head, *(atom for atom, _ in atoms_in(rule.body))):
            is_keyword = KEYWORDS.get(atom.predicate) == len(atom.arguments)
            if not is_keyword and (atom is rule.head or len(atom.arguments) == _PAIR):
                relations[atom.key] += 1
            functors.update(
                key for term in atom.arguments if isinstance(term, Compound) and (key := key_of(term))
            )
    heads = {rule.head.key for rule in rules}
    often = [key for key, _ in relations.most_common(_MOST_TURNED)]
    found = [(True, key) for key in sorted(often, key=lambda key: (key in heads, -relations[key]))]
    found += [(False, key) for key, _ in functors.most_common(_MOST_TURNED)]
    return [(is_relation, key, order) for is_relation, key in found for order in _orders(key[1])]


def _orders(arity: int) -> Iterator[tuple[int, ...]]:
    """Yield orders in which two arguments change places, or each of two pairs does."""
    straight = tuple(range(arity))
    for one, other in combinations(range(min(arity, 4)), _PAIR):
        order = list(straight)
        order[one], order[other] = other, one
        yield tuple(order)
    if arity >= 2 * _PAIR:
        yield (1, 0, 3, 2, *straight[4:])


def _odd_one(
    rules: Sequence[Rule], bare: Sequence[Rule], likes: Sequence[Rule], budget: Budget, fewest: int
) -> Diagnostic | None:
    """Return what is odd among rules, given what each of them would be the other way round.

    That two differ is told where so many others do not.
    """
    said, like_said = [parts_of(rule) for rule in bare], [parts_of(rule) for rule in likes]
    before, after = list(map(normal, said)), list(map(normal, like_said))
    known = Counter(before)
    moved = [n for n in range(len(rules)) if before[n] != after[n]]
    alone = [n for n in moved if not known[after[n]]]
    paired = [n for n in moved if n not in alone]
    if len(paired) < _FEWEST_LIKES or not 1 <= len(alone) <= _PAIR:
        return None
    if any(is_same(likes[n], rule, budget) or is_said(like_said[n], said) for n in alone for rule in bare):
        return None
    others = [said[n] for n in range(len(rules)) if n not in moved]
    if len(alone) == 1 and any(numbered(parts[0]) == numbered(said[alone[0]][0]) for parts in others):
        return None  # its like goes by another relation: down by a predecessor, up by a successor
    shapes = {_shape(bare[n]) for n in paired}
    if len(alone) == 1 and _shape(bare[alone[0]]) in shapes:
        (number,) = alone
        name = _name(rules[number])
        return rule_without_like(_MISSING, rules[number], like_said[number], _OTHER_WAY, name)
    if len(alone) == _PAIR and len(paired) >= fewest and are_near(said[alone[0]], like_said[alone[1]]):
        odd, like = sorted(alone, key=lambda n: (_shape(bare[n]) in shapes, len(flat(said[n])), -n))
        if _shape(bare[like]) not in shapes:
            return None
        name = _name(rules[odd])
        return differing_rule(_ODD, rules[odd], rules[like], like_said[like], _OTHER_WAY, name)
    return None


def _shape(rule: Rule) -> tuple[object, ...]:
    """Return what rules for two directions have in common: what they ask for, but for its variables."""
    asked = [
        (atom.predicate, *map(_constant, atom.arguments), positive) for atom, positive in atoms_in(rule.body)
    ]
    return tuple(sorted(asked, key=str))


def _constant(term: Term) -> str:
    return "" if isinstance(term, Variable) else str(term)


def _name(rule: Rule) -> str:
    """Return what a rule speaks of, for people."""
    what = spoken_of(rule.head)
    return what[0] if what else rule.head.predicate


CHECK: Final = Check((_MISSING, _ODD), _check)
