"""Matches of a game with itself as rows of data, made block by block wherever there is a core."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from anygame.game.batch import Batch
    from anygame.game.game import Game

    #: Returns for each role a move in every lane, int [lanes], as ``Batch.step`` takes them.
    Policy: TypeAlias = Callable[[Batch], Mapping[str, NDArray[np.int64]]]

#: Matches side by side: those that all gates of a network are evaluated for at a time.
LANES: Final = 512


@dataclass(frozen=True, slots=True)
class SelfPlay:
    """What is to be played.

    A row is a state in which a match stood, with the moves that were made there and the goals that the match
    ended with::

        match   int64            number of the match
        step    int32            joint moves before the state
        state   uint64 [words]   as of ``Batch.packed``
        moves   int32 [roles]    numbers of moves, as of ``Game.actions``
        goals   float64 [roles]  at the end; not a number where the rules give none

    Matches that are stuck, or longer than the limit, have no rows.

    Args:
        game: the game.
        seed: of random numbers; rows depend on it, on the policy, and on nothing else.
        policy: chooses moves; None for random ones. It is pickled, so that a trained model can be sent.
        limit: joint moves after which matches are given up.
    """

    game: Game
    seed: int = 0
    policy: Policy | None = None
    limit: int = 1000

    def block(self, number: int, matches: int = LANES) -> dict[str, NDArray[Any]]:
        """Play so many matches of a block at most 512, and return their rows, column by column.

        >>> import anygame
        >>> rows = SelfPlay(anygame.load("tic_tac_toe"), seed=1).block(0, matches=2)
        >>> sorted(rows), rows["match"].tolist()[:3], rows["step"].tolist()[:3], rows["goals"].shape[1]
        (['goals', 'match', 'moves', 'state', 'step'], [0, 0, 0], [0, 1, 2], 2)

        Raises:
            LimitError: the game cannot be compiled.
            ValueError: there are more matches than lanes.
        """
        if not 0 < matches <= LANES:
            raise ValueError(f"a block has from 1 to {LANES} matches, not {matches}")
        # Blocks draw from streams of their own; a batch takes 64 bits of a seed.
        seeds = np.random.SeedSequence([self.seed & (1 << 64) - 1, number])
        batch = self.game.batch(matches, seed=int(seeds.generate_state(1, np.uint64)[0]))
        going = ~(batch.terminal | batch.stuck)
        lanes: list[NDArray[np.int64]] = []
        states: list[NDArray[np.uint64]] = []
        moves: list[NDArray[np.int32]] = []
        steps: list[NDArray[np.int32]] = []
        for step in range(self.limit):
            if not going.any():
                break
            lanes.append(np.flatnonzero(going))
            states.append(batch.packed()[going])
            made = batch.step_random() if self.policy is None else self._step(batch)
            columns = [np.asarray(made[role])[going] for role in self.game.roles]
            moves.append(np.stack(columns, axis=1).astype(np.int32))
            steps.append(np.full(len(lanes[-1]), step, np.int32))
            going = ~(batch.terminal | batch.stuck)
        goals = np.stack([batch.goals(role) for role in self.game.roles], axis=1)
        return self._rows(number, lanes, states, moves, steps, goals, np.asarray(batch.terminal))

    def _step(self, batch: Batch) -> Mapping[str, NDArray[np.int64]]:
        assert self.policy is not None
        chosen = self.policy(batch)
        batch.step(chosen)
        return chosen

    def _rows(
        self,
        number: int,
        lanes: list[NDArray[np.int64]],
        states: list[NDArray[np.uint64]],
        moves: list[NDArray[np.int32]],
        steps: list[NDArray[np.int32]],
        goals: NDArray[np.float64],
        ended: NDArray[np.bool_],
    ) -> dict[str, NDArray[Any]]:
        """Return rows match by match."""
        lane = np.concatenate([np.zeros(0, np.int64), *lanes])
        order = np.argsort(lane, kind="stable")
        order = order[ended[lane[order]]]
        lane = lane[order]

        def sorted_rows(columns: list[Any], *shape: int) -> NDArray[Any]:
            return np.concatenate(columns)[order] if columns else np.zeros((0, *shape))

        return {
            "match": lane + number * LANES,
            "step": sorted_rows(steps),
            "state": sorted_rows(states, 1),
            "moves": sorted_rows(moves, len(self.game.roles)),
            "goals": goals[lane],
        }
