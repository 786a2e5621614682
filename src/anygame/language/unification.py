"""Unification and one-sided matching of terms.

>>> from anygame.language.terms import Compound, Constant, Variable
>>> x, a = Variable("x"), Constant("a")
>>> unify(Compound("f", (x, x)), Compound("f", (a, a)), {}) == {x: a}
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.language.terms import Compound, Term, Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["apply", "match", "unify"]

Bindings = dict[Variable, Term]


def _walk(term: Term, bindings: Mapping[Variable, Term]) -> Term:
    while isinstance(term, Variable) and term in bindings:
        term = bindings[term]
    return term


def apply(term: Term, bindings: Mapping[Variable, Term]) -> Term:
    """Replace the variables of a term by what the (triangular) bindings make of them."""
    term = _walk(term, bindings)
    if isinstance(term, Compound):
        return Compound(term.functor, tuple([apply(argument, bindings) for argument in term.arguments]))
    return term


def unify(left: Term, right: Term, bindings: Bindings) -> Bindings | None:
    """Extend the bindings by a most general unifier of two terms; None where there is none.

    The bindings passed in are not changed. A variable is never bound to a term that holds it.
    """
    extended = dict(bindings)
    pending = [(left, right)]
    while pending:
        left, right = pending.pop()
        left, right = _walk(left, extended), _walk(right, extended)
        if left is right:
            continue
        if isinstance(left, Variable):
            if left in variables_of(apply(right, extended)):
                return None
            extended[left] = right
        elif isinstance(right, Variable):
            pending.append((right, left))
        elif (
            isinstance(left, Compound)
            and isinstance(right, Compound)
            and left.functor == right.functor
            and len(left.arguments) == len(right.arguments)
        ):
            pending.extend(zip(left.arguments, right.arguments, strict=True))
        else:
            return None
    return extended


def match(pattern: Term, ground: Term, bindings: Bindings) -> bool:
    """Bind the pattern's variables so that it equals a ground term; extends ``bindings`` in place.

    Returns False where they cannot be equal; ``bindings`` may then hold part of the attempt.
    """
    if pattern is ground:
        return True
    if isinstance(pattern, Variable):
        return bindings.setdefault(pattern, ground) is ground
    return (
        isinstance(pattern, Compound)
        and isinstance(ground, Compound)
        and pattern.functor == ground.functor
        and len(pattern.arguments) == len(ground.arguments)
        and all(map(match, pattern.arguments, ground.arguments, [bindings] * len(ground.arguments)))
    )
