"""Tracking the state of a match by what its manager tells: every move, or in GDL-II only percepts.

Where not all moves are told, the player does not know the state. It is given one that agrees with all it has
seen: some states are carried from turn to turn, each moved on by joint moves that would have looked the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, product
from time import monotonic
from typing import TYPE_CHECKING, Final

from anygame.game.role_view import Observation, RoleView
from anygame.language.terms import Compound
from anygame.match.letter_case import match_ignoring_case

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from random import Random

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term

__all__ = ["StateTracker", "LostTrackError"]

#: States carried from turn to turn, as the particles of a filter: some dozens fit between two moves.
_MOST_STATES: Final = 20
#: Joint moves tried from one of them; most games have fewer.
_MOST_JOINTS: Final = 2_000
#: Matches that are played again where no state fits any more.
_MOST_REPLAYS: Final = 200
#: Of the joint moves, those tried in each turn when the match is played again: there may be many turns.
_MOST_TRIED_AGAIN: Final = 200


class LostTrackError(Exception):
    """What was told fits no state that the match can be in."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """What was told of a turn.

    Attributes:
        observation: that.
        seen: its percepts as they are compared.
    """

    observation: Observation
    seen: frozenset[str]


class StateTracker:
    """The state of a match, as far as it is known.

    Args:
        game: the rules.
        role: whose percepts are told.
        random: for what must be guessed.
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

    def give(self, state: State) -> None:
        """Take a state for the only one that is possible; what was told stays."""
        self._states = [state]

    @property
    def view(self) -> RoleView:
        """What the role was told since the match began."""
        return RoleView(self._start, tuple([turn.observation for turn in self._turns]))

    @property
    def state(self) -> State:
        """A state that agrees with everything told, the only one if every move was."""
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
        if self.game.is_gdl2:
            self._observe(joint[self._index], self.state.percepts(joint)[self.role], None)
        self._states = [self.state.next(joint)]

    def _observe(self, move: Term | None, percepts: Sequence[Term], legal: tuple[Term, ...] | None) -> None:
        self._turns.append(_Turn(Observation(move, tuple(percepts), legal), _texts(percepts)))

    def perceive(
        self,
        move: Term | None,
        percepts: Sequence[Term],
        deadline: float,
        legal: tuple[Term, ...] | None = None,
    ) -> None:
        """Go on by what was seen of a turn.

        Args:
            move: of the player itself; None if that was not told either.
            percepts: what it saw.
            deadline: when to stop looking, as `time.monotonic` counts.
            legal: what it may do next, where that is known.

        Raises:
            LostTrackError: the move was not legal in any state that is possible.
        """
        told = self._told(percepts)
        if told is not None:
            self.advance(told)
            return
        self._observe(move, percepts, legal)
        turn = self._turns[-1]
        found: dict[State, None] = {}
        guessed: dict[State, None] = {}
        quota = -(-_MOST_STATES // len(self._states))
        for before in self._states:
            enough = len(found) + quota
            for joint in self._joints(before, move):
                if len(found) >= enough or (monotonic() > deadline and (found or guessed)):
                    break
                state = self._following(before, joint, turn)
                if state is not None:
                    found[state] = None
                elif len(guessed) < _MOST_STATES:
                    guessed[before.next(joint)] = None
        if not found:
            found.update(dict.fromkeys(self._replayed(deadline)))
        # Where nothing fits, the states carried so far were too few. What is legal may be the same in others.
        if not found and not guessed:
            raise LostTrackError(f"the move {move} is not legal in any state that fits what was seen")
        self._known = False
        self._states = list(found or guessed)
        self._random.shuffle(self._states)

    def _replayed(self, deadline: float) -> Iterator[State]:
        """Yield states behind matches that are played from the start until all that was seen fits."""
        found = 0
        for _ in range(_MOST_REPLAYS):
            state: State | None = self._start
            for turn in self._turns:
                if state is None or monotonic() > deadline:
                    break
                joints = islice(self._joints(state, turn.observation.move), _MOST_TRIED_AGAIN)
                following = (self._following(state, joint, turn) for joint in joints)
                state = next((each for each in following if each is not None), None)
            else:
                if state is not None:
                    yield state
                    found += 1
            if found == _MOST_STATES or monotonic() > deadline:
                break

    def _following(self, state: State, joint: Sequence[Term], turn: _Turn) -> State | None:
        """Return the state behind a joint move, if the move looks as it did; else None."""
        if _texts(state.percepts(joint)[self.role]) != turn.seen:
            return None
        following = state.next(joint)
        legal = turn.observation.legal
        fits = legal is None or following.legal_moves(self.role) == legal
        return following if fits else None

    def _told(self, percepts: Iterable[Term]) -> tuple[Term, ...] | None:
        """Return the joint move, where percepts tell it: managers add such percepts to games without any."""
        did = {
            percept.arguments[0]: percept.arguments[1]
            for percept in percepts
            if isinstance(percept, Compound) and percept.functor == "did" and len(percept.arguments) == 2
        }
        moves = [did.get(role.term) for role in self.game.roles]
        return self.joint_of([move for move in moves if move is not None]) if None not in moves else None

    def _joints(self, state: State, own: Term | None) -> Iterator[tuple[Term, ...]]:
        """Yield joint moves with a move of ours, in random order."""
        options = [list(state.legal_moves(role)) for role in self.game.roles]
        if own is not None:
            done = match_ignoring_case(own, options[self._index])
            if done is None:
                return
            options[self._index] = [done]
        for moves in options:
            self._random.shuffle(moves)
        yield from islice(product(*options), _MOST_JOINTS)


def _texts(percepts: Iterable[Term]) -> frozenset[str]:
    """Return percepts so that they can be compared though case has got lost."""
    return frozenset(str(percept).lower() for percept in percepts)
