"""Matches of random play and of solvers, a search for long matches, and replay by the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from anygame.game.game import Game
from anygame.proving.bounded import any_match, depends_on_moves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.proving.model import Clause, Match, Model
    from anygame.proving.patience import Patience
    from anygame.proving.sampling import Sample

#: The smallest bound on moves of a query about long matches, and the most nodes in its copies.
_FEWEST, _MOST_NODES = 8, 3_000_000


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
        """Return whether a literal over the state holds in a noted state."""
        return bool(self._met) and bool(self._model.values([literal], np.array(self._met)).any())

    def seen(
        self, literals: Sequence[int], patience: Patience | None = None, *, of_moves: bool = False
    ) -> list[bool]:
        """Return which literals hold in some state of random play.

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
