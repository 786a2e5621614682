"""The referee, which runs one match turn after turn. No player can crash the referee.

Like the reference manager, the referee asks all players at the same time, and samples the moves of the role
``random``. Before each turn, the referee samples a legal move for every role. The sampled move replaces a
reply that is late, missing or not a legal move. Replies to START do not affect the match. If the rules have
an error, all players receive ABORT. The record is written after every step.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Final

from anygame.errors import AnygameError, IllegalMoveError
from anygame.game.joint_moves import final_goals
from anygame.match.judging import Verdict, judge
from anygame.match.seats import (
    ABORT_CLOCK,
    CONNECTION_ERROR,
    PLAY_GRACE,
    REACH_CLOCK,
    TIMED_OUT,
    MatchInfo,
    Reply,
    is_person,
)
from anygame.players.player import Failures

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence
    from typing import Any

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.match.record import Record
    from anygame.match.seats import Seat

#: A seat without a reply times out this number of seconds after all clocks have ended.
_SLACK: Final = 2.0

Joint = tuple["Term", ...]
Moves = tuple[tuple["Term", ...], ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a match.

    Attributes:
        step: number of the turn, from 1.
        joint: joint move.
        verdicts: verdicts on the replies in the order of the roles. The verdict for ``random`` has its move
            and no error.
        seconds: seconds that each role took.
        state: state after the joint move.
    """

    step: int
    joint: Joint
    verdicts: tuple[Verdict, ...]
    seconds: tuple[float, ...]
    state: State


class Watcher:
    """Observer of a match, which ignores all events. Subclasses override the methods of events."""

    def started(self, record: Record, state: State) -> None:
        """Handle the start or the resumption of the match in a state."""

    def asked(self, step: int, seconds: float) -> None:
        """Handle a message to all players, which is START (step 0) or PLAY, and its clock in seconds."""

    def ready(self, verdicts: Sequence[Verdict], seconds: Sequence[float]) -> None:
        """Handle the replies to START: verdicts without a move, and the seconds that each reply took."""

    def moved(self, turn: Turn) -> None:
        """Handle a turn."""

    def ended(self, record: Record, fault: str) -> None:
        """Handle the end of the match; ``fault`` says why the match was aborted, or is empty."""


class Watchers(Watcher):
    """Watcher that forwards all events to several watchers."""

    def __init__(self, *watchers: Watcher) -> None:
        for event in ("started", "asked", "ready", "moved", "ended"):
            setattr(self, event, partial(_report, watchers, event))


def _report(watchers: Sequence[Watcher], event: str, *arguments: object) -> None:
    for watcher in watchers:
        getattr(watcher, event)(*arguments)


class Referee:
    """Runs one match.

    Args:
        game: rules; the match starts in their initial state.
        seats: seats in the order of the roles; None for a role ``random``.
        record: record whose last state is the initial state of the game. The seed in the record determines
            the random moves at each step.
        past: joint moves before an interruption. The match resumes after these moves, and the players
            receive the same messages again.
        keep: called with the record after each addition.
        watcher: observer of all events.
        wire_id: match id for players, if different from the id in the record.
        former_id: match id before an interruption, for which the players first receive ABORT.
        failures: reporter of errors in the code of players.
    """

    def __init__(
        self,
        game: Game,
        seats: Sequence[Seat | None],
        record: Record,
        *,
        past: Sequence[Joint] = (),
        keep: Callable[[Record], None] = lambda record: None,
        watcher: Watcher | None = None,
        wire_id: str = "",
        former_id: str = "",
        failures: Failures | None = None,
    ) -> None:
        self.game = game
        self.seats = tuple(seats)
        self.record = record
        self.fault = ""
        seed = record.own.get("seed")
        self._seed = seed if isinstance(seed, int) else 0
        self._keep = keep
        self._watcher = watcher or Watcher()
        self._id = wire_id or record.match_id
        self._former = former_id
        self._scramble = record.start_time if record.is_scrambled else None
        self._failures = failures or Failures()
        self._course: list[Joint] = list(past)
        self._is_announced = False

    async def play(self) -> Record:
        """Run the match to its end, and return the record.

        If the call is cancelled, all players receive ABORT, and the match is marked as aborted in the record.
        """
        try:
            await self._begin()
            while not self._state.is_terminal:
                await self._turn()
            await self._finish()
        except AnygameError as error:
            self.fault = self.record.own["fault"] = str(error)
            await self._give_up()
        except BaseException:
            await self._give_up()
            raise
        self._watcher.ended(self.record, self.fault)
        return self.record

    async def _begin(self) -> None:
        record = self.record
        self._first = self._state = self.game.initial_state()
        for joint in self._course:
            self._state = await asyncio.to_thread(self._state.next, joint)
        self._legal = await asyncio.to_thread(legal_in, self._state)
        record.is_aborted = record.is_completed = False
        record.own.pop("fault", None)
        is_new = not record.states
        if is_new:
            record.add_state(self._state, [""] * len(self.seats))
        self._keep(record)
        self._watcher.started(record, self._state)
        if self._former:
            await self._abort(self._former)
        self._is_announced = True
        self._watcher.asked(0, record.start_clock)
        replay_seconds = len(self._course) * (record.play_clock + PLAY_GRACE + REACH_CLOCK)
        replies = await self._ask(self._start, record.start_clock + REACH_CLOCK + replay_seconds)
        verdicts = [Verdict(None, reply.error or "", reply.detail, reply.said) for reply, _ in replies]
        if is_new:
            record.errors[0] = [verdict.error for verdict in verdicts]
            record.explain([verdict.detail for verdict in verdicts])
            record.quote([verdict.said for verdict in verdicts])
            self._keep(record)
        self._watcher.ready(verdicts, [seconds for _, seconds in replies])

    async def _turn(self) -> None:
        record = self.record
        random = Random(f"{self._seed}:{record.step}")
        sampled = tuple([random.choice(moves) for moves in self._legal])
        last = self._last
        clock = record.play_clock
        self._watcher.asked(record.step + 1, clock)
        replies = await self._ask(
            lambda _, seat: seat.play(self._id, last, clock), clock + PLAY_GRACE + REACH_CLOCK
        )
        verdicts = [
            Verdict(move) if seat is None else judge(reply, legal, case_sensitive=self.game.case_sensitive)
            for seat, (reply, _), move, legal in zip(self.seats, replies, sampled, self._legal, strict=True)
        ]
        joint = tuple([verdict.move or move for verdict, move in zip(verdicts, sampled, strict=True)])
        state = self._state = await asyncio.to_thread(self._state.next, joint)
        self._course.append(joint)
        record.add_turn(joint, state, verdicts)
        self._keep(record)
        seconds = tuple([seconds for _, seconds in replies])
        self._watcher.moved(Turn(record.step, joint, tuple(verdicts), seconds, state))
        self._legal = await asyncio.to_thread(legal_in, state)

    async def _finish(self) -> None:
        record = self.record
        record.goals = final_goals(self._state)
        record.is_completed = True
        self._keep(record)
        last = self._last
        await self._ask(lambda _, seat: seat.stop(self._id, last), record.play_clock + REACH_CLOCK)

    async def _give_up(self) -> None:
        if self.record.states and not self.record.is_completed:
            self.record.is_aborted = True
            self._keep(self.record)
        if self._is_announced:
            await self._abort(self._id)

    @property
    def _last(self) -> Joint | None:
        return self._course[-1] if self._course else None

    def _start(self, index: int, seat: Seat) -> Coroutine[Any, Any, Reply]:
        record = self.record
        return seat.start(
            MatchInfo(
                self._id,
                self.game,
                self.game.roles[index],
                record.start_clock,
                record.play_clock,
                self._scramble,
                lambda: self._state,
                self._failures,
                lambda: (self._first, self._course),
                self._seed,
                lambda: record.step,
            )
        )

    async def _abort(self, match_id: str) -> None:
        await self._ask(lambda _, seat: seat.abort(match_id), ABORT_CLOCK + REACH_CLOCK)

    async def _ask(
        self, message: Callable[[int, Seat], Awaitable[Reply | None]], seconds: float
    ) -> list[tuple[Reply, float]]:
        limit = seconds + _SLACK
        return await asyncio.gather(
            *[_guarded(message, index, seat, limit) for index, seat in enumerate(self.seats)]
        )


async def _guarded(
    message: Callable[[int, Seat], Awaitable[Reply | None]], index: int, seat: Seat | None, limit: float
) -> tuple[Reply, float]:
    """Ask a seat; return its reply or error, and the duration in seconds. People have no time limit."""
    begin = monotonic()
    if seat is None:
        return Reply(None), 0.0
    try:
        reply = await asyncio.wait_for(message(index, seat), None if is_person(seat) else limit)
    except TimeoutError:
        reply = Reply(None, TIMED_OUT, f"{seat.name} did not return within {limit:g} s")
    except Exception as error:
        reply = Reply(None, CONNECTION_ERROR, f"{seat.name}: {type(error).__name__}: {error}")
    return reply or Reply(None), monotonic() - begin


def legal_in(state: State) -> Moves:
    """Return the legal moves of every role, or an empty tuple if the game is over.

    Raises IllegalMoveError if the game is not over and a role has no legal move.
    """
    if state.is_terminal:
        return ()
    stuck = state.stuck_role
    if stuck is not None:
        raise IllegalMoveError(f"the rules give {stuck} no legal move although the game is not over", stuck)
    return tuple([state.legal_moves(role) for role in state.game.roles])
