"""Rules as written in a sheet: atoms, formulas, rules and programs, and their text in KIF.

Rules are not normalised. Each part has its place in the source; comparisons ignore the place.
``parse_program(format_program(program)) == program`` for each program that was read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import TYPE_CHECKING, Final

from anygame.language.forms import KEYWORDS as KEYWORDS
from anygame.language.terms import Term, Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from anygame.language.diagnostics import Diagnostic
    from anygame.language.source import Node, Source, Span

#: Maximum number of characters in a line.
_WIDTH: Final = 100
_INDENT: Final = " " * 4

#: Keyword that reads fluents or moves (``true`` or ``does``), by the keyword that defines them.
READ_AS: Final = {
    "init": "true", "next": "true", "base": "true", "legal": "does", "input": "does",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Atom:
    """A relation constant applied to terms: ``(legal ?r noop)``, or ``terminal`` without arguments."""

    predicate: str
    arguments: tuple[Term, ...] = ()
    node: Node | None = field(default=None, compare=False, repr=False)

    @property
    def key(self) -> tuple[str, int]:
        """The name and arity. Relations with the same name and different arities are different relations."""
        return self.predicate, len(self.arguments)

    @property
    def span(self) -> Span | None:
        """The place of the atom in the source."""
        return self.node.span if self.node else None

    def variables(self) -> Iterator[Variable]:
        """Yield the variables from left to right, repeated as they occur."""
        for argument in self.arguments:
            yield from variables_of(argument)

    def __str__(self) -> str:
        return (
            f"({self.predicate} {' '.join(map(str, self.arguments))})" if self.arguments else self.predicate
        )


@dataclass(frozen=True, slots=True)
class Formula:
    """Part of a body: a `Literal`, `Not`, `Or`, `And` or `Distinct`."""

    @property
    def node(self) -> Node | None:
        """The node of the formula in the source."""
        return None

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The formulas that this formula joins or negates."""
        return ()

    def variables(self) -> Iterator[Variable]:
        """Yield the variables from left to right, repeated as they occur."""
        return chain.from_iterable(part.variables() for part in self.parts)


@dataclass(frozen=True, slots=True)
class Literal(Formula):
    """An atom that must hold."""

    atom: Atom

    @property
    def node(self) -> Node | None:
        """The atom's node."""
        return self.atom.node

    def variables(self) -> Iterator[Variable]:
        """Yield the atom's variables."""
        return self.atom.variables()

    def __str__(self) -> str:
        return str(self.atom)


@dataclass(frozen=True, slots=True)
class Not(Formula):
    """A formula that must not hold (negation as failure)."""

    formula: Formula
    node: Node | None = field(default=None, compare=False, repr=False)

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The negated formula."""
        return (self.formula,)

    def __str__(self) -> str:
        return f"(not {self.formula})"


@dataclass(frozen=True, slots=True)
class _Joining(Formula):
    """Formulas joined by an operator, which is the name of the class in lower case."""

    formulas: tuple[Formula, ...]
    node: Node | None = field(default=None, compare=False, repr=False)

    @property
    def parts(self) -> tuple[Formula, ...]:
        return self.formulas

    def __str__(self) -> str:
        return f"({' '.join((type(self).__name__.lower(), *map(str, self.formulas)))})"


class Or(_Joining):
    """A disjunction: at least one formula must hold, so an empty disjunction never holds."""

    __slots__ = ()


class And(_Joining):
    """A conjunction: all formulas must hold. GDL has no conjunctions: reading a conjunction warns."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Distinct(Formula):
    """The condition that two terms, after variables are replaced by values, differ as text."""

    left: Term
    right: Term
    node: Node | None = field(default=None, compare=False, repr=False)

    def variables(self) -> Iterator[Variable]:
        """Yield the variables of both sides."""
        yield from variables_of(self.left)
        yield from variables_of(self.right)

    def __str__(self) -> str:
        return f"(distinct {self.left} {self.right})"


def walk(formulas: Iterable[Formula], *, positive: bool = True) -> Iterator[tuple[Formula, bool]]:
    """Yield formulas and all formulas inside them, from left to right, each before its parts.

    The flag of a formula says whether the formula is inside an even number of negations. ``positive`` is the
    flag of the given formulas.

    >>> goal = Not(Or((Literal(Atom("won")), Not(Literal(Atom("open"))))))
    >>> [(str(formula), positive) for formula, positive in walk([goal]) if isinstance(formula, Literal)]
    [('won', False), ('open', True)]
    """
    for formula in formulas:
        yield formula, positive
        if parts := formula.parts:
            yield from walk(parts, positive=positive != isinstance(formula, Not))


def atoms_in(formulas: Iterable[Formula]) -> Iterator[tuple[Atom, bool]]:
    """Yield the atoms of formulas in the order of `walk`, each with a flag for positive atoms."""
    for formula, positive in walk(formulas):
        if isinstance(formula, Literal):
            yield formula.atom, positive


def atoms_of(rule: Rule) -> Iterator[Atom]:
    """Yield the head of a rule and the atoms of its body."""
    yield rule.head
    for atom, _ in atoms_in(rule.body):
        yield atom


def map_atoms(formula: Formula, change: Callable[[Atom], Atom]) -> Formula:
    """Return a formula with each atom changed.

    >>> str(map_atoms(Not(Literal(Atom("init"))), lambda atom: Atom("true", atom.arguments)))
    '(not true)'
    """
    if isinstance(formula, Literal):
        return Literal(change(formula.atom))
    return _with_parts(formula, [map_atoms(part, change) for part in formula.parts])


def map_terms(formula: Formula, change: Callable[[Term], Term]) -> Formula:
    """Return a formula with the terms of its atoms and comparisons changed."""
    if isinstance(formula, Literal):
        atom = formula.atom
        return Literal(Atom(atom.predicate, tuple(map(change, atom.arguments)), atom.node))
    if isinstance(formula, Distinct):
        return Distinct(change(formula.left), change(formula.right), formula.node)
    return _with_parts(formula, [map_terms(part, change) for part in formula.parts])


def _with_parts(formula: Formula, parts: Iterable[Formula]) -> Formula:
    if isinstance(formula, Not):
        (negated,) = parts
        return Not(negated, formula.node)
    return type(formula)(tuple(parts), formula.node) if isinstance(formula, Or | And) else formula


@dataclass(frozen=True, slots=True)
class Rule:
    """A head, and a body of formulas that imply the head; the body of a fact is empty."""

    head: Atom
    body: tuple[Formula, ...] = ()
    node: Node | None = field(default=None, compare=False, repr=False)

    @property
    def span(self) -> Span | None:
        """The place of the rule in the source."""
        return self.node.span if self.node else None

    def __str__(self) -> str:
        return f"({' '.join(('<=', str(self.head), *map(str, self.body)))})" if self.body else str(self.head)


@dataclass(frozen=True, slots=True)
class Program:
    """All rules of a sheet.

    Attributes:
        rules: rules and facts in the order of the sheet.
        source: the text.
        warnings: the warnings about the text, sorted by place.
    """

    rules: tuple[Rule, ...]
    source: Source | None = field(default=None, compare=False, repr=False)
    warnings: tuple[Diagnostic, ...] = field(default=(), compare=False, repr=False)

    def __str__(self) -> str:
        return "".join(f"{rule}\n" for rule in self.rules)


def format_program(program: Program) -> str:
    """Return a program as text, with each fact or literal on a line, and blank lines between relations.

    >>> from anygame.language.parser import parse_program
    >>> print(format_program(parse_program("(role x) (<= (legal ?r noop) (role ?r)) (init a)")), end="")
    (role x)
    <BLANKLINE>
    (<= (legal ?r noop)
        (role ?r))
    <BLANKLINE>
    (init a)
    """
    groups = groupby(program.rules, key=lambda rule: rule.head.key)
    return "\n".join("".join(f"{format_rule(rule)}\n" for rule in rules) for _, rules in groups)


def format_rule(rule: Rule) -> str:
    """Return a rule with each literal on its own line, or a fact on one line, without a final line end."""
    if not rule.body:
        return str(rule.head)
    body = "".join(f"\n{_INDENT}{_format_formula(formula, _INDENT)}" for formula in rule.body)
    return f"(<= {rule.head}{body})"


def _format_formula(formula: Formula, indent: str) -> str:
    """Return a formula on one line, or with each part on its own line if one line is too long."""
    line = str(formula)
    if len(indent) + len(line) <= _WIDTH or not formula.parts:
        return line
    operator = type(formula).__name__.lower()
    indent += " " * (len(operator) + 2)
    return f"({operator} " + f"\n{indent}".join(_format_formula(part, indent) for part in formula.parts) + ")"
