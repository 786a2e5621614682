"""Tracking the state of a match from messages, which have all moves or, in GDL-II, percepts.

Percepts do not determine the state, so the player gets a state that agrees with all its percepts. As in a
particle filter, several agreeing states are kept, and advanced by joint moves that give the same percepts. If
the rules hide information, players in this process do not get the true state either.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import count, islice, product, takewhile
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple

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

#: Maximum number of states that are kept from turn to turn.
_MOST_STATES: Final = 20
#: Maximum number of joint moves that are tried in one state. In most games, a state has fewer joint moves.
_MOST_JOINTS: Final = 2_000
#: Maximum number of joint moves that a search from the start of the match tries; takes several seconds.
_MOST_MADE_AGAIN: Final = 200_000

#: Share of the clock for finding states that agree with the percepts.
_SHARE_OF_GUESSING: Final = 0.3
#: Share of the clock for finding states, if the player does not use the states.
_SHARE_WITHOUT_NEED: Final = 0.02


class LostTrackError(Exception):
    """No state agrees with the messages."""


class _Turn(NamedTuple):
    observation: Observation
    seen: frozenset[str]
    is_over: bool


class StateTracker:
    """Tracks the state of a match from the messages to one role."""

    def __init__(self, game: Game, role: Role, random: Random) -> None:
        self.game = game
        self.role = role
        self._random = random
        self._index = game.role_index(role)
        self.restart()

    def restart(self, start: State | None = None) -> None:
        """Begin a match in the state ``start``, by default the initial state of the game."""
        self._start = start or self.game.initial_state()
        self._states = [self._start]
        self._turns: list[_Turn] = []
        self._known = True
        #: Whether no state was found that agrees with all messages.
        self.is_lost = False

    @property
    def view(self) -> RoleView:
        """The observations of the role since the match began."""
        return RoleView(self._start, tuple([turn.observation for turn in self._turns]))

    @property
    def state(self) -> State:
        """A state that agrees with all messages, or a guess if ``is_lost``."""
        return self._states[0]

    def joint_of(self, moves: Sequence[Term]) -> tuple[Term, ...] | None:
        """Return the joint move in a message; None if the moves in the message are not legal."""
        if not self._known or len(moves) != len(self.game.roles):
            return None
        joint = []
        for role, move in zip(self.game.roles, moves, strict=True):
            legal = match_ignoring_case(move, self.state.legal_moves(role))
            if legal is None:
                return None
            joint.append(legal)
        return tuple(joint)

    def advance(self, joint: Sequence[Term]) -> None:
        """Advance by a legal joint move."""
        following = self.state.next(joint)
        if self.game.is_gdl2:
            seen = self.state.percepts(joint)[self.role]
            is_over = following.is_terminal
            self._turns.append(_Turn(Observation(joint[self._index], seen), _lower_case(seen), is_over))
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
        """Advance by the percepts of a turn.

        Args:
            move: move of the player itself; None if unknown.
            percepts: percepts of the player.
            deadline: time at which the search for states stops, as a value of `time.monotonic`.
            legal: legal moves of the player in the next state; None if unknown.
            is_over: whether the match ended with this turn.

        Raises:
            LostTrackError: the move is not legal in any kept state. Later searches still use the percepts.
        """
        joint = self._joint_in(percepts)
        if joint is not None:
            self.advance(joint)
            return
        observation = Observation(move, tuple(percepts), legal)
        self._turns.append(_Turn(observation, _lower_case(percepts), is_over))
        self._known = False
        agreeing, guesses = self._successors(self._turns[-1], deadline)
        if self.is_lost or not agreeing:
            # There were too few kept states, or the kept states were guesses.
            agreeing = self._search_from_start(deadline)
            self.is_lost = not agreeing
        if not agreeing and not guesses:
            raise LostTrackError(f"the move {move} is not legal in any state that agrees with the percepts")
        # If no state agrees with the percepts, the legal moves of a guess can still be right.
        self._states = list(agreeing or guesses)
        self._random.shuffle(self._states)

    def _successors(self, turn: _Turn, deadline: float) -> tuple[dict[State, None], dict[State, None]]:
        """Return successors of kept states in two groups: states that agree with a turn, and guesses."""
        agreeing: dict[State, None] = {}
        guesses: dict[State, None] = {}
        quota = -(-_MOST_STATES // len(self._states))
        for before in self._states:
            enough = len(agreeing) + quota
            for joint in islice(self._joints(before, turn.observation.move), _MOST_JOINTS):
                if len(agreeing) >= enough or (monotonic() > deadline and (agreeing or guesses)):
                    break
                state = before.next(joint)
                if self._agrees(before, joint, state, turn):
                    agreeing[state] = None
                elif len(guesses) < _MOST_STATES and state.is_terminal == turn.is_over:
                    guesses[state] = None
        return agreeing, guesses

    def _search_from_start(self, deadline: float) -> dict[State, None]:
        """Search from the start of the match for states that agree with all turns, until the deadline."""
        trials = takewhile(lambda _: monotonic() <= deadline, count())
        first = self._search(islice(trials, _MOST_MADE_AGAIN))
        if first is None:
            return {}
        # The search for further states gets fewer trials.
        more_trials = islice(trials, _MOST_JOINTS)
        further = iter(lambda: self._search(more_trials), None)
        return dict.fromkeys([first, *islice(further, _MOST_STATES - 1)])

    def _search(self, trials: Iterator[int]) -> State | None:
        """Search, depth-first and randomised, for a line that agrees with all turns; return its last state.

        Each state is visited at most once in each turn: its successors do not depend on earlier states.
        """
        stack = [iter([self._start])]
        visited: set[tuple[int, State]] = set()
        while stack:
            state = next(stack[-1], None)
            if state is None:
                stack.pop()
            elif len(stack) > len(self._turns):
                return state
            elif (len(stack), state) not in visited:
                visited.add((len(stack), state))
                stack.append(self._agreeing(state, self._turns[len(stack) - 1], trials))
        return None

    def _agreeing(self, state: State, turn: _Turn, trials: Iterator[int]) -> Iterator[State]:
        for _, joint in zip(trials, self._joints(state, turn.observation.move), strict=False):
            following = state.next(joint)
            if self._agrees(state, joint, following, turn):
                yield following

    def _agrees(self, state: State, joint: Sequence[Term], following: State, turn: _Turn) -> bool:
        legal = turn.observation.legal
        return (
            _lower_case(state.percepts(joint)[self.role]) == turn.seen
            and following.is_terminal == turn.is_over
            and (legal is None or following.legal_moves(self.role) == legal)
        )

    def _joint_in(self, percepts: Iterable[Term]) -> tuple[Term, ...] | None:
        """Return the joint move in percepts ``(did ROLE MOVE)``, which some managers send, or None."""
        did = {
            percept.arguments[0]: percept.arguments[1]
            for percept in percepts
            if isinstance(percept, Compound) and percept.functor == "did" and len(percept.arguments) == 2
        }
        moves = [did.get(role.term) for role in self.game.roles]
        return self.joint_of([move for move in moves if move is not None]) if None not in moves else None

    def _joints(self, state: State, own: Term | None) -> Iterator[tuple[Term, ...]]:
        """Yield joint moves in random order. If ``own`` is given, the role makes the move ``own``."""
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


def _lower_case(percepts: Iterable[Term]) -> frozenset[str]:
    return frozenset(str(percept).lower() for percept in percepts)


def share_of_guessing(player: Player | None) -> float:
    """Return the share of a player's clock for finding a state that agrees with the messages."""
    return _SHARE_OF_GUESSING if player is None or player.needs_state else _SHARE_WITHOUT_NEED


class HiddenCourse:
    """The true course of a match, and a state that agrees with the observations of one role."""

    def __init__(self, match: MatchInfo) -> None:
        self._match = match
        self._index = match.game.role_index(match.role)
        self._tracker = StateTracker(match.game, match.role, Random(match.drawing))
        self._start = self._truth = match.game.initial_state()
        self._joints: list[tuple[Term, ...]] = []
        self._followed = 0

    @property
    def is_lost(self) -> bool:
        """Whether the state is a guess, because no state was found that agrees with the observations."""
        return self._tracker.is_lost

    def follow(self, joint: tuple[Term, ...] | None, deadline: float) -> tuple[State, RoleView]:
        """Advance by the last joint move if this move is new; ``deadline`` is as in `StateTracker.perceive`.

        Returns a state that agrees with the observations of the role, and the view of the role.
        """
        if self._match.course is not None:
            start, joints = self._match.course()
            if start != self._start or list(joints[: self._followed]) != self._joints[: self._followed]:
                # Moves have been taken back.
                self._start = self._truth = start
                self._followed = 0
                self._tracker.restart(start)
            self._joints = list(joints)
        elif joint is not None:
            self._joints.append(joint)
        for made in self._joints[self._followed :]:
            seen = self._truth.percepts(made)[self._match.role]
            self._truth = self._truth.next(made)
            self._followed += 1
            # A role always knows its legal moves.
            legal = self._truth.legal_moves(self._match.role)
            # If no kept state allows the move, the kept states do not change: the true state must not leak.
            with suppress(LostTrackError):
                self._tracker.perceive(made[self._index], seen, deadline, legal)
        return self._tracker.state, self._tracker.view
