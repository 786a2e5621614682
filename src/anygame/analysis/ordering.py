"""The order of a body's formulas in which every variable is bound before it is tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.language.rules import And, Literal, Or

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anygame.language.rules import Formula
    from anygame.language.terms import Variable


def binding_order(body: Sequence[Formula], bound: Iterable[Variable] = ()) -> list[int]:
    """Return the order, as indices into the body: as it is, but tests wait until their variables are bound.

    A variable that nothing binds is not waited for.
    """
    bound_by = [binds(formula) for formula in body]
    bindable = {variable for found in bound_by for variable in found}
    needs = [(_needs(formula) & bindable) - found for formula, found in zip(body, bound_by, strict=True)]
    known = set(bound)
    order: list[int] = []
    waiting: list[int] = []
    for number in range(len(body)):
        waiting.append(number)
        while (ready := next((other for other in waiting if needs[other] <= known), None)) is not None:
            waiting.remove(ready)
            order.append(ready)
            known |= bound_by[ready]
    return order + waiting


def binds(formula: Formula) -> set[Variable]:
    """Return the variables that a formula binds when it holds."""
    if isinstance(formula, Literal):
        return set(formula.variables())
    if isinstance(formula, And):
        return {variable for part in formula.formulas for variable in binds(part)}
    if isinstance(formula, Or) and formula.formulas:
        return set.intersection(*map(binds, formula.formulas))
    return set()


def _needs(formula: Formula) -> set[Variable]:
    """Return the variables that must be bound before a formula can be tested."""
    if isinstance(formula, Literal):
        return set()
    if isinstance(formula, And):
        return {variable for part in formula.formulas for variable in _needs(part)} - binds(formula)
    if isinstance(formula, Or):
        return {variable for part in formula.formulas for variable in _needs(part) - binds(part)}
    return set(formula.variables())
