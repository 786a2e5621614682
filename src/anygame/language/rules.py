"""Rules as they stand in a sheet: heads, formulas, programs.

The tree is faithful to the text (nothing is normalised away), compares by meaning (places are ignored),
and every part knows its place in the source.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from anygame.language.terms import Term, Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from anygame.language.diagnostics import Diagnostic
    from anygame.language.source import Node, Source, Span

#: Relations with a meaning of their own, with their arity (GDL-I, then what GDL-II adds).
KEYWORDS: Final = {
    "role": 1, "init": 1, "true": 1, "does": 2, "next": 1, "legal": 2, "goal": 2, "terminal": 0,
    "base": 1, "input": 2,
    "sees": 2, "percept": 2,
}  # fmt: skip


#: Keywords that speak of the same fluents or moves: what is written with the one is read with the other.
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
        """Name and arity: relations of one name and two arities are two relations."""
        return self.predicate, len(self.arguments)

    @property
    def span(self) -> Span | None:
        """Where the atom stands in the source."""
        return self.node.span if self.node else None

    def variables(self) -> Iterator[Variable]:
        """Yield the variables from left to right, each as often as it occurs."""
        for argument in self.arguments:
            yield from variables_of(argument)

    def __str__(self) -> str:
        return (
            f"({self.predicate} {' '.join(map(str, self.arguments))})" if self.arguments else self.predicate
        )


@dataclass(frozen=True, slots=True)
class Formula:
    """What stands in a body; one of the five classes below."""

    @property
    def node(self) -> Node | None:
        """Where the formula stands in the source."""
        return None

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The formulas that this one joins or negates."""
        return ()

    def variables(self) -> Iterator[Variable]:
        """Yield the variables from left to right, each as often as it occurs."""
        raise NotImplementedError


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

    def variables(self) -> Iterator[Variable]:
        """Yield the negated formula's variables."""
        return self.formula.variables()

    def __str__(self) -> str:
        return f"(not {self.formula})"


@dataclass(frozen=True, slots=True)
class Or(Formula):
    """At least one of some formulas must hold; of none, never."""

    formulas: tuple[Formula, ...]
    node: Node | None = field(default=None, compare=False, repr=False)

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The alternatives."""
        return self.formulas

    def variables(self) -> Iterator[Variable]:
        """Yield the variables of all alternatives."""
        for formula in self.formulas:
            yield from formula.variables()

    def __str__(self) -> str:
        return f"({' '.join(('or', *map(str, self.formulas)))})"


@dataclass(frozen=True, slots=True)
class And(Formula):
    """All formulas must hold. Not GDL but KIF; accepted with a warning, since it can mean one thing only."""

    formulas: tuple[Formula, ...]
    node: Node | None = field(default=None, compare=False, repr=False)

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The conjuncts."""
        return self.formulas

    def variables(self) -> Iterator[Variable]:
        """Yield the variables of all conjuncts."""
        for formula in self.formulas:
            yield from formula.variables()

    def __str__(self) -> str:
        return f"({' '.join(('and', *map(str, self.formulas)))})"


@dataclass(frozen=True, slots=True)
class Distinct(Formula):
    """Two ground terms must differ as text."""

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
    """Yield formulas and all inside them, from left to right, each before its parts.

    Each comes with whether it stands under an even number of negations (an odd one, unless ``positive``).

    >>> goal = Not(Or((Literal(Atom("won")), Not(Literal(Atom("open"))))))
    >>> [(str(formula), positive) for formula, positive in walk([goal]) if isinstance(formula, Literal)]
    [('won', False), ('open', True)]
    """
    for formula in formulas:
        yield formula, positive
        if parts := formula.parts:
            yield from walk(parts, positive=positive != isinstance(formula, Not))


def atoms_in(formulas: Iterable[Formula]) -> Iterator[tuple[Atom, bool]]:
    """Yield the atoms of formulas as `walk` meets them, each with whether it stands positively."""
    for formula, positive in walk(formulas):
        if isinstance(formula, Literal):
            yield formula.atom, positive


def atoms_of(rule: Rule) -> Iterator[Atom]:
    """Yield the head of a rule, and the atoms of its body."""
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
    """Return a formula with the terms changed that stand in its atoms and comparisons."""
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
    """A head and the formulas that must all hold for it; a fact has none."""

    head: Atom
    body: tuple[Formula, ...] = ()
    node: Node | None = field(default=None, compare=False, repr=False)

    @property
    def span(self) -> Span | None:
        """Where the rule stands in the source."""
        return self.node.span if self.node else None

    def __str__(self) -> str:
        return f"({' '.join(('<=', str(self.head), *map(str, self.body)))})" if self.body else str(self.head)


@dataclass(frozen=True, slots=True)
class Program:
    """All rules of a sheet, in order. A program never changes; rewrites return new ones.

    Attributes:
        rules: rules and facts in the order of the sheet.
        source: the text they were read from.
        warnings: what is odd in the text without being wrong, sorted by place.
    """

    rules: tuple[Rule, ...]
    source: Source | None = field(default=None, compare=False, repr=False)
    warnings: tuple[Diagnostic, ...] = field(default=(), compare=False, repr=False)

    def __str__(self) -> str:
        return "".join(f"{rule}\n" for rule in self.rules)
