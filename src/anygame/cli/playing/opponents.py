"""The players that a person plays against: they get ready and think beside the prompt, under their clocks."""

from __future__ import annotations

import asyncio
from concurrent.futures import CancelledError, Future
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from anygame.match.seats import MatchInfo, Reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.match.seats import Seat
    from anygame.players.failures import Failures

_Result = TypeVar("_Result")
#: The states of a match so far, and the joint moves between them.
Course = tuple["Sequence[State]", "Sequence[tuple[Term, ...]]"]


class Opponents:
    """The seats of all roles that no person has.

    Attributes:
        seats: by role.
        clock: seconds for a move, and to get ready.
    """

    def __init__(self, seats: Mapping[Role, Seat], clock: float) -> None:
        self.seats = seats
        self.clock = clock
        self._match = ""
        self._started: Future[list[Reply]] | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="opponents", daemon=True)
        self._thread.start()

    def start(self, match_id: str, game: Game, course: Callable[[], Course], failures: Failures) -> None:
        """Let them get ready, while the person looks at the board.

        Args:
            match_id: the name of the match.
            game: its rules.
            course: returns the states so far, and the joint moves between them.
            failures: see `MatchInfo`.
        """
        self._match = match_id

        def ready(role: Role, seat: Seat) -> Awaitable[Reply]:
            clock = self.clock
            return seat.start(
                MatchInfo(
                    match_id,
                    game,
                    role,
                    clock,
                    clock,
                    state=lambda: course()[0][-1],
                    failures=failures,
                    course=lambda: (course()[0][0], course()[1]),
                )
            )

        self._started = self._submit(self._all(ready))

    def ask(self, joint: tuple[Term, ...] | None) -> dict[Role, tuple[Reply, float]]:
        """Return what each replies to PLAY, and after how many seconds.

        Raises:
            KeyboardInterrupt: the person would not wait; they can be asked again.
        """
        if self._started is not None:
            self._wait(self._started)
            self._started = None

        async def timed(role: Role, seat: Seat) -> tuple[Reply, float]:
            begin = monotonic()
            return await seat.play(self._match, joint, self.clock), monotonic() - begin

        return dict(zip(self.seats, self._wait(self._submit(self._all(timed))), strict=True))

    def stop(self, joint: tuple[Term, ...] | None) -> None:
        """Report them that the game is over."""
        self._wait(self._submit(self._all(lambda _, seat: seat.stop(self._match, joint))))

    def abort(self) -> None:
        """Report them that the game ends without a result."""
        self._wait(self._submit(self._all(lambda _, seat: seat.abort(self._match))))

    def close(self) -> None:
        """Let go of all of them."""
        self._wait(self._submit(self._all(lambda _, seat: seat.close())))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _all(self, message: Callable[[Role, Seat], Awaitable[_Result]]) -> list[_Result]:
        return list(await asyncio.gather(*[message(role, seat) for role, seat in self.seats.items()]))

    def _submit(self, work: Coroutine[Any, Any, _Result]) -> Future[_Result]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _wait(self, future: Future[_Result]) -> _Result:
        try:
            return future.result()
        except CancelledError:
            raise KeyboardInterrupt from None
        except KeyboardInterrupt:
            future.cancel()
            raise
