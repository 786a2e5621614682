"""The table of ground terms: each has a small integer, and equal terms have equal ones.

Rows hold these numbers. A compound term is found by the numbers of its arguments (hash consing, after
Goto 1974), so that joins put terms together and take them apart without looking at any text.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from anygame.errors import LimitError
from anygame.language.terms import Compound, Constant, Term

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anygame.datalog.relations import Row


class Composer:
    """The compound terms of one functor: puts them together and takes them apart.

    Attributes:
        known: the number of a term by those of its arguments (bare for one argument, else a tuple).
        parts: the other way round: a list that holds the arguments once, for joins.
    """

    __slots__ = ("_make", "functor", "known", "parts")

    def __init__(self, functor: tuple[str, int], make: Callable[[Composer, object], int]) -> None:
        self.functor = functor
        self.known: dict[object, int] = {}
        self.parts: dict[int, list[object]] = {}
        self._make = make

    def __call__(self, arguments: object) -> int:
        """Return the number of the term with these arguments, a new one where it never arose before."""
        found = self.known.get(arguments)
        return self._make(self, arguments) if found is None else found


class TermTable:
    """A growing table of ground terms; equal terms have equal numbers.

    Args:
        depth: how deep compound terms may nest.
        terms: how many there may be.
        long: characters from which on a term is long.
        longest: characters of the longest term.

    Attributes:
        terms: number to term.
        depths: number to the depth to which the term nests.
        has_long: whether some term is so long that rows which repeat it should be counted.
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
        found = self._composers.get(functor)
        if found is None:
            found = self._composers.setdefault(functor, Composer(functor, self._compose))
        return found

    def number(self, term: Term) -> int:
        """Return the number of a ground term, adding it where it is new."""
        found = self._numbers.get(term)
        if found is not None:
            return found
        if isinstance(term, Compound):
            numbers = [self.number(argument) for argument in term.arguments]
            return self.composer((term.functor, len(numbers)))(
                numbers[0] if len(numbers) == 1 else tuple(numbers)
            )
        assert isinstance(term, Constant), term
        with self._lock:
            return self._numbers[term] if term in self._numbers else self._add(term, 0)

    def row(self, columns: Sequence[Term]) -> Row:
        """Return ground terms as a row: the bare number of one, a tuple of others."""
        numbers = tuple([self.number(term) for term in columns])
        return numbers[0] if len(numbers) == 1 else numbers

    def add_ground_parts(self, term: Term) -> None:
        """Give numbers to what is ground in a term: to all of it, or to parts beside its variables."""
        pending = [term]
        while pending:
            part = pending.pop()
            if part.is_ground:
                self.number(part)
            elif isinstance(part, Compound):
                pending += part.arguments

    def find(self, term: Term) -> int | None:
        """Return the number of a ground term, or None where it never occurred."""
        found = self._numbers.get(term)
        if found is None and isinstance(term, Compound):
            numbers = [self.find(argument) for argument in term.arguments]
            if None not in numbers:
                composer = self.composer((term.functor, len(numbers)))
                return composer.known.get(numbers[0] if len(numbers) == 1 else tuple(numbers))
        return found

    def _add(self, term: Term, depth: int) -> int:
        if len(self.terms) >= self._most:
            raise LimitError(f"more than {self._most} different terms arise", limit="terms", bound=self._most)
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
                    f"a term of more than {self._longest:,} characters arises: ({name} ...)",
                    limit="size",
                    bound=self._longest,
                )
            number = self._add(Compound(name, tuple([self.terms[number] for number in numbers])), depth)
            composer.parts[number] = [arguments]
            composer.known[arguments] = number
            return number
