"""Names that rules use alike: what is said of the one is said of the other."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, Final

from anygame.doctor.likes.likes import (
    OPERATORS,
    blind,
    but_for_numbers,
    exchanged,
    flat,
    normal,
    numbered,
)
from anygame.language.rules import KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anygame.doctor.likes.likes import Parts, Words

#: Names that change places are found one pair after the other, each by what so many rules say.
_ROUNDS: Final = 6
_FEWEST_VOTES: Final = 2
_MOST_COMPARED: Final = 100
#: Pairs of names that are tried, and names that stand in one place of rules that are the same otherwise.
_MOST_PAIRS: Final = 8
_MOST_NAMES: Final = 4


def used_alike(said: Sequence[Parts]) -> list[tuple[str, str]]:
    """Return pairs of names by which alone rules differ, those of most rules first."""
    by_rest: dict[tuple[Words, Words], set[str]] = defaultdict(set)
    for parts in said:
        words = numbered(flat(parts))
        for place, word in enumerate(words):
            if _may_change(word, {}):
                by_rest[words[:place], words[place + 1 :]].add(word)
    votes: Counter[tuple[str, str]] = Counter()
    for names in by_rest.values():
        if len(names) <= _MOST_NAMES:
            votes.update(combinations(sorted(names), 2))
    return [pair for pair, often in votes.most_common(_MOST_PAIRS) if often >= _FEWEST_VOTES]


def grown(said: Sequence[Parts], exchange: Mapping[str, str]) -> dict[str, str]:
    """Return names that change places, and those that do so with them, by what most rules say."""
    found = dict(exchange)
    for _ in range(_ROUNDS):
        more = _more_of(said, found)
        if not more:
            break
        found |= more
    return found


def _more_of(said: Sequence[Parts], exchange: Mapping[str, str]) -> dict[str, str]:
    """Return two names that change places, too: rules are then the like of others, as w1 is of b1."""
    known = set(map(normal, said))
    alone = [parts for parts in said if normal(exchanged(parts, exchange)) not in known]
    by_length: dict[int, list[Words]] = defaultdict(list)
    for parts in alone:
        by_length[len(flat(parts))].append(numbered(flat(parts)))
    votes: Counter[tuple[str, str]] = Counter()
    for parts in alone[:_MOST_COMPARED]:
        like = numbered(flat(exchanged(parts, exchange)))
        for other in by_length[len(like)][:_MOST_COMPARED]:
            pairs = {(a, b) for a, b in zip(like, other, strict=True) if a != b}
            pairs = {(min(pair), max(pair)) for pair in pairs}
            if len(pairs) == 1:
                votes.update(pairs)
    free = [(pair, n) for pair, n in votes.most_common() if all(_may_change(w, exchange) for w in pair)]
    if free and free[0][1] >= _FEWEST_VOTES and (len(free) == 1 or free[1][1] < free[0][1]):
        left, right = free[0][0]
        return {left: right, right: left}
    return {}


def _may_change(word: str, exchange: Mapping[str, str]) -> bool:
    is_name = word not in KEYWORDS and word not in exchange and word not in OPERATORS
    return is_name and not word.isdecimal() and not word.startswith("?")


def odd_first(alone: Sequence[int], said: Sequence[Parts], exchange: Mapping[str, str]) -> tuple[int, int]:
    """Return two rules, first the odd one.

    In it something is left out, or it says what fewer other rules say, or the roles are more of a mixture.
    """
    common = Counter(words for parts in said for words in set(_looks(parts, exchange)))
    own = {number: Counter(_looks(said[number], exchange)) for number in alone}

    def oddness(number: int) -> tuple[int, int, int, int]:
        words = flat(said[number])
        (other,) = (each for each in alone if each != number)
        differing = own[number] - own[other]
        often = min((common[each] for each in differing), default=len(said))
        sides = Counter(min(w, exchange[w]) == w for w in words if w in exchange)
        return len(words), often, -min(sides[True], sides[False]), -number

    odd, like = sorted(alone, key=oddness)
    return odd, like


def _looks(parts: Parts, exchange: Mapping[str, str]) -> list[Words]:
    """Return the parts of a rule as they look whatever role and whatever variables they speak of."""
    one_role = {name: min(name, other) for name, other in exchange.items()}
    return [blind(words) for words in exchanged(but_for_numbers(parts), one_role)]
