"""Facts that break a pattern of all other facts of a relation."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from anygame.analysis.groups import grouped
from anygame.doctor.code import CODES, check
from anygame.language.diagnostics import Note, shown
from anygame.language.rules import KEYWORDS
from anygame.language.terms import Constant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Atom
    from anygame.language.terms import Term


#: Minimum number of facts that form a count: each fact has a number and the next number.
_FEWEST_COUNTED: Final = 3
#: Minimum number of facts of a table.
_FEWEST_IN_TABLE: Final = 8
#: Maximum number of facts of a table.
_MOST_IN_TABLE: Final = 5_000


@check("odd-fact", once=True)
def _odd_fact(sheet: Sheet) -> Iterator[Diagnostic]:
    for facts in sheet.facts.values():
        if len(facts) > _FEWEST_COUNTED and len(facts[0][0].arguments) == 2:
            yield from _breaking_count([atom for atom, _ in facts])
    for table in _tables(sheet):
        yield from _second_value(table)


def _breaking_count(facts: Sequence[Atom]) -> Iterator[Diagnostic]:
    """Report the only fact whose numbers (or letters) do not follow each other as in all other facts."""
    pairs = [(_number_of(atom.arguments[0]), _number_of(atom.arguments[1])) for atom in facts]
    steps = [None if a is None or b is None else b - a for a, b in pairs]
    (step, often), *_ = Counter(steps).most_common(1)
    if often != len(steps) - 1 or step not in (1, -1):
        return
    odd = next(number for number, each in enumerate(steps) if each != step)
    first, second = pairs[odd]
    if first is None:
        return
    others = [a for number, (a, _) in enumerate(pairs) if number != odd and a is not None]
    # The last fact may wrap around, repeat its number, or skip a number, but not change direction.
    is_inside = min(others) <= first <= max(others)
    if is_inside or (second is not None and second - first == -step and second != min(others)):
        atom, name = facts[odd], shown(facts[odd].predicate)
        message = f"{shown(str(atom))} does not fit the sequence of the other {len(others)} facts of {name}"
        yield CODES["odd-fact"].found(message, atom.span, Note("compare", facts[odd - 1 if odd else 1].span))


def _number_of(term: Term) -> int | None:
    """Return the value of a number, or the code of a letter; None for other terms."""
    if not isinstance(term, Constant) or not term.name.isascii():
        return None
    name = term.name
    return int(name) if name.isdigit() else ord(name) if len(name) == 1 and name.isalpha() else None


def _tables(sheet: Sheet) -> Iterator[list[tuple[Atom, tuple[Term, ...]]]]:
    """Yield the distinct facts of each relation, and the distinct initial facts of each fluent."""
    for (predicate, _), facts in sheet.facts.items():
        by_terms = {terms: atom for atom, terms in reversed(facts)}
        first, arity = facts[0][0], len(facts[0][1])
        is_compared = predicate == "init" or KEYWORDS.get(predicate) != len(first.arguments)
        if is_compared and arity > 1 and _FEWEST_IN_TABLE <= len(by_terms) <= _MOST_IN_TABLE:
            yield [(atom, terms) for atom, terms in facts if by_terms[terms] is atom]


def _second_value(table: Sequence[tuple[Atom, tuple[Term, ...]]]) -> Iterator[Diagnostic]:
    """Report a fact if two other facts each differ from this fact in a single argument."""
    breaks: Counter[Atom] = Counter()
    rivals: dict[Atom, Atom] = {}
    for place in range(len(table[0][1])):
        by_rest = grouped(((*terms[:place], *terms[place + 1 :]), atom) for atom, terms in table)
        double = [atoms for atoms in by_rest.values() if len(atoms) > 1]
        if len(double) == 1 and len(double[0]) == 2:
            breaks.update(double[0])
            rivals |= {double[0][0]: double[0][1], double[0][1]: double[0][0]}
    if not breaks:
        return
    (odd, most), *more = breaks.most_common(2)
    if most < 2 or (more and more[0][1] == most):
        return
    message = f"{shown(str(odd))} assigns a second value; all other facts assign one value each"
    yield CODES["odd-fact"].found(message, odd.span, Note("the first value", rivals[odd].span))
