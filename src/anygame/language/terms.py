"""Terms: constants, variables and compound terms, frozen and interned.

Equal terms are the same object, so that ``==`` and ``hash`` are those of identity and cost nothing.
``str(term)`` is KIF, and terms sort as their text does.

>>> move = Compound("move", (Constant("a"), Constant("1")))
>>> str(move), move is Compound("move", (Constant("a"), Constant("1")))
('(move a 1)', True)
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Compound", "Constant", "Term", "Variable", "substitute", "variables_of"]

_INTERNING: Final = Lock()


class Term:
    """What the three kinds of terms share: text, order, immutability."""

    __slots__ = ("__weakref__", "_text")
    _text: str

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"terms cannot be changed: {self}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"terms cannot be changed: {self}")

    def __str__(self) -> str:
        return self._text

    def __lt__(self, other: object) -> bool:
        return self._text < other._text if isinstance(other, Term) else NotImplemented

    def __copy__(self) -> Term:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Term:
        return self

    @property
    def is_ground(self) -> bool:
        """Whether no variable occurs in the term."""
        return not any(True for _ in variables_of(self))


class Constant(Term):
    """An object constant, such as ``red`` or ``7`` (numbers are symbols: ``01`` is not ``1``)."""

    __slots__ = ("name",)
    name: str

    def __new__(cls, name: str) -> Constant:
        """Return the one constant of this name."""
        found = _CONSTANTS.get(name)
        if found is None:
            with _INTERNING:
                found = _CONSTANTS.get(name)
                if found is None:
                    found = object.__new__(cls)
                    object.__setattr__(found, "name", name)
                    object.__setattr__(found, "_text", name)
                    _CONSTANTS[name] = found
        return found

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return Constant, (self.name,)

    def __repr__(self) -> str:
        return f"Constant({self.name!r})"


class Variable(Term):
    """A variable; its name is kept without the question mark."""

    __slots__ = ("name",)
    name: str

    def __new__(cls, name: str) -> Variable:
        """Return the one variable of this name."""
        found = _VARIABLES.get(name)
        if found is None:
            with _INTERNING:
                found = _VARIABLES.get(name)
                if found is None:
                    found = object.__new__(cls)
                    object.__setattr__(found, "name", name)
                    object.__setattr__(found, "_text", "?" + name)
                    _VARIABLES[name] = found
        return found

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return Variable, (self.name,)

    def __repr__(self) -> str:
        return f"Variable({self.name!r})"


class Compound(Term):
    """A function constant applied to at least one term, such as ``(cell 1 1 b)``."""

    __slots__ = ("arguments", "functor")
    functor: str
    arguments: tuple[Term, ...]

    def __new__(cls, functor: str, arguments: tuple[Term, ...]) -> Compound:
        """Return the one compound term of this functor and these arguments."""
        key = (functor, arguments)
        found = _COMPOUNDS.get(key)
        if found is None:
            if not arguments:
                raise ValueError(f"a compound term needs arguments; the constant is Constant({functor!r})")
            with _INTERNING:
                found = _COMPOUNDS.get(key)
                if found is None:
                    found = object.__new__(cls)
                    object.__setattr__(found, "functor", functor)
                    object.__setattr__(found, "arguments", arguments)
                    object.__setattr__(found, "_text", f"({functor} {' '.join(map(str, arguments))})")
                    _COMPOUNDS[key] = found
        return found

    def __reduce__(self) -> tuple[type, tuple[str, tuple[Term, ...]]]:
        return Compound, (self.functor, self.arguments)

    def __repr__(self) -> str:
        return f"Compound({self.functor!r}, {self.arguments!r})"


_CONSTANTS: Final[WeakValueDictionary[str, Constant]] = WeakValueDictionary()
_VARIABLES: Final[WeakValueDictionary[str, Variable]] = WeakValueDictionary()
_COMPOUNDS: Final[WeakValueDictionary[tuple[str, tuple[Term, ...]], Compound]] = WeakValueDictionary()


def variables_of(term: Term) -> Iterator[Variable]:
    """Yield the variables of a term from left to right, each as often as it occurs."""
    if isinstance(term, Variable):
        yield term
    elif isinstance(term, Compound):
        for argument in term.arguments:
            yield from variables_of(argument)


def substitute(term: Term, bindings: Mapping[Variable, Term]) -> Term:
    """Return the term with its bound variables replaced (once; the replacements are not looked into)."""
    if isinstance(term, Variable):
        return bindings.get(term, term)
    if isinstance(term, Compound):
        return Compound(term.functor, tuple(substitute(argument, bindings) for argument in term.arguments))
    return term
