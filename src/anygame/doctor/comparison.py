"""Comparison of rules: variants and subsumption."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from anygame.analysis.groups import grouped
from anygame.doctor.work import Budget
from anygame.language.diagnostics import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from anygame.language.rules import Atom, Formula, Rule


OPERATORS: Final = frozenset(("not", "or", "distinct", "(", ")"))
#: Maximum characters shown of a rule.
_SHOWN: Final = 200
_TOKENS: Final = re.compile(r"[()]|[^\s()]+")
#: Formulas in which the order of parts has no meaning.
_UNORDERED: Final = frozenset(("or", "and", "distinct"))
#: Maximum steps for comparing two rules, and for a whole budget; hand-written rules take some hundreds.
_STEPS_A_PAIR: Final = 10_000
STEPS_IN_ALL: Final = 1_000_000
#: Ways to match two rules: equal up to names of variables, or an instance of one is part of the other.
_RENAMED: Final = 0
_PART: Final = 1

Words = tuple[str, ...]
#: The words of a head, and of each condition.
Parts = tuple[Words, ...]
#: Words as lists in lists.
_Tree = str | tuple["_Tree", ...]
#: Two trees, the first of which is to become the second; or two rows of trees, an index, and the used ones.
_Goal = tuple[_Tree, _Tree] | tuple[Sequence[_Tree], Sequence[_Tree], int, "int | None"]
_Goals = tuple[_Goal, "_Goals"] | None
#: The values of variables, and a state of the search: the remaining goals with these values.
_Names = dict[str, _Tree]
_State = tuple[_Goals, _Names]


def parts_of(rule: Rule) -> Parts:
    """Return the words of a rule."""
    return (words_of(rule.head), *(words_of(part) for part in rule.body))


def words_of(part: Formula | Atom) -> Words:
    """Return the words of a head or a condition."""
    return tuple(_TOKENS.findall(str(part)))


def exchanged(parts: Parts, exchange: Mapping[str, str]) -> Parts:
    """Return a rule in which names are replaced."""
    return tuple(tuple(exchange.get(word, word) for word in words) for words in parts)


class VariantSet:
    """A set of rules that can tell whether it has a variant of a rule."""

    def __init__(self, rules: Iterable[Parts]) -> None:
        self._budget = Budget(STEPS_IN_ALL)
        self._by_look = grouped((_look(parts), parts) for parts in dict.fromkeys(rules))

    def __contains__(self, parts: Parts) -> bool:
        alike = self._by_look.get(_look(parts), [])
        return parts in alike or any(_becomes(parts, other, self._budget, _RENAMED) for other in alike)


def is_variant(one: Parts, other: Parts) -> bool:
    """Return whether two rules differ only in the order of conditions and the names of variables."""
    return one == other or (
        _look(one) == _look(other) and _becomes(one, other, Budget(STEPS_IN_ALL), _RENAMED)
    )


def differ_in_one_slip(one: Parts, other: Parts) -> bool:
    """Return whether a variant of a rule becomes another one by a single slip.

    A slip adds or drops a condition, or changes one word, the order of two, or a `not` in one part.
    """
    if abs(len(one) - len(other)) == 1:
        longer, shorter = (one, other) if len(one) > len(other) else (other, one)
        return any(is_variant(_without(longer, n), shorter) for n in range(1, len(longer)))
    if len(one) != len(other):
        return False
    places = [(0, 0), *((m, n) for m in range(1, len(one)) for n in range(1, len(other)))]
    near = ((m, n) for m, n in places if _near(one[m], other[n]))
    return any(
        is_variant(_without(one, m), _without(other, n))
        and (
            not (renamed := _renamed(one[m], other[n]))
            or is_variant((*one[:m], renamed, *one[m + 1 :]), other)
        )
        for m, n in near
    )


def _renamed(one: Words, other: Words) -> Words:
    """Return a part of a rule with its only differing name replaced by that of another part, or empty."""
    ours, theirs = (Counter(blind(words)) for words in (one, other))
    left, right = list((ours - theirs).elements()), list((theirs - ours).elements())
    if not len(left) == len(right) == 1 or "?" in (*left, *right):
        return ()
    return tuple(right[0] if word == left[0] else word for word in one)


def _without(parts: Parts, number: int) -> Parts:
    """Return a rule without one condition, or with an empty head."""
    return (*parts[:number], *parts[number + 1 :]) if number else (("_",), *parts[1:])


def _near(one: Words, other: Words) -> bool:
    """Return whether two parts of rules, up to variables, differ in one word or in the order of two."""
    left, right = ([word for word in blind(words) if word not in "()"] for words in (one, other))
    if sorted(left) == sorted(right):
        # Two words are exchanged, or a word and a term of several words.
        differing = sum(a != b for a, b in zip(left, right, strict=True))
        return differing <= 2 or any(
            [w for w in left if w != word] == [w for w in right if w != word] for word in {*left} - {"?"}
        )
    ours, theirs = Counter(left), Counter(right)
    return max((ours - theirs).total(), (theirs - ours).total()) == 1


def subsumes(rule: Parts, other: Parts, budget: Budget) -> bool:
    """Return whether some values make the head of a rule another's, and its body a part of the other's.

    Then the other rule is redundant: theta-subsumption (Plotkin, "A note on inductive generalization", 1970).
    """
    return _becomes(rule, other, budget, _PART)


def _becomes(one: Parts, other: Parts, budget: Budget, way: int) -> bool:
    """Return whether values for its variables make a rule another one, or a part of another one.

    Conditions, and the parts of an `or` or a `distinct`, match in any order. If a comparison takes too many
    steps, rules count as variants, but not as parts of each other.
    """
    last = max(budget.left - _STEPS_A_PAIR, 0)
    (head, *body), (other_head, *other_body) = _tree(one), _tree(other)
    row = tuple(body), tuple(other_body), 0, 0 if way == _RENAMED else None
    pending: list[_State] = [(((head, other_head), (row, None)), {})]
    while pending and budget.left > last:
        budget.left -= 1
        goals, names = pending.pop()
        if goals is None:
            return True
        goal, rest = goals
        if len(goal) == 2:
            pending += _paired(*goal, rest, names, way)
        elif goal[2] == len(goal[0]):
            pending.append((rest, names))
        else:
            budget.left -= len(goal[1])
            pending += _chosen(*goal, rest, names)
    return way == _RENAMED and budget.left <= last


def _chosen(
    row: Sequence[_Tree], others: Sequence[_Tree], at: int, used: int | None, rest: _Goals, names: _Names
) -> Iterator[_State]:
    """Yield the remaining state of the search for each choice of a tree for the next one of a row."""
    for place, other in enumerate(others):
        if not (used or 0) >> place & 1 and _may_become(row[at], other):
            left = row, others, at + 1, None if used is None else used | 1 << place
            yield ((row[at], other), (left, rest)), names


def _paired(one: _Tree, other: _Tree, rest: _Goals, names: _Names, way: int) -> Iterator[_State]:
    """Yield the remaining states of the search after a tree has become another."""
    if isinstance(one, str):
        if one not in names and _is_variable(one):
            if way == _PART or (_is_variable(other) and other not in names.values()):
                yield rest, {**names, one: other}
        elif names.get(one, one) == other:
            yield rest, names
    elif not isinstance(other, str) and len(one) == len(other):
        if one and one[0] in _UNORDERED and one[0] == other[0]:
            yield ((one[1:], other[1:], 0, 0), rest), names
        else:
            for pair in zip(reversed(one), reversed(other), strict=True):
                rest = pair, rest
            yield rest, names


def _may_become(one: _Tree, other: _Tree) -> bool:
    """Return whether a tree may become another, as far as their roots show."""
    if isinstance(one, str) or isinstance(other, str):
        return one == other or _is_variable(one)
    return len(one) == len(other) and (one[:1] == other[:1] or not isinstance(one[0], str))


def _is_variable(tree: _Tree) -> bool:
    return isinstance(tree, str) and tree.startswith("?")


@lru_cache(maxsize=4096)
def _tree(parts: Parts) -> tuple[_Tree, ...]:
    head, *body = parts
    return tuple(_trees(head)), *_trees(flat(body))


@lru_cache(maxsize=4096)
def _look(parts: Parts) -> Parts:
    """Return a rule with equal variables, and with sorted conditions and alternatives."""
    head, *body = map(_with_sorted_parts, map(blind, parts))
    return head, *sorted(body)


def _with_sorted_parts(words: Words) -> Words:
    """Return a condition with the parts of each `or` and `distinct` sorted."""
    if _UNORDERED.isdisjoint(words):
        return words

    def ordered(tree: _Tree) -> Words:
        if isinstance(tree, str):
            return (tree,)
        inner = [ordered(each) for each in tree]
        if inner and inner[0][0] in _UNORDERED:
            inner[1:] = sorted(inner[1:])
        return "(", *flat(inner), ")"

    return flat(map(ordered, _trees(words)))


def _trees(words: Words) -> list[_Tree]:
    waiting: list[list[_Tree]] = [[]]
    for word in words:
        if word == "(":
            waiting.append([])
        elif word == ")":
            inner = tuple(waiting.pop())
            waiting[-1].append(inner)
        else:
            waiting[-1].append(word)
    return waiting[0]


def numbered(words: Words) -> Words:
    """Return words with variables numbered in order of occurrence."""
    numbers: dict[str, str] = {}
    return tuple(numbers.setdefault(w, f"?{len(numbers)}") if w.startswith("?") else w for w in words)


def flat(parts: Iterable[Words]) -> Words:
    """Return all words of a rule."""
    return tuple(word for words in parts for word in words)


def text_of(parts: Parts) -> str:
    """Return a rule as KIF, shortened if it is long."""
    text = f"(<= {' '.join(flat(parts))})" if len(parts) > 1 else " ".join(parts[0])
    return shown(re.sub(r"\( | (?=\))", lambda found: found[0].strip(), text), _SHOWN)


def blind(words: Words) -> Words:
    """Return words in which all variables are the same."""
    return tuple("?" if word.startswith("?") else word for word in words)
