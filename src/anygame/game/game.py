"""Games: loaded rules, ready to be played and questioned."""

from __future__ import annotations

from collections import deque
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import PositionError, TermSyntaxError, UnknownRoleError
from anygame.game.machines.reasoner import ReasonerMachine
from anygame.game.playouts import Playout, play_out, play_outs
from anygame.game.roles import Role
from anygame.game.state import State
from anygame.language.diagnostics import shown
from anygame.language.parser import parse_program, parse_term
from anygame.language.printer import format_program
from anygame.language.source import Source
from anygame.language.terms import Compound, Term
from anygame.language.text import read_source

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from anygame.datalog.limits import Limits
    from anygame.language.rules import Program

__all__ = ["Game", "load", "loads"]

_MOST_REMEMBERED: Final = 512


class Game:
    """A game: its rules, its roles, and where it starts.

    Attributes:
        program: the rules as they stand in the sheet.
        roles: in the order of the sheet; each is text and knows its term.
        machine: what computes the answers.
        case_sensitive: whether names that differ by case are different names.
        limits: bounds on what may be derived.

    >>> import anygame
    >>> game = anygame.loads("(role white) (role random) (legal white pass) (legal random roll)")
    >>> game.roles
    (Role('white'), Role('random'))
    >>> [role.is_random for role in game.roles], game.is_gdl2
    ([False, True], False)
    """

    def __init__(
        self, program: Program, *, case_sensitive: bool = True, limits: Limits | None = None
    ) -> None:
        self.program = program
        self.case_sensitive = case_sensitive
        self.limits = limits
        self.machine = ReasonerMachine(program, limits)
        self.roles: tuple[Role, ...] = tuple(map(Role, self.machine.roles))
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

    # -- states ------------------------------------------------------------------------------------

    def initial_state(self) -> State:
        """Return the state in which every match starts."""
        return State(self, self.machine.initial())

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
        return State(self, self.machine.position(map(self._fact, facts)))

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

    # -- what the rules say of themselves ----------------------------------------------------------

    def domains(self) -> dict[tuple[str, int], tuple[tuple[Term, ...], ...]]:
        """Return, per relation of the rules, what can stand at each argument, sorted by text.

        Compound terms are given by their functor, as ``(cell 3)`` for any ``(cell ? ? ?)``.
        """
        return self.machine.domains()

    @property
    def fluents(self) -> dict[tuple[str, int], tuple[tuple[Term, ...], ...]]:
        """The fluents by functor and arity, with what can stand at each of their arguments."""
        return self.machine.domains_below("true", 1)

    @property
    def moves(self) -> dict[tuple[str, int], tuple[tuple[Term, ...], ...]]:
        """The moves by functor and arity, with what can stand at each of their arguments."""
        return self.machine.domains_below("does", 2)

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
        return self.machine.reasoner.describe_strata()

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
        return self.machine.reasoner.describe_plan()

    def _use_everything(self) -> None:
        state = self.initial_state()
        view = self.machine.view(self.machine.initial())
        self.machine.is_terminal(view)
        for role in self.roles:
            self.machine.goals(view, role.term)
        legal = [state.legal_moves(role) for role in self.roles]
        if all(legal):
            self.machine.next(view, [moves[0] for moves in legal])
            self.machine.percepts(view, [moves[0] for moves in legal])

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
        return _restore, (text, self.name, self.case_sensitive, self.limits)


@lru_cache(maxsize=64)
def _restore(text: str, name: str, case_sensitive: bool, limits: Limits | None) -> Game:
    """Return the game of a pickle; states of one game share it again."""
    return loads(text, name=name, case_sensitive=case_sensitive, limits=limits)


def load(path: str | os.PathLike[str], *, case_sensitive: bool = True, limits: Limits | None = None) -> Game:
    """Load a game from a rule sheet.

    Args:
        path: a file in KIF or in the infix form.
        case_sensitive: whether names that differ by case differ; keywords are read in any case.
        limits: bounds on what may be derived.

    Raises:
        RuleSheetError: the sheet cannot be used; names every fault with its place.
        LimitError: a bound was reached.
    """
    return Game(
        parse_program(read_source(path), case_sensitive=case_sensitive),
        case_sensitive=case_sensitive,
        limits=limits,
    )


def loads(
    text: str, *, name: str = "<text>", case_sensitive: bool = True, limits: Limits | None = None
) -> Game:
    """Load a game from the text of a rule sheet; see ``load``."""
    return Game(
        parse_program(Source(name, text), case_sensitive=case_sensitive),
        case_sensitive=case_sensitive,
        limits=limits,
    )
