"""Rules as words, to be compared: what is said of one thing, and what would be said of another."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from anygame.doctor.sheet import key_of
from anygame.language.diagnostics import shown
from anygame.language.rules import Atom, Rule, map_atoms
from anygame.language.terms import Compound

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from anygame.doctor.sheet import Key
    from anygame.language.rules import Formula
    from anygame.language.terms import Term

OPERATORS: Final = frozenset(("not", "or", "distinct", "(", ")"))
#: Characters of a rule that are shown.
_SHOWN: Final = 200
_TOKENS: Final = re.compile(r"[()]|[^\s()]+")
#: Formulas that mean the same in any order of their parts.
_UNORDERED: Final = frozenset(("or", "and", "distinct"))
#: Steps in which two rules are compared: those of people take some tens.
_STEPS: Final = 2_000

Words = tuple[str, ...]
#: The words of a head, and of each condition.
Parts = tuple[Words, ...]
#: Words as lists in lists.
_Tree = str | tuple["_Tree", ...]
#: A relation, or the name of a fluent, a move or another term; and in which order its arguments are written.
Turn = tuple[bool, "Key", tuple[int, ...]]


def parts_of(rule: Rule) -> Parts:
    """Return the words of a rule."""
    return (words_of(rule.head), *(words_of(part) for part in rule.body))


def words_of(part: Formula | Atom) -> Words:
    """Return the words of a head or a condition."""
    return tuple(_TOKENS.findall(str(part)))


def exchanged(parts: Parts, exchange: Mapping[str, str]) -> Parts:
    """Return a rule with other names."""
    return tuple(tuple(exchange.get(word, word) for word in words) for words in parts)


@lru_cache(maxsize=4096)
def normal(parts: Parts) -> Words:
    """Return the words of a rule in an order, and with variables, that do not depend on how it is written.

    The next condition is the first by its words, where variables that none before has are all the same; one
    that looks like another waits. So are the parts of an `or` and a `distinct` put in order.
    """
    numbers: dict[str, str] = {}

    def seen(words: Words) -> Words:
        return tuple(numbers.get(w, "?") if w.startswith("?") else w for w in _in_order(words, numbers))

    words, *left = parts
    found: Words = ()
    while True:
        words = _in_order(words, numbers)
        for word in words:
            if word.startswith("?"):
                numbers.setdefault(word, f"?{len(numbers)}")
        found += seen(words)
        if not left:
            return found
        looks = Counter(map(seen, left))
        words = min(left, key=lambda each: (looks[seen(each)], seen(each)))
        left.remove(words)


def _in_order(words: Words, numbers: Mapping[str, str]) -> Words:
    """Return a condition, the parts of each `or` and `distinct` in order by what is known of variables."""
    if _UNORDERED.isdisjoint(words):
        return words

    def look(words: Words) -> Words:
        return tuple(numbers.get(w, "?") if w.startswith("?") else w for w in words)

    def ordered(tree: _Tree) -> Words:
        if isinstance(tree, str):
            return (tree,)
        inner = [ordered(each) for each in tree]
        if inner and inner[0][0] in _UNORDERED:
            inner[1:] = sorted(inner[1:], key=look)
        return "(", *(word for words in inner for word in words), ")"

    return tuple(word for tree in _trees(words) for word in ordered(tree))


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


def is_said(parts: Parts, said: Iterable[Parts]) -> bool:
    """Return whether one of some rules is the same but for the order of conditions and names of variables."""
    looks = _looks(parts)
    head, body = _trees(parts[0]), _trees(flat(parts[1:]))
    for other in said:
        if len(other) != len(parts) or _looks(other) != looks:
            continue
        trees: _Tree = (tuple(head), ("and", *body))
        like: _Tree = (tuple(_trees(other[0])), ("and", *_trees(flat(other[1:]))))
        steps = iter(range(_STEPS))
        if next(_renamings(trees, like, {}, steps), None) is not None:
            return True
    return False


@lru_cache(maxsize=4096)
def _looks(parts: Parts) -> Words:
    return tuple(sorted(blind(flat(parts))))


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


def but_for_numbers(parts: Parts) -> Parts:
    """Return a rule in which all numbers are the same, but for a goal's: a first row is another's last."""
    head, *body = parts
    head = head if head[:2] == ("(", "goal") else _with_one_number(head)
    return head, *map(_with_one_number, body)


def _with_one_number(words: Words) -> Words:
    return tuple("0" if word.isdecimal() else word for word in words)


def numbered(words: Words) -> Words:
    """Return words with their variables numbered as they come."""
    numbers: dict[str, str] = {}
    return tuple(numbers.setdefault(w, f"?{len(numbers)}") if w.startswith("?") else w for w in words)


def flat(parts: Parts) -> Words:
    """Return all words of a rule."""
    return tuple(word for words in parts for word in words)


def text_of(parts: Parts) -> str:
    """Return a rule as KIF, shortened if it is long."""
    text = f"(<= {' '.join(flat(parts))})"
    return shown(re.sub(r"\( | (?=\))", lambda found: found[0].strip(), text), _SHOWN)


def are_near(one: Parts, other: Parts) -> bool:
    """Return whether two rules are the same but for one condition, or for their variables."""
    left, right = Counter(map(blind, one)), Counter(map(blind, other))
    return max((left - right).total(), (right - left).total()) <= 1


def blind(words: Words) -> Words:
    """Return words in which all variables are the same."""
    return tuple("?" if word.startswith("?") else word for word in words)


def turned(rule: Rule, turn: Turn) -> Rule:
    """Return a rule with the arguments of one relation, or of one kind of term, in another order."""
    is_relation, key, order = turn

    def turn_atom(atom: Atom) -> Atom:
        if is_relation:
            same = atom.key == key
            return Atom(atom.predicate, tuple(atom.arguments[n] for n in order)) if same else atom
        return Atom(atom.predicate, tuple(map(turn_term, atom.arguments)))

    def turn_term(term: Term) -> Term:
        if isinstance(term, Compound) and key_of(term) == key:
            return Compound(term.functor, tuple(term.arguments[n] for n in order))
        return term

    return Rule(turn_atom(rule.head), tuple(map_atoms(part, turn_atom) for part in rule.body))
