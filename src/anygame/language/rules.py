"""Rules as they stand in a sheet: heads, formulas, programs.

The tree is faithful to the text (nothing is normalised away), compares by meaning (places are ignored),
and every part knows its place in the source.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from anygame.language.terms import Term, Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.language.diagnostics import Diagnostic
    from anygame.language.source import Node, Source, Span

__all__ = ["KEYWORDS", "And", "Atom", "Distinct", "Formula", "Literal", "Not", "Or", "Program", "Rule"]

#: Relations with a meaning of their own, with their arity (GDL-I, then what GDL-II adds).
KEYWORDS: Final = {
    "role": 1, "init": 1, "true": 1, "does": 2, "next": 1, "legal": 2, "goal": 2, "terminal": 0,
    "base": 1, "input": 2,
    "sees": 2, "percept": 2,
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
