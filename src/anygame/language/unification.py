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

#: Where counting characters ends, lest the count itself gets long.
_VERY_MANY: Final = 2**48


def _walk(term: Term, bindings: Mapping[Variable, Term]) -> Term:
    while isinstance(term, Variable) and term in bindings:
        term = bindings[term]
    return term


def apply(term: Term, bindings: Mapping[Variable, Term]) -> Term:
    """Replace the variables of a term by what the (triangular) bindings make of them."""
    term = _walk(term, bindings)
    if isinstance(term, Compound) and not term.is_ground:
        return Compound(term.functor, tuple([apply(argument, bindings) for argument in term.arguments]))
    return term


def measure(terms: Iterable[Term], bindings: Mapping[Variable, Term]) -> tuple[int, int] | None:
    """Return how large ``apply`` would make some terms; writes nothing and looks at each part once.

    Returns:
        The characters of all of them together, and the deepest nesting; None where a variable stands for a
        term that holds it.
    """
    known: dict[Term, tuple[int, int]] = {}
    characters = deepest = 0
    for term in terms:
        found = _measure(_walk(term, bindings), bindings, known)
        if found is None:
            return None
        characters += found[0]
        deepest = max(deepest, found[1])
    return characters, deepest


def _measure(
    term: Term, bindings: Mapping[Variable, Term], known: dict[Term, tuple[int, int]]
) -> tuple[int, int] | None:
    # Without recursion: bindings nest terms deeper than CPython nests calls.
    pending = [term]
    entered: set[Term] = set()
    while pending:
        top = pending[-1]
        if top in known:
            pending.pop()
            continue
        if not isinstance(top, Compound):
            known[top] = len(str(top)), 0
            continue
        parts = [_walk(part, bindings) for part in top.arguments]
        unknown = [part for part in parts if part not in known]
        if unknown and top in entered:
            return None
        entered.add(top)
        if unknown:
            pending += unknown
        else:
            characters = len(top.functor) + 2 + sum([1 + known[part][0] for part in parts])
            known[top] = min(characters, _VERY_MANY), 1 + max([known[part][1] for part in parts])
    return known[term]


def unify(left: Term, right: Term, bindings: Bindings) -> Bindings | None:
    """Extend the bindings by a most general unifier of two terms; None where there is none.

    The bindings passed in are not changed. A variable is never bound to a term that holds it. What is bound
    may share its parts, so that ``apply`` makes of it far larger terms: `measure` them first.
    """
    return unify_all([(left, right)], bindings)


def unify_all(pairs: Iterable[tuple[Term, Term]], bindings: Bindings) -> Bindings | None:
    """Extend the bindings by a most general unifier that makes the terms of each pair equal; see `unify`."""
    # Compound terms that were made equal are kept beside the bindings, so that no parts are compared twice:
    # terms that share their parts would take time exponential in their depth (Baader and Snyder,
    # "Unification theory", section 2.3).
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
    """Return whether as many terms can be made equal, the variables of both sides kept apart."""
    apart = {v: Variable(f"{v.name} '") for term in left for v in variables_of(term)}
    return unify_all(zip([substitute(term, apart) for term in left], right, strict=True), {}) is not None


def _find(term: Term, same: dict[Term, Term]) -> Term:
    """Return what a term was made equal to at last, and shorten the way there."""
    while (further := same.get(term)) is not None:
        beyond = same.get(further)
        if beyond is None:
            return further
        same[term] = beyond
        term = beyond
    return term


def match(pattern: Term, ground: Term, bindings: Bindings) -> bool:
    """Bind the pattern's variables so that it equals a ground term; extends ``bindings`` in place.

    Returns False where they cannot be equal; ``bindings`` may then hold part of the attempt.
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
    """Match as many patterns with ground terms, as `match` does one."""
    return all(map(match, patterns, ground, repeat(bindings)))
