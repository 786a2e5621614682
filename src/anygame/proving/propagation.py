"""Unit propagation as native code: whether clauses that a solver learned follow, the last one first.

A clause follows if its opposite, with clauses before it, leads to one that cannot hold (Goldberg and Novikov
2003, "Verification of proofs of unsatisfiability for CNF formulas"). The clauses that were met on the way are
needed, and are looked at in turn. Two literals of each clause are watched (Moskewicz et al. 2001, "Chaff").

A literal is twice its variable, plus one where it is inverted. A watch is twice the number of a clause, plus
which of its first two literals it watches.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.native.marking import Bools, Int64s, compiled, exported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.proving.patience import Patience

#: Watches that are looked at between two looks at the clock: some milliseconds.
_AT_ONCE: Final = 1_000_000
#: What ``_follow`` notes: the clause that is looked at next, how many lemmas were followed, how many clauses
#: are units, how many literals hold, a broken clause that is given or -1, and watches that were looked at.
_NEXT, _FOLLOWED, _UNITS, _TRAIL, _BROKEN, _WORK = range(6)
#: What ``_follow`` returns.
_DONE, _GOING, _WRONG = range(3)


def followed(
    given: Sequence[Sequence[int]],
    lemmas: Sequence[Sequence[int]],
    questions: Sequence[Sequence[int]],
    patience: Patience,
) -> int | None:
    """Return how many lemmas were needed to see that no question can be answered with yes.

    Args:
        given: clauses of literals, as DIMACS has them.
        lemmas: clauses that are said to follow, each from those before it.
        questions: literals that cannot hold together.
        patience: how long it may take.

    Returns:
        None where a clause does not follow.

    Raises:
        CompilationError: there is no native code, and none can be made.
        OutOfTimeError: that took longer.
    """
    opposites = [[-literal for literal in question] for question in questions]
    rows = [*given, *lemmas, *opposites]
    formula = _Formula(rows)
    wanted: NDArray[np.bool_] = np.zeros(len(rows), np.bool_)
    wanted[len(rows) - len(questions) :] = True
    notes: NDArray[np.int64] = np.zeros(_WORK + 1, np.int64)
    notes[_NEXT] = len(rows) - 1
    arrays = (*formula.arrays(), wanted, notes)
    _begin(*arrays, len(given))
    outcome = _GOING
    while outcome == _GOING:
        patience.check()
        outcome = _follow(*arrays, len(given), len(rows) - len(questions), _AT_ONCE)
    return int(notes[_FOLLOWED]) if outcome == _DONE else None


class _Formula:
    """Clauses as arrays, and room for what is found out about their literals."""

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        numbers = np.fromiter(chain.from_iterable(rows), np.int64, int(lengths.sum()))
        top = int(np.abs(numbers).max(initial=0))
        self.starts: NDArray[np.int64] = np.concatenate([[0], lengths.cumsum()]).astype(np.int64)
        self.literals: NDArray[np.int64] = 2 * np.abs(numbers) + (numbers < 0)
        #: By literal, the first watch; by watch, the next one; -1 for none.
        self.first: NDArray[np.int64] = np.full(2 * top + 2, -1, np.int64)
        self.link: NDArray[np.int64] = np.full(2 * len(rows), -1, np.int64)
        self.holds: NDArray[np.bool_] = np.zeros(2 * top + 2, np.bool_)
        #: By variable, the clause that demands its value; -1 where that was assumed.
        self.reason: NDArray[np.int64] = np.full(top + 1, -1, np.int64)
        self.trail: NDArray[np.int64] = np.zeros(top + 1, np.int64)
        #: Clauses of which one literal at most can hold, ascending; clauses that are looked at; those seen.
        self.units, self.pending, self.seen = (np.full(len(rows) + 1, -1, np.int64) for _ in range(3))

    def arrays(self) -> tuple[NDArray[np.int64] | NDArray[np.bool_], ...]:
        """Return them in the order in which native code has them."""
        return (
            self.literals,
            self.starts,
            self.first,
            self.link,
            self.holds,
            self.reason,
            self.trail,
            self.units,
            self.pending,
            self.seen,
        )


@exported
def _begin(
    literals: Int64s,
    starts: Int64s,
    first: Int64s,
    link: Int64s,
    holds: Bools,
    reason: Int64s,
    trail: Int64s,
    units: Int64s,
    pending: Int64s,
    seen: Int64s,
    wanted: Bools,
    notes: Int64s,
    given: int,
) -> None:
    """Find out what always holds, by the clauses that are given alone, and watch all clauses."""
    notes[_BROKEN] = -1
    for number in range(given):
        if starts[number + 1] - starts[number] > 1:
            _watch(literals, starts, first, link, number)
        else:
            units[notes[_UNITS]] = number
            notes[_UNITS] += 1
    notes[_BROKEN] = _propagated(literals, starts, first, link, holds, reason, trail, units, notes, 0, given)
    notes[_UNITS] = 0
    for number in range(given, len(starts) - 1):
        if _bring_forward(literals, starts, holds, number) < 2:
            units[notes[_UNITS]] = number
            notes[_UNITS] += 1
        else:
            _watch(literals, starts, first, link, number)


@exported
def _follow(
    literals: Int64s,
    starts: Int64s,
    first: Int64s,
    link: Int64s,
    holds: Bools,
    reason: Int64s,
    trail: Int64s,
    units: Int64s,
    pending: Int64s,
    seen: Int64s,
    wanted: Bools,
    notes: Int64s,
    given: int,
    last: int,
    most: int,
) -> int:
    """Follow wanted clauses, the last one first, until more watches were looked at than ``most``.

    Clauses from ``last`` on are not counted. It returns whether it is done, is to be gone on with, or a
    clause does not follow.
    """
    notes[_WORK] = 0
    always = notes[_TRAIL]
    while notes[_NEXT] >= given:
        number = notes[_NEXT]
        notes[_NEXT] -= 1
        if not wanted[number]:
            continue
        if notes[_WORK] > most:
            notes[_NEXT] = number
            return _GOING
        broken = notes[_BROKEN]
        if broken < 0:
            while notes[_UNITS] > 0 and units[notes[_UNITS] - 1] >= number:
                notes[_UNITS] -= 1
            is_so = _assume(literals, starts, holds, reason, trail, notes, number)
            if is_so:
                broken = -2  # a literal of it holds always, or it has one and its opposite
            else:
                broken = _propagated(
                    literals, starts, first, link, holds, reason, trail, units, notes, always, number
                )
            if broken == -1:
                return _WRONG
        if broken >= 0:
            _want(literals, starts, holds, reason, pending, seen, wanted, broken, number)
        while notes[_TRAIL] > always:
            notes[_TRAIL] -= 1
            holds[trail[notes[_TRAIL]]] = False
        if number < last:
            notes[_FOLLOWED] += 1
    return _DONE


@compiled
def _watch(literals: Int64s, starts: Int64s, first: Int64s, link: Int64s, number: int) -> None:
    """Watch the first two literals of a clause."""
    for place in range(2):
        literal = literals[starts[number] + place]
        link[2 * number + place] = first[literal]
        first[literal] = 2 * number + place


@compiled
def _bring_forward(literals: Int64s, starts: Int64s, holds: Bools, number: int) -> int:
    """Put literals that can hold first in a clause; return how many there are, at most two."""
    found = 0
    for at in range(starts[number], starts[number + 1]):
        if found < 2 and not holds[literals[at] ^ 1]:
            place = starts[number] + found
            literals[at], literals[place] = literals[place], literals[at]
            found += 1
    return found


@compiled
def _assume(
    literals: Int64s,
    starts: Int64s,
    holds: Bools,
    reason: Int64s,
    trail: Int64s,
    notes: Int64s,
    number: int,
) -> bool:
    """Assume that no literal of a clause holds; return whether that cannot be."""
    for at in range(starts[number], starts[number + 1]):
        literal = literals[at]
        if holds[literal]:
            return True
        if not holds[literal ^ 1]:
            _set(holds, reason, trail, notes, literal ^ 1, -1)
    return False


@compiled
def _set(holds: Bools, reason: Int64s, trail: Int64s, notes: Int64s, literal: int, clause: int) -> None:
    """Note that a literal holds because of a clause."""
    holds[literal] = True
    reason[literal >> 1] = clause
    trail[notes[_TRAIL]] = literal
    notes[_TRAIL] += 1


@compiled
def _propagated(
    literals: Int64s,
    starts: Int64s,
    first: Int64s,
    link: Int64s,
    holds: Bools,
    reason: Int64s,
    trail: Int64s,
    units: Int64s,
    notes: Int64s,
    begin: int,
    before: int,
) -> int:
    """Return a clause that cannot hold; -1 where there is none.

    Literals from ``begin`` on in the trail were not looked at; clauses from ``before`` on are forgotten.
    """
    for place in range(notes[_UNITS]):
        number = int(units[place])
        if starts[number] == starts[number + 1] or holds[literals[starts[number]] ^ 1]:
            return number
        if not holds[literals[starts[number]]]:
            _set(holds, reason, trail, notes, literals[starts[number]], number)
    while begin < notes[_TRAIL]:
        false = trail[begin] ^ 1
        begin += 1
        kept, watch = -1, first[false]
        while watch >= 0:
            notes[_WORK] += 1
            after, number = link[watch], int(watch) >> 1
            stays = number < before
            if stays:
                start = starts[number]
                other = literals[start + 1 - (watch & 1)]
                if not holds[other]:
                    at = start + 2
                    end = starts[number + 1]
                    while at < end and holds[literals[at] ^ 1]:
                        at += 1
                    if at < end:
                        literal = literals[at]
                        literals[at], literals[start + (watch & 1)] = false, literal
                        link[watch] = first[literal]
                        first[literal] = watch
                        stays = False
                    elif holds[other ^ 1]:
                        return number
                    else:
                        _set(holds, reason, trail, notes, other, number)
            if stays:
                kept = watch
            elif kept < 0:
                first[false] = after
            else:
                link[kept] = after
            watch = after
    return -1


@compiled
def _want(
    literals: Int64s,
    starts: Int64s,
    holds: Bools,
    reason: Int64s,
    pending: Int64s,
    seen: Int64s,
    wanted: Bools,
    broken: int,
    stamp: int,
) -> None:
    """Want a clause that is broken, and those by which its literals cannot hold."""
    pending[0] = broken
    seen[broken] = stamp
    left = 1
    while left > 0:
        left -= 1
        number = pending[left]
        wanted[number] = True
        for at in range(starts[number], starts[number + 1]):
            literal = literals[at]
            if holds[literal ^ 1]:
                why = reason[literal >> 1]
                if why >= 0 and seen[why] != stamp:
                    seen[why] = stamp
                    pending[left] = why
                    left += 1
