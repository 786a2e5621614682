"""Child processes of the server, and errors for visitors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from anygame.errors import AnygameError
from anygame.processes.child import Admission, BusyError, ChildEndedError, ChildProcess, Pool
from anygame.web.settings import LONGEST_ANSWER

if TYPE_CHECKING:
    from collections.abc import Callable


#: Niceness of a match's process, whose players must not slow down the server.
_NICENESS: Final = 5
#: Niceness of a process that reads sheets, which must not slow down matches.
_WORKER_NICENESS: Final = 15
#: Time limit in seconds of a worker's command while other commands wait. Most commands take less than 1 s.
_WHILE_OTHERS_WAIT: Final = 5.0
#: Seconds after which a refused visitor should retry.
RETRY_AFTER: Final = 30


class MatchFaultError(AnygameError):
    """Request that the server cannot fulfil. The message is for the visitor, with the HTTP ``status``."""

    status: ClassVar[int] = 400


class NotFoundError(MatchFaultError):
    """The requested page does not exist."""

    status = 404


class RefusedError(MatchFaultError):
    """The request is not allowed."""

    status = 403


def response_to(error: Exception) -> tuple[int, dict[str, str]]:
    """Return the status and headers of the response to a failed request."""
    if isinstance(error, BusyError):
        return 503, {"Retry-After": str(RETRY_AFTER)}
    if isinstance(error, ChildEndedError):
        return 503, {}
    return (error.status if isinstance(error, MatchFaultError) else 400), {}


def try_again(what: str) -> str:
    """Return a message about an overload of the server."""
    return f"{what}: try again in {RETRY_AFTER} seconds"


class HostProcess(ChildProcess):
    """Process of a match. ``on_view`` receives each new view of the match; the end calls ``ended``."""

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
        """Send a command of `anygame.web.hosting.session` to the process. Raises the errors of `ask`.

        With ``is_view``, the answer is a view of the match, and is passed to ``on_view``.
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
    """Processes for single commands about sheets, with at most ``memory`` bytes each."""

    def __init__(self, admission: Admission, memory: int) -> None:
        super().__init__(lambda: HostProcess(memory, _WORKER_NICENESS))
        self._admission = admission

    async def ask(self, what: str, *, within: float, **arguments: Any) -> Any:
        """Send a command of `anygame.web.hosting.session` to a worker.

        The time limit ``within`` includes the wait for a worker. While other commands wait, the time limit is
        shorter. Raises ChildFaultError if the command fails, ChildEndedError if the command takes too long,
        and BusyError if too many commands are waiting.
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
