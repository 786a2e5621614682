"""Terms: constants, variables and compound terms, frozen and interned.

Equal terms are the same object, so terms are compared and hashed by identity. ``str(term)`` and
``repr(term)`` are KIF. Terms sort by their text. Terms share their parts, but each term stores its own
text. Therefore, the total length of long texts in a process is bounded.

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
    """Base class of terms.

    Attributes:
        is_ground: whether the term has no variables.
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
        """The name of a constant or variable, or the functor of a compound term."""
        raise NotImplementedError

    @property
    def args(self) -> tuple[Term, ...]:
        """The arguments of a compound term; empty for any other term."""
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
    """A term without parts, unique for each class and name."""

    __slots__ = ("name",)
    name: str
    _known: ClassVar[WeakValueDictionary[str, Any]]
    _mark: ClassVar[str]

    def __new__(cls, name: str) -> Self:
        """Return the only term with this class and name."""
        term: Self | None = cls._known.get(name)
        if term is None:
            with _INTERNING:
                term = cls._known.get(name)
                if term is None:
                    term = object.__new__(cls)
                    _set(term, "name", name)
                    _set(term, "_text", cls._mark + name)
                    _set(term, "is_ground", not cls._mark)
                    cls._known[name] = term
        return term

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return type(self), (self.name,)


class Constant(_Named):
    """An object constant, such as ``red`` or ``7`` (numbers are symbols: ``01`` is not ``1``)."""

    __slots__ = ()
    _known: ClassVar[WeakValueDictionary[str, Any]] = WeakValueDictionary()
    _mark = ""


def integer_of(term: Term) -> int | None:
    """Return the integer that a constant denotes as a goal value; None for any other term.

    >>> [integer_of(Constant(name)) for name in ("100", "0100", "-7", "most")]
    [100, 100, -7, None]
    """
    return int(term.name) if isinstance(term, Constant) and _INTEGER.fullmatch(term.name) else None


class Variable(_Named):
    """A variable; its name excludes the question mark."""

    __slots__ = ()
    _known: ClassVar[WeakValueDictionary[str, Any]] = WeakValueDictionary()
    _mark = "?"


class Compound(Term):
    """A function constant applied to at least one term, such as ``(cell 1 1 b)``."""

    __slots__ = ("arguments", "functor")
    functor: str
    arguments: tuple[Term, ...]

    def __new__(cls, functor: str, arguments: tuple[Term, ...]) -> Compound:
        """Return the only compound term with this functor and these arguments.

        Raises:
            LimitError: the texts of all long terms would become too long in total.
        """
        key = (functor, arguments)
        term = _COMPOUNDS.get(key)
        if term is None:
            if not arguments:
                raise ValueError(f"a compound term needs arguments; otherwise use Constant({functor!r})")
            texts = [argument._text for argument in arguments]
            length = sum(map(len, texts))
            with _INTERNING:
                term = _COMPOUNDS.get(key)
                if term is None:
                    if length > _LONG:
                        _LONG_TERMS.make_room(length)
                    term = object.__new__(cls)
                    _set(term, "functor", functor)
                    _set(term, "arguments", arguments)
                    _set(term, "_text", f"({functor} {' '.join(texts)})")
                    _set(term, "is_ground", all(part.is_ground for part in arguments))
                    _COMPOUNDS[key] = term
                    if length > _LONG:
                        _LONG_TERMS.add(term)
        return term

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
    """All long terms. After much text was added, the total length of all long terms is computed again."""

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
                f"all terms longer than {_LONG} characters together exceed {_MOST_LONG_TEXT:,} characters",
                limit="text",
                bound=_MOST_LONG_TEXT,
            )
        self._added = length
        self._room = max(_MOST_LONG_TEXT - taken, _MOST_LONG_TEXT // 16)

    def _taken(self) -> int:
        return sum(len(term._text) for term in self._terms)


#: A term is long if its arguments have more characters than this number.
_LONG: Final = 250
#: Maximum total number of characters of all long terms.
_MOST_LONG_TEXT: Final = 250_000_000

_LONG_TERMS: Final = _LongTerms()
_COMPOUNDS: Final[WeakValueDictionary[tuple[str, tuple[Term, ...]], Compound]] = WeakValueDictionary()


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the garbage collector while many objects are created.

    The collector would traverse the objects repeatedly, although nearly all survive. For a sheet with a
    million facts, this traversal takes as long as reading.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def are_ground(terms: Iterable[Term]) -> bool:
    """Whether all terms are ground, that is, without variables."""
    return all(map(_is_ground, terms))


def variables_of(term: Term) -> Iterator[Variable]:
    """Yield the variables of a term from left to right, repeated as they occur."""
    if isinstance(term, Variable):
        yield term
    elif isinstance(term, Compound) and not term.is_ground:
        for argument in term.arguments:
            yield from variables_of(argument)


def substitute(term: Term, bindings: Mapping[Variable, Term]) -> Term:
    """Return the term with each bound variable replaced by its value; variables in values stay."""
    if term.is_ground:
        return term
    if isinstance(term, Variable):
        return bindings.get(term, term)
    if isinstance(term, Compound):
        return Compound(term.functor, tuple(substitute(argument, bindings) for argument in term.arguments))
    return term
