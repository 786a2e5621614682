"""Unit propagation as native code: checks that the clauses a solver learned follow, the last one first.

A clause follows if its negation, with the clauses before it, propagates to a conflict (Goldberg and Novikov
2003, "Verification of proofs of unsatisfiability for CNF formulas"). The clauses used on the way are needed
too, and are checked in turn. Two literals of each clause are watched (Moskewicz et al. 2001, "Chaff").

A literal is twice its variable, plus one where it is negated. A watch is twice the number of a clause, plus
which of its first two literals it watches.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from anygame.native.marking import Bools, Bundle, Int64s, compiled, exported, table_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.proving.patience import Patience

#: Watches visited between two checks of the time limit: some milliseconds.
_AT_ONCE: Final = 1_000_000
#: Indices of ``_Clauses.notes``: the clause that is checked next, checked lemmas, unit clauses, literals that
#: hold, the given clause in conflict or -1, and watches visited.
_NEXT, _FOLLOWED, _UNITS, _TRAIL, _BROKEN, _WORK = range(6)
#: Results of ``_follow``.
_DONE, _GOING, _WRONG = range(3)


class _Clauses(NamedTuple):
    """Clauses, and the values of their literals.

    Attributes:
        literals: of all clauses, one after the other.
        starts: where each clause starts; last, where all end.
        first: by literal, its first watch, or -1.
        link: by watch, the next one, or -1.
        holds: by literal.
        reason: by variable, the clause that implies its value; -1 if it was assumed.
        trail: the literals that hold, in the order in which they came to hold.
        units: clauses of which at most one literal can hold, ascending.
        pending, seen: work space of ``_want``.
        wanted: by clause, whether it is needed.
        notes: see ``_NEXT`` and the indices beside it.
    """

    literals: Int64s
    starts: Int64s
    first: Int64s
    link: Int64s
    holds: Bools
    reason: Int64s
    trail: Int64s
    units: Int64s
    pending: Int64s
    seen: Int64s
    wanted: Bools
    notes: Int64s


_clauses_at = Bundle(_Clauses)


def followed(
    given: Sequence[Sequence[int]],
    lemmas: Sequence[Sequence[int]],
    questions: Sequence[Sequence[int]],
    patience: Patience,
) -> int | None:
    """Return how many lemmas are needed to refute all questions; None if a clause does not follow.

    Clauses and questions are rows of DIMACS literals. Each lemma must follow from the clauses before it. The
    literals of a question must not hold together.

    Raises:
        CompilationError: there is no native code, and none can be made.
    """
    rows = [*given, *lemmas, *([-literal for literal in question] for question in questions)]
    first_question = len(rows) - len(questions)
    clauses = _clauses_of(rows)
    clauses.wanted[first_question:] = True
    table = table_of(clauses)
    address = table.ctypes.data
    _begin(address, len(given))
    outcome = _GOING
    while outcome == _GOING:
        patience.check()
        outcome = _follow(address, len(given), first_question, _AT_ONCE)
    return int(clauses.notes[_FOLLOWED]) if outcome == _DONE else None


def _clauses_of(rows: Sequence[Sequence[int]]) -> _Clauses:
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    numbers = np.fromiter(chain.from_iterable(rows), np.int64, int(lengths.sum()))
    literals: NDArray[np.int64] = 2 * np.abs(numbers) + (numbers < 0)
    variables = 1 + int(np.abs(numbers).max(initial=0))
    notes: NDArray[np.int64] = np.zeros(_WORK + 1, np.int64)
    notes[_NEXT] = len(rows) - 1
    return _Clauses(
        literals,
        starts=np.concatenate([[0], lengths.cumsum()]).astype(np.int64),
        first=np.full(2 * variables, -1, np.int64),
        link=np.full(2 * len(rows), -1, np.int64),
        holds=np.zeros(2 * variables, np.bool_),
        reason=np.full(variables, -1, np.int64),
        trail=np.zeros(variables, np.int64),
        units=np.full(len(rows) + 1, -1, np.int64),
        pending=np.full(len(rows) + 1, -1, np.int64),
        seen=np.full(len(rows) + 1, -1, np.int64),
        wanted=np.zeros(len(rows), np.bool_),
        notes=notes,
    )


@exported
def _begin(address: int, given: int) -> None:
    """Propagate the given clauses, and watch all clauses."""
    clauses = _clauses_at(address)
    starts, units, notes = clauses.starts, clauses.units, clauses.notes
    notes[_BROKEN] = -1
    for number in range(given):
        if starts[number + 1] - starts[number] > 1:
            _watch(clauses, number)
        else:
            units[notes[_UNITS]] = number
            notes[_UNITS] += 1
    notes[_BROKEN] = _propagated(clauses, 0, given)
    notes[_UNITS] = 0
    for number in range(given, len(starts) - 1):
        if _bring_forward(clauses, number) < 2:
            units[notes[_UNITS]] = number
            notes[_UNITS] += 1
        else:
            _watch(clauses, number)


@exported
def _follow(address: int, given: int, last: int, most: int) -> int:
    """Check wanted clauses, the last one first, until ``most`` watches were visited.

    Clauses from ``last`` on are not counted. Returns ``_DONE``, ``_GOING`` (call again) or ``_WRONG``.
    """
    clauses = _clauses_at(address)
    units, notes = clauses.units, clauses.notes
    notes[_WORK] = 0
    always = notes[_TRAIL]
    while notes[_NEXT] >= given:
        number = notes[_NEXT]
        notes[_NEXT] -= 1
        if not clauses.wanted[number]:
            continue
        if notes[_WORK] > most:
            notes[_NEXT] = number
            return _GOING
        broken = notes[_BROKEN]
        if broken < 0:
            while notes[_UNITS] > 0 and units[notes[_UNITS] - 1] >= number:
                notes[_UNITS] -= 1
            # It follows if one of its literals always holds, or it has one and its negation.
            broken = -2 if _assume(clauses, number) else _propagated(clauses, always, number)
            if broken == -1:
                return _WRONG
        if broken >= 0:
            _want(clauses, broken, number)
        while notes[_TRAIL] > always:
            notes[_TRAIL] -= 1
            clauses.holds[clauses.trail[notes[_TRAIL]]] = False
        if number < last:
            notes[_FOLLOWED] += 1
    return _DONE


@compiled
def _watch(clauses: _Clauses, number: int) -> None:
    """Watch the first two literals of a clause."""
    for place in range(2):
        literal = clauses.literals[clauses.starts[number] + place]
        clauses.link[2 * number + place] = clauses.first[literal]
        clauses.first[literal] = 2 * number + place


@compiled
def _bring_forward(clauses: _Clauses, number: int) -> int:
    """Move literals that can hold to the front of a clause; return how many there are, at most two."""
    literals = clauses.literals
    able = 0
    for at in range(clauses.starts[number], clauses.starts[number + 1]):
        if able < 2 and not clauses.holds[literals[at] ^ 1]:
            place = clauses.starts[number] + able
            literals[at], literals[place] = literals[place], literals[at]
            able += 1
    return able


@compiled
def _assume(clauses: _Clauses, number: int) -> bool:
    """Assume that no literal of a clause holds; return whether that is impossible."""
    for at in range(clauses.starts[number], clauses.starts[number + 1]):
        literal = clauses.literals[at]
        if clauses.holds[literal]:
            return True
        if not clauses.holds[literal ^ 1]:
            _set(clauses, literal ^ 1, -1)
    return False


@compiled
def _set(clauses: _Clauses, literal: int, clause: int) -> None:
    """Note that a literal holds because of a clause."""
    clauses.holds[literal] = True
    clauses.reason[literal >> 1] = clause
    clauses.trail[clauses.notes[_TRAIL]] = literal
    clauses.notes[_TRAIL] += 1


@compiled
def _propagated(clauses: _Clauses, begin: int, before: int) -> int:
    """Return a clause in conflict, or -1.

    Literals from ``begin`` on in the trail are not propagated yet; clauses from ``before`` on are dropped.
    """
    literals, starts, first, link = clauses.literals, clauses.starts, clauses.first, clauses.link
    holds, notes = clauses.holds, clauses.notes
    for place in range(notes[_UNITS]):
        number = int(clauses.units[place])
        if starts[number] == starts[number + 1] or holds[literals[starts[number]] ^ 1]:
            return number
        if not holds[literals[starts[number]]]:
            _set(clauses, literals[starts[number]], number)
    while begin < notes[_TRAIL]:
        false = clauses.trail[begin] ^ 1
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
                        _set(clauses, other, number)
            if stays:
                kept = watch
            elif kept < 0:
                first[false] = after
            else:
                link[kept] = after
            watch = after
    return -1


@compiled
def _want(clauses: _Clauses, broken: int, stamp: int) -> None:
    """Mark a clause in conflict as wanted, with the clauses that imply the negations of its literals."""
    starts, pending, seen = clauses.starts, clauses.pending, clauses.seen
    pending[0] = broken
    seen[broken] = stamp
    left = 1
    while left > 0:
        left -= 1
        number = pending[left]
        clauses.wanted[number] = True
        for at in range(starts[number], starts[number + 1]):
            literal = clauses.literals[at]
            if clauses.holds[literal ^ 1]:
                reason = clauses.reason[literal >> 1]
                if reason >= 0 and seen[reason] != stamp:
                    seen[reason] = stamp
                    pending[left] = reason
                    left += 1
