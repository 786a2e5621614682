"""Processes of matches: commands to them, answers and events from them; admission to long operations."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Final

from anygame.errors import AnygameError
from anygame.processes.child import ChildEndedError, ChildFaultError, ChildProcess
from anygame.processes.pool import Admission, Pool
from anygame.web.settings import LONGEST_ANSWER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping


#: Players think with a lower priority than the server, which answers browsers.
_NICENESS: Final = 5


class MatchFaultError(AnygameError):
    """A request cannot be met; the message is for the visitor.

    ``diagnostics`` are the diagnostics of a broken sheet, ``status`` and ``headers`` belong to the response.
    """

    status: ClassVar[int] = 400
    headers: ClassVar[Mapping[str, str]] = {}

    def __init__(self, message: str, diagnostics: list[dict[str, Any]] | None = None) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics or []


class ProcessGoneError(MatchFaultError):
    """The process has ended, or was killed since it did not answer in time."""

    status = 503


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
        """Send a command to the process; see `anygame.web.hosting.session`.

        With ``is_view``, the answer is a view of the match. It goes to ``on_view`` before any newer view.

        Raises:
            MatchFaultError: the command failed.
            ProcessGoneError: the process has ended, or was killed for not answering in time.
        """
        on_answer = self.on_view if is_view else lambda _: None
        try:
            return await self.ask({"do": what} | arguments, within, on_answer)
        except ChildFaultError as error:
            raise MatchFaultError(str(error), error.diagnostics) from None
        except ChildEndedError:
            raise ProcessGoneError("the process of the match has ended") from None
        except TimeoutError:
            raise ProcessGoneError(
                f"the game took more than {within:.2g} seconds for an answer, and was ended"
            ) from None

    def _receive_event(self, message: object) -> None:
        match message:
            case {"event": "changed", "view": dict(view)}:
                self.on_view(view)
            case _:
                raise ValueError("no event")


#: Maximum seconds in a queue.
_LONGEST_WAIT: Final = 5.0
#: Seconds that a refused visitor should wait.
RETRY_AFTER: Final = 30


class BusyError(MatchFaultError):
    """The server has reached a limit."""

    status = 503
    headers: ClassVar = {"Retry-After": str(RETRY_AFTER)}


def admission(places: int, most_waiting: int, what: str) -> Admission:
    """Return admission control that refuses visitors with a sentence and the time to try again."""
    return Admission(places, most_waiting, lambda: BusyError(f"{what}: try again in {RETRY_AFTER} seconds"))


@asynccontextmanager
async def admitted(admission: Admission, within: float) -> AsyncIterator[float]:
    """Wait for a place and hold it; yield the seconds left for the work. Raises BusyError."""
    async with admission.place(min(within / 2, _LONGEST_WAIT)) as waited:
        yield within - waited


#: Maximum seconds of a command while others wait; one second usually suffices.
_WHILE_OTHERS_WAIT: Final = 5.0
#: Reading sheets has a lower priority than moves of people.
_WORKER_NICENESS: Final = 15


class WorkerPool:
    """Processes for single commands; admission limits how many run at a time. ``memory`` is in bytes."""

    def __init__(self, admission: Admission, memory: int) -> None:
        self._admission = admission
        self._pool = Pool(lambda: HostProcess(memory, _WORKER_NICENESS))

    @property
    def idle(self) -> list[HostProcess]:
        """The processes that wait for a command."""
        return self._pool.idle

    async def ask(self, what: str, *, within: float, **arguments: Any) -> Any:
        """Send a command to a worker; see `anygame.web.hosting.session`.

        ``within`` is the time limit in seconds, waiting included; less if others are waiting.

        Raises:
            MatchFaultError: the command failed.
            BusyError: too many visitors wait, or no process had time.
            ProcessGoneError: the command took too long.
        """
        async with admitted(self._admission, within) as left:
            is_wanted = self._admission.is_wanted
            seconds = min(left, _WHILE_OTHERS_WAIT) if is_wanted else left
            async with self._pool.child() as process:
                try:
                    return await process.carry_out(what, within=seconds, **arguments)
                except ProcessGoneError:
                    if is_wanted:
                        raise self._admission.busy() from None
                    raise
                except MatchFaultError as error:
                    fault = error  # the process has answered, and can be used again
            raise fault
