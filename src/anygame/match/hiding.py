"""Matches of games with hidden information: a player in this process learns only what its role may know."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

from anygame.match.state_tracking import LostTrackError, StateTracker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.game.role_view import RoleView
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.match.seats import MatchInfo
    from anygame.players.player import Player

#: Of the clock, the part that may be spent on finding states that fit the percepts.
_SHARE_OF_GUESSING: Final = 0.3
#: The same for a player that needs no such state.
_SHARE_WITHOUT_NEED: Final = 0.02


def share_of_guessing(player: Player | None) -> float:
    """Return the part of the clock that may be spent on finding a state that fits what a player was sent."""
    return _SHARE_OF_GUESSING if player is None or player.needs_state else _SHARE_WITHOUT_NEED


class HiddenCourse:
    """The course of a match, as it is and as one role may know it.

    Args:
        match: what the player was sent at the start.
    """

    def __init__(self, match: MatchInfo) -> None:
        self._match = match
        self._index = match.game.role_index(match.role)
        self._tracker = StateTracker(match.game, match.role, Random(match.drawing))
        self._start = self._truth = match.game.initial_state()
        self._joints: list[tuple[Term, ...]] = []
        self._told = 0

    @property
    def is_lost(self) -> bool:
        """Whether no state was found that agrees with what the role knows: the one it is given is a guess."""
        return self._tracker.is_lost

    def follow(self, joint: tuple[Term, ...] | None, deadline: float) -> tuple[State, RoleView]:
        """Go on by a joint move, if there is one that is not known yet.

        Args:
            joint: the moves made last.
            deadline: when to stop looking for states that agree with what the role saw, as `time.monotonic`
                counts.

        Returns:
            a state that agrees with what the role knows; and what it knows.
        """
        if self._match.course is not None:
            self._set_course(*self._match.course())
        else:
            self._joints += [] if joint is None else [joint]
        for made in self._joints[self._told :]:
            seen = self._truth.percepts(made)[self._match.role]
            self._truth = self._truth.next(made)
            self._told += 1
            self._perceive(made, seen, deadline)
        return self._tracker.state, self._tracker.view

    def _perceive(self, made: tuple[Term, ...], seen: Sequence[Term], deadline: float) -> None:
        try:
            # A role knows what it may do.
            legal = self._truth.legal_moves(self._match.role)
            self._tracker.perceive(made[self._index], seen, deadline, legal)
        except LostTrackError:
            # No state that was tried lets the role do what it did. The truth is not its to know: those stay
            # that it had before, and all that it knows is in its view.
            pass

    def _restart(self, start: State) -> None:
        self._start = self._truth = start
        self._joints, self._told = [], 0
        self._tracker.restart(start)

    def _set_course(self, start: State, joints: Sequence[tuple[Term, ...]]) -> None:
        """Take over a course, from the start where moves have been taken back."""
        if start != self._start or list(joints[: self._told]) != self._joints[: self._told]:
            self._restart(start)
        self._joints = list(joints)
