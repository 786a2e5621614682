"""What becomes of moves when arguments of two of them are exchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.language.terms import Compound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.language.terms import Term

    Ids = NDArray[np.int64]

#: An action that nobody has.
NO_ACTION: Final = -1


class Exchanges:
    """Exchanges among the actions of a game.

    Args:
        actions: of all roles.

    Attributes:
        kinds: per role int [actions], alike for actions of one name and as many arguments, and for all
            without any.
        arguments: the most that an action has.
    """

    def __init__(self, actions: Sequence[Sequence[Term]]) -> None:
        self._terms = [list(of_role) for of_role in actions]
        self._numbers = [{term: number for number, term in enumerate(of_role)} for of_role in actions]
        self._pairs: dict[tuple[int, int, int, int], tuple[int, int]] = {}
        self._everywhere: dict[tuple[Term, Term], list[Ids]] = {}
        self.kinds = [_kinds(of_role) for of_role in actions]
        self.arguments = max(
            (len(term.arguments) for of_role in actions for term in of_role if isinstance(term, Compound)),
            default=0,
        )

    def of_two(self, role: int, first: int, second: int, argument: int) -> tuple[int, int]:
        """Return what becomes of two actions of a role and of one kind that exchange an argument."""
        key = role, first, second, argument
        if key not in self._pairs:
            self._pairs[key] = self._of_two(*key)
        return self._pairs[key]

    def _of_two(self, role: int, first: int, second: int, argument: int) -> tuple[int, int]:
        one, other = self._terms[role][first], self._terms[role][second]
        mine, others = _argument(one, argument), _argument(other, argument)
        if mine is None or others is None:
            return NO_ACTION, NO_ACTION
        numbers = self._numbers[role]
        return (
            numbers.get(_with(one, argument, others), NO_ACTION),
            numbers.get(_with(other, argument, mine), NO_ACTION),
        )

    def everywhere(self, role: int, first: int, second: int, argument: int) -> list[Ids] | None:
        """Return what becomes of all actions, per role, when an argument of one and of another change places.

        Wherever one of the two stands the other is put, in whatever action. None if the two are the same.
        """
        terms = self._terms[role]
        mine, others = _argument(terms[first], argument), _argument(terms[second], argument)
        if mine is None or others is None or mine is others:
            return None
        key = (mine, others) if mine < others else (others, mine)
        if key not in self._everywhere:
            self._everywhere[key] = [
                np.array([numbers.get(_exchanged(term, *key), NO_ACTION) for term in of_role], np.int64)
                for of_role, numbers in zip(self._terms, self._numbers, strict=True)
            ]
        return self._everywhere[key]


def _kinds(actions: Sequence[Term]) -> Ids:
    names = [(term.functor, len(term.arguments)) if isinstance(term, Compound) else None for term in actions]
    order = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([order[name] for name in names], np.int64)


def _argument(term: Term, argument: int) -> Term | None:
    """Return an argument of a term; None if it has not so many."""
    if not isinstance(term, Compound) or argument >= len(term.arguments):
        return None
    return term.arguments[argument]


def _with(term: Term, argument: int, new: Term) -> Term:
    """Return a term with another argument."""
    assert isinstance(term, Compound)
    arguments = list(term.arguments)
    arguments[argument] = new
    return Compound(term.functor, tuple(arguments))


def _exchanged(term: Term, one: Term, other: Term) -> Term:
    """Return a term with one in all places of the other, and the other way."""
    if term is one:
        return other
    if term is other:
        return one
    if not isinstance(term, Compound):
        return term
    return Compound(term.functor, tuple(_exchanged(argument, one, other) for argument in term.arguments))
