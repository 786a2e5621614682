"""Bounded model checking: search for a shortest match to a bad state, up to a number of moves.

See Biere, Cimatti, Clarke and Zhu (1999, "Symbolic model checking without BDDs"). For k-induction, see
Sheeran, Singh and Stålmarck (2000, "Checking safety properties using induction and a SAT-solver").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.proving.formula import Copy, Formula

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anygame.proving.model import Clause, Match, Model
    from anygame.proving.patience import Patience


#: MiniSat (Eén and Sörensson 2003) finds a match 3x as fast as CaDiCaL, but is slower if no match exists.
_FOR_ANY_MATCH: Final = "minisat22"


class Bounded(NamedTuple):
    """Result of a bounded search.

    ``match`` is a shortest match to a bad state; None if no match of up to ``depth`` moves reaches a bad
    state. With ``is_everything``, no match has more than ``depth`` moves.
    """

    match: Match | None
    depth: int
    is_everything: bool = False


def shortest(
    model: Model,
    bad: int,
    patience: Patience,
    *,
    first: int = 0,
    most: int | None = None,
    invariant: Sequence[Sequence[int]] = (),
    report: Callable[[int], None] | None = None,
) -> Bounded:
    """Search for a shortest match to a bad state. A match has from ``first`` to ``most`` joint moves.

    If the literal ``bad`` depends on moves, the match ends with the bad joint move. The caller guarantees
    that no match of fewer than ``first`` moves reaches a bad state, and that ``invariant`` holds in every
    state. ``report`` is called with each number of moves after which no state is bad.
    """
    of_moves = model.depends_on_moves(bad)
    with Formula(patience) as formula:
        start = [formula.true if holds else -formula.true for holds in model.initial.tolist()]
        copy = Copy(formula, model, start)
        copies: list[Copy] = []
        while most is None or len(copies) <= most:
            if copies:
                copy.clauses(invariant)
            copies.append(copy)
            moving = formula.new()
            if of_moves:
                copy.step(moving)
            asked = [copy(bad), moving] if of_moves else [copy(bad)]
            if len(copies) > first:
                if formula.solve(asked):
                    value = formula.assignment()
                    moved = copies if of_moves else copies[:-1]
                    return Bounded(tuple(copy.joint(value) for copy in moved), len(copies) - 1)
                if report is not None:
                    report(len(copies) - 1)
            if not of_moves:
                copy.step(moving)
            formula.add(moving)
            if not formula.solve():
                return Bounded(None, len(copies) - 1, is_everything=True)
            copy = copy.then()
    return Bounded(None, len(copies) - 1)


def any_match(
    model: Model, bad: int, patience: Patience, most: int, invariant: Sequence[Sequence[int]] = ()
) -> Match | None:
    """Return a match of at most ``most`` moves to a bad state, or None.

    A single query finds long matches faster than one query for each number of moves, because most of those
    queries find no match.
    """
    of_moves = model.depends_on_moves(bad)
    with Formula(patience, _FOR_ANY_MATCH) as formula:
        start = [formula.true if holds else -formula.true for holds in model.initial.tolist()]
        copy, going = Copy(formula, model, start), formula.true
        copies, ends = [], []
        for _ in range(most + 1):
            patience.check()
            for clause in invariant:
                formula.add(-going, *map(copy, clause))
            moving, end = formula.new(), formula.new()
            copy.step(moving)
            formula.add(-moving, going)
            formula.add(-end, copy(bad))
            formula.add(-end, moving if of_moves else going)
            copies.append(copy)
            ends.append(end)
            copy, going = copy.then(), moving
        formula.add(*ends)
        if not formula.solve():
            return None
        value = formula.assignment()
        last = next(number for number, end in enumerate(ends) if value(end))
        return tuple(copy.joint(value) for copy in copies[: last + of_moves])


def induction_depth(
    model: Model, bad: int, patience: Patience, invariant: Sequence[Clause], most: int
) -> tuple[int, list[Clause]] | None:
    """Return the lowest depth at which k-induction excludes bad states, and the clauses of the proof.

    Returns None if the lowest depth exceeds ``most``. At depth 0, the invariant alone excludes bad states.
    ``bad`` is a literal over the state.
    """
    with Formula(patience) as formula:
        guards = {formula.new(): clause for clause in invariant}
        copy = Copy(formula, model)
        for depth in range(most + 1):
            for guard, clause in guards.items():
                formula.add(-guard, *map(copy, clause))
            if not formula.solve([copy(bad), *guards]):
                core = formula.core()
                return depth, [clause for guard, clause in guards.items() if guard in core]
            formula.add(-copy(bad))
            copy.step(formula.true)
            copy = copy.then()
    return None
