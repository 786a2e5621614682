"""Matches of random play and of solvers, a search for long matches, and replay by the rules."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from anygame.game.game import Game
from anygame.network.lanes import Lanes
from anygame.proving.bounded import any_match, depends_on_moves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.network.kernels.kernel import Kernel
    from anygame.proving.model import Clause, Match, Model
    from anygame.proving.patience import Patience

#: Maximum number of truth values in memory: 64 MB.
_MOST_VALUES: Final = 1 << 26
_LANES: Final = 1024
_MOST_STEPS: Final = 1000
#: Number of states that are evaluated together.
_AT_ONCE: Final = 4096
#: Minimum number of moves in a query about long matches, and maximum number of nodes in its copies.
_FEWEST, _MOST_NODES = 8, 3_000_000


def random_play(kernel: Kernel) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.int32]]]:
    """Yield the states of parallel games, bool [lanes, fluents], and the random joint moves made there.

    Joint moves are int32 [lanes, roles]: the number of the action of each role, -1 at an end.
    """
    lanes = Lanes(kernel, lanes_for(kernel.network.facts), 1)
    while True:
        states = lanes.observation()
        yield states, np.stack(lanes.step_random(), axis=1)


def lanes_for(fluents: int) -> int:
    """Return the number of parallel games that fit into memory for a number of fluents."""
    return max(16, min(_LANES, _MOST_VALUES // (max(1, fluents) * 64)))


class Sample:
    """Random matches from the initial state: all states, and the moves that lead to them.

    Attributes:
        states: bool [states, fluents], with the initial state.
    """

    def __init__(self, play: Iterable[tuple[NDArray[np.bool_], NDArray[np.int32]]]) -> None:
        steps: list[NDArray[np.bool_]] = []
        self._choices: list[NDArray[np.int32]] = []
        self._going: list[NDArray[np.bool_]] = []
        size = 0
        for states, chosen in play:
            going: NDArray[np.bool_] = np.ones(len(states), np.bool_)
            if self._choices:
                going = np.asarray((self._choices[-1] >= 0).all(axis=1))
            size += states.size
            if not going.any() or len(steps) >= _MOST_STEPS or size > _MOST_VALUES:
                break
            steps.append(states)
            self._going.append(going)
            self._choices.append(chosen)
        #: Step and lane of each state.
        self._places = np.argwhere(np.stack(self._going))
        self.states = np.concatenate([s[g] for s, g in zip(steps, self._going, strict=True)])

    def parts(self) -> Iterator[slice]:
        """Yield the parts of the states that are evaluated together."""
        for first in range(0, len(self.states), _AT_ONCE):
            yield slice(first, first + _AT_ONCE)

    @property
    def longest(self) -> int:
        """The number of moves of the longest match."""
        return int(self._places[:, 0].max())

    def match(self, number: int, *, with_last: bool = False) -> Match:
        """Return the joint moves to a state, given by number; with ``with_last``, also the one made there."""
        step, lane = self._places[number].tolist()
        return tuple(tuple(choices[lane].tolist()) for choices in self._choices[: step + with_last])

    def moves(self, part: slice, model: Model) -> NDArray[np.bool_]:
        """Return the joint move made in each state of a part: bool [states, all actions].

        No action is marked in a state where a match ended.
        """
        places = self._places[part]
        made = np.zeros((len(places), len(model.legal)), np.bool_)
        for row, (step, lane) in enumerate(places.tolist()):
            if step < len(self._choices):
                for nodes, action in zip(model.moves_of, self._choices[step][lane].tolist(), strict=True):
                    if action >= 0:
                        made[row, nodes.start - model.first_action + action] = True
        return made

    def changes(self, *, rising: bool) -> NDArray[np.bool_]:
        """Return which fluents at least one step sets (``rising``), or else clears: bool [fluents]."""
        before, after = self.steps()
        return np.asarray((after & ~before if rising else before & ~after).any(axis=0))

    def steps(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the states before and after each step: bool [steps, fluents] each."""
        before, after = self._numbers
        return self.states[before], self.states[after]

    @cached_property
    def _numbers(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The numbers of the states before and after each step."""
        lanes = len(self._going[0])
        number = np.full((len(self._going), lanes), -1)
        number[self._places[:, 0], self._places[:, 1]] = np.arange(len(self._places))
        after = np.flatnonzero(self._places[:, 0] > 0)
        rows = self._places[after]
        return number[rows[:, 0] - 1, rows[:, 1]], after

    def first_repeat(self) -> tuple[int, int] | None:
        """Return the numbers of two equal states of one match, or None."""
        packed = np.packbits(self.states, axis=1)
        keys = np.concatenate(
            [self._places[:, 1:].astype("<u4").view(np.uint8).reshape(-1, 4), packed], axis=1
        )
        rows = np.ascontiguousarray(keys).view([("", keys.dtype)] * keys.shape[1]).ravel()
        _, first, inverse, counts = np.unique(
            rows, return_index=True, return_inverse=True, return_counts=True
        )
        again = np.flatnonzero((counts > 1)[inverse] & (first[inverse] != np.arange(len(rows))))
        if not len(again):
            return None
        best = again[np.argmin(self._places[again, 0])]
        return int(first[inverse[best]]), int(best)


class Matches:
    """Matches of one game."""

    def __init__(self, model: Model, sample: Sample) -> None:
        self._model, self._sample = model, sample
        #: States reached in the matches that solvers found.
        self._met: list[NDArray[np.bool_]] = []

    def add(self, match: Match) -> None:
        """Record the states of a match, as they can decide further properties."""
        state = self._model.initial
        for joint in match:
            state = self._model.after(state, joint)
            self._met.append(state)

    def met(self, literal: int) -> bool:
        """Return whether a literal over the state holds in a recorded state."""
        return bool(self._met) and bool(self._model.values([literal], np.array(self._met)).any())

    def seen(
        self, literals: Sequence[int], patience: Patience | None = None, *, of_moves: bool = False
    ) -> list[bool]:
        """Return which literals hold in at least one state of random play.

        With ``of_moves``, a literal may depend on the joint move made in the state.
        """
        model, sample = self._model, self._sample
        seen = np.zeros(len(literals), np.bool_)
        need_moves = np.array([of_moves and depends_on_moves(model, literal) for literal in literals])
        for part in sample.parts():
            unseen = np.flatnonzero(~seen)
            if not len(unseen):
                break
            moves = sample.moves(part, model) if of_moves else None
            values = model.values(
                [literals[n] for n in unseen.tolist()], sample.states[part], moves, patience
            )
            if moves is not None:
                made = np.asarray(moves.any(axis=1))
                values &= made[:, None] | ~need_moves[unseen]
            seen[unseen] = values.any(axis=0)
        return [bool(each) for each in seen]

    def played(self, bad: int) -> Match | None:
        """Return a shortest match of random play to a bad state, or None."""
        model, sample = self._model, self._sample
        of_moves = depends_on_moves(model, bad)
        for part in sample.parts():
            moves = sample.moves(part, model) if of_moves else None
            hits = model.values([bad], sample.states[part], moves)[:, 0]
            if moves is not None:
                hits &= moves.any(axis=1)
            if hits.any():
                number = part.start + int(hits.argmax())
                return sample.match(number, with_last=of_moves)
        return None

    def long(self, bad: int, patience: Patience, invariant: Sequence[Clause]) -> Match | None:
        """Return a match to a bad state, up to twice as long as matches of random play, or None."""
        longest = max(_FEWEST, self._sample.longest)
        for most in (longest, 2 * longest):
            if most * self._model.nodes > _MOST_NODES:
                break
            match = any_match(self._model, bad, patience, most, invariant)
            if match is not None:
                return match
        return None


class Replay:
    """Plays matches by the rules."""

    def __init__(self, game: Game) -> None:
        self._game = Game(
            game.program, case_sensitive=game.case_sensitive, limits=game.limits, machine="reasoner"
        )

    def states(self, match: Sequence[Sequence[Term]]) -> list[State]:
        """Return the states of a match, including the initial one. Raises IllegalMoveError."""
        states = [self._game.initial_state()]
        for joint in match:
            states.append(states[-1].next(dict(zip(self._game.roles, joint, strict=True))))
        return states

    def last(self, match: Sequence[Sequence[Term]], *, of_moves: bool) -> tuple[Any, ...]:
        """Return the last state of a match; if ``of_moves``, the state before it and the last joint move."""
        states = self.states(match)
        return (states[-2], match[-1]) if of_moves else (states[-1],)
