"""Random playouts, and counting the game tree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from math import prod
from random import Random
from typing import TYPE_CHECKING, Final, TypeVar

from anygame.errors import IllegalMoveError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from anygame.game.game import Game
    from anygame.game.machine import Machine, Position, View
    from anygame.game.state import State
    from anygame.language.terms import Term

    _Count = TypeVar("_Count", int, dict[tuple[Term, ...], int])

__all__ = ["Playout", "goal_of", "perft", "perft_divide", "play_out", "play_outs"]

#: What visits more is worth compiling the game first.
_MANY_PLAYOUTS: Final = 500
_MANY_STATES: Final = 5_000
_MOST_KNOWN: Final = 1_000_000
_INTEGER: Final = re.compile(r"[+-]?\d+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Playout:
    """One random match.

    Attributes:
        moves: the joint moves, each in the order of the roles.
        goals: goal value per role at the end; None where the rules give none or several.
        is_complete: whether it reached a terminal state within the limit.
    """

    moves: tuple[tuple[Term, ...], ...]
    goals: Mapping[str, int | None]
    is_complete: bool

    @property
    def length(self) -> int:
        """The number of joint moves."""
        return len(self.moves)


def play_out(game: Game, seed: int | None, state: State | None, limit: int) -> Playout:
    """Play one random match; see ``Game.playouts``."""
    return next(iter(play_outs(game, 1, seed, state, limit)))


def play_outs(game: Game, count: int, seed: int | None, state: State | None, limit: int) -> Iterator[Playout]:
    """Yield random matches; see ``Game.playouts``."""
    random = Random(seed)
    if count >= _MANY_PLAYOUTS:
        game.compile_if_worth_it()
    machine = game.machine
    start = machine.initial() if state is None else state.position_in(machine)
    for _ in range(count):
        outcome = machine.play_out(start, random, limit)
        goals = dict[str, int | None](zip(game.roles, map(goal_of, outcome.goals), strict=True))
        yield Playout(outcome.moves, goals, outcome.is_complete)


def goal_of(values: Sequence[Term]) -> int | None:
    """Return the goal of a role to which the rules give these values: None unless it is one integer."""
    return int(str(values[0])) if len(values) == 1 and _INTEGER.fullmatch(str(values[0])) else None


def perft(game: Game, depth: int, state: State | None = None) -> int:
    """Count the sequences of joint moves of a length; a terminal state has no continuation.

    Args:
        game: the game.
        depth: the number of joint moves, at least 0.
        state: where to start; the initial state by default.

    Raises:
        IllegalMoveError: a role has no legal move in a state that is not terminal.
    """
    if depth < 0:
        raise ValueError(f"the depth of a count is at least 0, not {depth}")
    return _counted(game, state, lambda tree, start: tree.count(start, depth))


def perft_divide(game: Game, depth: int, state: State | None = None) -> dict[tuple[Term, ...], int]:
    """Return ``perft`` split by the first joint move, in the order of the moves; ``depth`` is at least 1."""
    if depth < 1:
        raise ValueError(f"the depth of a split count is at least 1, not {depth}")
    return _counted(game, state, lambda tree, start: tree.divide(start, depth))


def _counted(game: Game, state: State | None, count: Callable[[_Tree, Position], _Count]) -> _Count:
    """Count by the machine that the game has; begin again with a network where that is worth it."""
    for most in (_MANY_STATES, None):
        machine = game.machine
        start = machine.initial() if state is None else state.position_in(machine)
        try:
            return count(_Tree(machine, None if game.is_settled else most), start)
        except _TooManyError:
            game.compile_if_worth_it()
    raise AssertionError("the second count has no bound")


class _TooManyError(Exception):
    """The bound of a tree was reached."""


class _Tree:
    """The tree of a game, to be counted."""

    def __init__(self, machine: Machine, most: int | None) -> None:
        self._machine = machine
        self._left = most
        self._known: dict[tuple[Position, int], int] = {}

    def divide(self, position: Position, depth: int) -> dict[tuple[Term, ...], int]:
        """Return the count by first joint move."""
        machine = self._machine
        view = machine.view(position)
        if machine.is_terminal(view):
            return {}
        joints = list(product(*self._moves(position, view)))
        return {joint: self.count(machine.next(view, joint), depth - 1) for joint in joints}

    def count(self, position: Position, depth: int) -> int:
        """Return the number of sequences of joint moves of a length."""
        if depth <= 1:
            return self._count(position, depth) if depth else 1
        key = (position, depth)
        found = self._known.get(key)
        if found is None:
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
            found = self._known[key] = self._count(position, depth)
        return found

    def _count(self, position: Position, depth: int) -> int:
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise _TooManyError
        machine = self._machine
        view = machine.view(position)
        if machine.is_terminal(view):
            return 0
        moves = self._moves(position, view)
        if depth == 1:
            return prod(map(len, moves))
        return sum(self.count(machine.next(view, joint), depth - 1) for joint in product(*moves))

    def _moves(self, position: Position, view: View) -> tuple[tuple[Term, ...], ...]:
        legal = self._machine.legal(view)
        for role, moves in zip(self._machine.roles, legal, strict=True):
            if not moves:
                facts = " ".join(sorted(map(str, self._machine.facts(position))))
                raise IllegalMoveError(
                    f"{role} has no legal move in a state that is not terminal: ({facts})", str(role)
                )
        return legal
