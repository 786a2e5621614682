"""Backends of a game: the machines that answer questions about its states, and the choice of a machine."""

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

#: End of the warning about a failed compilation.
_COST: Final = "the reasoner computes its states, which is typically hundreds of times slower"

MachineName: TypeAlias = Literal["auto", "reasoner", "network"]
#: Possible values of the argument ``machine`` of ``load``.
MACHINES: Final[tuple[MachineName, ...]] = ("auto", "reasoner", "network")


class Backends:
    """The machines of a game: the reasoner, and the network once the game has been compiled.

    Thread-safe: if several threads compile a game at once, only one thread does the work.

    Attributes:
        machine_name: ``machine`` in ``load``.
        reasoner: the machine that evaluates the rules, and can represent every position.
        network: the machine that evaluates the network; None if the game is not compiled.
        fallback, setup_seconds: see ``Game``.
    """

    def __init__(
        self, program: Program, limits: Limits | None, machine_name: MachineName, game_name: str
    ) -> None:
        if machine_name not in MACHINES:
            raise ValueError(f"machine must be one of {', '.join(MACHINES)}, not {machine_name!r}")
        self.machine_name: MachineName = machine_name
        self.reasoner = ReasonerMachine(program, limits)
        self.network: NetworkMachine | None = None
        self.fallback: Exception | None = None
        self.setup_seconds = 0.0
        self._game_name = game_name
        self._compiling = RLock()

    @property
    def machine(self) -> Machine:
        """The machine in use: the network if there is one, unless the caller of `load` chose the reasoner."""
        if self.network is not None and self.machine_name != "reasoner":
            return self.network
        if self.machine_name == "network" and self.fallback is None and self.compile({}):
            return self.machine
        return self.reasoner

    @property
    def is_settled(self) -> bool:
        """Whether the choice between reasoner and network is final."""
        return self.machine_name == "reasoner" or self.network is not None or self.fallback is not None

    def start(self, state: State | None) -> tuple[Machine, Position]:
        """Return a machine that can represent a state (None: initial state), and the state's position."""
        machine = self.machine
        if state is None:
            return machine, machine.initial()
        position = state.position_in(machine)
        if position is None:
            return self.reasoner, state.position_in(self.reasoner)
        return machine, position

    def hold(self, facts: Sequence[Term]) -> tuple[Machine, Position]:
        """Return a machine that can represent a set of facts, and the position with these facts.

        Raises PositionError if a fact is not ground.
        """
        machine = self.machine
        position = machine.position(facts)
        return (self.reasoner, self.reasoner.position(facts)) if position is None else (machine, position)

    def compile(
        self, bounds: Mapping[str, float], progress: Callable[[int, int], None] | None = None
    ) -> bool:
        """Compile the rules on the first call; return whether there is a network. See ``Game.compile``."""
        with self._compiling:
            if self.network is not None:
                return True
            begin = perf_counter()
            try:
                with reporting(
                    progress, lambda rules, atoms: f"compiling: {rules:,} instances of rules, {atoms:,} atoms"
                ) as report:
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
        """Compile the game before a long computation, unless the choice of its machine is final."""
        with self._compiling:
            if not self.is_settled:
                self.compile({})

    def needed_network(self) -> NetworkMachine:
        """Return the network; compile the game on first use. Raises LimitError if compiling fails."""
        if self.network is None and not self.compile({}):
            raise LimitError(
                f"this needs a compiled game, and {self._game_name} cannot be compiled: {self.fallback}"
            ) from self.fallback
        assert self.network is not None
        return self.network


def _compiled(
    reasoner: ReasonerMachine, bounds: Mapping[str, float], progress: Callable[[int, int], None] | None
) -> NetworkMachine:
    """Compile a game; convert every error of the compiler to an AnygameError or an ImportError."""
    try:
        # Commands that compute only a few states need neither numpy nor llvmlite, which load slowly.
        from anygame.game.machines.network import compile_machine

        return compile_machine(reasoner, bounds, progress)
    except (AnygameError, ImportError):
        raise
    except (MemoryError, RecursionError) as error:
        limit = "memory" if isinstance(error, MemoryError) else "depth"
        raise LimitError(f"the rules are too large: {type(error).__name__} while compiling", limit) from error
    except Exception as error:
        raise CompilationError.of(error) from error
