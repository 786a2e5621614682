"""Games: loaded rules, ready to be played and questioned."""

from __future__ import annotations

from collections import deque
from difflib import get_close_matches
from functools import lru_cache
from threading import RLock
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias
from warnings import warn

from anygame.errors import CompilationError, LimitError, PositionError, TermSyntaxError, UnknownRoleError
from anygame.game.machine import FallbackWarning
from anygame.game.machines.reasoner import ReasonerMachine
from anygame.game.playouts import Playout, play_out, play_outs
from anygame.game.roles import Role
from anygame.game.simulation import simulate
from anygame.game.state import State
from anygame.language.diagnostics import shown
from anygame.language.installed import open_sheet
from anygame.language.parser import parse_program, parse_term
from anygame.language.printer import format_program
from anygame.language.source import Source
from anygame.language.terms import Compound, Term

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator

    from anygame.game.batch import Batch
    from anygame.game.machines.network import NetworkMachine
    from anygame.game.simulation import SimulationResult
    from anygame.language.limits import Limits
    from anygame.language.rules import Program
    from anygame.network.compiled import CompiledGame

    AnyMachine: TypeAlias = ReasonerMachine | NetworkMachine

__all__ = ["MACHINES", "Game", "MachineName", "load", "loads"]

MachineName: TypeAlias = Literal["auto", "reasoner", "network"]
#: What may compute the answers; see ``load``.
MACHINES: Final[tuple[MachineName, ...]] = ("auto", "reasoner", "network")
_MOST_REMEMBERED: Final = 512


class Game:
    """A game: its rules, its roles, and where it starts.

    Attributes:
        program: the rules as they stand in the sheet.
        roles: in the order of the sheet; each is text and knows its term.
        reasoner: the machine over the reasoner, which knows all answers.
        machine_name: what was asked for, ``auto``, ``reasoner`` or ``network``.
        fallback: why the game has no network although it was to be compiled; None otherwise.
        case_sensitive: whether names that differ by case are different names.
        limits: bounds on the text and on what may be derived.

    >>> import anygame
    >>> game = anygame.loads("(role white) (role random) (legal white pass) (legal random roll)")
    >>> game.roles
    (Role('white'), Role('random'))
    >>> [role.is_random for role in game.roles], game.is_gdl2
    ([False, True], False)
    """

    def __init__(
        self,
        program: Program,
        *,
        case_sensitive: bool = True,
        limits: Limits | None = None,
        machine: MachineName = "auto",
    ) -> None:
        if machine not in MACHINES:
            raise ValueError(f"a machine is one of {', '.join(MACHINES)}, not {machine!r}")
        self.program = program
        self.case_sensitive = case_sensitive
        self.limits = limits
        self.machine_name: MachineName = machine
        self.reasoner = ReasonerMachine(program, limits)
        self.roles: tuple[Role, ...] = tuple(map(Role, self.reasoner.roles))
        self.fallback: Exception | None = None
        self._network: NetworkMachine | None = None
        self._compiling = RLock()
        self._index = {str(role): index for index, role in enumerate(self.roles)}
        self._remembered: deque[State] = deque()

    @property
    def name(self) -> str:
        """The name of the source: the path of the file, or what was given with the text."""
        return self.program.source.name if self.program.source else "<rules>"

    @property
    def is_gdl2(self) -> bool:
        """Whether the rules hide information: whether some rule says what a role ``sees``."""
        return any(rule.head.key == ("sees", 2) for rule in self.program.rules)

    def role_index(self, role: str | Term) -> int:
        """Return the place of a role in ``roles``.

        Raises:
            UnknownRoleError: the game has no such role.
        """
        found = self._index.get(role if isinstance(role, str) else str(role))
        if found is None and isinstance(role, str):
            try:
                found = self._index.get(str(parse_term(role, case_sensitive=self.case_sensitive)))
            except TermSyntaxError:
                found = None
        if found is None:
            near = get_close_matches(str(role), self._index, n=1)
            advice = f"; did you mean {near[0]}?" if near else ""
            raise UnknownRoleError(
                f"no role is called {shown(str(role))}: the roles are {', '.join(self._index)}{advice}",
                str(role),
                self._index,
            )
        return found

    def remember(self, state: State) -> None:
        """Note that a state holds intermediate results, so that only the latest few hundred states do.

        A search tree may keep any number of states; what it took to answer for them is much larger.
        """
        self._remembered.append(state)
        if len(self._remembered) > _MOST_REMEMBERED:
            self._remembered.popleft().forget()

    # -- what computes -----------------------------------------------------------------------------

    @property
    def machine(self) -> AnyMachine:
        """What answers questions about states now: the reasoner, or the network where the game has one."""
        if self.machine_name == "network" and not self.is_settled:
            self.compile()
        return self.reasoner if self._network is None or self.machine_name == "reasoner" else self._network

    @property
    def is_settled(self) -> bool:
        """Whether the machine will not change by itself any more."""
        return self.machine_name == "reasoner" or self._network is not None or self.fallback is not None

    @property
    def compiled(self) -> CompiledGame | None:
        """The rules as logic, compiled on first use; None if there is no network (see ``fallback``)."""
        if self._network is None and self.fallback is None:
            self.compile()
        return self._network.compiled if self._network else None

    @property
    def setup_seconds(self) -> float:
        """How long compiling the game took; 0 while there is no network."""
        return self._network.setup_seconds if self._network else 0.0

    @property
    def has_kept_code(self) -> bool:
        """Whether machine code that an earlier process made and kept was used."""
        return self._network is not None and self._network.is_kept

    def compile(
        self,
        *,
        seconds: float | None = None,
        instances: int | None = None,
        join: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> bool:
        """Compile the rules into a network now; return whether there is one.

        A game that is too large for the bounds keeps being played by the reasoner; a ``FallbackWarning`` says
        so, and calling again tries again.

        Args:
            seconds: bound on the time to ground the rules; 30 by default.
            instances: bound on the instances of all rules; 8 million by default.
            join: bound on the rows of one join; 20 million by default.
            progress: called now and then with the numbers of instances and atoms found so far.
        """
        with self._compiling:
            if self._network is not None:
                return True
            bounds = {"seconds": seconds, "instances": instances, "join": join}
            begin = perf_counter()
            try:
                from anygame.game.machines.network import compile_machine

                given = {name: bound for name, bound in bounds.items() if bound is not None}
                network = compile_machine(self.reasoner, given, progress)
            except (LimitError, CompilationError, ImportError) as error:
                self.fallback = error
                reason = error.message if isinstance(error, LimitError) else str(error)
                warn(f"{self.name}: no network, the reasoner plays ({reason})", FallbackWarning, stacklevel=2)
                return False
            network.setup_seconds = perf_counter() - begin
            self._network, self.fallback = network, None
            return True

    def compile_if_worth_it(self) -> None:
        """Compile the game before much is asked of it, unless that was settled before."""
        with self._compiling:
            if not self.is_settled:
                self.compile()

    def network_to_play(self) -> NetworkMachine | None:
        """Return the network, compiled on first use; None where there is none or the reasoner was chosen."""
        self.compile_if_worth_it()
        return None if self.machine_name == "reasoner" else self._network

    def _needed_network(self) -> NetworkMachine:
        if self._network is None and not self.compile():
            raise LimitError(
                f"{self.name} has no network, which this needs: {self.fallback}"
            ) from self.fallback
        assert self._network is not None
        return self._network

    # -- states ------------------------------------------------------------------------------------

    def initial_state(self) -> State:
        """Return the state in which every match starts."""
        machine = self.machine
        return State(self, machine.initial(), machine)

    def state(self, facts: Iterable[str | Term]) -> State:
        """Return the state in which just these facts are true.

        Args:
            facts: ground terms or their text, without ``true``: ``["(cell 1 1 b)", "(control white)"]``.

        Raises:
            PositionError: a fact has variables, or stands inside ``true``.
            TermSyntaxError: a fact cannot be read.
        """
        if isinstance(facts, str | Term):
            raise PositionError(f"expected facts in a list, found the single fact {shown(str(facts))}")
        machine = self.machine
        return State(self, machine.position(map(self._fact, facts)), machine)

    def _fact(self, fact: str | Term) -> Term:
        term = parse_term(fact, case_sensitive=self.case_sensitive) if isinstance(fact, str) else fact
        if not isinstance(term, Term):
            raise PositionError(f"a fact should be text or a term, found {fact!r} ({type(fact).__name__})")
        if isinstance(term, Compound) and term.functor == "true" and ("true", 1) not in self.fluents:
            inner = " ".join(map(str, term.arguments))
            raise PositionError(f"facts are given without `true`: {shown(inner)}, not {shown(str(term))}")
        return term

    # -- playouts ----------------------------------------------------------------------------------

    def playout(self, seed: int | None = None, *, state: State | None = None, limit: int = 10_000) -> Playout:
        """Play uniformly random moves to the end; see ``playouts``."""
        return play_out(self, seed, state, limit)

    def playouts(
        self, count: int, seed: int | None = None, *, state: State | None = None, limit: int = 10_000
    ) -> Iterator[Playout]:
        """Yield random playouts: each role's move is chosen uniformly, independently of the others'.

        The same seed gives the same playouts.

        Args:
            count: how many.
            seed: of the random numbers; None for fresh ones.
            state: where to start; the initial state by default.
            limit: joint moves after which a playout is cut.
        """
        return play_outs(self, count, seed, state, limit)

    # -- many games at once ------------------------------------------------------------------------

    def simulate(
        self,
        playouts: int = 1_000_000,
        seed: int | None = None,
        threads: int = 1,
        *,
        state: State | None = None,
        limit: int = 10_000,
        progress: Callable[[int], None] | None = None,
    ) -> SimulationResult:
        """Play random matches by the million, and return what they have in common.

        Each role's move is uniform among its legal ones and independent of the others'; the same seed gives
        the same result, whatever the threads. The first call compiles the game. Where it has no network, or
        the machine is ``reasoner``, the reasoner plays, one match after the other. Ctrl-C ends it early, with
        what has been played so far.

        Args:
            playouts: how many.
            seed: of the random numbers, any integer; None for fresh ones, which the result tells.
            threads: how many cores to use.
            state: where to start; the initial state by default.
            limit: joint moves after which a playout is given up; it counts as ``cut`` and nowhere else.
            progress: called about ten times a second with the number of playouts so far.

        Raises:
            IllegalMoveError: a role has no legal move in a state that is not terminal.
            ValueError: a number is out of range.

        >>> import anygame
        >>> game = anygame.loads(
        ...     "(role me) (legal me 0) (legal me 1) (<= (next (chose ?x)) (does me ?x))"
        ...     "(<= terminal (true (chose ?x)))"
        ...     "(<= (goal me 0) (true (chose 0))) (<= (goal me 100) (true (chose 1)))"
        ... )
        >>> result = game.simulate(10_000, seed=1)
        >>> list(result.goal_counts["me"]), result.lengths, 48 < result.mean_goals["me"] < 52
        ([0, 100], {1: 10000}, True)
        """
        return simulate(self, playouts, seed, threads, state, limit, progress)

    def batch(self, lanes: int = 512, seed: int | None = None) -> Batch:
        """Return many games side by side, for search and learning; see ``Batch``.

        Args:
            lanes: how many; multiples of 512 cost least.
            seed: for random moves; None for fresh random numbers.

        Raises:
            LimitError: the game has no network.
        """
        from anygame.game.batch import Batch

        return Batch(self, self._needed_network(), lanes, seed)

    def actions(self, role: str | Term) -> tuple[Term, ...]:
        """Return the moves that can ever be legal for a role, sorted by text: what a batch numbers.

        Raises:
            LimitError: the game has no network.
            UnknownRoleError: the game has no such role.
        """
        place = self.role_index(role)
        return self._needed_network().compiled.actions[place]

    @property
    def fluent_terms(self) -> tuple[Term, ...]:
        """Every fact that can ever be true, sorted by text: the columns of a batch's observation."""
        return self._needed_network().compiled.fluents

    # -- what the rules say of themselves ----------------------------------------------------------

    def domains(self) -> dict[tuple[str, int], tuple[tuple[Term, ...], ...]]:
        """Return, per relation of the rules, what can stand at each argument, sorted by text.

        Compound terms are given by their functor, as ``(cell 3)`` for any ``(cell ? ? ?)``.
        """
        return self.reasoner.domains()

    @property
    def fluents(self) -> dict[tuple[str, int], tuple[tuple[Term, ...], ...]]:
        """The fluents by functor and arity, with what can stand at each of their arguments."""
        return self.reasoner.domains_below("true", 1)

    @property
    def moves(self) -> dict[tuple[str, int], tuple[tuple[Term, ...], ...]]:
        """The moves by functor and arity, with what can stand at each of their arguments."""
        return self.reasoner.domains_below("does", 2)

    def explain_strata(self) -> str:
        """Return the components of the rules in the order of computation, as text."""
        lines = []
        for part in self.describe_strata():
            recursive = ", recursive" if part["recursive"] else ""
            head = f"{part['number']:4}  stratum {part['stratum']}, {part['computed']}{recursive}: "
            lines.append(head + ", ".join(part["relations"]))
            lines += [f"        {rule}" for rule in part["rules"]]
        return "\n".join(lines)

    def describe_strata(self) -> list[dict[str, Any]]:
        """Return the components of the rules in the order of computation, as plain data."""
        return self.reasoner.reasoner.describe_strata()

    def explain_plan(self) -> str:
        """Return the functions that were generated for the rules, as text."""
        return "\n".join(
            f"# {', '.join(part['relations'])}\n{part['source']}"
            for part in self.describe_plan()
            if part["source"]
        )

    def describe_plan(self) -> list[dict[str, Any]]:
        """Return the functions that were generated for the rules, as plain data."""
        self._use_everything()
        return self.reasoner.reasoner.describe_plan()

    def _use_everything(self) -> None:
        machine = self.reasoner
        view = machine.view(machine.initial())
        machine.is_terminal(view)
        for role in self.roles:
            machine.goals(view, role.term)
        legal = machine.legal(view)
        if all(legal):
            machine.next(view, [moves[0] for moves in legal])
            machine.percepts(view, [moves[0] for moves in legal])

    def explain_network(self) -> str:
        """Return what the compiled game is like, as text.

        Raises:
            LimitError: the game has no network.
        """
        return self._needed_network().explain_network()

    def describe_network(self) -> dict[str, Any]:
        """Return what the compiled game is like, as plain data.

        Raises:
            LimitError: the game has no network.
        """
        return self._needed_network().describe_network()

    def draw_network(self) -> str:
        """Return a picture of the compiled game in Graphviz's language.

        Raises:
            LimitError: the game has no network, or one that is too large for a picture.
        """
        return self._needed_network().draw_network()

    def explain_domains(self) -> str:
        """Return what can stand at each argument of each relation, as text."""
        lines = []
        for (name, arity), arguments in self.domains().items():
            lines.append(f"{name}/{arity}")
            for number, terms in enumerate(arguments, 1):
                shown = " ".join(map(str, terms[:30])) + (
                    f" ... ({len(terms)} in all)" if len(terms) > 30 else ""
                )
                lines.append(f"  {number}: {shown}")
        return "\n".join(lines)

    def describe_domains(self) -> dict[str, list[list[str]]]:
        """Return what can stand at each argument of each relation, as plain data."""
        return {
            f"{name}/{arity}": [[str(term) for term in terms] for terms in arguments]
            for (name, arity), arguments in self.domains().items()
        }

    # -- being a value -----------------------------------------------------------------------------

    def __str__(self) -> str:
        return format_program(self.program)

    def __repr__(self) -> str:
        return f"<Game {self.name}: {len(self.program.rules)} rules, roles {', '.join(self.roles)}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Game):
            return NotImplemented
        return self is other or (
            self.case_sensitive == other.case_sensitive
            and self.limits == other.limits
            and self.program == other.program
        )

    def __hash__(self) -> int:
        return hash((self.roles, len(self.program.rules)))

    def __reduce__(self) -> tuple[Any, ...]:
        source = self.program.source
        text = source.text if source else str(self)
        return _restore, (text, self.name, self.case_sensitive, self.limits, self.machine_name)


@lru_cache(maxsize=64)
def _restore(
    text: str, name: str, case_sensitive: bool, limits: Limits | None, machine: MachineName = "auto"
) -> Game:
    """Return the game of a pickle; states of one game share it again."""
    return loads(text, name=name, case_sensitive=case_sensitive, limits=limits, machine=machine)


def load(
    path: str | os.PathLike[str],
    *,
    case_sensitive: bool = True,
    limits: Limits | None = None,
    machine: MachineName = "auto",
) -> Game:
    """Load a game from a rule sheet.

    Args:
        path: a file in KIF or in the infix form; or, where there is no such file, the name of a game that
            comes with the package (``games``).
        case_sensitive: whether names that differ by case differ; keywords are read in any case.
        limits: bounds on the text and on what may be derived.
        machine: what computes the answers, which are the same. ``reasoner`` works from the rules; ``network``
            compiles them into logic first; ``auto`` asks the reasoner until something is asked that visits
            many states (``simulate``, ``batch``, 500 playouts, a ``perft`` of more than 5,000 states), then
            compiles the game and asks the network from there on.

    Raises:
        RuleSheetError: the sheet cannot be used; names every fault with its place.
        LimitError: a bound was reached.
    """
    return Game(
        parse_program(
            open_sheet(path, limits.reading if limits else None),
            case_sensitive=case_sensitive,
            limits=limits.reading if limits else None,
        ),
        case_sensitive=case_sensitive,
        limits=limits,
        machine=machine,
    )


def loads(
    text: str,
    *,
    name: str = "<text>",
    case_sensitive: bool = True,
    limits: Limits | None = None,
    machine: MachineName = "auto",
) -> Game:
    """Load a game from the text of a rule sheet; see ``load``."""
    return Game(
        parse_program(
            Source(name, text), case_sensitive=case_sensitive, limits=limits.reading if limits else None
        ),
        case_sensitive=case_sensitive,
        limits=limits,
        machine=machine,
    )
