"""A match between people and players.

A role with a single legal move makes this move automatically, and the moves of ``random`` are sampled. Every
change is written to the record, from which another process can resume the match.
"""

from __future__ import annotations

import asyncio
from random import Random
from time import monotonic, time
from typing import TYPE_CHECKING, Any, Final, Literal

from anygame.errors import AnygameError, IllegalMoveError
from anygame.match.course import LEAVING, Course, move_of, summary_of
from anygame.match.judging import Verdict, judge

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.match.opponents import Opponent
    from anygame.match.record import Record

#: Number of joint moves after which a match ends without a result. Without this limit, a match without
#: choices could run forever and fill the disk.
_LONGEST: Final = 5_000
#: Duration in seconds of the pause after a joint move, so that people can follow the match.
_PACE: Final = 0.4


class HostedMatch(Course):
    """A match between people and players.

    ``opponents`` maps the index of a role to its player. ``keep`` writes the record, and ``changed`` is
    called after every change of the match.
    """

    def __init__(
        self,
        game: Game,
        record: Record,
        states: Sequence[State],
        opponents: Mapping[int, Opponent],
        *,
        keep: Callable[[Record], None],
        changed: Callable[[], None],
    ) -> None:
        super().__init__(game, record, states)
        self.opponents = dict(opponents)
        #: Moves chosen in the current turn, by the index of the role.
        self.chosen: dict[int, Term] = {}
        self.verdicts: dict[int, Verdict] = {}
        self._keep = keep
        self._changed = changed
        self._lock = asyncio.Lock()
        self._asked: dict[int, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._restart_time()
        clock = record.own.get("clock")
        #: Seconds that each person has for the match, and seconds added for each move; None without a clock.
        self._clock: tuple[float, float] | None = tuple(clock) if clock else None
        self._timer: asyncio.TimerHandle | None = None
        self._random = Random(f"{record.own.get('seed')}:{record.step}")
        roles = enumerate(game.roles)
        self.people = {index for index, role in roles if not (role.is_random or index in self.opponents)}

    async def begin(self) -> None:
        """Summarise the last state, start all players, and advance to the first choice."""
        async with self._lock:
            self.summary = await asyncio.to_thread(summary_of, self.states[-1])
            for opponent in self.opponents.values():
                self._start_task(
                    opponent.prepare(self.record.match_id, self.game, list(self.line), self.states[-1])
                )
        self._start_task(self._advance_later())

    async def _advance_later(self, pause: float = 0.0) -> None:
        await asyncio.sleep(pause)
        async with self._lock:
            await self._advance()

    def _start_task(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def choose(self, index: int, text: str, step: int) -> None:
        """Choose a move for a person. Raises IllegalMoveError if the person cannot make this move now."""
        async with self._lock:
            role = self.game.roles[index]
            if step != len(self.line):
                raise IllegalMoveError("the match has advanced: look at the board again", role, text)
            if index not in self.turn:
                raise IllegalMoveError(f"{role} has no choice now", role, text)
            self.chosen[index] = move_of(text, role, self.states[-1])
            self._record_time(index)
            await self._advance()

    async def resign(self, index: int) -> None:
        """Resign for a role, which ends the match. Raises IllegalMoveError if the match is over."""
        async with self._lock:
            if self.is_over:
                role = self.game.roles[index]
                raise IllegalMoveError("the match is over already", role, "resign")
            await self._leave(index, "resigned")

    async def _leave(self, index: int, how: Literal["resigned", "late"]) -> None:
        role = str(self.game.roles[index])
        self.left = role, how
        self.record.own[how] = role
        self._reset_turn()
        await self._advance()

    async def take_back(self, roles: Collection[int]) -> None:
        """Go back to the last state in which one of the roles had a choice.

        Raises IllegalMoveError if none of the roles has had a choice.
        """
        async with self._lock:
            if self.left is not None:
                await self._go_back(len(self.line))
            elif not any(index in self.chosen for index in roles if index in self.choosing):
                step = self._last_choice(roles)
                if step is None:
                    raise IllegalMoveError("there is no move to take back")
                await self._go_back(step)
            for index in self.people:
                self.chosen.pop(index, None)
            await self._advance()

    def _last_choice(self, roles: Collection[int]) -> int | None:
        return next((step for step in reversed(range(len(self.line))) if self.chose[step] & set(roles)), None)

    @property
    def can_take_back(self) -> bool:
        return self.left is not None or self._last_choice(self.people) is not None

    async def _go_back(self, step: int) -> None:
        self._reset_turn()
        self.record.take_back_to(step)
        del self.states[step + 1 :]
        for steps in (self.line, self.chose, self._seen):
            del steps[step:]
        self.fault = ""
        self.left = None
        for key in ("fault", *LEAVING):
            self.record.own.pop(key, None)
        self.summary = await asyncio.to_thread(summary_of, self.states[-1])
        await asyncio.to_thread(self._keep, self.record)

    @property
    def turn(self) -> list[int]:
        if self.is_over:
            return []
        return [index for index in sorted(self.people & self.choosing) if index not in self.chosen]

    @property
    def thinking(self) -> list[int]:
        choosing = self.choosing
        awaited = [index for index in self._asked if index not in self.chosen]
        # If nobody has a choice, a player that is still getting ready counts as thinking.
        is_all = not (self.turn or self.game.is_gdl2)
        return [index for index in awaited if index in choosing] or (awaited if is_all else [])

    async def _advance(self) -> None:
        """Make joint moves until someone has a choice, and ask the players for their choices.

        After a joint move, there is a pause if no role has a choice in the next state, or if no people play.
        In games with hidden information, there is no pause for people, because a pause would reveal that
        nobody has a choice.
        """
        while not self.is_over:
            choosing = self.choosing
            for index, role in enumerate(self.game.roles):
                if role.is_random:
                    self.chosen.setdefault(index, self._random.choice(self.summary.legal[index]))
                elif index in self.people and index not in choosing:
                    self.chosen[index] = self.summary.legal[index][0]
            if len(self.chosen) < len(self.game.roles):
                for index in self.opponents:
                    if index not in self.chosen and index not in self._asked:
                        self._asked[index] = self._start_task(self._ask(index))
                break
            await self._step()
            nobody_chooses = not (self.people and (self.game.is_gdl2 or self.choosing))
            if not self.is_over and nobody_chooses:
                self._start_task(self._advance_later(_PACE))
                break
        self._watch_clocks()
        if self.is_over:
            await self._finish()
        self._changed()

    async def _step(self) -> None:
        joint = tuple([self.chosen[index] for index in range(len(self.game.roles))])
        try:
            verdicts = [self.verdicts.get(index, Verdict(move)) for index, move in enumerate(joint)]
            await self._follow(joint, verdicts)
        except AnygameError as error:
            self.fault = str(error)
            return
        self._reset_turn()
        if len(self.line) >= _LONGEST:
            self.fault = f"stopped after {_LONGEST:,} joint moves, the limit of a match"
        await asyncio.to_thread(self._keep, self.record)
        self._changed()

    def _reset_turn(self) -> None:
        self.chosen.clear()
        self._asked.clear()
        self.verdicts.clear()
        self._restart_time()

    def _restart_time(self) -> None:
        self._since = monotonic()
        self.since = time()

    async def _ask(self, index: int) -> None:
        """Ask a player for its move, and ignore the move if the match has changed in the meantime."""
        line, state = list(self.line), self.states[-1]
        reply = await self.opponents[index].reply(self.record.match_id, self.game, line, state)
        async with self._lock:
            if self.states[-1] is not state or self._asked.get(index) is not asyncio.current_task():
                return
            legal = self.summary.legal[index]
            verdict = self.verdicts[index] = judge(reply, legal, case_sensitive=self.game.case_sensitive)
            self.chosen[index] = verdict.move or self._random.choice(legal)
            self._record_time(index)
            await self._advance()

    async def _finish(self) -> None:
        if self.record.is_completed or self.record.is_aborted:
            return
        self.fault = self.fault or self.summary.fault
        self._note_result()
        await asyncio.to_thread(self._keep, self.record)
        for opponent in self.opponents.values():
            self._start_task(opponent.stop(list(self.line), self.states[-1]))

    def _record_time(self, index: int) -> None:
        used = self.record.own.setdefault("seconds", [0.0] * len(self.game.roles))
        more = self._clock[1] if self._clock and index in self.people else 0.0
        used[index] = round(used[index] + self._running - more, 1)

    @property
    def _running(self) -> float:
        """Number of seconds since the clocks of this turn started; 0 if the clocks do not run."""
        return monotonic() - self._since if self.is_running else 0.0

    @property
    def is_running(self) -> bool:
        seats = self.record.own.get("seats", ())
        return self._clock is None or all(seat["kind"] != "open" for seat in seats)

    def time_left(self, index: int) -> float | None:
        if self._clock is None or index not in self.people:
            return None
        used = self.record.own.get("seconds")
        return max(0.0, self._clock[0] - (used[index] if used else 0.0))

    def _watch_clocks(self) -> None:
        """Set a timer for the person who is the next to run out of time."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        left = [seconds for index in self.turn if (seconds := self.time_left(index)) is not None]
        if left and self.is_running:
            loop = asyncio.get_running_loop()
            until = max(0.0, min(left) - self._running) + 0.05
            self._timer = loop.call_later(until, lambda: self._start_task(self._time_out()))

    async def _time_out(self) -> None:
        async with self._lock:
            late = [index for index in self.turn if (self.time_left(index) or 0.0) <= self._running]
            if late and not self.is_over:
                await self._leave(late[0], "late")

    async def seat_taken(self) -> None:
        """Handle a person who has joined. The clocks start when all people have joined."""
        async with self._lock:
            if self._clock is not None:
                self._restart_time()
            self._watch_clocks()
            self._changed()

    async def close(self) -> None:
        """Close all players."""
        await asyncio.gather(*[one.close() for one in self.opponents.values()], return_exceptions=True)
