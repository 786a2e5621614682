"""Comparison of rules: variants and subsumption."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from anygame.analysis.groups import grouped
from anygame.doctor.work import Budget
from anygame.language.diagnostics import shown
from anygame.language.rules import Distinct, Literal, Not, Or
from anygame.language.terms import Compound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from anygame.language.rules import Formula, Rule
    from anygame.language.terms import Term


OPERATORS: Final = frozenset(("not", "or", "distinct", "(", ")"))
#: Maximum number of characters shown of a rule.
_SHOWN: Final = 200
#: Formulas in which the order of parts has no meaning.
_UNORDERED: Final = frozenset(("or", "and", "distinct"))
#: Maximum number of steps of one comparison.
_STEPS_A_PAIR: Final = 10_000
#: Maximum number of steps of all comparisons of one check.
STEPS_IN_ALL: Final = 1_000_000

#: A term, an atom or a formula as in KIF: a word, or a list of trees.
Tree = str | tuple["Tree", ...]
#: The head of a rule, and its conditions.
Parts = tuple[Tree, ...]
#: Two trees that must match, or two rows of trees. For rows, also the index of the next tree of the first
#: row, and a bit mask of the matched trees of the second row (None if they can match again).
_Goal = tuple[Tree, Tree] | tuple[Sequence[Tree], Sequence[Tree], int, "int | None"]
_Goals = tuple[_Goal, "_Goals"] | None
_Bindings = dict[str, Tree]
#: A state of the search: the remaining goals, and the values of variables.
_State = tuple[_Goals, _Bindings]


def parts_of(rule: Rule) -> Parts:
    """Return the head and the conditions of a rule as trees."""
    return (_list(rule.head.predicate, rule.head.arguments), *map(_tree, rule.body))


def _tree(formula: Formula) -> Tree:
    if isinstance(formula, Literal):
        return _list(formula.atom.predicate, formula.atom.arguments)
    if isinstance(formula, Not):
        return "not", _tree(formula.formula)
    if isinstance(formula, Distinct):
        return _list("distinct", (formula.left, formula.right))
    return "or" if isinstance(formula, Or) else "and", *map(_tree, formula.parts)


def _list(name: str, terms: Sequence[Term]) -> Tree:
    trees = (_list(t.functor, t.arguments) if isinstance(t, Compound) else str(t) for t in terms)
    return (name, *trees) if terms else name


def renamed(tree: Tree, rename: Callable[[str], str]) -> Tree:
    """Return a tree with each word replaced."""
    return rename(tree) if isinstance(tree, str) else tuple(renamed(part, rename) for part in tree)


def blind(tree: Tree) -> Tree:
    """Return a tree in which all variables are the same."""
    return renamed(tree, lambda word: "?" if _is_variable(word) else word)


def words_of(tree: Tree) -> list[str]:
    """Return the words and parentheses of a tree."""
    if isinstance(tree, str):
        return [tree]
    return ["(", *(word for part in tree for word in words_of(part)), ")"]


def text_of(parts: Parts) -> str:
    """Return a rule as KIF, shortened if the text is long."""
    return shown(_text(("<=", *parts) if len(parts) > 1 else parts[0]), _SHOWN)


def _text(tree: Tree) -> str:
    return tree if isinstance(tree, str) else f"({' '.join(map(_text, tree))})"


class VariantSet:
    """A set of rules in which variants of a rule count as the same rule."""

    def __init__(self, rules: Iterable[Parts]) -> None:
        self._budget = Budget(STEPS_IN_ALL)
        self._by_shape = grouped((_shape(parts), parts) for parts in dict.fromkeys(rules))

    def __contains__(self, parts: Parts) -> bool:
        alike = self._by_shape.get(_shape(parts), [])
        return parts in alike or any(_matches(parts, other, self._budget, renaming=True) for other in alike)


def is_variant(one: Parts, other: Parts) -> bool:
    """Return whether two rules differ only in the order of conditions and the names of variables."""
    return one in VariantSet([other])


def differ_in_one_slip(one: Parts, other: Parts) -> bool:
    """Return whether a single slip separates two rules, apart from the names of variables.

    A slip adds or drops a condition, or changes one word, the order of two words, or a `not` in one part.
    """
    if abs(len(one) - len(other)) == 1:
        longer, shorter = (one, other) if len(one) > len(other) else (other, one)
        return any(is_variant(_without(longer, n), shorter) for n in range(1, len(longer)))
    if len(one) != len(other):
        return False
    places = [(0, 0), *((m, n) for m in range(1, len(one)) for n in range(1, len(other)))]
    return any(
        _near(one[m], other[n]) and is_variant(_without(one, m), _without(other, n)) for m, n in places
    )


def _without(parts: Parts, number: int) -> Parts:
    """Return a rule without the condition ``number``, or for 0 with an empty head."""
    return (*parts[:number], *parts[number + 1 :]) if number else ("_", *parts[1:])


def _near(one: Tree, other: Tree) -> bool:
    """Return whether two parts of rules differ in one word or the order of two words, ignoring variables."""
    left, right = ([word for word in words_of(blind(tree)) if word not in "()"] for tree in (one, other))
    if sorted(left) == sorted(right):
        return sum(a != b for a, b in zip(left, right, strict=True)) <= 2
    ours, theirs = Counter(left), Counter(right)
    return max((ours - theirs).total(), (theirs - ours).total()) == 1


def subsumes(rule: Parts, other: Parts, budget: Budget) -> bool:
    """Return whether a substitution gives a rule the head of another rule, and some of its conditions.

    This is theta-subsumption (Plotkin, "A note on inductive generalization", 1970).
    """
    return _matches(rule, other, budget, renaming=False)


def _matches(one: Parts, other: Parts, budget: Budget, *, renaming: bool) -> bool:
    """Return whether a rule is a variant of another rule (with ``renaming``), or subsumes it (without).

    Conditions, and the parts of an `or` or a `distinct`, match in any order. If a comparison takes too many
    steps, rules count as variants, but not as subsumed.
    """
    last = max(budget.left - _STEPS_A_PAIR, 0)
    row = one[1:], other[1:], 0, 0 if renaming else None
    pending: list[_State] = [(((one[0], other[0]), (row, None)), {})]
    while pending and budget.left > last:
        budget.left -= 1
        goals, bindings = pending.pop()
        if goals is None:
            return True
        goal, rest = goals
        if len(goal) == 2:
            pending += _after_pair(*goal, rest, bindings, renaming)
        elif goal[2] == len(goal[0]):
            pending.append((rest, bindings))
        else:
            budget.left -= len(goal[1])
            pending += _after_choice(*goal, rest, bindings)
    return renaming and budget.left <= last


def _after_choice(
    row: Sequence[Tree], others: Sequence[Tree], at: int, used: int | None, rest: _Goals, bindings: _Bindings
) -> Iterator[_State]:
    """Yield a state of the search for each tree of ``others`` that the next tree of ``row`` may match."""
    for place, other in enumerate(others):
        if not (used or 0) >> place & 1 and _may_match(row[at], other):
            after = row, others, at + 1, None if used is None else used | 1 << place
            yield ((row[at], other), (after, rest)), bindings


def _after_pair(
    one: Tree, other: Tree, rest: _Goals, bindings: _Bindings, renaming: bool
) -> Iterator[_State]:
    """Yield the next states of the search if the roots of two trees match."""
    if isinstance(one, str):
        if one not in bindings and _is_variable(one):
            if not renaming or (_is_variable(other) and other not in bindings.values()):
                yield rest, {**bindings, one: other}
        elif bindings.get(one, one) == other:
            yield rest, bindings
    elif not isinstance(other, str) and len(one) == len(other):
        if one and one[0] in _UNORDERED and one[0] == other[0]:
            yield ((one[1:], other[1:], 0, 0), rest), bindings
        else:
            for pair in zip(reversed(one), reversed(other), strict=True):
                rest = pair, rest
            yield rest, bindings


def _may_match(one: Tree, other: Tree) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one == other or _is_variable(one)
    return len(one) == len(other) and (one[:1] == other[:1] or not isinstance(one[0], str))


def _is_variable(tree: Tree) -> bool:
    return isinstance(tree, str) and tree.startswith("?")


def _shape(parts: Parts) -> Parts:
    """Return a rule in which all variables are the same, and conditions and alternatives are sorted."""
    head, *body = (_sorted(blind(part)) for part in parts)
    return head, *sorted(body, key=repr)


def _sorted(tree: Tree) -> Tree:
    """Return a formula with the parts of each `or` and `distinct` sorted."""
    if isinstance(tree, str):
        return tree
    first, *rest = map(_sorted, tree)
    return first, *(sorted(rest, key=repr) if first in _UNORDERED else rest)
