"""One match as a player takes part in it: what each message does, and an answer before the clock is up.

The rules are followed in one thread and the player thinks in another, so that a player that hangs keeps
nobody from knowing a legal move. The loop waits for neither longer than the clock allows.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from random import Random
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from anygame.language.terms import Term
from anygame.match.workers import PlayerFailedError, Worker
from anygame.players.player import goals_of
from anygame.protocol.following import Follower, LostError
from anygame.protocol.habits import load_game
from anygame.protocol.messages import Play, PlayII, Stop, StopII
from anygame.protocol.reading import spaced
from anygame.protocol.replies import BUSY, NIL, READY
from anygame.protocol.spelling import Spelling, nearest
from anygame.protocol.thinking import MatchClock

if TYPE_CHECKING:
    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.players.clock import Clock
    from anygame.players.player import Player
    from anygame.protocol.habits import Habits
    from anygame.protocol.messages import Start
    from anygame.protocol.thinking import Thinker

__all__ = ["Engagement"]

_FAREWELL: Final = 10.0
#: Of the clock, the part that may be spent on finding states that fit the percepts.
_SHARE_OF_GUESSING: Final = 0.3


@dataclass(slots=True, eq=False)
class _Turn:
    """What was asked, whether the state has been brought up to it, and the task that finds the answer."""

    message: Play | PlayII
    is_followed: bool = False
    answer: asyncio.Task[str] | None = None

    @property
    def given(self) -> str | None:
        """The answer; None as long as there is none."""
        task = self.answer
        if task is None or not task.done():
            return None
        return NIL if task.cancelled() else task.result()


class Engagement:
    """A match that a player is engaged in, from START to STOP or ABORT.

    Attributes:
        start: the message it began with.
        fault: what went wrong with the rules or the player, for people; empty as long as nothing has.
    """

    def __init__(self, start: Start, thinker: Thinker, habits: Habits) -> None:
        self.start = start
        self.fault = ""
        self._thinker = thinker
        self._habits = habits
        self._random = Random()
        self._ended = Event()
        self._rules = Worker("rules")
        self._spelling: Spelling | None = None
        self._made: Term | None = None
        self._loading: asyncio.Future[Any] = self._rules.submit(self._load)
        self._loading.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._preparing: asyncio.Task[str] | None = None
        self._turn: _Turn | None = None
        self._turns = 0

    # -- START ---------------------------------------------------------------------------------------

    async def prepare(self, arrived: float) -> str:
        """Return ``ready`` when the player is, or the clock is nearly up; ``busy`` if it cannot play this."""
        if self._preparing is None:
            self._preparing = asyncio.create_task(self._prepare(arrived))
        due = self._habits.answer_by(arrived, self.start.start_clock)
        await asyncio.wait([self._preparing], timeout=max(0.0, due - monotonic()))
        if self._preparing.cancelled():
            return BUSY
        return self._preparing.result() if self._preparing.done() else READY

    async def _prepare(self, arrived: float) -> str:
        try:
            follower = await asyncio.shield(self._loading)
            clock = self._clock(arrived, self.start.start_clock)
            await self._thinker.call(lambda player: player.start(follower.game, follower.role, clock))
        except PlayerFailedError as error:
            self.fault = str(error)
            return BUSY
        return READY

    def _load(self) -> Follower:
        """Load the rules, in a thread."""
        self._spelling = Spelling(self.start.rules)
        longest = max(self.start.start_clock, self.start.play_clock)
        game = load_game(self.start.rules, self._habits, longest)
        return Follower(game, _role(game, self.start.role), self._random)

    # -- PLAY ----------------------------------------------------------------------------------------

    async def play(self, message: Play | PlayII, arrived: float) -> str:
        """Return a move before the clock is up; the same again for a message that was only repeated."""
        turn = self._turn
        if turn is None or not self._is_repeated(turn, message):
            if turn is not None and turn.answer is not None:
                turn.answer.cancel()
            turn = self._turn = _Turn(message)
            turn.answer = asyncio.create_task(self._answer(turn, arrived))
        assert turn.answer is not None
        await asyncio.wait([turn.answer])
        return turn.given or NIL

    def _is_repeated(self, turn: _Turn, message: Play | PlayII) -> bool:
        """Whether a message asks what was asked before, rather than for the next move."""
        if message != turn.message:
            return False
        if isinstance(message, PlayII) or not message.moves or not turn.is_followed or turn.given is None:
            return True
        # The same moves may be made twice running; if they cannot be, they were told twice. What is legal
        # has been computed for the answer.
        follower: Follower = self._loading.result()
        return follower.joint_of(message.moves) is None

    async def _answer(self, turn: _Turn, arrived: float) -> str:
        """Find a move; there is always an answer at the time that the clock allows."""
        due = self._habits.answer_by(arrived, self.start.play_clock)
        guess_by = arrived + _SHARE_OF_GUESSING * self.start.play_clock
        try:
            async with asyncio.timeout_at(due):
                await asyncio.shield(self._loading)
                following = self._rules.submit(lambda: self._followed(turn.message, guess_by))
                state, legal = await _to_its_end(following)
        except TimeoutError:
            self.fault = "the rules took all the time"
            return NIL
        except PlayerFailedError as error:
            self.fault = str(error)
            return NIL
        turn.is_followed = True
        self._made = await self._chosen(state, legal, arrived, due) if legal else None
        return NIL if self._made is None else self._spelled(self._made)

    def _followed(
        self, message: Play | PlayII | Stop | StopII, guess_by: float
    ) -> tuple[State, tuple[Term, ...]]:
        """Bring the state up to what a message tells, in a thread; return it and what the player may do."""
        follower: Follower = self._loading.result()
        if isinstance(message, PlayII | StopII):
            if message.turn == 0:
                follower.restart()
            elif message.turn == self._turns + 1:
                follower.perceive(message.move, message.percepts, guess_by)
            else:
                raise LostError(f"turn {message.turn} was told after turn {self._turns}")
            self._turns = message.turn
        elif message.moves is None or not (message.moves or follower.game.is_gdl2):
            follower.restart()
        else:
            self._advance(follower, message.moves, guess_by)
        return follower.state, follower.state.legal_moves(follower.role)

    def _advance(self, follower: Follower, moves: tuple[Term, ...], guess_by: float) -> None:
        """Go on by the list of a short message: moves, or in old GDL-II the percepts."""
        is_blind = self._habits.gdl2 and follower.game.is_gdl2
        joint = None if is_blind else follower.joint_of(moves)
        if joint is not None:
            follower.advance(joint)
        elif follower.game.is_gdl2:
            # Its own move the player is not told: it must take it that what it answered was done.
            follower.perceive(self._made, moves, guess_by)
        else:
            raise LostError(f"these moves are not legal here: {' '.join(map(str, moves))}"[:500])

    async def _chosen(self, state: State, legal: tuple[Term, ...], arrived: float, due: float) -> Term:
        """Let the player choose; return its best move so far, or any, where it does not in time."""
        clock = self._clock(arrived, self.start.play_clock)
        has_begun = Event()

        def think(player: Player) -> object:
            player.best = None
            has_begun.set()
            return player.move(state, clock)

        move: object = None
        try:
            async with asyncio.timeout_at(due):
                move = await self._thinker.call(think)
        except TimeoutError:
            self.fault = "the player took all the time"
        except PlayerFailedError as error:
            self.fault = f"the player failed: {error}"
        player = self._thinker.player
        best = player.best if player is not None and has_begun.is_set() else None
        found = _legal(move, legal) or _legal(best, legal)
        if move is not None and _legal(move, legal) is None:
            self.fault = f"the player chose what is not legal: {move}"[:500]
        return found if found is not None else self._random.choice(legal)

    # -- STOP and ABORT ------------------------------------------------------------------------------

    def end(self) -> None:
        """Let whoever thinks stop thinking, and answer what is still to be answered."""
        self._ended.set()
        if self._turn is not None and self._turn.answer is not None:
            self._turn.answer.cancel()
        if self._preparing is not None:
            self._preparing.cancel()

    async def say_goodbye(self, message: Stop | StopII | None) -> bool:
        """Tell the player how the match ended, None for without a result; return whether it has understood.

        What does not come to its end within some seconds is left behind.
        """
        deadline = monotonic() + _FAREWELL
        try:
            async with asyncio.timeout_at(deadline):
                if message is None:
                    await self._thinker.call(lambda player: player.abort())
                else:
                    goals = await self._rules.submit(lambda: self._goals(message, deadline))
                    await self._thinker.call(lambda player: player.stop(goals))
        except (TimeoutError, PlayerFailedError, asyncio.CancelledError) as error:
            self.fault = f"the player did not take leave: {error or 'no time'}"
            return False
        return True

    def close(self) -> asyncio.Future[Any]:
        """Let go of the rules; return what is done when nobody is at work on them any more."""
        done = self._rules.submit(lambda: None)
        self._rules.close()
        return done

    def _goals(self, message: Stop | StopII, deadline: float) -> dict[Role, int | None]:
        state, _ = self._followed(message, deadline)
        return goals_of(state)

    @property
    def is_asked(self) -> bool:
        """Whether the manager waits for an answer."""
        is_preparing = self._preparing is not None and not self._preparing.done()
        return is_preparing or (self._turn is not None and self._turn.given is None)

    def take_fault(self) -> str:
        """Return what went wrong since this was last asked."""
        fault, self.fault = self.fault, ""
        return fault

    # -- clocks and words ----------------------------------------------------------------------------

    def _clock(self, arrived: float, seconds: float) -> Clock:
        return MatchClock(seconds, self._habits.think_by(arrived, seconds), self._ended)

    def _spelled(self, move: Term) -> str:
        return spaced(self._spelling.spelled(str(move)) if self._spelling else str(move))


def _role(game: Game, term: Term) -> Role:
    """Return the role that a message names; capitals may have got lost."""
    found = nearest(term, [role.term for role in game.roles])
    return game.roles[game.role_index(found or term)]


def _legal(move: object, legal: tuple[Term, ...]) -> Term | None:
    if isinstance(move, Term):
        return nearest(move, legal)
    return next((each for each in legal if str(each) == move), None)


async def _to_its_end(future: asyncio.Future[Any]) -> Any:
    """Wait for a call that is made even when nobody waits any more."""
    future.add_done_callback(lambda done: done.cancelled() or done.exception())
    return await asyncio.shield(future)
