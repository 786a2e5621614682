"""Processes that belong to no match: they look at sheets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from anygame.web.server.processes import HostProcess, MatchFaultError, ProcessGoneError

if TYPE_CHECKING:
    from anygame.web.server.gates import Gate

#: Seconds that a command may take where others wait when it begins: what is right is told in one, as a rule.
_WHILE_OTHERS_WAIT: Final = 5.0
#: Moves of people come before sheets where both want the processor.
_NICENESS: Final = 15


class Asides:
    """Processes that carry out a command each and wait for the next, as many as a gate lets in.

    Args:
        gate: before them.
        memory: bytes of address space of each.
    """

    def __init__(self, gate: Gate, memory: int) -> None:
        self._gate = gate
        self._memory = memory
        self._idle: list[HostProcess] = []

    async def ask(self, what: str, *, within: float, **arguments: Any) -> Any:
        """Have a command carried out; see `anygame.web.hosting.session`.

        Args:
            what: the command.
            within: seconds for it, and for the wait until a process has time; fewer where others wait.
            arguments: of the command.

        Raises:
            MatchFaultError: it cannot be.
            BusyError: too many wait already, or no process had time.
            ProcessGoneError: it took too long.
        """
        async with self._gate.passed(within) as left:
            while self._idle and self._idle[-1].is_gone:
                self._idle.pop()
            process = self._idle.pop() if self._idle else HostProcess(self._memory, _NICENESS)
            is_wanted = self._gate.is_wanted
            try:
                found = await process.ask(
                    what, within=min(left, _WHILE_OTHERS_WAIT) if is_wanted else left, **arguments
                )
            except ProcessGoneError:
                if is_wanted:
                    raise self._gate.busy() from None
                raise
            except MatchFaultError:
                self._idle.append(process)
                raise
            except BaseException:
                process.end()
                raise
            self._idle.append(process)
            return found

    @property
    def idle(self) -> list[HostProcess]:
        """Those that wait for a command."""
        return self._idle
