"""Missing and second values of fluents during play.

Many fluents have one value at a time. For example, each role has one score, and each cell has one mark. A
value that no rule keeps is lost. If one rule keeps a value that another changes, a fluent has two values.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.analysis.groups import grouped
from anygame.doctor.sheet import key_of
from anygame.language.diagnostics import shown
from anygame.language.rules import Atom, Literal
from anygame.language.terms import Compound, Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from anygame.datalog.derivations import Derivation
    from anygame.doctor.finding import Line
    from anygame.doctor.sheet import Key
    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.rules import Program, Rule
    from anygame.language.source import Span
    from anygame.language.terms import Term


class Fault(NamedTuple):
    """A fault in a state."""

    code: str
    #: Only one fault is reported for each code and key.
    key: str
    message: str
    #: The place in the sheet, or a function that searches for the place.
    span: Span | Callable[[], Span | None] | None
    hint: str = ""


#: Maximum number of rules with a single condition through which `rule_behind` searches.
_DEEPEST: Final = 5


def rule_behind(derivation: Derivation, program: Program) -> Rule | None:
    """Return the first rule with several conditions down a derivation, or the rule where the search ends."""
    places = {rule.span.place: rule for rule in program.rules if rule.span}
    rule = places.get(derivation.place)
    for _ in range(_DEEPEST):
        if rule is None or len(derivation.premises) != 1 or derivation.premises[0].reason != "rule":
            break
        derivation = derivation.premises[0]
        rule = places.get(derivation.place) or rule
    return rule


#: Minimum number of lost values that count as a fault; one move can remove fewer values on purpose.
_MANY: Final = 3
#: Minimum number of arguments of a fluent that is a board: two coordinates and a mark.
_COORDINATES: Final = 3
#: Minimum number of cells of a board.
_FEWEST_CELLS: Final = 4
#: A board has a fault if at least this many cells have no mark; rules can remove one mark on purpose.
_LOST_CELLS: Final = 2

Place = tuple["Term", ...]


class LostValues:
    """Finds values that vanish before the end of the game.

    A fluent assigns values if the fluent starts with one fact for each first argument: ``(score x 0)``. If
    the first arguments are the roles, each role must have a value until the end. For other first arguments,
    most of them must still have a value after the first move.

    A fluent is a board if it starts with one fact for each pair of coordinates, such as ``(cell 1 1 b)``, and
    rules change the values. Each cell of a board must have a value in all states, including terminal states.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self._values: dict[Key, dict[Term, Term]] = {}
        self._boards: dict[Key, dict[Place, Term]] = {}
        self._of_roles: set[Key] = set()
        roles = {role.term for role in game.roles if not role.is_random}
        for functor, facts in _facts_by_functor(game.initial_state().facts).items():
            if functor[1] < 2:
                continue
            values = {fact.arguments[0]: fact for fact in facts}
            is_of_roles = values.keys() == roles and len(roles) > 1
            if len(values) == len(facts) and (is_of_roles or len(facts) >= _MANY):
                self._values[functor] = dict(values)
                if is_of_roles:
                    self._of_roles.add(functor)
            if functor[1] >= _COORDINATES and _is_board(facts) and _is_rewritten(game.program, functor):
                self._boards[functor] = {fact.arguments[:-1]: fact for fact in facts}

    @property
    def boards(self) -> int:
        """The number of boards. A fluent stops being a board when a fact is outside the initial cells."""
        return len(self._boards)

    def faults(self, state: State, line: Line) -> Iterator[Fault]:
        """Yield the lost values in the state that a line of play reaches."""
        moves = len(line)
        if not moves or not (self._values or self._boards):
            return
        held = _facts_by_functor(state.facts)
        yield from self._empty_cells(held)
        for functor, values in self._values.items() if not state.is_terminal else ():
            firsts = {fact.arguments[0] for fact in held.get(functor, ())}
            lost = [key for key in values if key not in firsts]
            most = 1 if functor in self._of_roles else max(_MANY, len(values) // 2 + 1)
            if len(lost) >= most and (moves == 1 or functor in self._of_roles):
                pattern = f"({functor[0]} {lost[0]}{' ?' * (functor[1] - 1)})"
                yield self._lost(functor, pattern, values[lost[0]])

    def _empty_cells(self, held: dict[Key, list[Compound]]) -> Iterator[Fault]:
        for functor, cells in list(self._boards.items()):
            places = {fact.arguments[:-1] for fact in held.get(functor, ())}
            if not places <= cells.keys():
                del self._boards[functor]  # the facts are pieces that formed a block at the start
                continue
            empty = [place for place in cells if place not in places]
            if len(empty) >= _LOST_CELLS:
                pattern = f"({' '.join([functor[0], *map(str, empty[0])])} ?)"
                yield self._lost(functor, pattern, cells[empty[0]])

    def _lost(self, functor: Key, pattern: str, fact: Term) -> Fault:
        first = shown(str(fact))
        message = f"{shown(pattern)} has lost its value: {first} was true, but no rule kept it"
        hint = "add a `next` that keeps the value unless another rule changes it"
        return Fault("lost-value", functor[0], message, partial(self._span, functor), hint)

    def _span(self, functor: Key) -> Span | None:
        """Return the span of a `next` rule of a fluent, preferably of a rule that keeps facts."""
        same = _writers(self._game.program, functor)
        keeping = [rule for rule in same if keeps(rule)]
        return next((rule.head.span for rule in [*keeping, *same]), None)


class DoubleValues:
    """Finds second values of fluents with one value at the start, such as the step or the turn.

    A fluent has one value if it has one fact at the start, and a `next` rule makes another fact from that
    fact: ``(step 2)`` from ``(step 1)``. The last argument is the value. Cells of boards also have one value.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        initial = _facts_by_functor(game.initial_state().facts)
        self._single = {
            functor
            for functor, facts in initial.items()
            if len(facts) == 1 and any(_steps(rule) for rule in _writers(game.program, functor))
        }
        self._boards = {
            functor
            for functor, facts in initial.items()
            if _is_of_places(facts)
            and _has_one_mark(game.program, functor, facts)
            and not any(_asks_for_two(rule, functor) for rule in game.program.rules)
        }

    def faults(self, state: State, line: Line) -> Iterator[Fault]:
        """Yield the second values in the state that a line of play reaches."""
        if not line:
            return
        moved_at_once = sum(isinstance(move, Compound) for move in line[-1]) > 1
        # If several roles move at once, two pieces can reach one cell.
        looked_at = self._single - self._boards if moved_at_once else self._single | self._boards
        if not looked_at:
            return
        for functor, facts in _facts_by_functor(state.facts).items():
            if functor in looked_at and len({fact.arguments[:-1] for fact in facts}) < len(facts):
                ordered = sorted(facts, key=lambda fact: fact.arguments[:-1])
                pairs = pairwise(ordered)
                one, other = next(two for two in pairs if two[0].arguments[:-1] == two[1].arguments[:-1])
                message = f"{shown(str(one))} and {shown(str(other))} are true at the same time"
                hint = "add conditions so that the `next` rules make only one of these facts true"
                span = partial(self._span, line, (one, other))
                yield Fault("double-value", functor[0], message, span, hint)

    def _span(self, line: Sequence[tuple[Term, ...]], facts: Iterable[Term]) -> Span | None:
        """Of the rules that made the facts true, return the span of the rule with the fewest conditions."""
        state = self._game.initial_state()
        for joint in line[:-1]:
            state = state.next(joint)
        places = {state.explain(Atom("next", (fact,)), line[-1]).place for fact in facts}
        rules = [rule for rule in self._game.program.rules if rule.span and rule.span.place in places]
        return min(rules, key=lambda rule: len(rule.body)).span if rules else None


def _facts_by_functor(facts: Iterable[Term]) -> dict[Key, list[Compound]]:
    compound = [fact for fact in sorted(facts) if isinstance(fact, Compound)]
    return grouped(((fact.functor, len(fact.arguments)), fact) for fact in compound)


def _is_board(facts: Sequence[Compound]) -> bool:
    """Return whether there is one fact for each cell of a rectangular block."""
    places = {fact.arguments[:-1] for fact in facts}
    block = prod(len(set(column)) for column in zip(*places, strict=True))
    return _FEWEST_CELLS <= len(places) == len(facts) == block


def _is_of_places(facts: Sequence[Compound]) -> bool:
    """Return whether there is one fact for each of several cells; the cells need not form a block."""
    places = {fact.arguments[:-1] for fact in facts}
    rows_and_columns = [set(column) for column in zip(*places, strict=True)]
    return (
        len(facts[0].arguments) >= _COORDINATES
        and _FEWEST_CELLS <= len(places) == len(facts)
        and all(len(values) > 1 for values in rows_and_columns)
    )


def _is_rewritten(program: Program, functor: Key) -> bool:
    """Return whether a `next` rule makes new facts of a fluent; without one, facts may vanish on purpose."""
    return any(not keeps(rule) for rule in _writers(program, functor))


def _has_one_mark(program: Program, functor: Key, facts: Iterable[Compound]) -> bool:
    """Return whether rules keep any mark of a cell unless another mark replaces it."""
    keeping = [rule for rule in _writers(program, functor) if keeps(rule)]
    general = [rule for rule in keeping if isinstance(_last_of(rule.head.arguments[0]), Variable)]
    # If rules keep every number unconditionally, a cell collects numbers instead of holding one number.
    are_numbers = all(str(_last_of(fact)).isdecimal() for fact in facts)
    is_unconditional = any(len(rule.body) == 1 for rule in general)
    return bool(general) and _is_rewritten(program, functor) and not (are_numbers and is_unconditional)


def _asks_for_two(rule: Rule, functor: Key) -> bool:
    """Return whether a rule reads two values of one cell, as in games whose cells have several values."""
    fluents = (each for each in _fluents_read(rule) if isinstance(each, Compound))
    cells = [fluent.arguments[:-1] for fluent in fluents if key_of(fluent) == functor]
    return len(set(cells)) < len(cells)


def _fluents_read(rule: Rule) -> list[Term]:
    atoms = [formula.atom for formula in rule.body if isinstance(formula, Literal)]
    return [atom.arguments[0] for atom in atoms if atom.predicate == "true"]


def _last_of(term: Term) -> Term:
    return term.arguments[-1] if isinstance(term, Compound) else term


def _writers(program: Program, functor: Key) -> list[Rule]:
    rules = [rule for rule in program.rules if rule.head.key == ("next", 1)]
    return [rule for rule in rules if key_of(rule.head.arguments[0]) == functor]


def keeps(rule: Rule) -> bool:
    """Return whether a `next` rule keeps a fact unchanged."""
    return Literal(Atom("true", rule.head.arguments)) in rule.body


def _steps(rule: Rule) -> bool:
    """Return whether a `next` rule derives a value of a fluent from a previous value of the fluent."""
    functor = key_of(rule.head.arguments[0])
    return not keeps(rule) and any(key_of(term) == functor for term in _fluents_read(rule))
