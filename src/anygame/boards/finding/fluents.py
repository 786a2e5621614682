"""What the rules of a game say about its fluents, gathered once for finding boards."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from anygame.boards.finding.axes import chains, ordered
from anygame.boards.finding.evidence import left_behind, needed_for_moves, neighbours_in
from anygame.boards.finding.orientation import variable_names
from anygame.language.terms import Compound, Constant, Term

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anygame.boards.finding.axes import Axis
    from anygame.boards.finding.layout import Square
    from anygame.boards.finding.orientation import Names
    from anygame.game.game import Game

#: The arguments of a fact.
Arguments = tuple[Term, ...]

#: Declared facts that are looked at; the largest boards that are drawn have fewer.
_BASE_LIMIT: Final = 100_000
#: Facts of the initial state from which on a fluent counts as filled: three by three.
_FILLED: Final = 9


@dataclass(frozen=True)
class Fluent:
    """What the rules say about one fluent.

    Attributes:
        functor: its name.
        domains: the values of each argument.
        axes: the same in order, empty for an argument whose values have none.
        initial: the arguments of its facts in the initial state.
        base: the same for the facts that ``base`` allows; empty where the rules have no ``base``.
        names: what the rules call the arguments.
        neighbours: pairs of squares that facts of the rules name together, for a fluent whose arguments name
            squares as ``c3`` does, or by two coordinates each.
        left: contents that a move from square to square leaves behind, with the argument that says so.
        needed: contents that a square must have for a move that names it alone, likewise.
    """

    functor: str
    domains: Sequence[Sequence[Term]]
    axes: Sequence[Axis]
    initial: Sequence[Arguments]
    base: Sequence[Arguments]
    names: Names
    neighbours: frozenset[tuple[Square, Square]] = frozenset()
    left: frozenset[tuple[int, Constant]] = frozenset()
    needed: frozenset[tuple[int, Constant]] = frozenset()

    @property
    def key(self) -> tuple[str, int]:
        """Name and arity."""
        return self.functor, self.arity

    @property
    def arity(self) -> int:
        """The number of arguments."""
        return len(self.domains)


def fluents_of(game: Game) -> list[Fluent]:
    """Return the fluents of a game that have arguments, sorted by name.

    Raises:
        AnygameError: the fluents of the game cannot be known beforehand.
    """
    rules = game.program.rules
    state = game.initial_state()
    declared: list[Term] = []
    if any(rule.head.key == ("base", 1) for rule in rules):
        bindings = islice(state.query("(base ?fluent)"), _BASE_LIMIT + 1)
        declared = [binding["fluent"] for binding in bindings]
    base = _by_fluent(declared) if len(declared) <= _BASE_LIMIT else {}
    initial = _by_fluent(state.facts)
    names = variable_names(rules)
    successions = chains(rules)
    found = []
    for key, known in sorted(game.fluents.items()):
        # What `base` allows is exact; what is known otherwise may be too much, such as rows no board has.
        columns = [sorted(set(column)) for column in zip(*base.get(key, ()), strict=True)]
        domains = columns or list(map(list, known))
        axes = [ordered(values, successions) for values in domains]
        started = initial.get(key, ())
        if len(started) >= _FILLED:
            # What is known may also mix coordinates up, which a board that is filled at the start does not.
            seen = [ordered(column, successions) for column in zip(*started, strict=True)]
            axes = [axis or other for axis, other in zip(axes, seen, strict=True)]
        unnamed = tuple(Counter[str]() for _ in domains)
        found.append(
            Fluent(
                key[0],
                domains,
                axes,
                started,
                base.get(key, ()),
                names.get(key, unnamed),
                neighbours_in(rules, domains),
                left_behind(rules, *key),
                needed_for_moves(rules, *key),
            )
        )
    return [fluent for fluent in found if fluent.arity]


def _by_fluent(facts: Iterable[Term]) -> dict[tuple[str, int], list[Arguments]]:
    found: dict[tuple[str, int], list[Arguments]] = defaultdict(list)
    for fact in sorted(facts):
        if isinstance(fact, Compound):
            found[fact.functor, len(fact.arguments)].append(fact.arguments)
    return dict(found)
