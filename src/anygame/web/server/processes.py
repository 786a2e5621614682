"""Processes that carry out commands of the server, and errors for visitors."""

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
#: Sheets are read with a lower priority than moves of people.
_WORKER_NICENESS: Final = 15
#: Maximum seconds of a command while other commands wait; one second usually suffices.
_WHILE_OTHERS_WAIT: Final = 5.0
#: Seconds after which a refused visitor should retry.
RETRY_AFTER: Final = 30


class MatchFaultError(AnygameError):
    """A request cannot be met; the message is for the visitor, and ``status`` is the HTTP status."""

    status: ClassVar[int] = 400


class NotFoundError(MatchFaultError):
    """There is no such page."""

    status = 404


class RefusedError(MatchFaultError):
    """The visitor is not allowed to do that."""

    status = 403


def response_to(error: Exception) -> tuple[int, dict[str, str]]:
    """Return status and headers of the response to a request that failed."""
    if isinstance(error, BusyError):
        return 503, {"Retry-After": str(RETRY_AFTER)}
    if isinstance(error, ChildEndedError):
        return 503, {}
    return (error.status if isinstance(error, MatchFaultError) else 400), {}


def try_again(what: str) -> str:
    """Return a sentence about a limit of the server, with the seconds until the visitor should retry."""
    return f"{what}: try again in {RETRY_AFTER} seconds"


class HostProcess(ChildProcess):
    """A process for one match.

    It calls ``on_view`` with each view of a change that the process reports, and ``ended`` at its end.
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

        With ``is_view``, the answer is a view of the match, and ``on_view`` gets it before newer views.
        """
        on_answer = self.on_view if is_view else lambda _: None
        return await self.ask({"do": what} | arguments, within, on_answer)

    def _receive_event(self, message: object) -> None:
        match message:
            case {"event": "changed", "view": dict(view)}:
                self.on_view(view)
            case _:
                raise ValueError("no event")


class WorkerPool(Pool[HostProcess]):
    """Processes of at most ``memory`` bytes for single commands; admission limits how many run at a time."""

    def __init__(self, admission: Admission, memory: int) -> None:
        super().__init__(lambda: HostProcess(memory, _WORKER_NICENESS))
        self._admission = admission

    async def ask(self, what: str, *, within: float, **arguments: Any) -> Any:
        """Send a command to a worker; see `anygame.web.hosting.session`.

        Args:
            what: name of the command.
            within: time limit in seconds, including the wait; while other commands wait, it is lower.
            arguments: arguments of the command.

        Raises:
            ChildFaultError: the command failed.
            BusyError: too many commands wait, or the command took too long while others waited.
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
