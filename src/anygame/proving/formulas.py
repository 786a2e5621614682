"""Properties of a game as formulas of temporal logic, over the relations of its sheet.

A property is ``always``, ``never`` or ``reachable`` with a formula of first-order logic, or a weak ``until``
with two formulas. Such properties are a small part of the logics for GDL of Ruan, van der Hoek and Wooldridge
(2009, "Verification of games in the game description language"), Thielscher and Voigt (2010, "A temporal
proof system for general game playing") and Haufe, Schiffel and Thielscher (2012, "Automated verification of
state sequence invariants in general game playing").

A formula becomes rules and a fluent that no other rule of the game uses. The fluent holds after a state that
refutes the formula or, for ``reachable``, satisfies it. A prover decides whether the fluent can become true.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from anygame.errors import QueryError
from anygame.game.game import Game
from anygame.language.rules import Atom, Literal, Program, Rule
from anygame.language.terms import Compound, Constant
from anygame.network.network import FALSE
from anygame.proving.formula_rules import RuleWriter, free_prefix, sparing
from anygame.proving.formula_text import Expression, PropertyText, Ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.game.roles import JointMove
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.proving.formula_text import TemporalOperator
    from anygame.proving.model import Model

#: Maximum number of properties in one call. The properties become rules of the same game.
_MOST: Final = 100


@dataclass(frozen=True)
class TemporalFormula:
    """A property of all matches.

    Attributes:
        of_moves: whether the property depends on joint moves, through ``does``, ``next``, ``sees`` or other
            relations. Such a property ignores states without joint moves, such as terminal states.
        fluent: the fluent that holds after a state, or a joint move, that refutes or shows the property.
        variables: the names of the variables that no quantifier binds.
        doubts: warnings for the author, such as that an atom never holds.
    """

    text: str
    kind: TemporalOperator
    of_moves: bool
    fluent: Constant
    variables: tuple[str, ...]
    doubts: tuple[str, ...]
    _instances: Atom = field(repr=False)

    @property
    def is_to_be_reached(self) -> bool:
        """Whether one state can show the property; if not, one state can refute the property."""
        return self.kind == "reachable"

    def bad(self, model: Model) -> int:
        """Return the literal that holds if a state, or a joint move, refutes or shows the property."""
        if self.fluent not in model.fluents:
            return FALSE
        literal = model.next[model.fluents.index(self.fluent)]
        if not self.of_moves:
            return literal
        # The compiler drops conditions that hold for every joint move, so they are added again here.
        return model.gates.conjunction([literal, model.terminal ^ 1, *model.able()])

    def instances(self, state: State, moves: JointMove | None = None) -> list[dict[str, Term]]:
        """Return the values of the variables for which a state refutes or shows the property.

        The reasoner computes the values, independently of the provers. Without variables, the result has at
        most one instance, which is empty. ``moves`` is the joint move (default: the first legal moves).
        """
        if self.of_moves and (state.is_terminal or state.stuck_role is not None):
            return []
        if self.of_moves and moves is None:
            moves = [state.legal_moves(role)[0] for role in state.game.roles]
        bindings = state.query(self._instances, moves if self.of_moves else None)
        names = zip(self._instances.arguments, self.variables, strict=True)
        shown = {str(variable): name for variable, name in names}
        return [{shown[variable]: term for variable, term in binding.items()} for binding in bindings]


@dataclass(frozen=True)
class FormulaGame:
    """A game with rules and fluents for properties. Legal moves, ends and goals are unchanged."""

    game: Game
    formulas: tuple[TemporalFormula, ...]


def read_formulas(game: Game, texts: Sequence[str]) -> FormulaGame:
    """Return the game with rules for properties, such as ``(always (implies terminal (goal ?r 100)))``.

    Raises:
        QueryError: a text is not a property, or has an unknown name or an unbound variable.
        TermSyntaxError: the parentheses of a text do not match.
        LimitError: the rules explode.

    >>> import anygame
    >>> game = anygame.loads(
    ...     "(role me) (legal me go) (<= (next (at 2)) (does me go)) (<= terminal (true (at 2)))"
    ... )
    >>> found = read_formulas(game, ["(never (true (at 2)))", "(always (iff terminal (true (at 2))))"])
    >>> state = found.game.initial_state().next(["go"])
    >>> [formula.instances(state) for formula in found.formulas]
    [[{}], []]
    """
    if len(texts) > _MOST:
        raise QueryError(f"expected at most {_MOST} formulas at once, found {len(texts):,}")
    ranges = Ranges(game)
    read = [PropertyText(text, game, ranges) for text in texts]
    prefix = free_prefix(game.program, *texts)
    writer = RuleWriter(prefix)
    fluents: list[Term] = []
    formulas = []
    for number, text in enumerate(read, 1):
        formula, own_fluents = _written(writer, text, prefix, number)
        formulas.append(formula)
        fluents += own_fluents
    rules = sparing([*game.program.rules, *writer.rules], fluents, f"{prefix}_own")
    program = Program(rules, game.program.source, game.program.warnings)
    whole = Game(program, case_sensitive=game.case_sensitive, limits=game.limits, machine=game.machine_name)
    return FormulaGame(whole, tuple(formulas))


def _written(
    writer: RuleWriter, text: PropertyText, prefix: str, number: int
) -> tuple[TemporalFormula, list[Term]]:
    """Write the rules of a property; return the property and the new fluents."""
    fluent = Constant(f"{prefix}_property_{number}")
    bad = Atom(f"{prefix}_bad_{number}")
    instances = Atom(f"{prefix}_instance_{number}", tuple(text.free)) if text.free else bad
    fluents: list[Term] = [fluent]
    refuting = [(text.expressions[0], text.kind in {"never", "reachable"})]
    if text.kind == "until":
        # Once the second formula of `until` has held, no later state refutes the property.
        over = writer.named(text.expressions[1], text.names)
        variables = tuple(sorted(over.free))
        name = f"{prefix}_held_{number}"
        held = Compound(name, variables) if variables else Constant(name)
        fluents.append(held)
        before = Literal(Atom("true", (held,)))
        assert isinstance(over.literal, Literal)
        writer.rules += [
            Rule(Atom("next", (held,)), (reason,), text.node) for reason in (before, over.literal)
        ]
        refuting += [(over, False), (Expression.saying(before, text.node), False)]
    # Provers query `bad`, which has at most one instance because `bad` has no variables.
    writer.write(dict.fromkeys([bad, instances]), refuting, text.names, text.node)
    writer.rules.append(Rule(Atom("next", (fluent,)), (Literal(bad),), text.node))
    names = tuple(text.names[variable].text for variable in text.free)
    doubts = tuple(text.doubts)
    return TemporalFormula(text.text, text.kind, text.of_moves, fluent, names, doubts, instances), fluents
