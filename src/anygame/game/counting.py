"""Perft: the number of sequences of joint moves of a given length."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Final, TypeVar

from anygame.errors import LimitError
from anygame.game.game import begun
from anygame.game.outcomes import no_legal_move
from anygame.game.roles import Role
from anygame.progress import progress_bar, reporting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from anygame.game.game import Game
    from anygame.game.machine import Machine, Position, View
    from anygame.game.state import State
    from anygame.language.terms import Term

    _Count = TypeVar("_Count", int, dict[tuple[Term, ...], int])

#: Number of states that the reasoner evaluates in about a second, which is also the time for compiling.
_MANY_STATES: Final = 5_000
#: Maximum length of a sequence. Each state of the current sequence takes half a kilobyte of memory.
_DEEPEST: Final = 100_000
#: Maximum number of cached counts, at a few hundred bytes each.
_MOST_CACHED: Final = 1_000_000


def perft(game: Game | State, depth: int, state: State | None = None, *, strict: bool = False) -> int:
    """Return the number of sequences of ``depth`` joint moves.

    A sequence ends at a terminal state, and at a state in which a role has no legal move.

    Args:
        game: the game, or a state to start from.
        depth: the number of joint moves, from 0 to 100,000.
        state: the state to start from; the initial state by default.
        strict: whether to raise an error if a role has no legal move in a nonterminal state.

    Raises:
        IllegalMoveError: ``strict`` is set, and a role has no legal move in a nonterminal state.
        LimitError: the depth exceeds 100,000.
    """
    _check(depth, 0)
    return _counted(game, state, strict, lambda tree, start: tree.count(start, depth))


def perft_divide(
    game: Game | State,
    depth: int,
    state: State | None = None,
    *,
    strict: bool = False,
    progress: Callable[[Mapping[tuple[Term, ...], int], int], object] | None = None,
) -> dict[tuple[Term, ...], int]:
    """Return, for each first joint move, the number of sequences that begin with this move.

    Args:
        game: see ``perft``.
        depth: see ``perft``; at least 1.
        state: see ``perft``.
        strict: see ``perft``.
        progress: called at the start and after each first joint move, with the counts so far and the number
            of first joint moves. If the game is compiled in the meantime, counting restarts. By default, a
            notebook shows a progress bar.
    """
    _check(depth, 1)
    bar = progress_bar("first moves")
    with reporting(progress, lambda counts, moves: bar(len(counts), moves)) as report:
        return _counted(game, state, strict, lambda tree, start: tree.divide(start, depth, report))


def _check(depth: int, least: int) -> None:
    message = f"the depth of a count must be from {least} to {_DEEPEST:,}, not {depth}"
    if depth < least:
        raise ValueError(message)
    if depth > _DEEPEST:
        raise LimitError(message, limit="depth", bound=_DEEPEST)


def _counted(
    origin: Game | State, state: State | None, strict: bool, count: Callable[[_Tree, Position], _Count]
) -> _Count:
    """Count with the reasoner; if there are many states, compile the game and restart with the network."""
    game, state = begun(origin, state)
    if not game.is_settled:
        try:
            machine, start = game.backends.start(state)
            return count(_Tree(machine, strict, _MANY_STATES), start)
        except _TooManyError:
            game.compile_if_worth_it()
    machine, start = game.backends.start(state)
    return count(_Tree(machine, strict, None), start)


class _TooManyError(Exception):
    """The tree has more states than the reasoner should evaluate."""


class _Tree:
    def __init__(self, machine: Machine, strict: bool, most: int | None) -> None:
        self._machine = machine
        self._strict = strict
        self._states_left = most
        self._counts: dict[tuple[Position, int], int] = {}

    def divide(
        self,
        position: Position,
        depth: int,
        progress: Callable[[Mapping[tuple[Term, ...], int], int], object] | None,
    ) -> dict[tuple[Term, ...], int]:
        machine = self._machine
        view = machine.view(position)
        if machine.is_terminal(view):
            return {}
        joints = list(product(*self._moves(position, view)))
        counts: dict[tuple[Term, ...], int] = {}
        for joint in joints:
            if progress is not None:
                progress(counts, len(joints))
            counts[joint] = self.count(machine.next(view, joint), depth - 1)
        if progress is not None:
            progress(counts, len(joints))
        return counts

    def count(self, position: Position, depth: int) -> int:
        """Return the number of sequences of ``depth`` joint moves.

        The depth-first search has an explicit stack, because a match can exceed Python's recursion limit.
        """
        if depth <= 1:
            return prod(map(len, self._options(position)[1])) if depth else 1
        result = self._counts.get((position, depth))
        stack, totals = [(position, self._children(position))] if result is None else [], [0]
        while stack:
            remaining = depth - len(stack)
            for child in stack[-1][1]:
                count = self.count(child, 1) if remaining == 1 else self._counts.get((child, remaining))
                if count is None:
                    stack.append((child, self._children(child)))
                    totals.append(0)
                    break
                totals[-1] += count
            else:
                if len(self._counts) > _MOST_CACHED:
                    self._counts.clear()
                result = self._counts[stack.pop()[0], remaining + 1] = totals.pop()
                if stack:
                    totals[-1] += result
        assert result is not None
        return result

    def _children(self, position: Position) -> Iterator[Position]:
        view, moves = self._options(position)
        return (self._machine.next(view, joint) for joint in product(*moves))

    def _options(self, position: Position) -> tuple[View, tuple[tuple[Term, ...], ...]]:
        """Return the view of a position, and the legal moves of each role (``((),)`` in a terminal state)."""
        if self._states_left is not None:
            self._states_left -= 1
            if self._states_left < 0:
                raise _TooManyError
        view = self._machine.view(position)
        return view, ((),) if self._machine.is_terminal(view) else self._moves(position, view)

    def _moves(self, position: Position, view: View) -> tuple[tuple[Term, ...], ...]:
        legal = self._machine.legal(view)
        if self._strict and not all(legal):
            role = self._machine.roles[legal.index(())]
            raise no_legal_move(Role(role), self._machine.facts(position))
        return legal
