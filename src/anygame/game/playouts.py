"""Random playouts, and counting the game tree."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from random import Random
from typing import TYPE_CHECKING

from anygame.errors import IllegalMoveError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term

__all__ = ["Playout", "perft", "perft_divide", "play_out", "play_outs"]


@dataclass(frozen=True, slots=True)
class Playout:
    """One random match.

    Attributes:
        moves: the joint moves, each in the order of the roles.
        goals: goal value per role at the end; None where the rules give none or several.
        is_complete: whether it reached a terminal state within the limit.
    """

    moves: tuple[tuple[Term, ...], ...]
    goals: dict[Role, int | None]
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
    machine = game.machine
    start = machine.initial() if state is None else machine.position(state.facts)
    for _ in range(count):
        moves, goals, is_complete = machine.play_out(start, random, limit)
        yield Playout(moves, dict(zip(game.roles, goals, strict=True)), is_complete)


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
    return _count(game.initial_state() if state is None else state, depth, {})


def perft_divide(game: Game, depth: int, state: State | None = None) -> dict[tuple[Term, ...], int]:
    """Return ``perft`` split by the first joint move, in the order of the moves; ``depth`` is at least 1."""
    if depth < 1:
        raise ValueError(f"the depth of a split count is at least 1, not {depth}")
    start = game.initial_state() if state is None else state
    known: dict[tuple[State, int], int] = {}
    if start.is_terminal:
        return {}
    return {joint: _count(start.next(joint), depth - 1, known) for joint in _joint_moves(start)}


def _joint_moves(state: State) -> list[tuple[Term, ...]]:
    joints: list[tuple[Term, ...]] = [()]
    for role in state.game.roles:
        moves = _some_moves(state, role)
        joints = [(*joint, move) for joint in joints for move in moves]
    return joints


def _some_moves(state: State, role: Role) -> tuple[Term, ...]:
    moves = state.legal_moves(role)
    if not moves:
        raise IllegalMoveError(f"{role} has no legal move in a state that is not terminal: {state}", role)
    return moves


def _count(state: State, depth: int, known: dict[tuple[State, int], int]) -> int:
    if depth == 0:
        return 1
    if state.is_terminal:
        return 0
    if depth == 1:
        return prod(len(_some_moves(state, role)) for role in state.game.roles)
    key = (state, depth)
    if key not in known:
        if len(known) > 1_000_000:
            known.clear()
        known[key] = sum(_count(state.next(joint), depth - 1, known) for joint in _joint_moves(state))
    return known[key]
