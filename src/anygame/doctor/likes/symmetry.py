"""Maps that all rules of a sheet obey but one: what is said of the one name, or way, is said of the other.

A map of names, or of the order of arguments, is a symmetry of a sheet if it makes of each rule another one,
whatever that one's variables are called (Schiffel, "Symmetry Detection in General Game Playing", AAAI 2010).
Where one or two rules alone are taken out of the sheet, the map was most often meant to be one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, Final

from anygame.doctor.likes.words import OPERATORS, Said, blind, exchanged, flat, numbered, same
from anygame.doctor.sheet import key_of
from anygame.language.rules import KEYWORDS, Atom, Rule, map_atoms
from anygame.language.terms import Compound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anygame.doctor.likes.words import Parts, Words
    from anygame.doctor.sheet import Key
    from anygame.language.terms import Term

#: Names that change places are found one pair after the other, each by what so many rules say.
_ROUNDS: Final = 6
_FEWEST_VOTES: Final = 2
_MOST_COMPARED: Final = 100
#: Pairs of names that are tried, and names that stand in one place of rules that are the same otherwise.
_MOST_PAIRS: Final = 8
_MOST_NAMES: Final = 4

#: A relation, or the name of a fluent, a move or another term; and in which order its arguments are written.
Turn = tuple[bool, "Key", tuple[int, ...]]


class Images:
    """What a map makes of rules.

    Attributes:
        said: the rules.
        images: what each of them becomes.
        moved: the numbers of the rules that become another one.
        alone: of those, the ones whose image is no rule.
        paired: the others.
    """

    def __init__(
        self, said: Sequence[Parts], images: Sequence[Parts], ways: Sequence[Sequence[Parts]] | None = None
    ) -> None:
        """Apply a map.

        Args:
            said: the rules.
            images: what each of them becomes.
            ways: what else it may become; then numbers do not count: a first row is another's last.
        """
        self.said, self.images, self._ways = said, images, ways
        exact = Said(said)
        self.moved = [n for n, parts in enumerate(said) if not same(parts, images[n])]
        self.alone = [n for n in self.moved if images[n] not in exact]
        if ways and self.alone:
            loosely = Said(map(_but_for_numbers, said))
            self.alone = [n for n in self.alone if not any(way in loosely for way in self._ways_of(n))]
        self.paired = sorted({*self.moved} - {*self.alone})

    def _ways_of(self, number: int) -> list[Parts]:
        if self._ways is None:
            return [self.images[number]]
        return list(map(_but_for_numbers, (self.images[number], *self._ways[number])))

    def are_near(self, one: int, other: int) -> bool:
        """Return whether a rule is the image of another but for one condition, or for variables."""
        said = self.said[one] if self._ways is None else _but_for_numbers(self.said[one])
        left = Counter(map(blind, said))
        rights = (Counter(map(blind, way)) for way in self._ways_of(other))
        return any(max((left - right).total(), (right - left).total()) <= 1 for right in rights)

    def odd_first(self, alone: Sequence[int], exchange: Mapping[str, str]) -> tuple[int, int]:
        """Return two rules, first the odd one.

        In it something is left out, or it says what fewer other rules say, or the names that change places
        are more of a mixture.
        """
        common = Counter(words for parts in self.said for words in set(_looks(parts, exchange)))
        own = {number: Counter(_looks(self.said[number], exchange)) for number in alone}

        def oddness(number: int) -> tuple[int, int, int, int]:
            words = flat(self.said[number])
            (other,) = (each for each in alone if each != number)
            differing = own[number] - own[other]
            often = min((common[each] for each in differing), default=len(self.said))
            sides = Counter(min(w, exchange[w]) == w for w in words if w in exchange)
            return len(words), often, -min(sides[True], sides[False]), -number

        odd, like = sorted(alone, key=oddness)
        return odd, like


def _looks(parts: Parts, exchange: Mapping[str, str]) -> list[Words]:
    """Return the parts of a rule as they look whichever names and variables they speak of."""
    one_side = {name: min(name, other) for name, other in exchange.items()}
    return [blind(words) for words in exchanged(_but_for_numbers(parts), one_side)]


def _but_for_numbers(parts: Parts) -> Parts:
    """Return a rule in which all numbers are the same, but for a goal's."""
    is_goal = parts[0][:2] == ("(", "goal")
    changed = (tuple("0" if word.isdecimal() else word for word in words) for words in parts[is_goal:])
    return *parts[:is_goal], *changed


# -- maps of names ----------------------------------------------------------------------------------------


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
    known = Said(said)
    for _ in range(_ROUNDS):
        more = _more_of(said, known, found)
        if not more:
            break
        found |= more
    return found


def _more_of(said: Sequence[Parts], known: Said, exchange: Mapping[str, str]) -> dict[str, str]:
    """Return two names that change places, too: rules are then the like of others, as w1 is of b1."""
    images = {parts: exchanged(parts, exchange) for parts in said}
    alone = [parts for parts, image in images.items() if image not in known]
    by_length: dict[int, list[Words]] = defaultdict(list)
    for parts in alone:
        by_length[len(flat(parts))].append(numbered(flat(parts)))
    votes: Counter[tuple[str, str]] = Counter()
    for parts in alone[:_MOST_COMPARED]:
        image = numbered(flat(images[parts]))
        for other in by_length[len(image)][:_MOST_COMPARED]:
            pairs = {(min(a, b), max(a, b)) for a, b in zip(image, other, strict=True) if a != b}
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


# -- maps of the order of arguments -----------------------------------------------------------------------


def turned(rule: Rule, turn: Turn) -> Rule:
    """Return a rule with the arguments of one relation, or of one kind of term, in another order."""
    is_relation, key, order = turn

    def turn_atom(atom: Atom) -> Atom:
        if is_relation:
            is_it = atom.key == key
            return Atom(atom.predicate, tuple(atom.arguments[n] for n in order)) if is_it else atom
        return Atom(atom.predicate, tuple(map(turn_term, atom.arguments)))

    def turn_term(term: Term) -> Term:
        if isinstance(term, Compound) and key_of(term) == key:
            return Compound(term.functor, tuple(term.arguments[n] for n in order))
        return term

    return Rule(turn_atom(rule.head), tuple(map_atoms(part, turn_atom) for part in rule.body))
