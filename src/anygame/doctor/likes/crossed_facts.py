"""Facts in which two values stand the other way round than in all others."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, Final

from anygame.doctor.sheet import STATE
from anygame.language.diagnostics import Note, shown
from anygame.language.terms import Constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame.doctor.code import Code
    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Atom
    from anygame.language.terms import Term

#: Other facts that agree on what stands where.
_FEWEST_FACTS: Final = 3
#: Facts that are compared: lists longer than that are written by programs.
_MOST_FACTS: Final = 5_000


def is_usual_number(word: str, others: Iterable[str]) -> bool:
    """Return whether a number is none that stands out among others: the least and the greatest enclose it.

    That a row 7 is given once, and a digit 7 often, tells nothing of a puzzle with nine of each.
    """
    numbers = [int(other) for other in others if other.isdecimal() and other != word]
    return word.isdecimal() and len(numbers) > 1 and min(numbers) < int(word) < max(numbers)


def crossed_values(code: Code, sheet: Sheet) -> Iterator[Diagnostic]:
    """Report a fact with two values of which each stands only at the other's place in all other facts."""
    for group in sheet.facts.values():
        if _FEWEST_FACTS < len(group) <= _MOST_FACTS:
            yield from _odd_ones(code, group)
        if _FEWEST_FACTS <= len(group) <= _MOST_FACTS:
            yield from _odd_kinds(code, group)


def _odd_kinds(code: Code, group: Sequence[tuple[Atom, tuple[Term, ...]]]) -> Iterator[Diagnostic]:
    """Report the one fact with a number where all others have a name, and a name where they have numbers."""
    odd: dict[int, list[int]] = defaultdict(list)
    for place, column in enumerate(zip(*(terms for _, terms in group), strict=True)):
        kinds = [_is_number(term) for term in column]
        for kind in (True, False):
            if kinds.count(kind) == 1 and None not in kinds:
                odd[kinds.index(kind)].append(place)
    for number, places in odd.items():
        atom, terms = group[number]
        a_number = [terms[place] for place in places if _is_number(terms[place])]
        a_name = [terms[place] for place in places if not _is_number(terms[place])]
        if a_number and a_name:
            message = (
                f"{a_number[0]} stands here where all other facts have a name, and {a_name[0]} where they "
                "have a number"
            )
            yield code.found(message, atom.span, Note("as here", group[number - 1 if number else 1][0].span))


def _is_number(term: Term) -> bool | None:
    """Return whether a constant is a number; None of other terms."""
    return term.name.isdecimal() if isinstance(term, Constant) else None


def _odd_ones(code: Code, group: Sequence[tuple[Atom, tuple[Term, ...]]]) -> Iterator[Diagnostic]:
    columns = [Counter(column) for column in zip(*(terms for _, terms in group), strict=True)]
    for one, other in combinations(range(len(columns)), 2):
        both = columns[one].keys() & columns[other].keys()
        if len(both) != 2 or len(columns[one]) + len(columns[other]) <= len(both) + 2:
            continue
        odd = [
            (atom, terms)
            for atom, terms in group
            if {terms[one], terms[other]} == both
            and columns[one][terms[one]] == columns[other][terms[other]] == 1
            and not any(
                is_usual_number(str(terms[place]), map(str, columns[place])) for place in (one, other)
            )
        ]
        for atom, terms in odd if len(odd) == 1 else ():
            message = f"{terms[one]} and {terms[other]} stand the other way round in all other facts"
            yield code.found(message, atom.span)


def crossed_pairs(code: Code, sheet: Sheet) -> Iterator[Diagnostic]:
    """Report the one fact that, turned round, would have each name stand once at each place.

    So it is where each beats one and is beaten by one, or where a chain goes on.
    """
    for (predicate, _), group in sheet.facts.items():
        facts = [atom for atom, _ in group]
        if predicate in STATE or len(facts[0].arguments) != 2 or len(sheet.heads[facts[0].key]) > len(facts):
            continue
        if not _FEWEST_FACTS <= len({*facts}) == len(facts) <= _MOST_FACTS:
            continue
        if any(str(term).isdecimal() for atom in facts for term in atom.arguments):
            continue  # numbers tell more
        firsts, seconds = (Counter(atom.arguments[place] for atom in facts) for place in (0, 1))
        twice = [[term for term, often in column.items() if often > 1] for column in (firsts, seconds)]
        if any(len(terms) != 1 for terms in twice) or not (len(firsts) == len(seconds) == len(facts) - 1):
            continue
        one, other = twice[0][0], twice[1][0]
        odd = [atom for atom in facts if atom.arguments == (one, other)]
        is_chain = len({*firsts, other} & {*seconds, one}) >= len(facts) - 1
        is_end = other not in firsts and one not in seconds
        if odd and is_chain and is_end and not _goes_on(facts, one, other):
            message = (
                f"{one} stands first in two facts of {predicate}, and {other} last: the other way "
                "round, each would stand once at each place"
            )
            yield code.found(message, odd[0].span, hint=shown(f"({predicate} {other} {one})"))


def _goes_on(facts: Sequence[Atom], one: Term, other: Term) -> bool:
    """Return whether some term follows one and goes before the other, as in an order: king, queen, jack."""
    after = {atom.arguments[1] for atom in facts if atom.arguments[0] is one}
    return any(atom.arguments[0] in after and atom.arguments[1] is other for atom in facts)
