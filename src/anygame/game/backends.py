"""Back ends: which machine answers for a game, and when the game is compiled for one."""

from __future__ import annotations

from threading import RLock
from time import perf_counter
from typing import TYPE_CHECKING, Final, Literal, TypeAlias
from warnings import warn

from anygame.errors import AnygameError, CompilationError, LimitError
from anygame.game.machine import FallbackWarning, reason_of
from anygame.game.machines.reasoner import ReasonerMachine
from anygame.progress import reporting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from anygame.game.machine import Machine, Position
    from anygame.game.machines.network import NetworkMachine
    from anygame.game.state import State
    from anygame.language.limits import Limits
    from anygame.language.rules import Program
    from anygame.language.terms import Term

#: What a fallback costs, for people.
_COST: Final = "the reasoner computes its states, which mostly takes hundreds of times as long"

MachineName: TypeAlias = Literal["auto", "reasoner", "network"]
#: What may compute the answers; see ``load``.
MACHINES: Final[tuple[MachineName, ...]] = ("auto", "reasoner", "network")


class Backends:
    """The machines of a game: the reasoner, and the network once the game has been compiled.

    Threads may share them; a game is compiled once for all threads.

    Attributes:
        machine_name: what was asked for, ``auto``, ``reasoner`` or ``network``.
        reasoner: the machine over the reasoner, which can hold every position.
        network: the machine over the network; None where there is none, or not yet.
        fallback: why there is no network although the game was to be compiled; None otherwise.
        setup_seconds: how long compiling took; 0 while there is no network.
    """

    def __init__(
        self, program: Program, limits: Limits | None, machine_name: MachineName, game_name: str
    ) -> None:
        if machine_name not in MACHINES:
            raise ValueError(f"a machine is one of {', '.join(MACHINES)}, not {machine_name!r}")
        self.machine_name: MachineName = machine_name
        self.reasoner = ReasonerMachine(program, limits)
        self.network: NetworkMachine | None = None
        self.fallback: Exception | None = None
        self.setup_seconds = 0.0
        self._game_name = game_name
        self._compiling = RLock()

    @property
    def machine(self) -> Machine:
        """What answers now: the reasoner, or the network where there is one and it may."""
        if self.network is not None and self.machine_name != "reasoner":
            return self.network
        if self.machine_name == "network" and self.fallback is None and self.compile({}):
            return self.machine
        return self.reasoner

    @property
    def is_settled(self) -> bool:
        """Whether the machine will not change by itself any more."""
        return self.machine_name == "reasoner" or self.network is not None or self.fallback is not None

    def start(self, state: State | None) -> tuple[Machine, Position]:
        """Return a machine that can hold a state, the initial one by default, and its position there."""
        machine = self.machine
        if state is None:
            return machine, machine.initial()
        position = state.position_in(machine)
        if position is None:
            return self.reasoner, state.position_in(self.reasoner)
        return machine, position

    def hold(self, facts: Sequence[Term]) -> tuple[Machine, Position]:
        """Return a machine that can hold some ground facts, and their position there.

        Raises:
            PositionError: a fact is not ground.
        """
        machine = self.machine
        position = machine.position(facts)
        return (self.reasoner, self.reasoner.position(facts)) if position is None else (machine, position)

    def compile(
        self, bounds: Mapping[str, float], progress: Callable[[int, int], None] | None = None
    ) -> bool:
        """Compile the rules unless that is done; return whether there is a network. See ``Game.compile``."""
        with self._compiling:
            if self.network is not None:
                return True
            begin = perf_counter()
            try:
                with reporting(progress, _compiling_told) as report:
                    network = _compiled(self.reasoner, bounds, report)
            except (AnygameError, ImportError) as error:
                self.fallback = error
                message = f"{self._game_name}: plays slowly here: {reason_of(error)}"
                warn(f"{message}; {_COST}", FallbackWarning, stacklevel=3)
                return False
            self.setup_seconds = perf_counter() - begin
            self.network, self.fallback = network, None
            return True

    def compile_if_worth_it(self) -> None:
        """Compile the game before much is asked of it, unless that was settled before."""
        with self._compiling:
            if not self.is_settled:
                self.compile({})

    def needed_network(self) -> NetworkMachine:
        """Return the network, compiled on first use.

        Raises:
            LimitError: there is none.
        """
        if self.network is None and not self.compile({}):
            raise LimitError(
                f"{self._game_name} has no network, which this needs: {self.fallback}"
            ) from self.fallback
        assert self.network is not None
        return self.network


def _compiling_told(instances: int, atoms: int) -> str:
    return f"compiling: {instances:,} instances of rules, {atoms:,} atoms"


def _compiled(
    reasoner: ReasonerMachine, bounds: Mapping[str, float], progress: Callable[[int, int], None] | None
) -> NetworkMachine:
    """Compile a game.

    Raises:
        LimitError: it is too large.
        CompilationError: a fault of ours.
        ImportError: a library is missing.
    """
    try:
        # A command that asks for a few states imports neither numpy nor llvmlite.
        from anygame.game.machines.network import compile_machine

        return compile_machine(reasoner, bounds, progress)
    except (AnygameError, ImportError):
        raise
    except (MemoryError, RecursionError) as error:
        limit = "memory" if isinstance(error, MemoryError) else "depth"
        raise LimitError(f"the rules are too large: {type(error).__name__} while compiling", limit) from error
    except Exception as error:
        raise CompilationError.of(error) from error
