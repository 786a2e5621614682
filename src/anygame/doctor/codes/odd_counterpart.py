"""Rules that say of one role what others say of another: one of them is missing, or says something else."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, Check, Code
from anygame.doctor.likes.exchanges import grown, odd_first
from anygame.doctor.likes.likes import (
    are_near,
    but_for_numbers,
    exchanged,
    is_said,
    normal,
    parts_of,
    turned,
)
from anygame.doctor.likes.odd_rules import differing_rule, rule_without_like
from anygame.doctor.sheet import names_of_rule, spoken_of
from anygame.language.diagnostics import Severity
from anygame.language.rules import KEYWORDS, atoms_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from anygame.doctor.likes.likes import Parts
    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Rule

#: Rules that have a counterpart: fewer may do so by chance.
_FEWEST: Final = 4
#: Letters of a role's name by which other names are known to speak of it: ``blackWins``.
_FEWEST_LETTERS: Final = 3
#: Roles that are compared two by two.
_MOST_ROLES: Final = 4
#: Rules that are compared: longer sheets are written by programs.
_MOST_RULES: Final = 2_000
#: Predicates of which the rules may well differ: who begins is not both.
_MAY_DIFFER: Final = frozenset(("init", "base", "input"))
#: Rules with likes for each without, where some of a kind may be odd.
_MOSTLY: Final = 4

_OTHER_ROLE: Final = "for the other role"

_WINS: Final = """\
(role white) (role black)
(<= whiteWins (true (at white goal)))
(<= blackWins (true (at black goal)))
(<= terminal whiteWins)
(<= terminal blackWins)
(<= (goal white 100) whiteWins)
(<= (goal black 100) blackWins)
(<= (goal white 0) blackWins)
"""

_MISSING: Final = Code(
    "missing-counterpart",
    Severity.WARNING,
    "a rule for one role that has no like for the other, where all others have",
    demand="Where two roles have the same rules, each rule of the one has its like for the other.",
    why="What one role alone may do, or is given: most often a rule was forgotten.",
    source=PRACTICE,
    bad=_WINS,
    good=f"{_WINS}(<= (goal black 0) whiteWins)\n",
)
_ODD: Final = Code(
    "odd-counterpart",
    Severity.WARNING,
    "a rule that differs from its like for the other role, where all others are the same",
    demand="Where two roles have the same rules, each says of the one what it says of the other.",
    why="A difference in one place alone is most often a slip of the one who copied the rule.",
    source=PRACTICE,
    bad=f"{_WINS}(<= (goal black 0) (not whiteWins))\n",
    good=f"{_WINS}(<= (goal black 0) whiteWins)\n",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report the one rule of a role that has no like for another role, or is not quite its like."""
    rules = [rule for rule in sheet.program.rules if rule.body and rule.head.predicate not in _MAY_DIFFER]
    if len(rules) > _MOST_RULES:
        return
    said = [parts_of(rule) for rule in rules]
    roles = [str(role) for role in sheet.roles if role.is_ground]
    told: set[int] = set()
    for pair in combinations(roles[:_MOST_ROLES], 2):
        exchange = _exchange(sheet, *pair)
        exchange = grown(said, exchange)
        for found, number in _odd_ones(rules, said, exchange):
            if number not in told:
                told.add(number)
                yield found


def _exchange(sheet: Sheet, one: str, other: str) -> dict[str, str]:
    """Return what becomes of each name where two roles change places."""
    names = {name.text for rule in sheet.program.rules for name in names_of_rule(rule)} - KEYWORDS.keys()
    start, end = _shared(one, other)
    parts = [(one, other)]
    if one[start : len(one) - end] and other[start : len(other) - end]:
        parts.append((one[start : len(one) - end], other[start : len(other) - end]))
    found: dict[str, str] = {}
    for left, right in parts:
        pairs = [(name, _renamed(name, left, right)) for name in sorted(names)]
        for name, like in pairs:
            if like in names and like != name and name not in found and like not in found:
                found |= {name: like, like: name}
    return found


def _shared(one: str, other: str) -> tuple[int, int]:
    """Return how many letters two names share at the start and, of the rest, at the end."""
    start = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    rest = zip(reversed(one[start:]), reversed(other[start:]), strict=False)
    end = next((n for n, (a, b) in enumerate(rest) if a != b), 0)
    return start, end


def _renamed(name: str, one: str, other: str) -> str:
    """Return a name that speaks of one role as it would of another."""
    if name == one:
        return other
    if len(one) < _FEWEST_LETTERS or len(other) < _FEWEST_LETTERS:
        return name
    return name.replace(one, other).replace(one.capitalize(), other.capitalize())


def _odd_ones(
    rules: Sequence[Rule], said: Sequence[Parts], exchange: Mapping[str, str]
) -> Iterator[tuple[Diagnostic, int]]:
    """Yield what is odd, with the number of the rule."""
    likes = [exchanged(parts, exchange) for parts in said]
    found = _Compared(said, likes, [_other_ways(rule, exchange) for rule in rules])
    if len(found.paired) < _FEWEST:
        return
    for alone in _odd_groups(rules, found, exchange):
        if len(alone) == 1:
            (number,) = alone
            if normal(((), *likes[number][1:])) == normal(((), *said[number][1:])):
                continue  # what is given to one role where both are equal
            if is_said(likes[number], said):
                continue
            yield rule_without_like(_MISSING, rules[number], likes[number], _OTHER_ROLE), number
        elif found.are_near(*alone):
            odd, like = odd_first(alone, said, exchange)
            if is_said(likes[like], said):
                continue
            yield differing_rule(_ODD, rules[odd], rules[like], likes[like], _OTHER_ROLE), odd


class _Compared:
    """Rules, and what becomes of them where two roles change places.

    Attributes:
        alone: the numbers of those of which there is no like.
        paired: of those of which there is one, other than the rule itself.
    """

    def __init__(
        self, said: Sequence[Parts], likes: Sequence[Parts], others: Sequence[Sequence[Parts]]
    ) -> None:
        self._said = said
        self._ways = [(like, *ways) for like, ways in zip(likes, others, strict=True)]
        exact = set(map(normal, said))
        known = {normal(but_for_numbers(parts)) for parts in said}
        moved = [n for n, parts in enumerate(said) if normal(likes[n]) != normal(parts)]
        self.alone = [
            n
            for n in moved
            if normal(likes[n]) not in exact
            and not any(normal(but_for_numbers(way)) in known for way in self._ways[n])
        ]
        self.paired = sorted({*moved} - {*self.alone})

    def are_near(self, one: int, other: int) -> bool:
        """Return whether a rule nearly is what another one becomes, in one of the ways."""
        said = but_for_numbers(self._said[one])
        return any(are_near(said, but_for_numbers(way)) for way in self._ways[other])


def _other_ways(rule: Rule, exchange: Mapping[str, str]) -> list[Parts]:
    """Return what a rule says of the other role where that one goes the other way: down, not up."""
    steps = {
        atom.key
        for atom, _ in atoms_in(rule.body)
        if len(atom.arguments) == 2 and atom.predicate not in KEYWORDS and atom.predicate not in exchange
    }
    return [exchanged(parts_of(turned(rule, (True, key, (1, 0)))), exchange) for key in sorted(steps)]


def _odd_groups(rules: Sequence[Rule], found: _Compared, exchange: Mapping[str, str]) -> Iterator[list[int]]:
    """Yield one or two rules without likes: all there are, or all of a kind where others mostly have one."""
    if len(found.alone) <= 2:
        if found.alone:
            yield found.alone
        return
    if len(found.paired) < _MOSTLY * len(found.alone):
        return
    kinds = [_kind(rule, exchange) for rule in rules]
    paired = Counter(kinds[n] for n in found.paired)
    groups: dict[object, list[int]] = defaultdict(list)
    for number in found.alone:
        groups[kinds[number]].append(number)
    yield from (alone for kind, alone in groups.items() if len(alone) <= 2 <= paired[kind])


def _kind(rule: Rule, exchange: Mapping[str, str]) -> object:
    """Return what a rule and its like speak of: a relation, or a fluent or a move."""
    head = rule.head
    what = spoken_of(head)
    name = what[0] if what else head.predicate
    return head.predicate if what else "", min(name, exchange.get(name, name))


CHECK: Final = Check((_MISSING, _ODD), _check)
