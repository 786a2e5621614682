"""Symmetric rules of two roles, of which one is missing, or differs in one place.

A map of names is a symmetry of a sheet if it turns each rule into a rule, up to names of variables. If a map
does so for all rules but one or two, it was usually meant to be a symmetry. See Schiffel, "Symmetry Detection
in General Game Playing" (AAAI 2010).
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Final

from anygame.analysis.counterparts import counterparts
from anygame.analysis.groups import grouped
from anygame.doctor.code import check, codes_of
from anygame.doctor.comparison import (
    OPERATORS,
    VariantSet,
    blind,
    differ_in_one_slip,
    exchanged,
    flat,
    is_variant,
    numbered,
    parts_of,
    text_of,
)
from anygame.doctor.sheet import names_of_rule
from anygame.language.diagnostics import Note
from anygame.language.rules import KEYWORDS, Atom, Rule, atoms_in, map_atoms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from anygame.doctor.comparison import Parts, Words
    from anygame.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic

    #: Pairs of names to swap, in both directions.
    Exchange = Mapping[str, str]

_CODES: Final = codes_of(__name__)

_PAIR: Final = 2
#: Rounds that each add a pair of names to an exchange, and the rules that must support a pair.
_ROUNDS: Final = 6
_FEWEST_VOTES: Final = 2
_MOST_COMPARED: Final = 100
#: Minimum number of rules with a counterpart; fewer may have one by chance.
_FEWEST_PAIRED: Final = 4
#: Maximum number of roles that are compared in pairs.
_MOST_ROLES: Final = 4
#: Maximum number of rules that are compared; longer sheets are written by programs.
_MOST_RULES: Final = 2_000
#: Predicates whose rules may differ between roles, as only one role begins.
_OF_START: Final = frozenset(("init", "base", "input"))

_MISSING: Final = _CODES["missing-counterpart"]
_ODD: Final = _CODES["odd-counterpart"]


@check(_MISSING, _ODD, once=True)
def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report rules without a counterpart after two roles are swapped."""
    rules = [rule for rule in sheet.program.rules if rule.body and rule.head.predicate not in _OF_START]
    if len(rules) > _MOST_RULES:
        return
    words = [parts_of(rule) for rule in rules]
    roles = [str(role) for role in sheet.roles if role.is_ground]
    names = {name.text for rule in sheet.program.rules for name in names_of_rule(rule)} - KEYWORDS.keys()
    for pair in combinations(roles[:_MOST_ROLES], 2):
        images = _Images(rules, words, _extended(words, counterparts(*pair, names)))
        if len(images.paired) >= _FEWEST_PAIRED and 1 <= len(images.unpaired) <= _PAIR:
            yield from _of_group(images, images.unpaired)


def _of_group(images: _Images, unpaired: Sequence[int]) -> Iterator[Diagnostic]:
    """Report the only rule without a counterpart, or the odd one of two that are nearly counterparts."""
    if len(unpaired) == 1:
        (number,) = unpaired
        if not (images.keeps_body(number) or images.tells_apart(number)):
            message = "this rule has no counterpart for the other role, although all similar rules have one"
            hint = text_of(images.images[number])
            yield _MISSING.found(message, images.rules[number].span, hint=hint)
    elif images.are_near(*unpaired):
        odd, like = images.odd_first(unpaired)
        if not (images.tells_apart(like) or images.is_exchange_wider(odd, like)):
            message = "this rule differs from its counterpart for the other role, as no other rule does"
            note = Note("the counterpart", images.rules[like].span)
            yield _ODD.found(message, images.rules[odd].span, note, hint=text_of(images.images[like]))


class _Images:
    """Rules, and their images under an exchange of names.

    Attributes:
        rules: the rules.
        words: the words of each rule.
        images: the words of each rule after the exchange.
        paired: the numbers of the rules that become another rule.
        unpaired: the numbers of the rules that become none of the rules.
    """

    def __init__(self, rules: Sequence[Rule], words: Sequence[Parts], exchange: Exchange) -> None:
        self.rules, self.words, self._exchange = rules, words, exchange
        self.images = [exchanged(parts, exchange) for parts in words]
        exact = VariantSet(words)
        moved = [n for n, parts in enumerate(words) if not is_variant(parts, self.images[n])]
        self.unpaired = [n for n in moved if self.images[n] not in exact]
        if self.unpaired:
            loose = VariantSet(map(_without_numbers, words))
            self.unpaired = [n for n in self.unpaired if not any(way in loose for way in self._ways(n))]
        self.paired = sorted({*moved} - {*self.unpaired})

    def _ways(self, number: int) -> list[Parts]:
        """Return possible images of a rule, without numbers: the first row of a role may be another's last.

        The other role may also move in the other direction: down, not up.
        """
        rule = self.rules[number]
        steps = {
            atom.key
            for atom, _ in atoms_in(rule.body)
            if len(atom.arguments) == _PAIR
            and atom.predicate not in KEYWORDS
            and atom.predicate not in self._exchange
        }
        turned = [exchanged(parts_of(_turned(rule, key)), self._exchange) for key in sorted(steps)]
        return list(map(_without_numbers, (self.images[number], *turned)))

    def are_near(self, one: int, other: int) -> bool:
        """Return whether a rule is the image of another except for one slip."""
        words = _without_numbers(self.words[one])
        return any(differ_in_one_slip(words, way) for way in self._ways(other))

    def odd_first(self, unpaired: Sequence[int]) -> tuple[int, int]:
        """Return two rules, the odd one first.

        The odd rule is shorter, or similar to fewer rules, or mixes the names that change places.
        """
        common = Counter(words for parts in self.words for words in set(self._looks(parts)))
        looks = {number: Counter(self._looks(self.words[number])) for number in unpaired}

        def oddness(number: int) -> tuple[int, int, int, int]:
            words = flat(self.words[number])
            (other,) = (each for each in unpaired if each != number)
            differing = looks[number] - looks[other]
            rarest = min((common[each] for each in differing), default=len(self.words))
            sides = Counter(min(w, self._exchange[w]) == w for w in words if w in self._exchange)
            return len(words), rarest, -min(sides[True], sides[False]), -number

        odd, like = sorted(unpaired, key=oddness)
        return odd, like

    def _looks(self, parts: Parts) -> list[Words]:
        """Return the parts of a rule without the identity of names and variables."""
        one_side = {name: min(name, other) for name, other in self._exchange.items()}
        return [blind(words) for words in exchanged(_without_numbers(parts), one_side)]

    def tells_apart(self, number: int) -> bool:
        """Return whether the image of a rule would define two names alike, or in a circle.

        Such a rule makes the names differ: ``down`` is defined by ``up``, or by the reverse order.
        """
        name = self.rules[number].head.predicate
        is_circle = any(self._exchange.get(name) in words for words in self.words[number][1:])
        return name not in KEYWORDS and (is_circle or (name in self._exchange and self.keeps_body(number)))

    def keeps_body(self, number: int) -> bool:
        """Return whether the body of a rule is its own image."""
        words, image = ((("_",), *parts[number][1:]) for parts in (self.words, self.images))
        return is_variant(words, image)

    def is_exchange_wider(self, odd: int, like: int) -> bool:
        """Return whether one more pair of names makes two rules, and all with these names, counterparts."""
        words, image = (Counter(flat(parts)) for parts in (self.words[odd], self.images[like]))
        differing = [*(words - image), *(image - words)]
        more = [word for word in differing if _may_change(word, self._exchange)]
        if len(more) != _PAIR:
            return False
        wider = {**self._exchange, more[0]: more[1], more[1]: more[0]}
        known = VariantSet(self.words)
        return all(
            exchanged(parts, wider) in known for parts in self.words if not set(more).isdisjoint(flat(parts))
        )


def _without_numbers(parts: Parts) -> Parts:
    """Return a rule in which all numbers but those of goals are the same."""
    is_goal = parts[0][:2] == ("(", "goal")
    changed = (tuple("0" if word.isdecimal() else word for word in words) for words in parts[is_goal:])
    return *parts[:is_goal], *changed


def _turned(rule: Rule, key: Key) -> Rule:
    """Return a rule with the two arguments of a relation in the other order."""

    def turn(atom: Atom) -> Atom:
        return Atom(atom.predicate, atom.arguments[::-1]) if atom.key == key else atom

    return Rule(turn(rule.head), tuple(map_atoms(part, turn) for part in rule.body))


# -- the exchange -----------------------------------------------------------------------------------------


def _extended(words: Sequence[Parts], exchange: Exchange) -> dict[str, str]:
    """Return an exchange with further pairs of names that most rules support."""
    extended = dict(exchange)
    known = VariantSet(words)
    for _ in range(_ROUNDS):
        more = _one_more_pair(words, known, extended)
        if not more:
            break
        extended |= more
    return extended


def _one_more_pair(words: Sequence[Parts], known: VariantSet, exchange: Exchange) -> dict[str, str]:
    """Return a further pair of names whose exchange makes rules counterparts, such as w1 and b1."""
    images = {parts: exchanged(parts, exchange) for parts in words}
    unpaired = [parts for parts, image in images.items() if image not in known]
    by_length = grouped((len(flat(parts)), numbered(flat(parts))) for parts in unpaired)
    votes: Counter[tuple[str, str]] = Counter()
    for parts in unpaired[:_MOST_COMPARED]:
        image = numbered(flat(images[parts]))
        for other in by_length.get(len(image), [])[:_MOST_COMPARED]:
            pairs = {(min(a, b), max(a, b)) for a, b in zip(image, other, strict=True) if a != b}
            if len(pairs) == 1:
                votes.update(pairs)
    free = [(pair, n) for pair, n in votes.most_common() if all(_may_change(w, exchange) for w in pair)]
    if free and free[0][1] >= _FEWEST_VOTES and (len(free) == 1 or free[1][1] < free[0][1]):
        left, right = free[0][0]
        return {left: right, right: left}
    return {}


def _may_change(word: str, exchange: Exchange) -> bool:
    is_name = word not in KEYWORDS and word not in exchange and word not in OPERATORS
    return is_name and not word.isdecimal() and not word.startswith("?")
