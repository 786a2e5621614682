"""Samples of random matches, and replay of matches by the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from anygame.game.game import Game
from anygame.network.lanes import Lanes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.network.kernels.kernel import Kernel
    from anygame.proving.model import Match, Model
    from anygame.proving.patience import Patience

#: Maximum number of values of fluents in a sample, one byte each.
_MOST_VALUES: Final = 1 << 26
#: Maximum number of parallel games.
_LANES: Final = 1024
_MOST_STEPS: Final = 1000
#: Number of states in which literals are evaluated together.
_AT_ONCE: Final = 4096


def random_play(kernel: Kernel) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.int32]]]:
    """Yield the states of parallel games, bool [lanes, fluents], and the random joint moves made there.

    Joint moves are action numbers, int32 [lanes, roles]; -1 where a match ended.
    """
    lanes = Lanes(kernel, lanes_for(kernel.network.facts), 1)
    while True:
        states = lanes.observation()
        yield states, np.stack(lanes.step_random(), axis=1)


def lanes_for(fluents: int) -> int:
    """Return the number of parallel games that a sample can hold, given the number of fluents."""
    return max(16, min(_LANES, _MOST_VALUES // (max(1, fluents) * 64)))


class Sample:
    """Random matches from the initial state.

    ``states`` has all states of the matches, sorted by the number of earlier moves: bool [states, fluents].
    """

    def __init__(self, model: Model, play: Iterable[tuple[NDArray[np.bool_], NDArray[np.int32]]]) -> None:
        self._model = model
        steps: list[NDArray[np.bool_]] = []
        choices: list[NDArray[np.int32]] = []
        all_going: list[NDArray[np.bool_]] = []
        size = 0
        for states, chosen in play:
            going: NDArray[np.bool_] = np.ones(len(states), np.bool_)
            if choices:
                going = np.asarray((choices[-1] >= 0).all(axis=1))
            size += states.size
            if not going.any() or len(steps) >= _MOST_STEPS or size > _MOST_VALUES:
                break
            steps.append(states[going])
            all_going.append(going)
            choices.append(chosen)
        #: The joint moves made: int32 [steps, lanes, roles].
        self._choices = np.stack(choices)
        #: Step and lane of each state.
        self._places = np.argwhere(np.stack(all_going))
        self.states = np.concatenate(steps)

    @property
    def longest(self) -> int:
        """The number of moves of the longest match."""
        return int(self._places[:, 0].max())

    def match(self, number: int, *, with_last: bool = False) -> Match:
        """Return the joint moves before a state; with ``with_last``, also the joint move made there."""
        step, lane = self._places[number].tolist()
        return tuple(map(tuple, self._choices[: step + with_last, lane].tolist()))

    def steps(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the states before and after each step: bool [steps, fluents] each."""
        numbers = np.full(self._choices.shape[:2], -1)
        numbers[tuple(self._places.T)] = np.arange(len(self._places))
        after = np.flatnonzero(self._places[:, 0] > 0)
        step, lane = self._places[after].T
        return self.states[numbers[step - 1, lane]], self.states[after]

    def first_repeat(self) -> tuple[int, int] | None:
        """Return the numbers of two equal states of one match, or None."""
        lanes = self._places[:, 1:].astype("<u4").view(np.uint8)
        keys = np.concatenate([lanes, np.packbits(self.states, axis=1)], axis=1)
        rows = np.ascontiguousarray(keys).view(np.dtype((np.void, keys.shape[1])))[:, 0]
        _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
        again = np.flatnonzero(first[inverse] < np.arange(len(rows)))
        return (int(first[inverse[again[0]]]), int(again[0])) if len(again) else None

    def seen(
        self, literals: Sequence[int], patience: Patience | None = None, *, of_moves: bool = False
    ) -> list[bool]:
        """Return, for each literal, whether it holds in at least one state.

        With ``of_moves``, a literal can depend on the joint move made in the state.
        """
        model = self._model
        seen = np.zeros(len(literals), np.bool_)
        need_moves = np.array([of_moves and model.depends_on_moves(literal) for literal in literals])
        for part in self._parts():
            unseen = np.flatnonzero(~seen)
            if not len(unseen):
                break
            moves = self.moves(part) if of_moves else None
            values = model.values([literals[n] for n in unseen.tolist()], self.states[part], moves, patience)
            if moves is not None:
                made = np.asarray(moves.any(axis=1))
                values &= made[:, None] | ~need_moves[unseen]
            seen[unseen] = values.any(axis=0)
        return [bool(each) for each in seen]

    def match_to(self, bad: int) -> Match | None:
        """Return a shortest match of the sample to a bad state, or None."""
        of_moves = self._model.depends_on_moves(bad)
        for part in self._parts():
            moves = self.moves(part) if of_moves else None
            hits = self._model.values([bad], self.states[part], moves)[:, 0]
            if moves is not None:
                hits &= moves.any(axis=1)
            if hits.any():
                return self.match(part.start + int(hits.argmax()), with_last=of_moves)
        return None

    def _parts(self) -> Iterator[slice]:
        for first in range(0, len(self.states), _AT_ONCE):
            yield slice(first, first + _AT_ONCE)

    def moves(self, part: slice) -> NDArray[np.bool_]:
        """Return the joint move made in each state, if any: bool [states, actions of all roles]."""
        model = self._model
        step, lane = self._places[part].T
        chosen = self._choices[step, lane]
        states, roles = np.nonzero(chosen >= 0)
        firsts = np.array([nodes.start - model.first_action for nodes in model.moves_of])
        made = np.zeros((len(chosen), len(model.legal)), np.bool_)
        made[states, firsts[roles] + chosen[states, roles]] = True
        return made


class Replay:
    """Plays matches by the rules."""

    def __init__(self, game: Game) -> None:
        self._game = Game(
            game.program, case_sensitive=game.case_sensitive, limits=game.limits, machine="reasoner"
        )

    def states(self, match: Sequence[Sequence[Term]]) -> list[State]:
        """Return the states of a match, including the initial state. Raises IllegalMoveError."""
        states = [self._game.initial_state()]
        for joint in match:
            states.append(states[-1].next(dict(zip(self._game.roles, joint, strict=True))))
        return states

    def last(self, match: Sequence[Sequence[Term]], *, of_moves: bool) -> tuple[Any, ...]:
        """Return the last state; with ``of_moves``, the state before the last joint move, and that move."""
        states = self.states(match)
        return (states[-2], match[-1]) if of_moves else (states[-1],)
