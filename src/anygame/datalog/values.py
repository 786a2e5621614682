"""Values: ground terms as small integers, one table per game."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Final

from anygame.errors import LimitError
from anygame.language.terms import Compound, Constant, Term

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Composer", "Values"]

#: Characters from which on a term is long, and those of the longest.
_LONG: Final = 250
_LONGEST: Final = 100_000


class Composer:
    """The compound values of one functor: puts them together and takes them apart.

    Attributes:
        known: arguments (a bare value for one argument, else a tuple) to value.
        parts: value to a list that holds its arguments, in the same form, once. For joins.
    """

    __slots__ = ("_make", "functor", "known", "parts")

    def __init__(self, functor: tuple[str, int], make: Callable[[Composer, object], int]) -> None:
        self.functor = functor
        self.known: dict[object, int] = {}
        self.parts: dict[int, list[object]] = {}
        self._make = make

    def __call__(self, arguments: object) -> int:
        """Return the value for the arguments, a new one where they were never put together before."""
        found = self.known.get(arguments)
        return self._make(self, arguments) if found is None else found


class Values:
    """A growing table of ground terms; equal terms have equal numbers.

    Args:
        deepest: how deep compound values may nest.
        most: how many values there may be.

    Attributes:
        terms: value to term.
        depths: value to the depth to which its term nests.
        has_long: whether some term is so long that rows which repeat it should be counted.
    """

    def __init__(self, deepest: int, most: int) -> None:
        self.terms: list[Term] = []
        self._numbers: dict[Term, int] = {}
        self.depths: list[int] = []
        self.has_long = False
        self._composers: dict[tuple[str, int], Composer] = {}
        self._deepest = deepest
        self._most = most
        self._lock = Lock()

    def composer(self, functor: tuple[str, int]) -> Composer:
        """Return the composer of a functor."""
        found = self._composers.get(functor)
        if found is None:
            found = self._composers.setdefault(functor, Composer(functor, self._compose))
        return found

    def functors(self) -> list[tuple[str, int]]:
        """Return the functors in the order in which their composers were made."""
        return list(self._composers)

    def number(self, term: Term) -> int:
        """Return the value of a ground term, adding it where it is new."""
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

    def find(self, term: Term) -> int | None:
        """Return the value of a ground term, or None where it never occurred."""
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
        if len(str(term)) > _LONG:
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
            if sum(len(str(self.terms[number])) for number in numbers) > _LONGEST:
                raise LimitError(
                    f"a term of more than {_LONGEST:,} characters arises: ({name} ...)",
                    limit="size",
                    bound=_LONGEST,
                )
            number = self._add(Compound(name, tuple([self.terms[number] for number in numbers])), depth)
            composer.parts[number] = [arguments]
            composer.known[arguments] = number
            return number
