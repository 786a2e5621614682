"""Unit propagation in native code, which checks that learned clauses follow from earlier clauses.

A clause follows if its negation and the earlier clauses propagate to a conflict (Goldberg and Novikov 2003,
"Verification of proofs of unsatisfiability for CNF formulas"). The last clause is checked first. The clauses
that a check uses are checked later. Two literals of each clause are watched (Moskewicz et al. 2001, "Chaff").

A literal is twice its variable, plus one if negated. Each clause watches its first two literals. A watch is
twice the clause number, plus 0 for the first literal or 1 for the second.
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

#: Number of watches visited between two checks of the time limit. These visits take several milliseconds.
_AT_ONCE: Final = 1_000_000
#: Indices into ``_Clauses.notes``: the next clause to check; the numbers of checked lemmas, unit clauses and
#: literals that hold; a given clause in conflict, or -1; and the number of visited watches.
_NEXT, _FOLLOWED, _UNITS, _TRAIL, _BROKEN, _WORK = range(6)
#: Results of ``_follow``.
_DONE, _GOING, _WRONG = range(3)


class _Clauses(NamedTuple):
    """Clauses, and the values of their literals.

    Attributes:
        literals: the literals of all clauses, clause by clause.
        starts: the start of each clause in ``literals``, and the end of the last clause.
        first: the first watch of each literal, or -1.
        link: the next watch of the same literal after each watch, or -1.
        holds: whether each literal holds.
        reason: the clause that implies the value of each variable; -1 if the value is assumed.
        trail: the literals that hold, in the order in which they were set.
        units: the clauses with at most one literal that can hold, ascending.
        pending, seen: temporary arrays of ``_want``.
        wanted: whether each clause must be checked.
        notes: counters, see ``_NEXT``.
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
    """Return the number of lemmas needed to refute all questions; None if a clause does not follow.

    Clauses and questions are rows of DIMACS literals. Each lemma must follow from the earlier clauses. A
    question is refuted if its literals cannot hold together. Raises CompilationError without native code.
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
    """Check wanted clauses, the last one first, until ``most`` watches are visited.

    Clauses from number ``last`` on are not counted. Returns ``_DONE``, ``_GOING`` (call again) or ``_WRONG``.
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
            # A clause follows if one of its literals always holds, or if two of its literals are opposite.
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
    for place in range(2):
        literal = clauses.literals[clauses.starts[number] + place]
        clauses.link[2 * number + place] = clauses.first[literal]
        clauses.first[literal] = 2 * number + place


@compiled
def _bring_forward(clauses: _Clauses, number: int) -> int:
    """Move up to two literals that can hold to the front of a clause; return their number."""
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
    """Assume that no literal of a clause holds; return whether this is impossible."""
    for at in range(clauses.starts[number], clauses.starts[number + 1]):
        literal = clauses.literals[at]
        if clauses.holds[literal]:
            return True
        if not clauses.holds[literal ^ 1]:
            _set(clauses, literal ^ 1, -1)
    return False


@compiled
def _set(clauses: _Clauses, literal: int, clause: int) -> None:
    """Set a literal, which the given clause implies."""
    clauses.holds[literal] = True
    clauses.reason[literal >> 1] = clause
    clauses.trail[clauses.notes[_TRAIL]] = literal
    clauses.notes[_TRAIL] += 1


@compiled
def _propagated(clauses: _Clauses, begin: int, before: int) -> int:
    """Propagate the literals of the trail from ``begin`` on; return a clause in conflict, or -1.

    Clauses from number ``before`` on are no longer watched.
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
    """Mark a clause in conflict as wanted, and all clauses that led to the conflict."""
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
