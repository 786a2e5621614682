"""Bounded model checking: a shortest match that leads to a bad state, or none up to a number of moves.

After Biere, Cimatti, Clarke and Zhu (1999, "Symbolic model checking without BDDs"), and with induction over
several moves after Sheeran, Singh and Stålmarck (2000, "Checking safety properties using induction and a
SAT-solver").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.proving.formula import Copy, Formula

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anygame.proving.model import Clause, Match, Model
    from anygame.proving.patience import Patience


#: MiniSat (Eén and Sörensson 2003) finds what is there in a third of the time; what is not takes longer.
_FOR_ANY_MATCH: Final = "minisat22"


class Bounded(NamedTuple):
    """What a bounded search came to.

    Attributes:
        match: a shortest match to a bad state; None where there is none within the bound.
        depth: the moves of the longest matches that were looked at.
        is_everything: whether no match has more moves.
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
    """Look for a shortest match to a bad state.

    Where ``bad`` depends on moves, the last joint move is the bad one.

    Args:
        model: the game.
        bad: literal.
        patience: how long it may take.
        first: there is no shorter match than this, so that none is looked for.
        most: moves at most; None for any number.
        invariant: clauses over fluents that hold in all states.
        report: called with each number of moves that is left behind.
    """
    of_moves = depends_on_moves(model, bad)
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
    """Return a match to a bad state within a number of moves, by one question about all of them.

    What takes many moves is found sooner so than by a question for each number of them, where most have no
    answer. None is returned where there is no such match.

    Args:
        model: the game.
        bad: literal; where it depends on moves, of a joint move in play.
        patience: how long it may take.
        most: moves at most.
        invariant: clauses over fluents that hold in all states.
    """
    of_moves = depends_on_moves(model, bad)
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
    """Return after how many moves without a bad state none follows, and the clauses that show it.

    After no moves none follows where the invariant excludes it.

    Args:
        model: the game.
        bad: literal, over the state alone.
        patience: how long it may take.
        invariant: clauses over fluents that hold in all states.
        most: moves at most; None is returned where that is not shown with so many.
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


def depends_on_moves(model: Model, literal: int) -> bool:
    """Whether a literal depends on moves, not on the state alone."""
    return any(model.first_action <= node < model.gates.inputs for node in model.cone([literal]))
