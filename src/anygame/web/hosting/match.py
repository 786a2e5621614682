"""A match as its process leads it: moves of people as they come, moves of players when they are asked.

A role that has a single legal move while another role chooses makes it by itself, and chance is drawn here.
Every change is kept in the record of the match, from which it goes on when its process is started anew.
"""

from __future__ import annotations

import asyncio
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import AnygameError, IllegalMoveError
from anygame.match.judging import Verdict, judge
from anygame.web.hosting.course import Course, look_at, move_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.match.opponents import Opponent
    from anygame.match.record import Record

#: Joint moves after which a match ends without a result: people do not play as long, and rules that go on by
#: themselves for ever would fill the disk.
_LONGEST: Final = 5_000
#: Seconds between moves of a match without people, so that it can be watched.
_PACE: Final = 0.4


class HostedMatch(Course):
    """A match between people and players.

    Args:
        game: the rules.
        record: of the match, with the states so far; it grows.
        states: those of the record; the initial one at least.
        opponents: by the index of their role.
        keep: writes the record.
        changed: is called when something has changed.
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
        self.chosen: dict[int, Term] = {}
        self.verdicts: dict[int, Verdict] = {}
        self._keep = keep
        self._changed = changed
        self._lock = asyncio.Lock()
        self._asked: dict[int, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._since = monotonic()
        self._random = Random(f"{record.own.get('seed')}:{record.step}")
        self.people = {
            index
            for index, role in enumerate(game.roles)
            if index not in self.opponents and not role.is_random
        }

    async def begin(self) -> None:
        """Look at the last state, let players get ready, and go on as far as nobody must choose."""
        async with self._lock:
            self.look = await asyncio.to_thread(look_at, self.states[-1])
            for opponent in self.opponents.values():
                self._aside(
                    opponent.prepare(self.record.match_id, self.game, list(self.line), self.states[-1])
                )
        self._aside(self._go_on())

    async def _go_on(self) -> None:
        async with self._lock:
            await self._advance()

    def _aside(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def choose(self, index: int, text: str, step: int) -> None:
        """Take the move of a person.

        Raises:
            IllegalMoveError: the match has gone on meanwhile, it is not for this role to choose, or the move
                is not legal.
        """
        async with self._lock:
            role = self.game.roles[index]
            if step != len(self.line):
                raise IllegalMoveError("the match has gone on meanwhile: look at the board again", role, text)
            if index not in self.turn:
                raise IllegalMoveError(f"it is not for {role} to move now", role, text)
            self.chosen[index] = move_of(text, role, self.states[-1])
            self._note_time(index)
            await self._advance()

    async def take_back(self, roles: Collection[int]) -> None:
        """Go back to the last state in which one of some roles chose.

        Raises:
            IllegalMoveError: there is none.
        """
        async with self._lock:
            if not any(index in self.chosen for index in roles if index in self.choosing(self.look)):
                step = await asyncio.to_thread(self._former_choice, roles)
                if step is None:
                    raise IllegalMoveError("there is no move to take back")
                await self._go_back(step)
            for index in self.people:
                self.chosen.pop(index, None)
            await self._advance()

    def _former_choice(self, roles: Collection[int]) -> int | None:
        for step in range(len(self.line) - 1, -1, -1):
            if set(roles) & self.choosing(look_at(self.states[step])):
                return step
        return None

    async def _go_back(self, step: int) -> None:
        self._forget_asking()
        await super()._go_back(step)
        await asyncio.to_thread(self._keep, self.record)

    @property
    def turn(self) -> list[int]:
        """The indices of the people's roles that have yet to choose."""
        if self.is_over:
            return []
        return [index for index in sorted(self.people & self.choosing(self.look)) if index not in self.chosen]

    @property
    def thinking(self) -> list[int]:
        """The indices of the players' roles whose choice is waited for."""
        choosing = self.choosing(self.look)
        return [index for index in self._asked if index not in self.chosen and index in choosing]

    async def _advance(self) -> None:
        """Go on as long as nobody has to choose; ask the players who have to."""
        while not self.is_over:
            choosing = self.choosing(self.look)
            for index, role in enumerate(self.game.roles):
                if role.is_random:
                    self.chosen.setdefault(index, self._random.choice(self.look.legal[index]))
                elif index in self.people and index not in choosing:
                    self.chosen[index] = self.look.legal[index][0]
            if len(self.chosen) < len(self.game.roles):
                for index in self.opponents:
                    if index not in self.chosen and index not in self._asked:
                        self._asked[index] = self._aside(self._ask(index))
                break
            await self._step()
        if self.is_over:
            await self._finish()
        self._changed()

    async def _step(self) -> None:
        joint = tuple([self.chosen[index] for index in range(len(self.game.roles))])
        if not self.people:
            await asyncio.sleep(_PACE)
        try:
            verdicts = [self.verdicts.get(index, Verdict(move)) for index, move in enumerate(joint)]
            await self._follow(joint, verdicts)
        except AnygameError as error:
            self.fault = str(error)
            return
        self._forget_asking()
        if len(self.line) >= _LONGEST:
            self.fault = f"given up after {_LONGEST:,} joint moves"
        await asyncio.to_thread(self._keep, self.record)
        self._changed()

    def _forget_asking(self) -> None:
        self.chosen.clear()
        self._asked.clear()
        self.verdicts.clear()
        self._since = monotonic()

    async def _ask(self, index: int) -> None:
        """Ask a player, and take its move unless moves were taken back meanwhile."""
        line, state = list(self.line), self.states[-1]
        reply = await self.opponents[index].reply(self.record.match_id, self.game, line, state)
        async with self._lock:
            if self.states[-1] is not state or self._asked.get(index) is not asyncio.current_task():
                return
            legal = self.look.legal[index]
            verdict = self.verdicts[index] = judge(reply, legal, case_sensitive=self.game.case_sensitive)
            self.chosen[index] = verdict.move or self._random.choice(legal)
            self._note_time(index)
            await self._advance()

    async def _finish(self) -> None:
        if self.record.is_completed or self.record.is_aborted:
            return
        if self.look.stuck is not None and not self.fault:
            self.fault = f"the rules give {self.look.stuck} no legal move, though the game is not over"
        if self.fault:
            self.record.is_aborted = True
            self.record.own["fault"] = self.fault
        else:
            self.record.is_completed = True
            self.record.goals = [goal or 0 for goal in self.look.goals]
        await asyncio.to_thread(self._keep, self.record)
        for opponent in self.opponents.values():
            self._aside(opponent.stop(list(self.line), self.states[-1]))

    def _note_time(self, index: int) -> None:
        used = self.record.own.setdefault("seconds", [0.0] * len(self.game.roles))
        used[index] = round(used[index] + monotonic() - self._since, 1)

    async def close(self) -> None:
        """Take leave of all players."""
        await asyncio.gather(*[one.close() for one in self.opponents.values()], return_exceptions=True)
