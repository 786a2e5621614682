"""Processes of matches: commands to them, answers and events from them; errors for visitors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from anygame.errors import AnygameError
from anygame.processes.child import ChildEndedError, ChildProcess
from anygame.processes.pool import Admission, BusyError, Pool
from anygame.web.settings import LONGEST_ANSWER

if TYPE_CHECKING:
    from collections.abc import Callable


#: Players think with a lower priority than the server, which answers browsers.
_NICENESS: Final = 5
#: Seconds that a refused visitor should wait.
RETRY_AFTER: Final = 30


class MatchFaultError(AnygameError):
    """A request cannot be met; the message is for the visitor. ``status`` is that of the response."""

    status: ClassVar[int] = 400


class NotFoundError(MatchFaultError):
    """There is no such page."""

    status = 404


class RefusedError(MatchFaultError):
    """The visitor may not do that."""

    status = 403


def response_to(error: Exception) -> tuple[int, dict[str, str]]:
    """Return status and headers of the response to a request that failed."""
    if isinstance(error, BusyError):
        return 503, {"Retry-After": str(RETRY_AFTER)}
    if isinstance(error, ChildEndedError):
        return 503, {}
    return (error.status if isinstance(error, MatchFaultError) else 400), {}


def try_again(what: str) -> str:
    """Return a sentence for visitors about a limit of the server, with the time to try again."""
    return f"{what}: try again in {RETRY_AFTER} seconds"


class HostProcess(ChildProcess):
    """A process for one match.

    Calls ``on_view`` with every view that the process sends unasked, and ``ended`` when the process ends.
    """

    def __init__(self, memory: int, niceness: int = _NICENESS) -> None:
        self.on_view: Callable[[dict[str, Any]], object] = lambda _: None
        self.ended: Callable[[], None] = lambda: None
        super().__init__(
            "anygame.web.hosting.process",
            memory,
            niceness,
            name="the process of the match",
            longest=LONGEST_ANSWER,
            received=self._receive_event,
            ended=lambda _: self.ended(),
        )

    async def carry_out(self, what: str, *, within: float, is_view: bool = False, **arguments: Any) -> Any:
        """Send a command to the process; see `anygame.web.hosting.session`. Raises the errors of `ask`.

        With ``is_view``, the answer is a view of the match. It goes to ``on_view`` before any newer view.
        """
        on_answer = self.on_view if is_view else lambda _: None
        return await self.ask({"do": what} | arguments, within, on_answer)

    def _receive_event(self, message: object) -> None:
        match message:
            case {"event": "changed", "view": dict(view)}:
                self.on_view(view)
            case _:
                raise ValueError("no event")


#: Maximum seconds of a command while others wait; one second usually suffices.
_WHILE_OTHERS_WAIT: Final = 5.0
#: Reading sheets has a lower priority than moves of people.
_WORKER_NICENESS: Final = 15


class WorkerPool(Pool[HostProcess]):
    """Processes for single commands; admission limits how many run at a time. ``memory`` is in bytes."""

    def __init__(self, admission: Admission, memory: int) -> None:
        super().__init__(lambda: HostProcess(memory, _WORKER_NICENESS))
        self._admission = admission

    async def ask(self, what: str, *, within: float, **arguments: Any) -> Any:
        """Send a command to a worker; see `anygame.web.hosting.session`.

        ``within`` is the time limit in seconds, waiting included; less if others are waiting.

        Raises:
            ChildFaultError: the command failed.
            BusyError: too many visitors wait, or no process had time.
            ChildEndedError: the command took too long.
        """
        async with self._admission.place(within) as left:
            is_wanted = self._admission.is_wanted
            seconds = min(left, _WHILE_OTHERS_WAIT) if is_wanted else left
            async with self.child() as process:
                try:
                    return await process.carry_out(what, within=seconds, **arguments)
                except ChildEndedError:
                    if is_wanted:
                        raise self._admission.busy() from None
                    raise
