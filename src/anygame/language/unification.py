"""Unification and one-sided matching of terms.

>>> from anygame.language.terms import Compound, Constant, Variable
>>> x, a = Variable("x"), Constant("a")
>>> unify(Compound("f", (x, x)), Compound("f", (a, a)), {}) == {x: a}
True
"""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Final

from anygame.language.terms import Compound, Term, Variable, substitute, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Bindings = dict[Variable, Term]

#: Counting the characters of a term stops at this number, so that the counts stay small.
_MOST_CHARACTERS: Final = 2**48


def _walk(term: Term, bindings: Mapping[Variable, Term]) -> Term:
    while isinstance(term, Variable) and term in bindings:
        term = bindings[term]
    return term


def apply(term: Term, bindings: Mapping[Variable, Term]) -> Term:
    """Return a term with its variables replaced recursively, according to triangular bindings."""
    term = _walk(term, bindings)
    if isinstance(term, Compound) and not term.is_ground:
        return Compound(term.functor, tuple([apply(argument, bindings) for argument in term.arguments]))
    return term


def measure(terms: Iterable[Term], bindings: Mapping[Variable, Term]) -> tuple[int, int] | None:
    """Return the size of the terms that ``apply`` would build, visiting each part once.

    Returns:
        The total number of characters and the maximum nesting; None if a variable is bound to a term that
        contains the variable.
    """
    # The loop replaces recursion, because bindings can nest terms deeper than the recursion limit.
    results = [_walk(term, bindings) for term in terms]
    sizes: dict[Term, tuple[int, int]] = {}
    pending = list(results)
    entered: set[Term] = set()
    while pending:
        top = pending[-1]
        if top in sizes:
            pending.pop()
            continue
        if not isinstance(top, Compound):
            sizes[top] = len(str(top)), 0
            continue
        parts = [_walk(part, bindings) for part in top.arguments]
        unknown = [part for part in parts if part not in sizes]
        if unknown and top in entered:
            return None
        entered.add(top)
        if unknown:
            pending += unknown
        else:
            characters = len(top.functor) + 2 + sum([1 + sizes[part][0] for part in parts])
            sizes[top] = min(characters, _MOST_CHARACTERS), 1 + max([sizes[part][1] for part in parts])
    return sum(sizes[term][0] for term in results), max((sizes[term][1] for term in results), default=0)


def unify(left: Term, right: Term, bindings: Bindings) -> Bindings | None:
    """Return bindings extended by a most general unifier of two terms; None if the terms do not unify.

    A variable is never bound to a term that contains the variable. Bound terms can share parts, so
    ``apply`` can build far larger terms: call `measure` before ``apply``.
    """
    return unify_all([(left, right)], bindings)


def unify_all(pairs: Iterable[tuple[Term, Term]], bindings: Bindings) -> Bindings | None:
    """Return bindings extended by a most general unifier of several pairs of terms; see `unify`."""
    # ``same`` also contains unified compound terms, so that no parts are compared twice. Otherwise, shared
    # parts would take exponential time (Baader and Snyder, "Unification theory", section 2.3).
    same = dict[Term, Term](bindings.items())
    bound: list[Term] = []
    pending = list(pairs)
    while pending:
        left, right = pending.pop()
        left, right = _find(left, same), _find(right, same)
        if left is right:
            continue
        if isinstance(right, Variable) and not isinstance(left, Variable):
            left, right = right, left
        if isinstance(left, Variable):
            same[left] = right
            bound.append(right)
        elif (
            isinstance(left, Compound)
            and isinstance(right, Compound)
            and left.functor == right.functor
            and len(left.arguments) == len(right.arguments)
            and not (left.is_ground and right.is_ground)
        ):
            same[left] = right
            pending.extend(zip(left.arguments, right.arguments, strict=True))
        else:
            return None
    extended: Bindings = {variable: term for variable, term in same.items() if isinstance(variable, Variable)}
    nested = any(isinstance(term, Compound) and not term.is_ground for term in bound)
    return None if nested and measure(bound, extended) is None else extended


def may_agree(left: Sequence[Term], right: Sequence[Term]) -> bool:
    """Return whether two equally long sequences of terms unify; each sequence has its own variables."""
    apart = {v: Variable(f"{v.name} '") for term in left for v in variables_of(term)}
    return unify_all(zip([substitute(term, apart) for term in left], right, strict=True), {}) is not None


def _find(term: Term, same: dict[Term, Term]) -> Term:
    """Return the representative of a term's class, with path compression."""
    while (parent := same.get(term)) is not None:
        grandparent = same.get(parent)
        if grandparent is None:
            return parent
        same[term] = grandparent
        term = grandparent
    return term


def match(pattern: Term, ground: Term, bindings: Bindings) -> bool:
    """Return whether a pattern matches a ground term, and add the pattern's variables to ``bindings``.

    After a failed match, ``bindings`` can contain some variables of the pattern.
    """
    if pattern.is_ground:
        return pattern is ground
    if isinstance(pattern, Variable):
        return bindings.setdefault(pattern, ground) is ground
    return (
        isinstance(pattern, Compound)
        and isinstance(ground, Compound)
        and pattern.functor == ground.functor
        and len(pattern.arguments) == len(ground.arguments)
        and match_all(pattern.arguments, ground.arguments, bindings)
    )


def match_all(patterns: Sequence[Term], ground: Sequence[Term], bindings: Bindings) -> bool:
    """Return whether each pattern matches the ground term at the same index; see `match`."""
    return all(map(match, patterns, ground, repeat(bindings)))
