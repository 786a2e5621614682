"""Processes of matches: commands to them, answers and events from them; admission to what takes long."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Final

from anygame.errors import AnygameError
from anygame.processes.child import ChildEndedError, ChildFaultError, ChildProcess
from anygame.processes.pool import Admission, Pool
from anygame.web.settings import LONGEST_ANSWER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping


#: Answers to browsers come before the thinking of players where both want the processor.
_NICENESS: Final = 5


class MatchFaultError(AnygameError):
    """What was asked cannot be done; the message is for the visitor.

    Attributes:
        diagnostics: of a broken sheet, as plain data.
        status: of the answer; likewise ``headers``, which it has beside others.
    """

    status: ClassVar[int] = 400
    headers: ClassVar[Mapping[str, str]] = {}

    def __init__(self, message: str, diagnostics: list[dict[str, Any]] | None = None) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics or []


class ProcessGoneError(MatchFaultError):
    """The process has ended, or was ended since it did not answer in time."""

    status = 503


class HostProcess(ChildProcess):
    """A process for one match.

    Args:
        memory: bytes of address space that it may take.
        niceness: how far it stands back for others where they want the processor too.

    Attributes:
        on_view: is called with every view that it sends unasked.
        ended: is called when it has ended.
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
        """Have a command carried out; see `anygame.web.hosting.session`.

        Args:
            what: the command.
            within: seconds for it.
            is_view: whether the answer is a view of the match as it stands. It is passed on at once: what the
                process sends next is newer, and whoever asked comes to the answer only later.
            arguments: of the command.

        Raises:
            MatchFaultError: it cannot be.
            ProcessGoneError: the process has ended, or is ended now since there was no answer in time.
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


#: Seconds that somebody waits at most before an answer.
_LONGEST_WAIT: Final = 5.0
#: Seconds after which it is worth to ask again.
RETRY_AFTER: Final = 30


class BusyError(MatchFaultError):
    """As much is at work as may be."""

    status = 503
    headers: ClassVar = {"Retry-After": str(RETRY_AFTER)}


def admission(places: int, most_waiting: int, what: str) -> Admission:
    """Return admission control that refuses visitors with a sentence and the time to try again."""
    return Admission(places, most_waiting, lambda: BusyError(f"{what}: try again in {RETRY_AFTER} seconds"))


@asynccontextmanager
async def admitted(admission: Admission, within: float) -> AsyncIterator[float]:
    """Wait for a place and hold it. Yield the seconds that are left of those for the wait and the work.

    Raises BusyError if too many visitors wait already, or no place became free in time.
    """
    async with admission.place(min(within / 2, _LONGEST_WAIT)) as waited:
        yield within - waited


#: Seconds that a command may take where others wait when it begins: as a rule one is enough.
_WHILE_OTHERS_WAIT: Final = 5.0
#: Moves of people come before sheets where both want the processor.
_WORKER_NICENESS: Final = 15


class WorkerPool:
    """Processes that carry out a command each and wait for the next, as many as are admitted at a time.

    Args:
        admission: bounds how many work at a time, and wait.
        memory: bytes of address space of each.
    """

    def __init__(self, admission: Admission, memory: int) -> None:
        self._admission = admission
        self._pool = Pool(lambda: HostProcess(memory, _WORKER_NICENESS))

    @property
    def idle(self) -> list[HostProcess]:
        """The processes that wait for a command."""
        return self._pool.idle

    async def ask(self, what: str, *, within: float, **arguments: Any) -> Any:
        """Have a command carried out; see `anygame.web.hosting.session`.

        Args:
            what: the command.
            within: seconds for it, and for the wait until a process is free; fewer where others wait.
            arguments: of the command.

        Raises:
            MatchFaultError: it cannot be.
            BusyError: too many wait already, or no process had time.
            ProcessGoneError: it took too long.
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
                    fault = error  # an answer, after which the process is as good as before
            raise fault
