"""Inlining static relations: a large relation that ties its variables together gives way to its definition.

::

    row(a, b, c) :- true(at(1, a)), true(at(2, b)), true(at(3, c)), [alike(a, b, c)]
    where alike(x, y, z) :- kind(x, k), kind(y, k), kind(z, k), and alike has a million rows

becomes::

    row(a, b, c) :- true(at(1, a)), true(at(2, b)), true(at(3, c)), [kind(a, k)], [kind(b, k)], [kind(c, k)]

whose variables are tied through ``k`` alone, so that the body can be decomposed. This is the *unfolding* of
logic programs (Tamaki and Sato 1984, "Unfold/fold transformation of logic programs").
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count, islice
from typing import TYPE_CHECKING, Final

from anygame.language.unification import unify_all
from anygame.network.grounding.substitution import NotAVariableError, renamed_apart, substituted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.network.grounding.passes.context import Context
    from anygame.network.grounding.rules import GroundRule

#: A rule that would become more rules than this stays as it is: each is joined anew in every round.
_MOST_COPIES: Final = 24
#: Definitions in definitions are inlined this deep. Sheets build geometry (row, square, line) in about three
#: steps; without a bound copies double with each.
_DEEPEST: Final = 4


def inline_static_relations(rule: GroundRule, context: Context) -> list[GroundRule]:
    """Replace guards by the bodies of the rules that define them."""
    return _inline(rule, context, dense=False)


def inline_dense_relations(rule: GroundRule, context: Context) -> list[GroundRule]:
    """Do so with relations that hold for most values too, except beside moves, which are complemented."""
    if any(atom.relation.predicate == "does" for atom in rule.positives):
        return [rule]
    return _inline(rule, context, dense=True)


def _inline(rule: GroundRule, context: Context, *, dense: bool) -> list[GroundRule]:
    numbers = count(1)

    def copies(rule: GroundRule, depth: int) -> Iterator[GroundRule]:
        for index, guard in enumerate(rule.guards if depth else ()):
            bodies = context.definition(guard.relation, dense)
            if bodies is None:
                continue
            try:
                found = [copy for body in bodies for copy in _inlined(rule, index, body, next(numbers))]
            except NotAVariableError:
                continue
            for one in found:
                yield from copies(one, depth - 1)
            return
        yield rule

    found = list(islice(copies(rule, _DEEPEST), _MOST_COPIES + 1))
    return found if len(found) <= _MOST_COPIES else [rule]


def _inlined(rule: GroundRule, index: int, body: GroundRule, number: int) -> Iterator[GroundRule]:
    """Yield the rule with one guard replaced by a body, nothing where they do not fit."""
    body = renamed_apart(body, number)
    bindings = unify_all(zip(rule.guards[index].columns, body.head.columns, strict=True), {})
    if bindings is None:
        return
    guards = (*rule.guards[:index], *body.guards, *rule.guards[index + 1 :])
    yield substituted(replace(rule, guards=guards, tests=(*rule.tests, *body.tests)), bindings)
