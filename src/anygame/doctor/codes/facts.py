"""Facts: one that breaks a count or a table, and a role of which they do not speak."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, Code, check
from anygame.doctor.likes.families import number_of, odd_place
from anygame.doctor.sheet import by_fluent
from anygame.language.diagnostics import Note, Severity, shown
from anygame.language.rules import KEYWORDS
from anygame.language.terms import Compound, Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Atom, Rule
    from anygame.language.terms import Term


#: Facts that agree: fewer may count by chance.
_FEWEST_COUNTED: Final = 3
#: Facts of a table in which one may be odd, in which a fact that is odd in one place alone is, and at most.
_FEWEST_IN_TABLE: Final = 8
_LARGE: Final = 40
_MOST_IN_TABLE: Final = 5_000

_ODD_FACT: Final = Code(
    "odd-fact",
    Severity.WARNING,
    "a fact that breaks a count",
    demand="Facts that count go on by the same step.",
    why="A count with a hole or a turn ends there: a number is misspelt, or two are exchanged.",
    source=PRACTICE,
    bad="(succ 1 2)\n(succ 2 3)\n(succ 4 3)\n(succ 4 5)\n(succ 5 6)",
    good="(succ 1 2)\n(succ 2 3)\n(succ 3 4)\n(succ 4 5)\n(succ 5 6)",
)


@check(_ODD_FACT, once=True)
def _odd_fact(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report the one fact that breaks a count, or what all others have but once."""
    yield from _in_counts(sheet)
    yield from _in_tables(sheet)


def _in_tables(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report a fact that gives a second value to what has one in all other facts.

    It does so in the places of two arguments; of a large table one is enough.
    """
    for group in _tables(sheet):
        breaks: Counter[Atom] = Counter()
        other: dict[Atom, Atom] = {}
        for place in range(len(group[0][1])):
            by_rest: dict[tuple[Term, ...], list[Atom]] = defaultdict(list)
            for atom, terms in group:
                by_rest[(*terms[:place], *terms[place + 1 :])].append(atom)
            double = [atoms for atoms in by_rest.values() if len(atoms) > 1]
            if len(double) == 1 and len(double[0]) == 2:
                breaks.update(double[0])
                other |= {double[0][0]: double[0][1], double[0][1]: double[0][0]}
        if not breaks:
            continue
        (odd, most), *more = breaks.most_common(2)
        values = Counter(term for _, terms in group for term in terms)
        if more and more[0][1] == most:
            if len(group) < _LARGE:
                continue
            odd = min(odd, more[0][0], key=lambda atom: _how_common(atom, values))
        elif most < 2:
            continue
        message = f"{shown(str(odd))} gives a second value to what has one in all other facts"
        yield _ODD_FACT.found(message, odd.span, Note("the other one", other[odd].span))


def _how_common(atom: Atom, values: Counter[Term]) -> int:
    last = atom.arguments[-1]
    return min(values[term] for term in (last.arguments if isinstance(last, Compound) else atom.arguments))


def _tables(sheet: Sheet) -> Iterator[list[tuple[Atom, tuple[Term, ...]]]]:
    """Yield the facts of each relation, and those that `init` makes of each fluent, each once."""
    for (predicate, _), facts in sheet.facts.items():
        group = {terms: atom for atom, terms in reversed(facts)}
        first, arity = facts[0][0], len(facts[0][1])
        is_compared = predicate == "init" or KEYWORDS.get(predicate) != len(first.arguments)
        if is_compared and arity > 1 and _FEWEST_IN_TABLE <= len(group) <= _MOST_IN_TABLE:
            yield [(atom, terms) for atom, terms in facts if group[terms] is atom]


def _in_counts(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report the one fact of two numbers (or letters) that does not go on by one as all its others do."""
    for facts in sheet.facts.values():
        if len(facts) > _FEWEST_COUNTED and len(facts[0][0].arguments) == 2:
            yield from _odd_one([atom for atom, _ in facts])


def _odd_one(group: Sequence[Atom]) -> Iterator[Diagnostic]:
    pairs = [(number_of(atom.arguments[0]), number_of(atom.arguments[1])) for atom in group]
    steps = [None if a is None or b is None else b - a for a, b in pairs]
    place = odd_place(steps)
    if place is None:
        return
    first, second = pairs[place]
    near = place - 1 if place else 1
    step = steps[near]
    if first is None or step not in (1, -1):
        return
    others = [a for n, (a, _) in enumerate(pairs) if n != place and a is not None]
    # At its end a count may go round, stop, or leave out something; but it does not turn.
    is_inside = min(others) <= first <= max(others)
    if is_inside or (second is not None and second - first == -step and second != min(others)):
        atom, name = group[place], shown(group[place].predicate)
        message = f"{shown(str(atom))} breaks the count of the other {len(others)} facts of {name}"
        yield _ODD_FACT.found(message, atom.span, Note("as here", group[near].span))


#: Of two roles, one may well begin alone.
_FEWEST_ROLES: Final = 3
_GOES_ON: Final = "(<= (next (at ?r ?n)) (true (at ?r ?n)))"

_MISSING_ROLE: Final = Code(
    "missing-role",
    Severity.WARNING,
    "a role that is left out where all others have something at the start",
    demand="What all roles but one begin with, that one does, too.",
    why="The line for one role was most often forgotten, or names something else.",
    source=PRACTICE,
    bad=f"(role a) (role b) (role c)\n(init (at a 1)) (init (at c 1))\n{_GOES_ON}",
    good=f"(role a) (role b) (role c)\n(init (at a 1)) (init (at b 1)) (init (at c 1))\n{_GOES_ON}",
)


@check(_MISSING_ROLE)
def _missing_role(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report fluents that each of at least three roles begins with, but for one."""
    roles = {role for role in sheet.roles if str(role) != "random"}
    if len(roles) < _FEWEST_ROLES:
        return
    for rules in by_fluent(sheet.heads.get(("init", 1), ())).values():
        for place in range(len(_arguments(rules[0]))):
            yield from _left_out(roles, rules, place)


def _left_out(roles: set[Term], rules: Sequence[Rule], place: int) -> Iterator[Diagnostic]:
    values = [_arguments(rule)[place] for rule in rules]
    missing = roles - set(values)
    others = [rule for rule, value in zip(rules, values, strict=True) if value not in roles]
    if len(missing) != 1 or any(isinstance(value, Variable) for value in values):
        return
    # Each of the others once: pieces on a board belong to roles, too, but more of them.
    if len(values) - len(others) != len(roles) - 1 or len(others) > 1:
        return
    (role,) = missing
    if others and isinstance(_arguments(others[0])[place], Constant):
        odd = shown(str(_arguments(others[0])[place]))
        message = f"{odd} stands where all others of these facts have a role, and {shown(str(role))} has none"
        yield _MISSING_ROLE.found(message, others[0].span, hint=shown(str(role)))
    elif not others:
        fluent = rules[0].head.arguments[0]
        message = f"all roles but {shown(str(role))} begin with a fact such as {shown(str(fluent))}"
        yield _MISSING_ROLE.found(message, rules[0].span, hint=f"the same for {shown(str(role))}")


def _arguments(rule: Rule) -> Sequence[Term]:
    fluent = rule.head.arguments[0]
    return fluent.arguments if isinstance(fluent, Compound) else ()
