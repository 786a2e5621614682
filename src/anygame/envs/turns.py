"""Turns: which roles decide in a state, estimated from random play."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from random import Random
from statistics import fmean
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from anygame.errors import SimultaneousMovesError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.game.game import Game
    from anygame.language.terms import Term

#: A move: a term, or its number among the moves of its role.
Move = TypeVar("Move")
#: Maximum numbers of playouts and states of a sample, which takes less than a second.
_SAMPLE: Final = (20, 1_000)
#: Maximum numbers of playouts and states for compiled games, which take a tenth of the time per state.
_LARGE_SAMPLE: Final = (200, 10_000)
#: The usual name of a move that does nothing.
_NOOP: Final = "noop"
#: Maximum number of games with cached turns.
_KEPT: Final = 8


@dataclass(frozen=True)
class Turns(Generic[Move]):
    """How the roles of a game take turns.

    Attributes:
        waiting: the waits of each role. A wait is not a decision if it is the only legal move.
        are_taken: whether, in every sampled state, at most one role besides `random` had a choice.
        tree_size: estimated number of histories in the game tree.
        together: in the first sampled state in which several roles had a choice, the indices of these roles.
    """

    waiting: tuple[frozenset[Move], ...]
    are_taken: bool
    tree_size: float
    together: tuple[int, ...] = ()

    def deciders(self, legal: Sequence[Sequence[Move]], chance: int | None) -> tuple[int, ...]:
        """Return the indices of the roles that decide in a state.

        Every role with a choice decides. If no role has a choice, and exactly one role besides `random` has a
        move that is not a wait, that role decides. ``chance`` is the index of `random`, or None.
        """
        choosing = tuple(role for role, moves in enumerate(legal) if len(moves) > 1 and role != chance)
        if choosing or (chance is not None and len(legal[chance]) > 1):
            return choosing
        forced = tuple(
            role for role, moves in enumerate(legal) if role != chance and moves[0] not in self.waiting[role]
        )
        return forced if len(forced) == 1 else ()


def chance_of(game: Game) -> int | None:
    """Return the index of the role `random`, or None."""
    return next((index for index, role in enumerate(game.roles) if role.is_random), None)


def find_turns(game: Game, sample: tuple[int, int] = _SAMPLE) -> Turns[Term]:
    """Return the turns of a game, from random playouts with a fixed seed.

    A move named noop is a wait. A move is also a wait if it was the only move of its role in a state where
    another role had a choice. The branching on random paths estimates the tree size (D. E. Knuth, "Estimating
    the efficiency of backtrack programs", 1975). ``sample`` has the maximum numbers of playouts and states.
    """
    chance = chance_of(game)
    waiting: list[set[Term]] = [set() for _ in game.roles]
    together: tuple[int, ...] = ()
    states, sizes = 0, []
    random = Random(0)
    playouts, most_states = sample
    for _ in range(playouts):
        size, paths = 1.0, 1.0
        for legal in _random_path(game, random, most_states - states):
            states += 1
            choosing = [role for role, moves in enumerate(legal) if len(moves) > 1]
            players = tuple(role for role in choosing if role != chance)
            together = together or (players if len(players) > 1 else ())
            for role, moves in enumerate(legal):
                if str(moves[0]) == _NOOP or (choosing and len(moves) == 1):
                    waiting[role].add(moves[0])
            paths *= prod(map(len, legal))
            size += paths
        sizes.append(size)
        if states >= most_states:
            break
    return Turns(tuple(map(frozenset, waiting)), not together, fmean(sizes), together)


def _random_path(game: Game, random: Random, limit: int) -> Iterator[list[tuple[Term, ...]]]:
    state = game.initial_state()
    for _ in range(limit):
        if state.is_terminal:
            return
        legal = [state.legal_moves(role) for role in game.roles]
        if not all(legal):
            return
        yield legal
        state = state.next([random.choice(moves) for moves in legal])


@lru_cache(_KEPT)
def numbered_turns(game: Game) -> Turns[int]:
    """Return the turns of a compiled game, with moves as numbers.

    Raises SimultaneousMovesError if, in a sampled state, two roles had a choice.
    """
    turns = find_turns(game, _LARGE_SAMPLE)
    if not turns.are_taken:
        raise simultaneous_moves(game, turns.together)
    waiting = [
        frozenset(number for number, move in enumerate(game.actions(role)) if move in waits)
        for role, waits in zip(game.roles, turns.waiting, strict=True)
    ]
    return replace(turns, waiting=tuple(waiting))  # type: ignore[return-value, arg-type]


def simultaneous_moves(game: Game, roles: Sequence[int]) -> SimultaneousMovesError:
    """Return the error for roles, given by index, that choose at the same time."""
    names = " and ".join(game.roles[role] for role in roles)
    return SimultaneousMovesError(
        f"{names} choose at the same time in {game.name}, which is not turn-based: use the environment in "
        "which all roles move at once"
    )
