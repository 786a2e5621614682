"""Rules that say of one role, name or direction what others say of another: one is missing, or is odd.

A map of names, or of the order of arguments, is a symmetry of a sheet if it makes of each rule another one,
whatever that one's variables are called (Schiffel, "Symmetry Detection in General Game Playing", AAAI 2010).
Where one or two rules alone are taken out of the sheet, the map was most often meant to be one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, Final

from anygame.analysis.counterparts import counterparts
from anygame.analysis.groups import grouped
from anygame.doctor.code import Code, check, codes_of
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
from anygame.doctor.sheet import key_of, names_of_rule, spoken_of
from anygame.language.diagnostics import Note
from anygame.language.rules import KEYWORDS, Atom, Rule, atoms_in, atoms_of, map_atoms
from anygame.language.terms import Compound, Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from anygame.doctor.comparison import Parts, Words
    from anygame.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.terms import Term

_CODES: Final = codes_of(__name__)


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
        moved: the numbers of the rules that become another one.
        alone: of those, the ones whose image is no rule.
        paired: the others.

    Args:
        said: the rules.
        images: what each of them becomes.
        ways: what else it may become; then numbers do not count: a first row is another's last.
    """

    def __init__(
        self, said: Sequence[Parts], images: Sequence[Parts], ways: Sequence[Sequence[Parts]] | None = None
    ) -> None:
        self.said, self.images, self._ways = said, images, ways
        exact = VariantSet(said)
        self.moved = [n for n, parts in enumerate(said) if not is_variant(parts, images[n])]
        self.alone = [n for n in self.moved if images[n] not in exact]
        if ways and self.alone:
            loosely = VariantSet(map(_but_for_numbers, said))
            self.alone = [n for n in self.alone if not any(way in loosely for way in self._ways_of(n))]
        self.paired = sorted({*self.moved} - {*self.alone})

    def _ways_of(self, number: int) -> list[Parts]:
        if self._ways is None:
            return [self.images[number]]
        return list(map(_but_for_numbers, (self.images[number], *self._ways[number])))

    def are_near(self, one: int, other: int) -> bool:
        """Return whether a rule is the image of another but for one slip."""
        said = self.said[one] if self._ways is None else _but_for_numbers(self.said[one])
        return any(differ_in_one_slip(said, way) for way in self._ways_of(other))

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
    known = VariantSet(said)
    for _ in range(_ROUNDS):
        more = _more_of(said, known, found)
        if not more:
            break
        found |= more
    return found


def _more_of(said: Sequence[Parts], known: VariantSet, exchange: Mapping[str, str]) -> dict[str, str]:
    """Return two names that change places, too: rules are then the like of others, as w1 is of b1."""
    images = {parts: exchanged(parts, exchange) for parts in said}
    alone = [parts for parts, image in images.items() if image not in known]
    by_length = grouped((len(flat(parts)), numbered(flat(parts))) for parts in alone)
    votes: Counter[tuple[str, str]] = Counter()
    for parts in alone[:_MOST_COMPARED]:
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


_PAIR: Final = 2
#: Rules that have an image where names change places: fewer may do so by chance.
_FEWEST_NAMED: Final = 4
#: Roles that are compared two by two.
_MOST_ROLES: Final = 4
#: Rules that are compared: longer sheets are written by programs.
_MOST_RULES: Final = 2_000
#: Rules and words of a sheet in which other names than roles are compared.
_MOST_FOR_NAMES: Final = 300
_MOST_WORDS: Final = 6_000
#: Rules with images for each without, where some of a kind may be odd.
_MOSTLY: Final = 4
#: Rules of one relation that are compared for directions: fewer say too little, more are written by programs.
_FEWEST: Final = 3
_MOST: Final = 40
#: Relations and fluents whose arguments are exchanged, for each relation.
_MOST_TURNED: Final = 6
#: Predicates of which the rules may well differ: who begins is not both; and between directions.
_OF_START: Final = frozenset(("init", "base", "input"))
_MAY_DIFFER: Final = frozenset(("base", "input", "role", "goal"))

_OTHER_ROLE: Final = "for the other role"
_OTHER_WAY: Final = "for the other direction"


_NO_COUNTERPART: Final = _CODES["missing-counterpart"]
_ODD_COUNTERPART: Final = _CODES["odd-counterpart"]
_NO_SIBLING: Final = _CODES["missing-sibling"]
_ODD_SIBLING: Final = _CODES["odd-sibling"]


@check(_NO_COUNTERPART, _ODD_COUNTERPART, _NO_SIBLING, _ODD_SIBLING, once=True)
def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    yield from _by_names(sheet)
    yield from _by_directions(sheet)


def _missing(code: Code, rule: Rule, image: Parts, where: str, name: str = "") -> Diagnostic:
    message = f"this rule{name and f' of {name}'} has no like {where}, as all others of them have"
    return code.found(message, rule.span, hint=text_of(image))


def _odd(code: Code, rule: Rule, like: Rule, image: Parts, where: str, name: str = "") -> Diagnostic:
    message = f"this rule{name and f' of {name}'} differs from its like {where}, and no other does"
    return code.found(message, rule.span, Note("its like is here", like.span), hint=text_of(image))


# -- names ------------------------------------------------------------------------------------------------


def _by_names(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report rules without image where two roles, or two names that are used alike, change places."""
    rules = [rule for rule in sheet.program.rules if rule.body and rule.head.predicate not in _OF_START]
    if len(rules) > _MOST_RULES:
        return
    said = [parts_of(rule) for rule in rules]
    roles = [str(role) for role in sheet.roles if role.is_ground]
    names = {name.text for rule in sheet.program.rules for name in names_of_rule(rule)} - KEYWORDS.keys()
    for pair in combinations(roles[:_MOST_ROLES], 2):
        exchange = grown(said, counterparts(*pair, names))
        images = [exchanged(parts, exchange) for parts in said]
        found = Images(said, images, [_other_ways(rule, exchange) for rule in rules])
        for alone in _odd_groups(rules, found, exchange):
            yield from _of_names(rules, found, alone, exchange, _OTHER_ROLE)
    if len(rules) > _MOST_FOR_NAMES or sum(len(flat(parts)) for parts in said) > _MOST_WORDS:
        return
    for pair in used_alike(said):
        if not {*roles}.issuperset(pair):
            exchange = grown(said, {pair[0]: pair[1], pair[1]: pair[0]})
            found = Images(said, [exchanged(parts, exchange) for parts in said])
            if len(found.paired) >= _FEWEST_NAMED and 1 <= len(found.alone) <= _PAIR:
                where = f"where {pair[0]} and {pair[1]} change places"
                yield from _of_names(rules, found, found.alone, exchange, where)


def _of_names(
    rules: Sequence[Rule], found: Images, alone: Sequence[int], exchange: Mapping[str, str], where: str
) -> Iterator[Diagnostic]:
    """Report one rule without image, or the odd one of two of which one is nearly the other's image."""
    is_role = where == _OTHER_ROLE
    if len(alone) == 1:
        (number,) = alone
        if not (_says_the_same(found, number) or _tells_apart(rules[number], found, number, exchange)):
            code = _NO_COUNTERPART if is_role else _NO_SIBLING
            yield _missing(code, rules[number], found.images[number], where)
    elif found.are_near(*alone):
        odd, like = found.odd_first(alone, exchange)
        if not (
            _tells_apart(rules[like], found, like, exchange) or _is_map_wider(found, odd, like, exchange)
        ):
            code = _ODD_COUNTERPART if is_role else _ODD_SIBLING
            yield _odd(code, rules[odd], rules[like], found.images[like], where)


def _tells_apart(rule: Rule, found: Images, number: int, exchange: Mapping[str, str]) -> bool:
    """Return whether the image of a rule would define two names alike, or in a circle.

    The rule then is what makes the names differ: ``down`` is defined by ``up``, or by the reverse order.
    """
    name = rule.head.predicate
    is_circle = any(exchange.get(name) in words for words in found.said[number][1:])
    return name not in KEYWORDS and (is_circle or (name in exchange and _says_the_same(found, number)))


def _says_the_same(found: Images, number: int) -> bool:
    """Return whether the body of a rule is its own image."""
    said, image = ((("_",), *parts[number][1:]) for parts in (found.said, found.images))
    return is_variant(said, image)


def _is_map_wider(found: Images, odd: int, like: int, exchange: Mapping[str, str]) -> bool:
    """Return whether two rules are images once two more names change places, as all rules with these are."""
    said, image = (Counter(flat(parts)) for parts in (found.said[odd], found.images[like]))
    more = [word for side in (said - image, image - said) for word in side if _may_change(word, exchange)]
    if len(more) != _PAIR:
        return False
    wider = {**exchange, more[0]: more[1], more[1]: more[0]}
    rules = VariantSet(found.said)
    return all(
        exchanged(parts, wider) in rules for parts in found.said if not set(more).isdisjoint(flat(parts))
    )


def _other_ways(rule: Rule, exchange: Mapping[str, str]) -> list[Parts]:
    """Return what a rule says of the other role where that one goes the other way: down, not up."""
    steps = {
        atom.key
        for atom, _ in atoms_in(rule.body)
        if len(atom.arguments) == 2 and atom.predicate not in KEYWORDS and atom.predicate not in exchange
    }
    return [exchanged(parts_of(turned(rule, (True, key, (1, 0)))), exchange) for key in sorted(steps)]


def _odd_groups(rules: Sequence[Rule], found: Images, exchange: Mapping[str, str]) -> Iterator[list[int]]:
    """Yield one or two rules without images: all there are, or all of a kind where others mostly have one."""
    if len(found.paired) < _FEWEST_NAMED:
        return
    if 1 <= len(found.alone) <= _PAIR:
        yield found.alone
    elif len(found.paired) >= _MOSTLY * len(found.alone):
        kinds = [_kind(rule, exchange) for rule in rules]
        paired = Counter(kinds[n] for n in found.paired)
        groups = grouped((kinds[number], number) for number in found.alone)
        yield from (alone for kind, alone in groups.items() if len(alone) <= _PAIR <= paired[kind])


def _kind(rule: Rule, exchange: Mapping[str, str]) -> object:
    """Return what a rule and its like speak of: a relation, or a fluent or a move."""
    name = _name(rule)
    return rule.head.predicate if spoken_of(rule.head) else "", min(name, exchange.get(name, name))


# -- directions -------------------------------------------------------------------------------------------


def _by_directions(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report the one rule of a relation that has no image where the arguments of a relation change places."""
    for rules in _groups(sheet):
        bare = _without_names(rules)
        said = [parts_of(rule) for rule in bare]
        turns = _turns(bare)
        every = [Images(said, [parts_of(turned(rule, turn)) for rule in bare]) for turn in turns]
        # What has its place in one whole symmetry is not odd in another.
        placed = {number for images in every if not images.alone for number in images.moved}
        for turn, images in zip(turns, every, strict=True):
            fewest = 1 if turn[0] and len(turn[2]) == _PAIR else _PAIR
            is_placed = len(images.alone) == _PAIR and not placed.isdisjoint(images.alone)
            orders = [each for other, each in zip(turns, every, strict=True) if other[:2] == turn[:2]]
            is_right = is_placed or _lack_different_rules(orders)
            if not is_right and (found := _odd_one(rules, bare, images, fewest * _PAIR)):
                yield found
                break


def _lack_different_rules(orders: Sequence[Images]) -> bool:
    """Return whether orders each lack one rule, but not the same one: then none was left out."""
    lacking = [images for images in orders if len(images.alone) == 1 and len(images.paired) >= _PAIR]
    lacked = [images.images[images.alone[0]] for images in lacking]
    return any(not is_variant(lacked[0], other) for other in lacked[1:])


def _groups(sheet: Sheet) -> Iterator[list[Rule]]:
    """Yield the rules that are compared: those of a relation, a fluent or a move, by what their heads name.

    A constant that stands in several heads, such as a piece, keeps groups apart.
    """
    compared = [rules for key, rules in sheet.heads.items() if key[0] not in _MAY_DIFFER and key[1]]
    with_body = [rule for rules in compared for rule in rules if rule.body]
    for alike in grouped(((rule.head.key, spoken_of(rule.head)), rule) for rule in with_body).values():
        named = [
            [term if isinstance(term, Constant) else None for term in rule.head.arguments] for rule in alike
        ]
        often = [Counter(column) for column in zip(*named, strict=True)]
        apart = grouped(
            (tuple(name if often[n][name] > 1 else None for n, name in enumerate(names)), rule)
            for rule, names in zip(alike, named, strict=True)
        )
        yield from (rules for rules in apart.values() if _FEWEST <= len(rules) <= _MOST)


def _without_names(rules: Sequence[Rule]) -> list[Rule]:
    """Return rules without the arguments of their heads that are constants, such as a direction."""
    columns = list(zip(*(rule.head.arguments for rule in rules), strict=True))
    kept = [n for n, column in enumerate(columns) if not all(isinstance(term, Constant) for term in column)]
    heads = (Atom(rule.head.predicate, tuple(rule.head.arguments[n] for n in kept)) for rule in rules)
    return [Rule(head, rule.body, rule.node) for head, rule in zip(heads, rules, strict=True)]


def _turns(rules: Sequence[Rule]) -> list[Turn]:
    """Return what can be turned in some rules: relations of two arguments, the head, and fluents."""
    relations: Counter[Key] = Counter()
    functors: Counter[Key] = Counter()
    for rule in rules:
        for atom in atoms_of(rule):
            is_keyword = KEYWORDS.get(atom.predicate) == len(atom.arguments)
            if not is_keyword and (atom is rule.head or len(atom.arguments) == _PAIR):
                relations[atom.key] += 1
            functors.update(
                key for term in atom.arguments if isinstance(term, Compound) and (key := key_of(term))
            )
    heads = {rule.head.key for rule in rules}
    often = [key for key, _ in relations.most_common(_MOST_TURNED)]
    found = [(True, key) for key in sorted(often, key=lambda key: (key in heads, -relations[key]))]
    found += [(False, key) for key, _ in functors.most_common(_MOST_TURNED)]
    return [(is_relation, key, order) for is_relation, key in found for order in _orders(key[1])]


def _orders(arity: int) -> Iterator[tuple[int, ...]]:
    """Yield orders in which two arguments change places, or each of two pairs does."""
    straight = tuple(range(arity))
    for one, other in combinations(range(min(arity, 4)), _PAIR):
        order = list(straight)
        order[one], order[other] = other, one
        yield tuple(order)
    if arity >= 2 * _PAIR:
        yield (1, 0, 3, 2, *straight[4:])


def _odd_one(rules: Sequence[Rule], bare: Sequence[Rule], found: Images, fewest: int) -> Diagnostic | None:
    """Return what is odd among rules; that two differ is reported where so many others do not."""
    said, alone = found.said, found.alone
    if len(found.paired) < _PAIR or not 1 <= len(alone) <= _PAIR:
        return None
    shapes = {_shape(bare[n]) for n in found.paired}
    if len(alone) == 1:
        (number,) = alone
        others = {numbered(parts[0]) for n, parts in enumerate(said) if n not in found.moved}
        # Its like may go by another relation: down by a predecessor, up by a successor.
        if numbered(said[number][0]) not in others and _shape(bare[number]) in shapes:
            name = _name(rules[number])
            return _missing(_NO_SIBLING, rules[number], found.images[number], _OTHER_WAY, name)
    elif len(found.paired) >= fewest and found.are_near(*alone):
        odd, like = sorted(alone, key=lambda n: (_shape(bare[n]) in shapes, len(flat(said[n])), -n))
        if _shape(bare[like]) in shapes:
            name = _name(rules[odd])
            return _odd(_ODD_SIBLING, rules[odd], rules[like], found.images[like], _OTHER_WAY, name)
    return None


def _shape(rule: Rule) -> tuple[object, ...]:
    """Return what rules for two directions have in common: what they ask for, but for its variables."""
    asked = [
        (atom.predicate, *map(_constant, atom.arguments), positive) for atom, positive in atoms_in(rule.body)
    ]
    return tuple(sorted(asked, key=str))


def _constant(term: Term) -> str:
    return "" if isinstance(term, Variable) else str(term)


def _name(rule: Rule) -> str:
    what = spoken_of(rule.head)
    return what[0] if what else rule.head.predicate
