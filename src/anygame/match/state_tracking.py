"""Tracking the state of a match by what its manager sends: every move, or in GDL-II only percepts.

Where not all moves are sent, the player does not know the state. It is given one that agrees with all it has
seen: some states are carried from turn to turn, each moved on by joint moves that would have looked the same.

A player of this process could see all; where the rules hide information it learns only what its role may.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count, islice, product, takewhile
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Final

from anygame.game.state import Observation, RoleView
from anygame.language.terms import Compound
from anygame.match.judging import match_ignoring_case

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.match.seats import MatchInfo
    from anygame.players.player import Player

#: States carried from turn to turn, as the particles of a filter: some dozens fit between two moves.
_MOST_STATES: Final = 20
#: Joint moves tried from one of them; most games have fewer.
_MOST_JOINTS: Final = 2_000
#: Joint moves made where no state fits any more, and the match is played again: some seconds of them.
_MOST_MADE_AGAIN: Final = 200_000

#: Of the clock, the part that may be spent on finding states that fit the percepts.
_SHARE_OF_GUESSING: Final = 0.3
#: The same for a player that needs no such state.
_SHARE_WITHOUT_NEED: Final = 0.02


class LostTrackError(Exception):
    """What was sent fits no state that the match can be in."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """What was sent of a turn."""

    observation: Observation
    seen: frozenset[str]
    is_over: bool


class StateTracker:
    """The state of a match, as far as it is known.

    Attributes:
        is_lost: whether no state was found that agrees with everything sent.
    """

    def __init__(self, game: Game, role: Role, random: Random) -> None:
        self.game = game
        self.role = role
        self._random = random
        self._index = game.role_index(role)
        self.restart()

    def restart(self, start: State | None = None) -> None:
        """Go back to the state in which the match began, the initial one by default."""
        self._start = start or self.game.initial_state()
        self._states = [self._start]
        self._turns: list[_Turn] = []
        self._known = True
        self.is_lost = False

    @property
    def view(self) -> RoleView:
        """What the role was sent since the match began."""
        return RoleView(self._start, tuple([turn.observation for turn in self._turns]))

    @property
    def state(self) -> State:
        """A state that agrees with everything sent, the only one if every move was; a guess where lost."""
        return self._states[0]

    def joint_of(self, moves: Sequence[Term]) -> tuple[Term, ...] | None:
        """Return the joint move that a list in a message means here; None if it is no legal one."""
        if not self._known or len(moves) != len(self.game.roles):
            return None
        found = []
        for role, move in zip(self.game.roles, moves, strict=True):
            legal = match_ignoring_case(move, self.state.legal_moves(role))
            if legal is None:
                return None
            found.append(legal)
        return tuple(found)

    def advance(self, joint: Sequence[Term]) -> None:
        """Go on by a legal joint move."""
        following = self.state.next(joint)
        if self.game.is_gdl2:
            seen = self.state.percepts(joint)[self.role]
            is_over = following.is_terminal
            self._turns.append(_Turn(Observation(joint[self._index], seen), _texts(seen), is_over))
        self._states = [following]

    def perceive(
        self,
        move: Term | None,
        percepts: Sequence[Term],
        deadline: float,
        legal: tuple[Term, ...] | None = None,
        *,
        is_over: bool = False,
    ) -> None:
        """Go on by what was seen of a turn.

        Args:
            move: of the player itself; None if that was not sent either.
            percepts: what it saw.
            deadline: when to stop looking, as `time.monotonic` counts.
            legal: what it may do next, where that is known.
            is_over: whether the match ended with this turn.

        Raises:
            LostTrackError: the move was not legal in any state that was found; what was sent is kept.
        """
        joint = self._shown(percepts)
        if joint is not None:
            self.advance(joint)
            return
        observation = Observation(move, tuple(percepts), legal)
        self._turns.append(_Turn(observation, _texts(percepts), is_over))
        self._known = False
        found, guessed = self._followed(self._turns[-1], deadline)
        if self.is_lost or not found:
            # The states carried so far were too few, or no more than guesses.
            found = self._replayed(deadline)
            self.is_lost = not found
        if not found and not guessed:
            raise LostTrackError(f"the move {move} is not legal in any state that fits what was seen")
        # Where nothing fits, what is legal may still be the same in others.
        self._states = list(found or guessed)
        self._random.shuffle(self._states)

    def _followed(self, turn: _Turn, deadline: float) -> tuple[dict[State, None], dict[State, None]]:
        """Return the successors of the states carried: those that fit the observation, and some others."""
        found: dict[State, None] = {}
        guessed: dict[State, None] = {}
        quota = -(-_MOST_STATES // len(self._states))
        for before in self._states:
            enough = len(found) + quota
            for joint in islice(self._joints(before, turn.observation.move), _MOST_JOINTS):
                if len(found) >= enough or (monotonic() > deadline and (found or guessed)):
                    break
                state = before.next(joint)
                if self._agrees(before, joint, state, turn):
                    found[state] = None
                elif len(guessed) < _MOST_STATES and state.is_terminal == turn.is_over:
                    guessed[state] = None
        return found, guessed

    def _replayed(self, deadline: float) -> dict[State, None]:
        """Return the last states of matches, played from the start, that fit all observations.

        If there is any, one is found, unless the time is up or too many ways have led nowhere.
        """
        found: dict[State, None] = {}
        trials = takewhile(lambda _: monotonic() <= deadline, count())
        first = self._searched(islice(trials, _MOST_MADE_AGAIN))
        if first is not None:
            found[first] = None
            # For more of them, about as many trials as they are worth where they are easily found.
            more = islice(trials, _MOST_JOINTS)
            others = iter(lambda: self._searched(more), None)
            found.update(dict.fromkeys(islice(others, _MOST_STATES - 1)))
        return found

    def _searched(self, trials: Iterator[int]) -> State | None:
        """Look for a way from the start that fits, depth first and at random; return where it leads.

        What follows a state is the same however the match came there, so that each is tried once.
        """
        ways = [iter([self._start])]
        tried: set[tuple[int, State]] = set()
        while ways:
            state = next(ways[-1], None)
            if state is None:
                ways.pop()
            elif len(ways) > len(self._turns):
                return state
            elif (len(ways), state) not in tried:
                tried.add((len(ways), state))
                ways.append(self._agreeing(state, self._turns[len(ways) - 1], trials))
        return None

    def _agreeing(self, state: State, turn: _Turn, trials: Iterator[int]) -> Iterator[State]:
        """Yield states that may follow, as long as there are trials left."""
        for _, joint in zip(trials, self._joints(state, turn.observation.move), strict=False):
            following = state.next(joint)
            if self._agrees(state, joint, following, turn):
                yield following

    def _agrees(self, state: State, joint: Sequence[Term], following: State, turn: _Turn) -> bool:
        """Whether a joint move looks as the one made did."""
        legal = turn.observation.legal
        return (
            _texts(state.percepts(joint)[self.role]) == turn.seen
            and following.is_terminal == turn.is_over
            and (legal is None or following.legal_moves(self.role) == legal)
        )

    def _shown(self, percepts: Iterable[Term]) -> tuple[Term, ...] | None:
        """Return the joint move, where percepts say it: managers add such percepts to games without any."""
        did = {
            percept.arguments[0]: percept.arguments[1]
            for percept in percepts
            if isinstance(percept, Compound) and percept.functor == "did" and len(percept.arguments) == 2
        }
        moves = [did.get(role.term) for role in self.game.roles]
        return self.joint_of([move for move in moves if move is not None]) if None not in moves else None

    def _joints(self, state: State, own: Term | None) -> Iterator[tuple[Term, ...]]:
        """Yield joint moves with a move of ours, in random order; none where the match is over."""
        if state.is_terminal:
            return
        options = [list(state.legal_moves(role)) for role in self.game.roles]
        if own is not None:
            done = match_ignoring_case(own, options[self._index])
            if done is None:
                return
            options[self._index] = [done]
        for moves in options:
            self._random.shuffle(moves)
        yield from product(*options)


def _texts(percepts: Iterable[Term]) -> frozenset[str]:
    """Return percepts so that they can be compared though case has got lost."""
    return frozenset(str(percept).lower() for percept in percepts)


def share_of_guessing(player: Player | None) -> float:
    """Return the share of the clock for finding a state that fits what a player was sent."""
    return _SHARE_OF_GUESSING if player is None or player.needs_state else _SHARE_WITHOUT_NEED


class HiddenCourse:
    """The course of a match, as it is and as one role may know it."""

    def __init__(self, match: MatchInfo) -> None:
        self._match = match
        self._index = match.game.role_index(match.role)
        self._tracker = StateTracker(match.game, match.role, Random(match.drawing))
        self._start = self._truth = match.game.initial_state()
        self._joints: list[tuple[Term, ...]] = []
        self._followed_to = 0

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
        for made in self._joints[self._followed_to :]:
            seen = self._truth.percepts(made)[self._match.role]
            self._truth = self._truth.next(made)
            self._followed_to += 1
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

    def _set_course(self, start: State, joints: Sequence[tuple[Term, ...]]) -> None:
        """Take over a course, from the start where moves have been taken back."""
        if start != self._start or list(joints[: self._followed_to]) != self._joints[: self._followed_to]:
            self._start = self._truth = start
            self._followed_to = 0
            self._tracker.restart(start)
        self._joints = list(joints)
