"""Games: rules that can be played and queried."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from functools import lru_cache
from html import escape
from random import Random, SystemRandom
from typing import TYPE_CHECKING, Any, Final
from warnings import warn

from anygame.errors import DeviceError, PositionError
from anygame.game.backends import Backends
from anygame.game.machine import FallbackWarning
from anygame.game.roles import Role, find_role
from anygame.game.simulation import Playout, card_of, play_outs, simulate_on_cluster, statistics
from anygame.game.state import State
from anygame.language.diagnostics import shown
from anygame.language.parser import parse_program, parse_term
from anygame.language.rules import format_program
from anygame.language.source import Source
from anygame.language.terms import Compound, Term
from anygame.playouts import PlayoutRequest
from anygame.progress import progress_bar, reporting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from anygame.game.backends import MachineName
    from anygame.game.batch import Batch, CardBatch
    from anygame.game.encoding import Encoding
    from anygame.game.simulation import SimulationResult, Workers
    from anygame.language.limits import Limits
    from anygame.language.rules import Program

#: Minimum number of playouts for which it saves time to compile the game first.
_MANY_PLAYOUTS: Final = 500


class Game:
    """A game: its rules, its roles, and its initial state.

    Methods raise UnknownRoleError for a ``role`` that the game does not have. The methods ``batch``,
    ``card_batch``, ``actions``, ``percept_terms``, ``encoding`` and the property ``fluent_terms`` compile the
    game on first use, and raise LimitError if the game cannot be compiled.

    Attributes:
        program: the rules as written in the sheet.
        roles: the roles in the order of the sheet; each is a string with a ``term``.
        case_sensitive: whether names that differ by case are different names.
        limits: bounds on the number of derived facts.
        machine_name: the requested machine: ``auto``, ``reasoner`` or ``network``.
        backends: the machines that compute the answers.
        recent: the states that cache intermediate results, in the order of their first use.

    >>> import anygame
    >>> game = anygame.loads("(role white) (role random) (legal white pass) (legal random roll)")
    >>> game.roles
    ('white', 'random')
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
        self.program = program
        self.case_sensitive = case_sensitive
        self.limits = limits
        self.machine_name: MachineName = machine
        self.backends = Backends(program, limits, machine, self.name)
        self.roles: tuple[Role, ...] = tuple(map(Role, self.backends.reasoner.roles))
        self.recent: deque[State] = deque()
        self._index = {str(role): index for index, role in enumerate(self.roles)}

    @property
    def name(self) -> str:
        """The path of the sheet, or the name that the caller of ``loads`` gave the text."""
        return self.program.source.name if self.program.source else "<rules>"

    @property
    def is_gdl2(self) -> bool:
        """Whether the rules hide information (GDL-II): a rule defines ``sees``."""
        return any(rule.head.key == ("sees", 2) for rule in self.program.rules)

    def role_index(self, role: str | Term) -> int:
        """Return the index of a role in ``roles``."""
        return find_role(role, self._index, case_sensitive=self.case_sensitive)

    # -- states ------------------------------------------------------------------------------------

    def initial_state(self) -> State:
        """Return the state in which every match starts."""
        machine = self.backends.machine
        return State(self, machine, machine.initial())

    def state(self, facts: Iterable[str | Term]) -> State:
        """Return the state in which exactly the given facts are true.

        Args:
            facts: ground terms or their text, without ``true``: ``["(cell 1 1 b)", "(control white)"]``.

        Raises:
            PositionError: a fact has variables, or is wrapped in ``true``.
            TermSyntaxError: a fact cannot be read.
        """
        if isinstance(facts, str | Term):
            raise PositionError(f"expected facts in a list, found the single fact {shown(str(facts))}")
        return State(self, *self.backends.hold(list(map(self._fact, facts))))

    def _fact(self, fact: str | Term) -> Term:
        term = parse_term(fact, case_sensitive=self.case_sensitive) if isinstance(fact, str) else fact
        if not isinstance(term, Term):
            raise PositionError(f"a fact should be text or a term, found {fact!r} ({type(fact).__name__})")
        if isinstance(term, Compound) and term.functor == "true" and ("true", 1) not in self.fluents:
            inner = " ".join(map(str, term.arguments))
            raise PositionError(f"facts are given without `true`: {shown(inner)}, not {shown(str(term))}")
        return term

    def _repr_html_(self) -> str:
        title = f"<p><b>{escape(self.name)}</b>: {escape(', '.join(self.roles))}</p>"
        return title + self.initial_state().board()._repr_html_()

    # -- random play -------------------------------------------------------------------------------

    def playout(
        self,
        seed: int | None = None,
        *,
        state: State | None = None,
        limit: int = 10_000,
        strict: bool = False,
    ) -> Playout:
        """Play uniformly random moves to the end; see ``playouts``."""
        return next(self.playouts(1, seed, state=state, limit=limit, strict=strict))

    def playouts(
        self,
        count: int,
        seed: int | None = None,
        *,
        state: State | None = None,
        limit: int = 10_000,
        strict: bool = False,
    ) -> Iterator[Playout]:
        """Yield random playouts: each role's move is uniform and independent of the other moves.

        The same seed gives the same playouts.

        Args:
            count: the number of playouts.
            seed: the random seed; None for a new seed.
            state: the state to start from; the initial state by default.
            limit: maximum number of joint moves; a longer playout is cut.
            strict: whether to raise an error if a role has no legal move in a nonterminal state. By default,
                a state without a legal move ends the playout, with ``stuck`` set.

        Raises:
            IllegalMoveError: ``strict`` is set, and a role has no legal move in a nonterminal state.
        """
        if count >= _MANY_PLAYOUTS:
            self.compile_if_worth_it()
        machine, start = self.backends.start(state)
        return play_outs(machine, self.roles, start, count, Random(seed), limit=limit, strict=strict)

    def simulate(
        self,
        playouts: int = 1_000_000,
        seed: int | None = None,
        threads: int = 1,
        *,
        state: State | None = None,
        limit: int = 10_000,
        strict: bool = False,
        progress: Callable[[int], None] | None = None,
        cluster: Workers | None = None,
        device: str = "cpu",
    ) -> SimulationResult:
        """Play many random matches and return summary statistics.

        Each role's move is uniform among its legal moves and independent of the other moves. The result
        depends on the seed, but not on the number of threads. The first call compiles the game. Without a
        network, or if the machine is ``reasoner``, the reasoner plays one match after another. After Ctrl-C,
        the result has the statistics so far.

        Args:
            playouts: the number of matches.
            seed: the random seed, any integer; None for a new seed. The result contains the seed.
            threads: the number of cores to use.
            state: the state to start from; the initial state by default.
            limit: maximum number of joint moves; a longer match is cut, and counts only as ``cut``.
            strict: whether to raise an error if a role has no legal move in a nonterminal state. By default,
                a state without a legal move ends the match, which then counts only as ``stuck``.
            progress: called about ten times a second with the number of matches so far. By default, a
                notebook shows a progress bar.
            cluster: processes that play the matches, on this or other machines; see ``anygame.cluster``. With
                a cluster, the result is the same, and ``threads`` has no effect.
            device: ``cpu``, or an NVIDIA graphics card (``cuda``, ``cuda:1``). A card plays thousands of
                blocks of 2,048 matches at once, and ``threads`` has no effect. The same seed gives the same
                result on every card, but a different result on a processor.

        Raises:
            ClusterError: all workers have died.
            DeviceError: the card does not exist or cannot play this game, or ``cluster`` is given as well.
            IllegalMoveError: ``strict`` is set, and a role has no legal move in a nonterminal state.
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
        chosen = SystemRandom().getrandbits(32) if seed is None else seed
        request = PlayoutRequest(playouts, chosen, threads, limit, strict, card=card_of(device))
        if cluster is not None and request.card is not None:
            raise DeviceError("give a cluster or a graphics card, not both: clusters play on processors")
        self.compile_if_worth_it()
        machine, start = self.backends.start(state)
        if state is not None and machine is not self.backends.machine:
            obstacle = self.backends.needed_network().obstacle(state.facts)
            message = (
                f"plays slowly here: no match reaches a state with {obstacle}, so the slower reasoner plays"
            )
            warn(f"{self.name}: {message}", FallbackWarning, stacklevel=2)
        bar = progress_bar("random matches")
        with reporting(progress, lambda done: bar(done, playouts)) as report:
            request = replace(request, progress=report)
            if cluster is None:
                tally = machine.simulate(start, request)
            else:
                tally = simulate_on_cluster(self, state, machine, request, cluster)
        return statistics(self, machine.name, request, tally)

    # -- batches -----------------------------------------------------------------------------------

    def batch(self, lanes: int = 512, seed: int | None = None) -> Batch:
        """Return many matches side by side, for search and learning; see ``Batch``.

        Args:
            lanes: the number of matches; multiples of 512 are the most efficient.
            seed: the seed of random moves; None for a new seed.
        """
        from anygame.game.batch import Batch

        return Batch(self, self.backends.needed_network(), lanes, seed)

    def card_batch(self, lanes: int = 65_536, seed: int | None = None, device: str = "cuda") -> CardBatch:
        """Return many matches side by side on a graphics card; see ``CardBatch``.

        Args:
            lanes: the number of matches; multiples of 2,048 are the most efficient.
            seed: the seed of random moves; None for a new seed.
            device: the card: ``cuda``, or a numbered card such as ``cuda:1``.

        Raises:
            DeviceError: the card does not exist, or has too little memory.
        """
        from anygame.game.batch import CardBatch

        number = card_of(device)
        if number is None:
            raise DeviceError("expected a graphics card, such as cuda; on a processor, use game.batch()")
        return CardBatch(self, self.backends.needed_network(), lanes, seed, number)

    def actions(self, role: str | Term) -> tuple[Term, ...]:
        """Return all moves that can be legal for a role, sorted by text; batches use this numbering."""
        index = self.role_index(role)
        return self.backends.needed_network().compiled.actions[index]

    def percept_terms(self, role: str | Term) -> tuple[Term, ...]:
        """Return all possible percepts of a role (GDL-II), sorted by text: the columns of ``batch.percepts``.

        Raises:
            LimitError: the game is too large for a network that computes percepts.
        """
        index = self.role_index(role)
        machine = self.backends.needed_network()
        machine.check_percepts(self.name)
        return machine.compiled.percepts[index]

    def encoding(self) -> Encoding:
        """Return the names of all actions and fluents, to save with a model."""
        from anygame.game.encoding import encoding_of

        return encoding_of(self)

    @property
    def fluent_terms(self) -> tuple[Term, ...]:
        """All facts that can be true, sorted by text: the columns of ``batch.observation``."""
        return self.backends.needed_network().compiled.fluents

    # -- domains -----------------------------------------------------------------------------------

    def domains(self) -> dict[tuple[str, int], tuple[tuple[Term, ...], ...]]:
        """Return the possible values of each argument of each relation, sorted by text.

        A compound value is represented by its functor and arity: ``(cell 3)`` for any ``(cell ? ? ?)``.
        """
        return self.backends.reasoner.reasoner.domains()

    @property
    def fluents(self) -> dict[tuple[str, int], tuple[tuple[Term, ...], ...]]:
        """The possible values of each argument of fluents, by functor and arity of the fluent."""
        return self.backends.reasoner.reasoner.domains_below("true", 1)

    @property
    def moves(self) -> dict[tuple[str, int], tuple[tuple[Term, ...], ...]]:
        """The possible values of each argument of moves, by functor and arity of the move."""
        return self.backends.reasoner.reasoner.domains_below("does", 2)

    # -- machines ----------------------------------------------------------------------------------

    @property
    def machine(self) -> str:
        """The name of the machine that currently computes the answers: ``reasoner`` or ``network``."""
        return self.backends.machine.name

    @property
    def is_settled(self) -> bool:
        """Whether the choice between reasoner and network is final."""
        return self.backends.is_settled

    @property
    def fallback(self) -> Exception | None:
        """The error that stopped the compilation of the game; None without such an error."""
        return self.backends.fallback

    @property
    def setup_seconds(self) -> float:
        """Compile time in seconds; 0 without a network."""
        return self.backends.setup_seconds

    @property
    def has_cached_code(self) -> bool:
        """Whether an earlier process compiled and cached the machine code in use."""
        network = self.backends.network
        return network is not None and network.is_cached

    def compile(
        self,
        *,
        seconds: float | None = None,
        instances: int | None = None,
        join: int | None = None,
        fluents: int | None = None,
        steps: int | None = None,
        wait: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> bool:
        """Compile the rules into a network now; return whether a network exists.

        If the game exceeds a bound, or an error occurs, the reasoner still plays the game, and a
        ``FallbackWarning`` gives the reason. Another call tries to compile the game again.

        Args:
            seconds: maximum compile time, for callers with a deadline. By default, the time has no maximum,
                so that the result does not depend on a clock.
            instances: maximum number of instances of all rules; 8 million by default.
            join: maximum number of rows of one join; 20 million by default, fewer if rows are very long.
            fluents: maximum number of facts with the same name that can be true; 50,000 by default.
            steps: maximum number of steps of the compiler; 2 billion by default, about a minute.
            wait: whether to wait for the fastest machine code. By default, a large game starts with a slower
                loop over gates, while another process compiles the faster code. Results are the same.
            progress: called periodically with the numbers of instances and atoms so far. By default, a
                notebook shows the numbers.
        """
        bounds = {
            "seconds": seconds,
            "instances": instances,
            "join": join,
            "fluents": fluents,
            "steps": steps,
        }
        given = {name: bound for name, bound in bounds.items() if bound is not None}
        is_compiled = self.backends.compile(given, progress)
        if wait and self.backends.network is not None:
            self.backends.network.finish()
        return is_compiled

    def compile_if_worth_it(self) -> None:
        """Compile the game before a long computation, unless the choice of its machine is final."""
        self.backends.compile_if_worth_it()

    # -- equality, pickling, text ------------------------------------------------------------------

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

    def __deepcopy__(self, memo: dict[int, object]) -> Game:
        # A game is immutable, except for caches.
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        source = self.program.source
        text = source.text if source else str(self)
        return _restore, (text, self.name, self.case_sensitive, self.limits, self.machine_name)


@lru_cache(maxsize=64)
def _restore(
    text: str, name: str, case_sensitive: bool, limits: Limits | None, machine: MachineName = "auto"
) -> Game:
    """Return the unpickled game, which is the same object for all unpickled states of the game."""
    reading = limits.reading if limits else None
    program = parse_program(Source(name, text), case_sensitive=case_sensitive, limits=reading)
    return Game(program, case_sensitive=case_sensitive, limits=limits, machine=machine)


def begun(start: Game | State, state: State | None) -> tuple[Game, State | None]:
    """Return a game and a start state (None for the initial state), from a game, a state, or both.

    Raises PositionError for two states, and for a state of another game.
    """
    if not isinstance(start, State):
        if not isinstance(start, Game):
            hint = f": anygame.load({start!r:.80}) makes a game" if isinstance(start, str) else ""
            raise PositionError(f"expected a game or a state, found {type(start).__name__}{hint}")
        if state is not None and state.game is not start and state.game != start:
            raise PositionError(f"expected a state of {start.name}, found a state of {state.game.name}")
        return start, state
    if state is not None:
        raise PositionError("expected a game and one of its states, or only a state; found two states")
    return start.game, start
