"""Processes of matches, as the server sees them: commands to them, answers and events from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from anygame.errors import AnygameError
from anygame.processes.child import ChildEndedError, ChildProcess
from anygame.web.settings import LONGEST_ANSWER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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


class HostProcess:
    """A process for one match.

    Args:
        memory: bytes of address space that it may take.
        niceness: how far it stands back for others where they want the processor too.

    Attributes:
        hear: is called with every view that it sends unasked.
        ended: is called when it has ended.
    """

    def __init__(self, memory: int, niceness: int = _NICENESS) -> None:
        self.hear: Callable[[dict[str, Any]], object] = lambda _: None
        self.ended: Callable[[], None] = lambda: None
        self._child = ChildProcess(
            "anygame.web.hosting.process",
            memory,
            niceness,
            name="the process of the match",
            longest=LONGEST_ANSWER,
            received=self._receive,
            ended=lambda _: self.ended(),
        )

    @property
    def is_gone(self) -> bool:
        """Whether it has ended."""
        return self._child.is_gone

    async def ask(self, what: str, *, within: float, is_view: bool = False, **arguments: Any) -> Any:
        """Have a command carried out; see `anygame.web.hosting.session`.

        Args:
            what: the command.
            within: seconds for it.
            is_view: whether the answer is a view of the match as it stands. It is heard at once: what the
                process sends next is newer, and whoever asked comes to the answer only later.
            arguments: of the command.

        Raises:
            MatchFaultError: it cannot be.
            ProcessGoneError: the process has ended, or is ended now since there was no answer in time.
        """

        def check(answer: object) -> None:
            match answer:
                case {"fault": str(), "diagnostics": list()}:
                    pass
                case {"value": value}:
                    if is_view:
                        self.hear(value)
                case _:
                    raise ValueError("neither a value nor a fault")

        try:
            answer = await self._child.ask({"do": what} | arguments, within, check)
        except ChildEndedError:
            raise ProcessGoneError("the process of the match has ended") from None
        except TimeoutError:
            raise ProcessGoneError(
                f"the game took more than {within:.2g} seconds for an answer, and was ended"
            ) from None
        if "fault" in answer:
            raise MatchFaultError(answer["fault"], answer["diagnostics"])
        return answer["value"]

    def end(self) -> None:
        """Kill it, whatever it is doing."""
        self._child.kill()

    async def wait(self) -> None:
        """Wait until it has ended."""
        await self._child.wait()

    def _receive(self, message: object) -> None:
        match message:
            case {"event": "changed", "view": dict(view)}:
                self.hear(view)
            case _:
                raise ValueError("no event")
