"""Terms: constants, variables and compound terms, frozen and interned.

Equal terms are the same object, so that ``==`` and ``hash`` are those of identity and cost nothing.
``str(term)`` is KIF, and so is ``repr``, which text shows in quotes. Terms sort as their text does. Terms
share their parts, but each has its text: so what all long ones of a process may take together is bounded.

>>> move = Compound("move", (Constant("a"), Constant("1")))
>>> move, str(move), move is Compound("move", (Constant("a"), Constant("1")))
((move a 1), '(move a 1)', True)
>>> move.name, move.args, move.args[1].name, move.args[1].args
('move', (a, 1), '1', ())
"""

from __future__ import annotations

import gc
import re
from contextlib import contextmanager
from operator import attrgetter
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self
from weakref import WeakSet, WeakValueDictionary

from anygame.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_INTERNING: Final = Lock()
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_set: Final = object.__setattr__
_is_ground: Final = attrgetter("is_ground")


class Term:
    """What the three kinds of terms share: text, order, immutability.

    Attributes:
        is_ground: whether no variable occurs in the term.
    """

    __slots__ = ("__weakref__", "_text", "is_ground")
    _text: str
    is_ground: bool

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"terms cannot be changed: {self}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"terms cannot be changed: {self}")

    @property
    def name(self) -> str:
        """The name of a constant or variable; of a compound term, its functor."""
        raise NotImplementedError

    @property
    def args(self) -> tuple[Term, ...]:
        """The arguments of a compound term; of any other term, none."""
        return ()

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text

    def __lt__(self, other: object) -> bool:
        return self._text < other._text if isinstance(other, Term) else NotImplemented

    def __copy__(self) -> Term:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Term:
        return self


class _Named(Term):
    """A term without parts; one of each kind and name."""

    __slots__ = ("name",)
    name: str
    _known: ClassVar[WeakValueDictionary[str, Any]]
    _mark: ClassVar[str]

    def __new__(cls, name: str) -> Self:
        """Return the one term of this kind and name."""
        found: Self | None = cls._known.get(name)
        if found is None:
            with _INTERNING:
                found = cls._known.get(name)
                if found is None:
                    found = object.__new__(cls)
                    _set(found, "name", name)
                    _set(found, "_text", cls._mark + name)
                    _set(found, "is_ground", not cls._mark)
                    cls._known[name] = found
        return found

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return type(self), (self.name,)


class Constant(_Named):
    """An object constant, such as ``red`` or ``7`` (numbers are symbols: ``01`` is not ``1``)."""

    __slots__ = ()
    _known: ClassVar[WeakValueDictionary[str, Any]] = WeakValueDictionary()
    _mark = ""


def integer_of(term: Term) -> int | None:
    """Return the integer that a constant denotes as a goal, None for other terms.

    >>> [integer_of(Constant(name)) for name in ("100", "0100", "-7", "most")]
    [100, 100, -7, None]
    """
    return int(term.name) if isinstance(term, Constant) and _INTEGER.fullmatch(term.name) else None


class Variable(_Named):
    """A variable; its name is kept without the question mark."""

    __slots__ = ()
    _known: ClassVar[WeakValueDictionary[str, Any]] = WeakValueDictionary()
    _mark = "?"


class Compound(Term):
    """A function constant applied to at least one term, such as ``(cell 1 1 b)``."""

    __slots__ = ("arguments", "functor")
    functor: str
    arguments: tuple[Term, ...]

    def __new__(cls, functor: str, arguments: tuple[Term, ...]) -> Compound:
        """Return the one compound term of this functor and these arguments.

        Raises:
            LimitError: the text of this term and all other long ones would take too much memory.
        """
        key = (functor, arguments)
        found = _COMPOUNDS.get(key)
        if found is None:
            if not arguments:
                raise ValueError(f"a compound term needs arguments; the constant is Constant({functor!r})")
            texts = [argument._text for argument in arguments]
            length = sum(map(len, texts))
            with _INTERNING:
                found = _COMPOUNDS.get(key)
                if found is None:
                    if length > _LONG:
                        _LONG_TERMS.make_room(length)
                    found = object.__new__(cls)
                    _set(found, "functor", functor)
                    _set(found, "arguments", arguments)
                    _set(found, "_text", f"({functor} {' '.join(texts)})")
                    _set(found, "is_ground", all(part.is_ground for part in arguments))
                    _COMPOUNDS[key] = found
                    if length > _LONG:
                        _LONG_TERMS.add(found)
        return found

    @property
    def name(self) -> str:
        """The functor."""
        return self.functor

    @property
    def args(self) -> tuple[Term, ...]:
        """The arguments."""
        return self.arguments

    def __reduce__(self) -> tuple[type, tuple[str, tuple[Term, ...]]]:
        return Compound, (self.functor, self.arguments)


class _LongTerms:
    """The long terms there are. They are counted only when many have come since they were counted last."""

    def __init__(self) -> None:
        self._terms: WeakSet[Term] = WeakSet()
        self._added = 0
        self._room = 0

    def add(self, term: Term) -> None:
        self._terms.add(term)

    def make_room(self, length: int) -> None:
        self._added += length
        if self._added <= self._room:
            return
        taken = self._taken()
        if taken + length > _MOST_LONG_TEXT:
            gc.collect()
            taken = self._taken()
        if taken + length > _MOST_LONG_TEXT:
            raise LimitError(
                f"terms of more than {_LONG} characters take more than {_MOST_LONG_TEXT:,} together",
                limit="text",
                bound=_MOST_LONG_TEXT,
            )
        self._added = length
        self._room = max(_MOST_LONG_TEXT - taken, _MOST_LONG_TEXT // 16)

    def _taken(self) -> int:
        return sum(len(term._text) for term in self._terms)


#: Characters from which on a term is long, and those of all long terms together.
_LONG: Final = 250
_MOST_LONG_TEXT: Final = 250_000_000

_LONG_TERMS: Final = _LongTerms()
_COMPOUNDS: Final[WeakValueDictionary[tuple[str, tuple[Term, ...]], Compound]] = WeakValueDictionary()


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep Python's collector of garbage from looking for cycles meanwhile.

    While a sheet becomes objects, or these become gates, it would go through all of them again and again, and
    nearly all of them stay: of a sheet of a million facts it takes as long as the reading.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def are_ground(terms: Iterable[Term]) -> bool:
    """Whether no variable occurs in any of some terms."""
    return all(map(_is_ground, terms))


def variables_of(term: Term) -> Iterator[Variable]:
    """Yield the variables of a term from left to right, each as often as it occurs."""
    if isinstance(term, Variable):
        yield term
    elif isinstance(term, Compound) and not term.is_ground:
        for argument in term.arguments:
            yield from variables_of(argument)


def substitute(term: Term, bindings: Mapping[Variable, Term]) -> Term:
    """Return the term with its bound variables replaced (once; the replacements are not looked into)."""
    if term.is_ground:
        return term
    if isinstance(term, Variable):
        return bindings.get(term, term)
    if isinstance(term, Compound):
        return Compound(term.functor, tuple(substitute(argument, bindings) for argument in term.arguments))
    return term
