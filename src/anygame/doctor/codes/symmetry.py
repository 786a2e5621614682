"""Missing and differing rules among the symmetric rules of two roles.

A map of names is a symmetry of a sheet if it maps each rule to a variant of a rule. If this fails for only
one or two rules, the author usually meant the map to be a symmetry. See Schiffel, "Symmetry Detection in
General Game Playing" (AAAI 2010).
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Final

from anygame.analysis.counterparts import counterparts
from anygame.analysis.groups import grouped
from anygame.doctor.code import CODES, check
from anygame.doctor.comparison import (
    OPERATORS,
    VariantSet,
    blind,
    differ_in_one_slip,
    is_variant,
    parts_of,
    renamed,
    text_of,
    words_of,
)
from anygame.doctor.sheet import names_of_rule
from anygame.language.diagnostics import Note
from anygame.language.rules import KEYWORDS, Atom, Rule, atoms_in, map_atoms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from anygame.doctor.comparison import Parts, Tree
    from anygame.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic

    #: Pairs of names to swap, in both directions.
    Exchange = Mapping[str, str]


_PAIR: Final = 2
#: Number of rounds that each add a pair of names to an exchange.
_ROUNDS: Final = 6
#: Minimum number of rules that support a further pair of names.
_FEWEST_VOTES: Final = 2
#: Maximum number of rules that are compared to find a further pair.
_MOST_COMPARED: Final = 100
#: Minimum number of rules with a counterpart; fewer may have one by chance.
_FEWEST_PAIRED: Final = 4
#: Maximum number of roles that are compared in pairs.
_MOST_ROLES: Final = 4
#: Maximum number of rules that are compared; programs write longer sheets.
_MOST_RULES: Final = 2_000
#: Predicates whose rules may differ between roles, because only one role begins.
_OF_START: Final = frozenset(("init", "base", "input"))


@check("missing-counterpart", "odd-counterpart", once=True)
def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    rules = [rule for rule in sheet.program.rules if rule.body and rule.head.predicate not in _OF_START]
    if len(rules) > _MOST_RULES:
        return
    parts = [parts_of(rule) for rule in rules]
    roles = [str(role) for role in sheet.roles if role.is_ground]
    names = {name.text for rule in sheet.program.rules for name in names_of_rule(rule)} - KEYWORDS.keys()
    for pair in combinations(roles[:_MOST_ROLES], 2):
        images = _Images(rules, parts, _extended(parts, counterparts(*pair, names)))
        if len(images.paired) >= _FEWEST_PAIRED and 1 <= len(images.unpaired) <= _PAIR:
            yield from _of_group(images, images.unpaired)


def _of_group(images: _Images, unpaired: Sequence[int]) -> Iterator[Diagnostic]:
    """Report the only rule without a counterpart, or the odd one of two that are nearly counterparts."""
    if len(unpaired) == 1:
        (number,) = unpaired
        if not (images.keeps_body(number) or images.tells_apart(number)):
            message = "this rule has no counterpart for the other role, although all similar rules have one"
            hint = text_of(images.images[number])
            yield CODES["missing-counterpart"].found(message, images.rules[number].span, hint=hint)
    elif images.are_near(*unpaired):
        odd, like = images.odd_first(unpaired)
        if not (images.tells_apart(like) or images.is_exchange_wider(odd, like)):
            message = "this rule differs from its counterpart for the other role; no other rule does"
            note = Note("the counterpart", images.rules[like].span)
            yield CODES["odd-counterpart"].found(
                message, images.rules[odd].span, note, hint=text_of(images.images[like])
            )


class _Images:
    """Rules, and their images under an exchange of names.

    Attributes:
        rules: the rules.
        images: the trees of each rule after the exchange.
        paired: the numbers of the rules that become another rule.
        unpaired: the numbers of the rules that do not become a rule.
    """

    def __init__(self, rules: Sequence[Rule], parts: Sequence[Parts], exchange: Exchange) -> None:
        self.rules, self._parts, self._exchange = rules, parts, exchange
        self.images = [_exchanged(each, exchange) for each in parts]
        exact = VariantSet(parts)
        moved = [n for n, each in enumerate(parts) if not is_variant(each, self.images[n])]
        self.unpaired = [n for n in moved if self.images[n] not in exact]
        if self.unpaired:
            loose = VariantSet(map(_without_numbers, parts))
            self.unpaired = [n for n in self.unpaired if not any(way in loose for way in self._ways(n))]
        self.paired = sorted({*moved} - {*self.unpaired})

    def _ways(self, number: int) -> list[Parts]:
        """Return possible images of a rule, without numbers.

        The first row of one role may be the last row of the other, and up for one role down for the other.
        """
        rule = self.rules[number]
        steps = {
            atom.key
            for atom, _ in atoms_in(rule.body)
            if len(atom.arguments) == _PAIR
            and atom.predicate not in KEYWORDS
            and atom.predicate not in self._exchange
        }
        turned = [_exchanged(parts_of(_turned(rule, key)), self._exchange) for key in sorted(steps)]
        return list(map(_without_numbers, (self.images[number], *turned)))

    def are_near(self, one: int, other: int) -> bool:
        parts = _without_numbers(self._parts[one])
        return any(differ_in_one_slip(parts, way) for way in self._ways(other))

    def odd_first(self, unpaired: Sequence[int]) -> tuple[int, int]:
        """Return two rules, the odd one first.

        The odd rule is shorter, or similar to fewer rules, or mixes the names that change places.
        """
        common = Counter(tree for parts in self._parts for tree in set(self._looks(parts)))
        looks = {number: Counter(self._looks(self._parts[number])) for number in unpaired}

        def oddness(number: int) -> tuple[int, int, int, int]:
            words = words_of(self._parts[number])
            (other,) = (each for each in unpaired if each != number)
            differing = looks[number] - looks[other]
            rarest = min((common[each] for each in differing), default=len(self._parts))
            sides = Counter(min(w, self._exchange[w]) == w for w in words if w in self._exchange)
            return len(words), rarest, -min(sides[True], sides[False]), -number

        odd, like = sorted(unpaired, key=oddness)
        return odd, like

    def _looks(self, parts: Parts) -> list[Tree]:
        """Return the parts of a rule in which exchanged names are equal, and so are variables and numbers."""
        one_side = {name: min(name, other) for name, other in self._exchange.items()}
        return list(map(blind, _exchanged(_without_numbers(parts), one_side)))

    def tells_apart(self, number: int) -> bool:
        """Return whether a rule makes two exchanged names differ, such as ``down`` defined by ``up``.

        The image of such a rule defines both names alike, or in a circle.
        """
        name = self.rules[number].head.predicate
        is_circle = self._exchange.get(name) in words_of(self._parts[number][1:])
        return name not in KEYWORDS and (is_circle or (name in self._exchange and self.keeps_body(number)))

    def keeps_body(self, number: int) -> bool:
        body, image = (("_", *parts[number][1:]) for parts in (self._parts, self.images))
        return is_variant(body, image)

    def is_exchange_wider(self, odd: int, like: int) -> bool:
        """Return whether one more pair of names makes two rules, and all with these names, counterparts."""
        words, image = (Counter(words_of(parts)) for parts in (self._parts[odd], self.images[like]))
        differing = [*(words - image), *(image - words)]
        more = [word for word in differing if _may_change(word, self._exchange)]
        if len(more) != _PAIR:
            return False
        wider = {**self._exchange, more[0]: more[1], more[1]: more[0]}
        known = VariantSet(self._parts)
        with_names = (parts for parts in self._parts if not set(more).isdisjoint(words_of(parts)))
        return all(_exchanged(parts, wider) in known for parts in with_names)


def _exchanged(parts: Parts, exchange: Exchange) -> Parts:
    return tuple(renamed(part, lambda word: exchange.get(word, word)) for part in parts)


def _without_numbers(parts: Parts) -> Parts:
    """Return a rule in which all numbers but those of goals are the same."""
    is_goal = parts[0][0] == "goal"
    changed = (renamed(part, lambda word: "0" if word.isdecimal() else word) for part in parts[is_goal:])
    return *parts[:is_goal], *changed


def _turned(rule: Rule, key: Key) -> Rule:

    def turn(atom: Atom) -> Atom:
        return Atom(atom.predicate, atom.arguments[::-1]) if atom.key == key else atom

    return Rule(turn(rule.head), tuple(map_atoms(part, turn) for part in rule.body))


# -- the exchange -----------------------------------------------------------------------------------------


def _extended(rules: Sequence[Parts], exchange: Exchange) -> dict[str, str]:
    """Return an exchange with further pairs of names that most rules support."""
    extended = dict(exchange)
    known = VariantSet(rules)
    for _ in range(_ROUNDS):
        more = _one_more_pair(rules, known, extended)
        if not more:
            break
        extended |= more
    return extended


def _one_more_pair(rules: Sequence[Parts], known: VariantSet, exchange: Exchange) -> dict[str, str]:
    """Return a further pair of names whose exchange makes rules counterparts, such as w1 and b1."""
    images = {parts: _exchanged(parts, exchange) for parts in rules}
    unpaired = [parts for parts, image in images.items() if image not in known]
    by_length = grouped((len(words_of(parts)), _numbered(parts)) for parts in unpaired)
    votes: Counter[tuple[str, str]] = Counter()
    for parts in unpaired[:_MOST_COMPARED]:
        image = _numbered(images[parts])
        for other in by_length.get(len(image), [])[:_MOST_COMPARED]:
            pairs = {(min(a, b), max(a, b)) for a, b in zip(image, other, strict=True) if a != b}
            if len(pairs) == 1:
                votes.update(pairs)
    free = [(pair, n) for pair, n in votes.most_common() if all(_may_change(w, exchange) for w in pair)]
    if free and free[0][1] >= _FEWEST_VOTES and (len(free) == 1 or free[1][1] < free[0][1]):
        left, right = free[0][0]
        return {left: right, right: left}
    return {}


def _numbered(parts: Parts) -> list[str]:
    """Return the words of a rule with variables numbered in order of occurrence."""
    numbers: dict[str, str] = {}
    words = words_of(parts)
    return [numbers.setdefault(w, f"?{len(numbers)}") if w.startswith("?") else w for w in words]


def _may_change(word: str, exchange: Exchange) -> bool:
    is_name = word not in KEYWORDS and word not in exchange and word not in OPERATORS
    return is_name and not word.isdecimal() and not word.startswith("?")
