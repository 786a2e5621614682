"""A player in a match in which moves can be taken back."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from anygame.match.local import LocalSeat
from anygame.match.running import continued
from anygame.match.seats import MatchInfo, Reply

if TYPE_CHECKING:
    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.match.seats import Seat
    from anygame.players.player import Failures

Line = Sequence[tuple["Term", ...]]


class Opponent:
    """Player of one role in a match in which moves can be taken back; ``clock`` is in seconds.

    The protocol has no message that takes moves back. A remote player therefore receives ABORT, and START for
    a match that begins in the earlier state (see `anygame.match.running.continued`). In games with hidden
    information, the earlier state would reveal hidden facts. With hidden information, the new match begins in
    the first state, and the player gets its percepts again. A player in this process gets the state directly.
    """

    def __init__(self, seat: Seat, role: Role, clock: float, failures: Failures | None = None) -> None:
        self.name = seat.name
        self.role = role
        self.clock = clock
        self.failures = failures
        self._is_remote = not isinstance(seat, LocalSeat)
        self._seat = seat
        self._state: State
        #: Joint moves that the player knows; None before START and after STOP.
        self._line: list[tuple[Term, ...]] | None = None
        self._id = ""
        self._is_asked = False
        self._starts = 0
        # People can take moves back while the player thinks, so calls to the seat wait for each other.
        self._busy = asyncio.Lock()

    async def prepare(self, match_id: str, game: Game, line: Line, state: State) -> None:
        """Start a match for the player in the state after a line of joint moves."""
        async with self._busy:
            await self._start(match_id, game, line, state)

    async def reply(self, match_id: str, game: Game, line: Line, state: State) -> Reply:
        """Ask for a move in the state after a line of joint moves."""
        async with self._busy:
            self._state = state
            is_next = self._is_asked and self._line is not None and list(line[:-1]) == self._line
            is_first = not self._is_asked and list(line) == self._line
            if self._line is None or (self._is_remote and not (is_next or is_first)):
                await self._start(match_id, game, line, state)
                is_next = False
            self._line = list(line)
            self._is_asked = True
            last = line[-1] if line and (is_next or game.is_gdl2) else None
            return await self._seat.play(self._id, last, self.clock)

    async def _start(self, match_id: str, game: Game, line: Line, state: State) -> None:
        if self._starts:
            await self._seat.abort(self._id)
        if line and self._is_remote and not game.is_gdl2:
            game = await asyncio.to_thread(continued, state)
        self._starts += 1
        self._id = f"{match_id}.{game.role_index(self.role)}.{self._starts}"
        self._state = state
        self._line = list(line)
        self._is_asked = False
        first = game.initial_state()
        has_course = game.is_gdl2 or not self._is_remote
        await self._seat.start(
            MatchInfo(
                self._id,
                game,
                self.role,
                self.clock,
                self.clock,
                state=None if self._is_remote else lambda: self._state,
                failures=self.failures,
                course=(lambda: (first, list(self._line or ()))) if has_course else None,
            )
        )

    async def stop(self, line: Line, state: State) -> None:
        """Report the end of the match."""
        async with self._busy:
            self._state = state
            if self._line is not None:
                self._line = None
                await self._seat.stop(self._id, line[-1] if line else None)

    async def close(self) -> None:
        """Abort an unfinished match, and close the seat."""
        if self._line is not None:
            await self._seat.abort(self._id)
        await self._seat.close()
