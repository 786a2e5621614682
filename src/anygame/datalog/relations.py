"""Flat relations, which store compound arguments in several columns, and rules over flat relations.

GDL nests terms in relations, as in ``(true (cell 1 1 b))``, but a Datalog engine needs columns. So arguments
that can be compound terms are *split by shape*. For example, ``true`` becomes ``true.1/cell.3`` with three
columns, ``true.1/control.1`` with one column, and ``true.1/atom`` for fluents that are constants. A rule with
a variable for a whole fluent or move is copied for each shape. A compound term inside a split argument is one
value in a column; the join item ``Compose`` builds and decomposes such terms.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from anygame.analysis.domains import ATOM
from anygame.errors import LimitError
from anygame.language.terms import Compound, Constant, Term, Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from anygame.analysis.domains import Top
    from anygame.language.rules import Rule


#: The numbers of the terms in all columns of a relation: a plain number for one column, else a tuple.
Row = Any


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation constant with a shape for each argument; the shape None is any value in one column."""

    predicate: str
    shapes: tuple[Top | None, ...]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.predicate, self.shapes)))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type, tuple[str, tuple[Top | None, ...]]]:
        return Relation, (self.predicate, self.shapes)  # hashes differ between processes

    @property
    def key(self) -> tuple[str, int]:
        """The name and arity in the rule sheet."""
        return self.predicate, len(self.shapes)

    @property
    def title(self) -> str:
        """The name and arity in the rule sheet, as in ``cell/3``."""
        return f"{self.predicate}/{len(self.shapes)}"

    @property
    def width(self) -> int:
        """The number of columns."""
        return sum(shape[1] if isinstance(shape, tuple) else 1 for shape in self.shapes)

    def unpacked(self, row: Row) -> tuple[int, ...]:
        """Return a row as a tuple, even if the row has one column."""
        return row if isinstance(row, tuple) else (row,)

    def columns(self, arguments: tuple[Term, ...]) -> tuple[Term, ...]:
        """Return arguments as columns; the arguments must have the shapes of the relation."""
        result: list[Term] = []
        for shape, term in zip(self.shapes, arguments, strict=True):
            if isinstance(shape, tuple):
                assert isinstance(term, Compound)
                result += term.arguments
            else:
                result.append(term)
        return tuple(result)

    def arguments(self, columns: tuple[Term, ...]) -> tuple[Term, ...]:
        """Return columns as arguments; the inverse of ``columns``."""
        result: list[Term] = []
        start = 0
        for shape in self.shapes:
            if isinstance(shape, tuple):
                result.append(Compound(shape[0], columns[start : start + shape[1]]))
                start += shape[1]
            else:
                result.append(columns[start])
                start += 1
        return tuple(result)

    def __str__(self) -> str:
        kinds = [
            "/" + ("atom" if shape is ATOM else f"{shape[0]}.{shape[1]}")  # type: ignore[index]
            for shape in self.shapes
            if shape is not None
        ]
        return f"{self.predicate}.{len(self.shapes)}{''.join(kinds)}"


@dataclass(frozen=True, slots=True)
class FlatAtom:
    """A flat relation applied to one term per column."""

    relation: Relation
    columns: tuple[Term, ...]

    def __str__(self) -> str:
        return f"{self.relation}({', '.join(map(str, self.columns))})"


@dataclass(frozen=True, slots=True)
class Unequal:
    """Test that two terms differ or, if negated, are equal."""

    left: Term
    right: Term
    negated: bool = False

    def __str__(self) -> str:
        return f"{self.left} {'==' if self.negated else '!='} {self.right}"


@dataclass(frozen=True, slots=True)
class IsConstant:
    """Test that the value of a variable is a constant."""

    variable: Variable

    def __str__(self) -> str:
        return f"{self.variable} is a constant"


@dataclass(frozen=True, slots=True)
class Alternatives:
    """Test that at least one choice of conditions holds; literals of the rule bind all variables."""

    choices: tuple[tuple[Condition, ...], ...]

    def __str__(self) -> str:
        return "(" + " or ".join(" and ".join(map(str, choice)) or "true" for choice in self.choices) + ")"


@dataclass(frozen=True, slots=True)
class Negated:
    """Test that an atom does not hold."""

    atom: FlatAtom

    def __str__(self) -> str:
        return f"not {self.atom}"


Condition = Negated | Unequal | IsConstant | Alternatives | FlatAtom


@dataclass(frozen=True, slots=True)
class Read:
    """An atom in the body of a rule; ``joined`` is True in a literal and False in a condition."""

    atom: FlatAtom
    positive: bool
    joined: bool

    @property
    def relation(self) -> Relation:
        """The relation of the atom."""
        return self.atom.relation


@dataclass(frozen=True, slots=True, eq=False)
class FlatRule:
    """A rule over flat relations: a join of literals, with conditions on bound values."""

    head: FlatAtom
    literals: tuple[FlatAtom, ...]
    conditions: tuple[Condition, ...]
    origin: Rule
    reads: tuple[Read, ...] = field(init=False)

    def __post_init__(self) -> None:
        reads: tuple[Read, ...] = ()
        if self.literals or self.conditions:  # a shortcut, because a sheet can have a million facts
            joined = [Read(atom, positive=True, joined=True) for atom in self.literals]
            reads = (*joined, *reads_of(self.conditions))
        object.__setattr__(self, "reads", reads)

    def __str__(self) -> str:
        body = ", ".join(map(str, (*self.literals, *self.conditions)))
        return f"{self.head} :- {body}" if body else str(self.head)


def reads_of(conditions: Iterable[Condition]) -> Iterator[Read]:
    """Yield the atoms in conditions, including atoms in alternatives."""
    for condition in conditions:
        if isinstance(condition, FlatAtom):
            yield Read(condition, positive=True, joined=False)
        elif isinstance(condition, Negated):
            yield Read(condition.atom, positive=False, joined=False)
        elif isinstance(condition, Alternatives):
            for choice in condition.choices:
                yield from reads_of(choice)


def terms_of(rule: FlatRule) -> Iterator[Term]:
    """Yield the terms in the columns and comparisons of a rule."""
    yield from rule.head.columns
    for atom in rule.literals:
        yield from atom.columns
    yield from terms_in(rule.conditions)


def terms_in(conditions: Iterable[Condition]) -> Iterator[Term]:
    """Yield the terms in the columns and comparisons of conditions."""
    for condition in conditions:
        if isinstance(condition, Unequal):
            yield from (condition.left, condition.right)
        elif isinstance(condition, IsConstant):
            yield condition.variable
        elif isinstance(condition, Alternatives):
            for choice in condition.choices:
                yield from terms_in(choice)
        else:
            yield from (condition.atom if isinstance(condition, Negated) else condition).columns


def variables_in(conditions: Iterable[Condition]) -> set[Variable]:
    """Return the variables of conditions."""
    return {variable for term in terms_in(conditions) for variable in variables_of(term)}


class Composer:
    """Builds and decomposes the compound terms of one functor."""

    __slots__ = ("_make", "functor", "known", "parts")

    def __init__(self, functor: tuple[str, int], make: Callable[[Composer, object], int]) -> None:
        self.functor = functor
        #: The number of each term, by the row of its arguments.
        self.known: dict[object, int] = {}
        #: For each term, a list with the row of its arguments; joins iterate over this list.
        self.parts: dict[int, list[object]] = {}
        self._make = make

    def __call__(self, arguments: object) -> int:
        """Return the number of the term with these arguments; a new term is added to the table."""
        number = self.known.get(arguments)
        return self._make(self, arguments) if number is None else number


class TermTable:
    """Numbers the ground terms in rows; equal terms have equal numbers.

    The key of a compound term is the row of its arguments' numbers (hash consing, Goto 1974). So joins build
    and decompose terms without reading text.

    Args:
        depth: maximum nesting depth of compound terms.
        terms: maximum number of terms.
        long: minimum number of characters of a long term.
        longest: maximum number of characters of a term.

    Attributes:
        terms: the terms, by number.
        depths: the nesting depth of each term, by number.
        has_long: whether any term is long; the total text of answers must then be bounded.
    """

    def __init__(self, *, depth: int, terms: int, long: int, longest: int) -> None:
        self.terms: list[Term] = []
        self._numbers: dict[Term, int] = {}
        self.depths: list[int] = []
        self.has_long = False
        self._composers: dict[tuple[str, int], Composer] = {}
        self._deepest, self._most, self._long, self._longest = depth, terms, long, longest
        self._lock = Lock()

    def composer(self, functor: tuple[str, int]) -> Composer:
        """Return the composer of a functor."""
        composer = self._composers.get(functor)
        if composer is None:
            composer = self._composers.setdefault(functor, Composer(functor, self._compose))
        return composer

    def number(self, term: Term) -> int:
        """Return the number of a ground term; a new term is added to the table."""
        number = self._numbers.get(term)
        if number is not None:
            return number
        if isinstance(term, Compound):
            return self.composer((term.functor, len(term.arguments)))(self.row(term.arguments))
        assert isinstance(term, Constant), term
        with self._lock:
            return self._numbers[term] if term in self._numbers else self._add(term, 0)

    def row(self, columns: Sequence[Term]) -> Row:
        """Return ground terms as a row."""
        numbers = tuple([self.number(term) for term in columns])
        return numbers[0] if len(numbers) == 1 else numbers

    def add_ground_parts(self, term: Term) -> None:
        """Add a ground term to the table; of any other term, add the largest ground parts."""
        pending = [term]
        while pending:
            part = pending.pop()
            if part.is_ground:
                self.number(part)
            elif isinstance(part, Compound):
                pending += part.arguments

    def find(self, term: Term) -> int | None:
        """Return the number of a ground term; None if the table does not contain it."""
        number = self._numbers.get(term)
        if number is None and isinstance(term, Compound):
            numbers = [self.find(argument) for argument in term.arguments]
            if None not in numbers:
                composer = self.composer((term.functor, len(numbers)))
                return composer.known.get(numbers[0] if len(numbers) == 1 else tuple(numbers))
        return number

    def _add(self, term: Term, depth: int) -> int:
        if len(self.terms) >= self._most:
            raise LimitError(
                f"the rules build more than {self._most} different terms", limit="terms", bound=self._most
            )
        if len(str(term)) > self._long:
            self.has_long = True
        number = len(self.terms)
        self.terms.append(term)
        self.depths.append(depth)
        self._numbers[term] = number
        return number

    def _compose(self, composer: Composer, arguments: object) -> int:
        name, count = composer.functor
        numbers = (arguments,) if count == 1 else arguments
        assert isinstance(numbers, tuple)
        with self._lock:
            if arguments in composer.known:
                return composer.known[arguments]
            depth = 1 + max(self.depths[number] for number in numbers)
            if depth > self._deepest:
                raise LimitError(
                    f"terms nest deeper than {self._deepest}: ({name} ...) grows without end",
                    limit="depth",
                    bound=self._deepest,
                )
            if sum(len(str(self.terms[number])) for number in numbers) > self._longest:
                raise LimitError(
                    f"the rules build a term of more than {self._longest:,} characters: ({name} ...)",
                    limit="size",
                    bound=self._longest,
                )
            number = self._add(Compound(name, tuple([self.terms[number] for number in numbers])), depth)
            composer.parts[number] = [arguments]
            composer.known[arguments] = number
            return number
