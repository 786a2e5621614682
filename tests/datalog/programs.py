"""Random programs that are safe, stratified and finite by construction, each with a state and a joint move.

Relations come in layers. A rule may read what its own layer and the layers below derive, and may negate what
the layers below derive; layers are static first, then read the state, then the moves. A *tagged* relation has
a constant as its last argument and one layer for each constant, so that it may depend on its own negation:
``(q2 ?x 0)`` on ``(not (q2 ?x 1))``. Only rules that read nothing of their own layer put terms together, so
nothing grows for ever.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, count, product
from typing import TYPE_CHECKING, Any, Final

from hypothesis import strategies as st
from tests.datalog.ways import loads

import anygame
from anygame.datalog.strategy import DEFAULT
from anygame.language.rules import And, Atom, Distinct, Literal, Not, Or, Program, Rule
from anygame.language.terms import Compound, Constant, Term, Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from anygame.datalog.strategy import Strategy
    from anygame.language.rules import Formula

#: Small enough that a random program which multiplies too much is given up quickly.
LIMITS: Final = anygame.Limits(facts=800, terms=5000, depth=12)
STATIC, STATE, ACTION = range(3)
ROLES: Final = ("white", "black")
CONSTANTS: Final = [Constant(name) for name in ("a", "b", "0", "1")]
VARIABLES: Final = [Variable(name) for name in ("x", "y", "z", "u")]
FUNCTORS: Final = [("f", 1), ("g", 2), ("f", 2)]
TAGS: Final = ("0", "1")


@dataclass(frozen=True)
class Case:
    """A program, and what to ask it about.

    Attributes:
        program: the rules.
        states: what is true in each of two states.
        moves: a joint move that is legal in every state.
        of_moves: names of relations that may depend on the moves.
    """

    program: Program
    states: tuple[tuple[Term, ...], ...]
    moves: tuple[Term, ...]
    of_moves: frozenset[str]

    def game(self, strategy: Strategy = DEFAULT) -> anygame.Game:
        """Load the program from its text."""
        return loads(str(self.program), strategy, limits=LIMITS)

    def given(self, number: int) -> list[Atom]:
        """Return one of the states, and the joint move, as atoms."""
        made = [Atom("does", (Constant(role), move)) for role, move in zip(ROLES, self.moves, strict=True)]
        return [Atom("true", (fact,)) for fact in self.states[number]] + made

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    def __repr__(self) -> str:
        told = "".join(f"; true: {' '.join(map(str, facts))}\n" for facts in self.states)
        return f"\n{self.program}{told}; does: {' '.join(map(str, self.moves))}\n"


@dataclass(frozen=True)
class Shape:
    """A relation that may be read or derived; a tag stands as its last argument."""

    name: str
    arity: int
    tag: str | None = None


@st.composite
def ground_terms(draw: Callable, depth: int = 2) -> Term:  # type: ignore[type-arg]
    """Draw a constant or, less often, a nested term."""
    if depth == 0 or draw(st.integers(0, 3)):
        return draw(st.sampled_from(CONSTANTS))  # type: ignore[no-any-return]
    name, arity = draw(st.sampled_from(FUNCTORS))
    return Compound(name, tuple(draw(ground_terms(depth - 1)) for _ in range(arity)))


class _Maker:
    """Draws the parts of one program."""

    def __init__(self, draw: Callable) -> None:  # type: ignore[type-arg]
        self.draw = draw
        self.rules = [Rule(Atom("role", (Constant(role),))) for role in ROLES]
        self.below: list[Shape] = [Shape("role", 1), Shape("absent", 1)]
        self.layer: list[Shape] = []
        self.of_moves = {"next", "sees"}

    # terms and atoms

    def pattern(self, variables: Sequence[Variable], depth: int = 2) -> Term:
        """Draw a term over some variables: mostly a variable itself."""
        kind = self.draw(st.integers(0, 9))
        if variables and kind < 6:
            return self.draw(st.sampled_from(variables))  # type: ignore[no-any-return]
        if depth == 0 or kind < 8:
            return self.draw(st.sampled_from(CONSTANTS))  # type: ignore[no-any-return]
        name, arity = self.draw(st.sampled_from(FUNCTORS))
        return Compound(name, tuple(self.pattern(variables, depth - 1) for _ in range(arity)))

    def atom(self, shape: Shape, variables: Sequence[Variable], depth: int = 2) -> Atom:
        terms = [self.pattern(variables, depth) for _ in range(shape.arity - (shape.tag is not None))]
        if shape.tag is not None:
            terms.append(Constant(shape.tag))
        return Atom(shape.name, tuple(terms))

    def read(self, variables: Sequence[Variable], shapes: Sequence[Shape]) -> Literal:
        return Literal(self.atom(self.draw(st.sampled_from(shapes)), variables))

    # formulas

    def test(self, bound: Sequence[Variable], depth: int = 2) -> Formula:
        """Draw a formula all of whose variables are bound, over the layers below."""
        kind = self.draw(st.integers(0, 9))
        if depth == 0 or kind < 4:
            return Not(self.read(bound, self.below))
        if kind < 6:
            return Distinct(self.pattern(bound), self.pattern(bound))
        if kind < 7:
            return self.read(bound, self.below)
        several = tuple(self.test(bound, depth - 1) for _ in range(self.draw(st.integers(0, 2))))
        if kind == 7:
            return Or(several)
        return Not(Or(several)) if kind == 8 else Not(several[0]) if several else And(())

    def binder(self, variable: Variable, bound: Sequence[Variable], depth: int = 1) -> Formula:
        """Draw a formula that binds a variable."""
        shapes = [shape for shape in self.below + self.layer if shape.arity > (shape.tag is not None)]
        shape = self.draw(st.sampled_from(shapes))
        atom = self.atom(shape, bound, 1)
        place = self.draw(st.integers(0, shape.arity - 1 - (shape.tag is not None)))
        arguments = (*atom.arguments[:place], variable, *atom.arguments[place + 1 :])
        literal = Literal(Atom(atom.predicate, arguments))
        kind = self.draw(st.integers(0, 5)) if depth else 5
        if kind == 0:
            return And((self.test(bound), literal))
        if kind == 1:
            return Not(Not(literal))
        if kind == 2:
            return Or((literal, self.binder(variable, bound, depth - 1)))
        return literal

    def body(self) -> tuple[list[Formula], list[Variable], bool]:
        """Draw a body; return it with what it binds and whether it reads its own layer."""
        readable = self.below + self.layer
        literals = [self.read(VARIABLES, readable) for _ in range(self.draw(st.integers(0, 3)))]
        formulas: list[Formula] = list(literals)
        bound = list(dict.fromkeys(v for literal in literals for v in literal.variables()))
        if self.draw(st.integers(0, 3)) == 0:
            variable = Variable("v")
            several = range(self.draw(st.integers(1, 2)))
            formulas.append(Or(tuple(self.binder(variable, bound) for _ in several)))
            bound.append(variable)
        if self.draw(st.integers(0, 4)) == 0:
            formulas.append(Or((self.read(bound, readable), self.read(bound, readable))))
        formulas += [self.test(bound) for _ in range(self.draw(st.integers(0, 2)))]
        own = {shape.name for shape in self.layer}
        recursive = any(atom.predicate in own for formula in formulas for atom in atoms_in(formula))
        return self.draw(st.permutations(formulas)), bound, recursive

    def rule(self, shape: Shape) -> Rule:
        body, bound, recursive = self.body()
        head = self.atom(shape, bound, 0 if recursive else 1)
        if shape.name in {"legal", "goal", "sees"}:
            first = self.draw(st.sampled_from([Constant(role) for role in ROLES]))
            head = Atom(head.predicate, (first, *head.arguments[1:]))
        return Rule(head, tuple(body))

    # layers

    def facts(self, shape: Shape, most: int) -> None:
        for _ in range(self.draw(st.integers(0, most))):
            terms = tuple(self.draw(ground_terms(1)) for _ in range(shape.arity))
            self.rules.append(Rule(Atom(shape.name, terms)))

    def add_layer(self, layer: list[Shape], level: int) -> None:
        if level == ACTION:
            self.of_moves.update(shape.name for shape in layer)
        # What only other stages read is written, never read.
        self.layer = [shape for shape in layer if shape.name not in {"init", "base", "next", "sees"}]
        for shape in layer:
            for _ in range(self.draw(st.integers(1, 3))):
                self.rules.append(self.rule(shape))
        self.below += self.layer
        self.layer = []


def _layers(draw: Callable, level: int, numbers: Iterator[int]) -> Iterator[list[Shape]]:  # type: ignore[type-arg]
    """Yield the layers of a level: relations of their own, keywords, then the two tags of a tagged one."""
    for _ in range(draw(st.integers(level > STATIC, 2))):
        yield [Shape(f"p{next(numbers)}", draw(st.integers(0, 3))) for _ in range(draw(st.integers(1, 2)))]
    keywords = {STATIC: ["init", "base"], STATE: ["legal", "terminal"], ACTION: ["next", "sees"]}[level]
    arities = {"init": 1, "base": 1, "legal": 2, "terminal": 0, "next": 1, "sees": 2}
    yield [Shape(name, arities[name]) for name in keywords if draw(st.booleans())]
    if draw(st.booleans()):
        name, arity = f"q{next(numbers)}", draw(st.integers(1, 2))
        for tag in TAGS:
            yield [Shape(name, arity, tag)]
    if level == STATE and draw(st.booleans()):
        for tag in ("100", "0"):
            yield [Shape("goal", 2, tag)]


@st.composite
def cases(draw: Callable) -> Case:  # type: ignore[type-arg]
    """Draw a program with a state and a joint move."""
    maker = _Maker(draw)
    numbers = count()
    for arity in (1, 2, 3):
        shape = Shape(f"e{arity}", arity)
        maker.facts(shape, 4)
        maker.below.append(shape)
    facts = draw(st.lists(ground_terms(), max_size=6))
    maker.rules += [Rule(Atom(draw(st.sampled_from(["base", "init"])), (fact,))) for fact in facts]
    states = tuple(facts[:4]), tuple(facts[2:])
    moves = []
    for role in ROLES:
        options = draw(st.lists(ground_terms(), min_size=1, max_size=2))
        maker.rules += [Rule(Atom("legal", (Constant(role), option))) for option in options]
        moves.append(options[0])
    for level in (STATIC, STATE, ACTION):
        maker.below += {STATIC: [], STATE: [Shape("true", 1)], ACTION: [Shape("does", 2)]}[level]
        for layer in _layers(draw, level, numbers):
            maker.add_layer(layer, level)
    rules = draw(st.permutations(maker.rules[2:]))
    return Case(Program((*maker.rules[:2], *rules)), states, tuple(moves), frozenset(maker.of_moves))


def atoms_in(formula: Formula) -> Iterator[Atom]:
    """Yield the atoms of a formula."""
    if isinstance(formula, Literal):
        yield formula.atom
    elif isinstance(formula, Not):
        yield from atoms_in(formula.formula)
    elif isinstance(formula, (And, Or)):
        for part in formula.formulas:
            yield from atoms_in(part)


def choices(formula: Formula, holds: bool = True) -> list[tuple[Formula, ...]]:
    """Multiply a formula (or its negation) out into alternative conjunctions of literals and comparisons."""
    if isinstance(formula, Not):
        return choices(formula.formula, not holds)
    if isinstance(formula, (And, Or)):
        parts = [choices(part, holds) for part in formula.formulas]
        if isinstance(formula, And) == holds:
            return [tuple(chain.from_iterable(choice)) for choice in product(*parts)]
        return [choice for part in parts for choice in part]
    return [(formula if holds else Not(formula),)]


def relations_of(program: Program) -> list[tuple[str, int]]:
    """Return name and arity of every relation of a program, sorted."""
    found = {rule.head.key for rule in program.rules}
    found |= {atom.key for rule in program.rules for formula in rule.body for atom in atoms_in(formula)}
    return sorted(found)


def asking(case: Case) -> Case:
    """Return the case with rules that ask every relation for single rows, and by its first argument.

    The answers are fluents of the next state.
    """
    rules = [Rule(Atom("thing", (thing,))) for thing in (*CONSTANTS[:3], Compound("f", (CONSTANTS[0],)))]
    for name, arity in relations_of(case.program):
        if name[0] in "epq" and arity:
            variables = tuple(VARIABLES[:arity])
            asked = Literal(Atom(name, variables))
            things = [Literal(Atom("thing", (variable,))) for variable in variables]
            rules.append(Rule(Atom("next", (Compound(f"{name}.{arity}.row", variables),)), (*things, asked)))
            rules.append(Rule(Atom("next", (Compound(f"{name}.{arity}", variables),)), (things[0], asked)))
            boxed = Literal(Atom(name, (Compound("f", variables[:1]), *variables[1:])))
            rules.append(
                Rule(Atom("next", (Compound(f"{name}.{arity}.boxed", variables),)), (things[0], boxed))
            )
    return replace(case, program=Program((*case.program.rules, *rules)))


def rows(state: anygame.State, case: Case) -> dict[tuple[str, int], set[tuple[str, ...]]]:
    """Ask a state for every relation of a case, complete, as text."""
    found = {}
    for name, arity in relations_of(case.program):
        variables = [f"?v{number}" for number in range(arity)]
        pattern = f"({name} {' '.join(variables)})" if arity else name
        joint = case.moves if name in case.of_moves or name == "does" else None
        answers = [tuple(str(binding[v]) for v in variables) for binding in state.query(pattern, joint)]
        assert len(answers) == len(set(answers)), f"{pattern} gives an answer twice"
        found[name, arity] = set(answers)
    return found
