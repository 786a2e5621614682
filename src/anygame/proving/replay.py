"""Matches played by the reasoner: the rules confirm the findings of the compiled game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anygame.game.game import Game

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.game.state import State
    from anygame.language.terms import Term


class Replay:
    """Plays matches by the rules."""

    def __init__(self, game: Game) -> None:
        self._game = Game(
            game.program, case_sensitive=game.case_sensitive, limits=game.limits, machine="reasoner"
        )

    def states(self, match: Sequence[Sequence[Term]]) -> list[State]:
        """Return the states of a match, including the initial one.

        Raises:
            IllegalMoveError: a move is not legal.
        """
        found = [self._game.initial_state()]
        for joint in match:
            found.append(found[-1].next(dict(zip(self._game.roles, joint, strict=True))))
        return found

    def last(self, match: Sequence[Sequence[Term]], *, of_moves: bool) -> tuple[Any, ...]:
        """Return the last state of a match; or the one before, and the joint move made there."""
        states = self.states(match)
        return (states[-2], match[-1]) if of_moves else (states[-1],)
