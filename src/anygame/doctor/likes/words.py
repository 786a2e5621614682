"""Rules as words, to be compared: what is said of one thing, and what would be said of another."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from anygame.language.diagnostics import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from anygame.language.rules import Atom, Formula, Rule

OPERATORS: Final = frozenset(("not", "or", "distinct", "(", ")"))
#: Characters of a rule that are shown.
_SHOWN: Final = 200
_TOKENS: Final = re.compile(r"[()]|[^\s()]+")
#: Formulas that mean the same in any order of their parts.
_UNORDERED: Final = frozenset(("or", "and", "distinct"))
#: Steps in which two rules are compared: those of people take some tens.
_STEPS: Final = 2_000
#: Rules that are the same but for their variables and are compared: of more, each counts as said.
_MOST_ALIKE: Final = 40

Words = tuple[str, ...]
#: The words of a head, and of each condition.
Parts = tuple[Words, ...]
#: Words as lists in lists.
_Tree = str | tuple["_Tree", ...]


def parts_of(rule: Rule) -> Parts:
    """Return the words of a rule."""
    return (words_of(rule.head), *(words_of(part) for part in rule.body))


def words_of(part: Formula | Atom) -> Words:
    """Return the words of a head or a condition."""
    return tuple(_TOKENS.findall(str(part)))


def exchanged(parts: Parts, exchange: Mapping[str, str]) -> Parts:
    """Return a rule with other names."""
    return tuple(tuple(exchange.get(word, word) for word in words) for words in parts)


class Said:
    """Rules, to be asked whether one is among them, however it is ordered and its variables are called."""

    def __init__(self, rules: Iterable[Parts]) -> None:
        self._by_look: dict[Parts, list[Parts]] = defaultdict(list)
        for parts in dict.fromkeys(rules):
            self._by_look[_look(parts)].append(parts)

    def __contains__(self, parts: Parts) -> bool:
        alike = self._by_look.get(_look(parts), [])
        return len(alike) > _MOST_ALIKE or any(same(parts, other) for other in alike)


def same(one: Parts, other: Parts) -> bool:
    """Return whether two rules differ in the order of conditions and the names of variables alone.

    So they do, too, where finding it out takes too many steps.
    """
    if one == other or _look(one) != _look(other):
        return one == other
    left, right = ((tuple(_trees(head)), ("and", *_trees(flat(body)))) for head, *body in (one, other))
    steps = iter(range(_STEPS))
    return next(_renamings(left, right, {}, steps), None) is not None or next(steps, None) is None


@lru_cache(maxsize=4096)
def _look(parts: Parts) -> Parts:
    """Return a rule whose variables are all the same, and whose conditions and alternatives are in order."""
    head, *body = map(_in_order, map(blind, parts))
    return head, *sorted(body)


def _in_order(words: Words) -> Words:
    """Return a condition with the parts of each `or` and `distinct` in order."""
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
    """Return words as lists in lists."""
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


def _renamings(
    one: _Tree, other: _Tree, names: Mapping[str, str], steps: Iterator[int]
) -> Iterator[Mapping[str, str]]:
    """Yield the new names of variables, no two the same, by which one list becomes another in any order."""
    if next(steps, None) is None:
        return
    if isinstance(one, str) or isinstance(other, str):
        if isinstance(one, str) and isinstance(other, str):
            yield from _renamed(one, other, names)
        return
    if len(one) != len(other):
        return
    if one and isinstance(one[0], str) and one[0] in _UNORDERED:
        if one[0] == other[0]:
            yield from _in_any_order(one[1:], other[1:], names, steps)
        return
    yield from _side_by_side(one, other, names, steps)


def _renamed(one: str, other: str, names: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    if one.startswith("?") != other.startswith("?"):
        return
    if not one.startswith("?"):
        if one == other:
            yield names
    elif names.get(one) == other or (one not in names and other not in names.values()):
        yield {**names, one: other}


def _side_by_side(
    one: Sequence[_Tree], other: Sequence[_Tree], names: Mapping[str, str], steps: Iterator[int]
) -> Iterator[Mapping[str, str]]:
    if not one:
        yield names
        return
    for more in _renamings(one[0], other[0], names, steps):
        yield from _side_by_side(one[1:], other[1:], more, steps)


def _in_any_order(
    one: Sequence[_Tree], other: Sequence[_Tree], names: Mapping[str, str], steps: Iterator[int]
) -> Iterator[Mapping[str, str]]:
    if not one:
        yield names
        return
    for place, each in enumerate(other):
        for more in _renamings(one[0], each, names, steps):
            yield from _in_any_order(one[1:], [*other[:place], *other[place + 1 :]], more, steps)


def numbered(words: Words) -> Words:
    """Return words with their variables numbered as they come."""
    numbers: dict[str, str] = {}
    return tuple(numbers.setdefault(w, f"?{len(numbers)}") if w.startswith("?") else w for w in words)


def flat(parts: Iterable[Words]) -> Words:
    """Return all words of a rule."""
    return tuple(word for words in parts for word in words)


def text_of(parts: Parts) -> str:
    """Return a rule as KIF, shortened if it is long."""
    text = f"(<= {' '.join(flat(parts))})"
    return shown(re.sub(r"\( | (?=\))", lambda found: found[0].strip(), text), _SHOWN)


def blind(words: Words) -> Words:
    """Return words in which all variables are the same."""
    return tuple("?" if word.startswith("?") else word for word in words)
