"""Turns: whether roles take them, and which of their moves only wait, found by play."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from random import Random
from statistics import fmean
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.game import Game
    from anygame.language.terms import Term

#: Enough to meet every kind of turn of the sheets that were tried, and no long wait in large games.
_PLAYOUTS: Final = 20
_STATES: Final = 1_000
#: What waiting is called wherever games are written down.
_NOOP: Final = "noop"


@dataclass(frozen=True)
class Turns:
    """How roles decide.

    Attributes:
        waiting: for each role, moves that are no decision where they are the only ones.
        are_taken: whether at most one role besides `random` had a choice in every state that was seen.
        tree_size: about how many histories there are; an estimate.
    """

    waiting: tuple[frozenset[Term], ...]
    are_taken: bool
    tree_size: float

    def deciders(self, legal: Sequence[Sequence[Term]], chance: int | None) -> tuple[int, ...]:
        """Return the indices of the roles that decide in a state, given the legal moves of all.

        A role with a choice does. Where nobody has one, so does the role that does something else than to
        wait, if it is the only such: a forced mark is a move, and noop is not.

        Args:
            legal: the legal moves for each role; none of them empty.
            chance: the index of `random`, None where there is none.
        """
        choosing = tuple(role for role, moves in enumerate(legal) if len(moves) > 1 and role != chance)
        if choosing or (chance is not None and len(legal[chance]) > 1):
            return choosing
        forced = tuple(
            role for role, moves in enumerate(legal) if role != chance and moves[0] not in self.waiting[role]
        )
        return forced if len(forced) == 1 else ()


def find_turns(game: Game) -> Turns:
    """Return how roles decide in a game, from random playouts that are the same every time.

    A move waits if it is noop, or was seen as the only one of its role where another role had a choice. The
    size of the tree is estimated from the choices on random paths (D. E. Knuth, "Estimating the efficiency of
    backtrack programs", 1975).
    """
    chance = next((index for index, role in enumerate(game.roles) if role.is_random), None)
    waiting: list[set[Term]] = [set() for _ in game.roles]
    are_taken, states, sizes = True, 0, []
    random = Random(0)
    for _ in range(_PLAYOUTS):
        size, paths = 1.0, 1.0
        for legal in _random_path(game, random, _STATES - states):
            states += 1
            choosing = [role for role, moves in enumerate(legal) if len(moves) > 1]
            are_taken &= sum(role != chance for role in choosing) < 2
            for role, moves in enumerate(legal):
                if str(moves[0]) == _NOOP or (choosing and len(moves) == 1):
                    waiting[role].add(moves[0])
            paths *= prod(map(len, legal))
            size += paths
        sizes.append(size)
        if states >= _STATES:
            break
    return Turns(tuple(map(frozenset, waiting)), are_taken, fmean(sizes))


def _random_path(game: Game, random: Random, limit: int) -> Iterator[list[tuple[Term, ...]]]:
    """Yield the legal moves in the states of a random playout, until it ends or there were so many."""
    state = game.initial_state()
    for _ in range(limit):
        if state.is_terminal:
            return
        legal = [state.legal_moves(role) for role in game.roles]
        if not all(legal):
            return
        yield legal
        state = state.next([random.choice(moves) for moves in legal])
