"""Two arguments that look as if they had changed places."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Final

from anygame.analysis.doctor.code import PRACTICE, Check, Code
from anygame.analysis.doctor.sheet import key_of
from anygame.analysis.doctor.sorts import Sorts, lists_of
from anygame.analysis.doctor.wording import named
from anygame.language.diagnostics import Note, Severity, shown
from anygame.language.rules import READ_AS, Atom, Literal, atoms_in
from anygame.language.terms import Compound, Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.analysis.doctor.sheet import Key, Sheet
    from anygame.analysis.doctor.sorts import Place
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Rule
    from anygame.language.source import Span
    from anygame.language.terms import Term

__all__ = ["CHECK"]

#: Other rules that agree on which argument belongs to which: one could be the slip itself.
_MOST_OFTEN: Final = 2
#: Other facts that agree on what stands where.
_FEWEST_FACTS: Final = 3
#: Atoms that agree on how two arguments are called; of more than two arguments, fewer need to.
_FEWEST_NAMED: Final = 5
_FEWEST_NAMED_LONG: Final = 2
#: Places in the whole sheet that agree on which of two variables stands first.
_FEWEST_ORDERED: Final = 6
#: Facts that are compared: lists longer than that are written by programs.
_MOST_FACTS: Final = 5_000
_STATE: Final = {**READ_AS, "true": "true", "does": "does"}

_CODE: Final = Code(
    "swapped-arguments",
    Severity.WARNING,
    "two arguments that look as if they had changed places",
    demand="The arguments of a fluent, a move or a relation stand in the same order everywhere.",
    why=(
        "GDL knows no types, so that a row in the place of a column is no error: the fact is one that nobody "
        "looks at, or stands elsewhere on the board."
    ),
    source=PRACTICE,
    bad="(init (cell 1 2 b))\n(<= (next (cell ?column ?row ?mark)) (true (cell ?row ?column ?mark)))",
    good="(init (cell 1 2 b))\n(<= (next (cell ?row ?column ?mark)) (true (cell ?row ?column ?mark)))",
)

#: A fluent or a move, and two of its arguments.
_Pair = tuple[str, "Key", int, int]
_Link = tuple[_Pair, _Pair]


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report arguments whose places differ from those in all other rules, or in all other facts."""
    frames = (rule for rule in sheet.program.rules if rule.head.predicate == "next")
    found = [each for rule in frames for each in _in_frame(rule)]
    told: set[Span | None] = set()
    for each in (
        *found,
        *_by_links(sheet),
        *_by_names(sheet),
        *_by_order(sheet),
        *_by_values(sheet),
        *_by_pairing(sheet),
        *_by_sorts(sheet),
    ):
        if each.span not in told:
            told.add(each.span)
            yield each


# -- a rule that keeps a fluent, but for two arguments


def _in_frame(rule: Rule) -> Iterator[Diagnostic]:
    """Report a rule that keeps what is true with two arguments exchanged, and not by a move."""
    if any(atom.predicate == "does" and positive for atom, positive in atoms_in(rule.body)):
        return
    kept = rule.head.arguments[0]
    for formula in rule.body:
        if not isinstance(formula, Literal) or formula.atom.predicate != "true":
            continue
        asked = formula.atom.arguments[0]
        if key_of(asked) != key_of(kept) or not isinstance(asked, Compound):
            continue
        assert isinstance(kept, Compound)
        places = [
            n
            for n, (one, other) in enumerate(zip(kept.arguments, asked.arguments, strict=True))
            if one != other
        ]
        if len(places) == 2 and _are_exchanged(kept, asked, *places):
            message = f"{shown(str(asked))} becomes {shown(str(kept))}: two arguments changed places"
            note = Note("it stands so here", formula.atom.span)
            yield _CODE.found(message, rule.head.span, note, hint=f"(next {asked})")


def _are_exchanged(kept: Compound, asked: Compound, first: int, second: int) -> bool:
    one, other = kept.arguments[first], kept.arguments[second]
    exchanged = one is asked.arguments[second] and other is asked.arguments[first]
    return exchanged and isinstance(one, Variable) and isinstance(other, Variable)


# -- variables that two fluents or moves share


def _by_links(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report a rule in which fluents or moves share two variables crosswise, and all others not so."""
    rules: dict[_Link, list[tuple[Rule, Atom]]] = defaultdict(list)
    for rule in sheet.program.rules:
        found: dict[_Link, Atom] = {}
        if rule.body:
            for pair in combinations(_terms(rule), 2):
                found.update(_links(*pair))
        for link, atom in found.items():
            rules[link].append((rule, atom))
    told: set[int] = set()
    for (first, (name, key, one, other)), uses in rules.items():
        crossed = (first, (name, key, other, one))
        if len(uses) == 1 and len(rules.get(crossed, ())) >= _MOST_OFTEN and id(uses[0][0]) not in told:
            told.add(id(uses[0][0]))
            (_, atom), others = uses[0], rules[crossed]
            message = (
                f"{named(first[1])} and {named(key)} share two variables crosswise here, but straight in "
                f"{len(others)} other rules"
            )
            yield _CODE.found(message, atom.span, Note("as here", others[0][1].span))


def _terms(rule: Rule) -> list[tuple[str, Compound, Atom]]:
    """Return the fluents and moves of a rule that have no variable twice."""
    found = []
    for atom in [rule.head, *(atom for atom, _ in atoms_in(rule.body))]:
        name, term = _STATE.get(atom.predicate), atom.arguments[-1] if atom.arguments else None
        if name and isinstance(term, Compound):
            variables = [each for each in term.arguments if isinstance(each, Variable)]
            if len(set(variables)) == len(variables) > 1:
                found.append((name, term, atom))
    return found


def _links(
    one: tuple[str, Compound, Atom], other: tuple[str, Compound, Atom]
) -> Iterator[tuple[_Link, Atom]]:
    """Yield how two terms share two variables: places of the one, and those of the other in that order."""
    if (one[0], key_of(one[1])) > (other[0], key_of(other[1])):
        return (yield from _links(other, one))
    (name, term, atom), (name2, term2, _) = one, other
    key, key2 = key_of(term), key_of(term2)
    assert key is not None
    assert key2 is not None
    if (name, key) == (name2, key2):
        return None
    places = {term2.arguments[n]: n for n in range(key2[1]) if isinstance(term2.arguments[n], Variable)}
    shared = [(n, places[each]) for n, each in enumerate(term.arguments) if each in places]
    for (first, at), (second, at2) in combinations(shared, 2):
        yield ((name, key, first, second), (name2, key2, at, at2)), atom
    return None


# -- how the variables at a place are called


def _by_names(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report an atom with two variables at places where all others have them the other way round."""
    uses: dict[object, list[tuple[Atom, tuple[Term, ...]]]] = defaultdict(list)
    for rule in sheet.program.rules:
        for atom in (rule.head, *(atom for atom, _ in atoms_in(rule.body))) if rule.body else ():
            last = atom.arguments[-1] if atom.arguments else None
            if atom.predicate not in _STATE:
                uses[atom.key].append((atom, atom.arguments))
            elif isinstance(last, Compound):
                uses[_STATE[atom.predicate], key_of(last)].append((atom, last.arguments))
    for group in uses.values():
        fewest = _FEWEST_NAMED_LONG if len(group[0][1]) > 2 else _FEWEST_NAMED
        if len(group) > fewest:
            named_so = [tuple(map(_stem, terms)) for _, terms in group]
            for one, other in combinations(range(len(named_so[0])), 2):
                yield from _odd_names(group, [(names[one], names[other]) for names in named_so], fewest)


def _odd_names(
    group: Sequence[tuple[Atom, tuple[Term, ...]]], pairs: Sequence[tuple[str, str]], fewest: int
) -> Iterator[Diagnostic]:
    """Report the one atom whose two names stand the other way round in all others."""
    counts = Counter(pair for pair in pairs if all(pair))
    (usual, often), *_ = counts.most_common(1) or [(("", ""), 0)]
    odd = usual[::-1]
    if odd != usual and counts[odd] == 1 and often >= max(fewest, counts.total() - 1):
        atom = group[pairs.index(odd)][0]
        example = group[pairs.index(usual)][0]
        message = f"{shown(str(atom))} has two arguments the other way round than {often} others"
        yield _CODE.found(message, atom.span, Note("as here", example.span))


def _by_order(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report an atom with two variables side by side that stand the other way round in all the sheet.

    Relations of two arguments are left out where they do not tell of the state: they are asked in both
    directions.
    """
    uses: dict[tuple[str, str], list[tuple[object, Atom]]] = defaultdict(list)
    for rule in sheet.program.rules:
        for atom in (rule.head, *(atom for atom, _ in atoms_in(rule.body))) if rule.body else ():
            stems = tuple(map(_stem, _own_terms(atom)))
            for place, pair in enumerate(pairwise(stems)):
                is_told = all(pair) and "#" not in pair and pair[0] != pair[1]
                if is_told and not _is_either_way(sheet, atom, rule):
                    uses[pair].append(((_relation_of(atom), place), atom))
    for (one, other), ((where, atom), *more) in sorted(uses.items(), key=lambda each: each[0]):
        usual = uses.get((other, one), [])
        same = [each for place, each in usual if place == where]
        is_state = atom.predicate in _STATE or _tells_of_state(sheet, atom.key)
        if more or len(usual) < _FEWEST_ORDERED or len(same) < _MOST_OFTEN:
            continue
        if is_state or len(atom.arguments) > 2:
            message = f"?{one} stands before ?{other} here, and after it in {len(usual)} other places"
            yield _CODE.found(message, atom.span, Note("as here", same[0].span))


def _is_either_way(sheet: Sheet, atom: Atom, rule: Rule) -> bool:
    """Return whether a rule, or one of the same head, asks the same with the arguments in another order."""
    rules = [each for each in sheet.heads[rule.head.key] if each.head == rule.head]
    read = (each for other in rules for each, _ in atoms_in(other.body))
    others = (each for each in read if each.key == atom.key and each != atom)
    return any(sorted(each.arguments) == sorted(atom.arguments) for each in others)


def _tells_of_state(sheet: Sheet, key: Key) -> bool:
    """Return whether a relation asks for a fluent, itself or by others."""
    seen = {key}
    pending = [key]
    while pending:
        for rule in sheet.heads.get(pending.pop(), ()):
            read = {atom.key for atom, _ in atoms_in(rule.body)} - seen
            if ("true", 1) in read:
                return True
            seen |= read
            pending += read
    return False


def _relation_of(atom: Atom) -> object:
    """Return what tells apart relations; fluents and moves, too."""
    return (_STATE[atom.predicate], key_of(atom.arguments[-1])) if atom.predicate in _STATE else atom.key


def _own_terms(atom: Atom) -> tuple[Term, ...]:
    """Return the arguments of a relation; of a fluent or a move, its own."""
    last = atom.arguments[-1] if atom.predicate in _STATE and atom.arguments else None
    return last.arguments if isinstance(last, Compound) else () if last else atom.arguments


def _stem(term: Term) -> str:
    """Return how a variable is called, without its number; of constants that they are."""
    if isinstance(term, Variable):
        return term.name.rstrip("0123456789_'").lower()
    return "" if isinstance(term, Compound) else "#"


# -- what stands where in facts


def _by_values(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report a fact with two values of which each stands only at the other's place in all other facts."""
    facts: dict[tuple[str, Key], list[tuple[Atom, tuple[Term, ...]]]] = defaultdict(list)
    for rule in sheet.program.rules:
        last = rule.head.arguments[-1] if rule.head.arguments else None
        if not rule.body and last is not None:
            if rule.head.predicate in _STATE and isinstance(last, Compound):
                facts[rule.head.predicate, (last.functor, len(last.arguments))].append(
                    (rule.head, last.arguments)
                )
            else:
                facts["", rule.head.key].append((rule.head, rule.head.arguments))
    for group in facts.values():
        if _FEWEST_FACTS < len(group) <= _MOST_FACTS:
            yield from _odd_ones(group)
        if _FEWEST_FACTS <= len(group) <= _MOST_FACTS:
            yield from _odd_kinds(group)


def _odd_kinds(group: Sequence[tuple[Atom, tuple[Term, ...]]]) -> Iterator[Diagnostic]:
    """Report the one fact with a number where all others have a name, and a name where they have numbers."""
    odd: dict[int, list[int]] = defaultdict(list)
    for place, column in enumerate(zip(*(terms for _, terms in group), strict=True)):
        kinds = [_is_number(term) for term in column]
        for kind in (True, False):
            if kinds.count(kind) == 1 and None not in kinds:
                odd[kinds.index(kind)].append(place)
    for number, places in odd.items():
        atom, terms = group[number]
        a_number = [terms[place] for place in places if _is_number(terms[place])]
        a_name = [terms[place] for place in places if not _is_number(terms[place])]
        if a_number and a_name:
            message = (
                f"{a_number[0]} stands here where all other facts have a name, and {a_name[0]} where they "
                "have a number"
            )
            yield _CODE.found(message, atom.span, Note("as here", group[number - 1 if number else 1][0].span))


def _is_number(term: Term) -> bool | None:
    """Return whether a constant is a number; None of other terms."""
    return term.name.isdecimal() if isinstance(term, Constant) else None


def _odd_ones(group: Sequence[tuple[Atom, tuple[Term, ...]]]) -> Iterator[Diagnostic]:
    columns = [Counter(column) for column in zip(*(terms for _, terms in group), strict=True)]
    for one, other in combinations(range(len(columns)), 2):
        both = columns[one].keys() & columns[other].keys()
        if len(both) != 2 or len(columns[one]) + len(columns[other]) <= len(both) + 2:
            continue
        odd = [
            (atom, terms)
            for atom, terms in group
            if {terms[one], terms[other]} == both
            and columns[one][terms[one]] == columns[other][terms[other]] == 1
        ]
        for atom, terms in odd if len(odd) == 1 else ():
            message = f"{terms[one]} and {terms[other]} stand the other way round in all other facts"
            yield _CODE.found(message, atom.span)


# -- facts that pair each name with one other


def _by_pairing(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report the one fact that, turned round, would have each name stand once at each place.

    So it is where each beats one and is beaten by one, or where a chain goes on.
    """
    for rules in sheet.heads.values():
        facts = list(dict.fromkeys(rule.head for rule in rules if not rule.body))
        if len(facts) != len(rules) or not _FEWEST_FACTS <= len(facts) <= _MOST_FACTS:
            continue
        if len(facts[0].arguments) != 2 or facts[0].predicate in _STATE:
            continue
        if any(str(term).isdecimal() for atom in facts for term in atom.arguments):
            continue  # numbers tell more
        firsts, seconds = (Counter(atom.arguments[place] for atom in facts) for place in (0, 1))
        twice = [[term for term, often in column.items() if often > 1] for column in (firsts, seconds)]
        if any(len(terms) != 1 for terms in twice) or not (len(firsts) == len(seconds) == len(facts) - 1):
            continue
        one, other = twice[0][0], twice[1][0]
        odd = [atom for atom in facts if atom.arguments == (one, other)]
        is_chain = len({*firsts, other} & {*seconds, one}) >= len(facts) - 1
        if (
            odd
            and is_chain
            and other not in firsts
            and one not in seconds
            and not _goes_on(facts, one, other)
        ):
            message = (
                f"{one} stands first in two facts of {odd[0].predicate}, and {other} last: the other way "
                "round, each would stand once at each place"
            )
            yield _CODE.found(message, odd[0].span, hint=shown(f"({odd[0].predicate} {other} {one})"))


def _goes_on(facts: Sequence[Atom], one: Term, other: Term) -> bool:
    """Return whether some term follows one and goes before the other, as in an order: king, queen, jack."""
    after = {atom.arguments[1] for atom in facts if atom.arguments[0] is one}
    return any(atom.arguments[0] in after and atom.arguments[1] is other for atom in facts)


# -- what stands where in the whole sheet


def _by_sorts(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report two constants of which each stands once where the other belongs, and otherwise where it does."""
    sorts = Sorts(sheet.program.rules)
    uses = _Uses()
    lists: list[tuple[Atom, Atom | Compound, list[tuple[Place, Constant]]]] = []
    for rule in sheet.program.rules:
        for atom in (rule.head, *(atom for atom, _ in atoms_in(rule.body))):
            for each, places in lists_of(atom):
                named_so = zip(places, each.arguments, strict=True)
                here = [(sorts.of(place), term) for place, term in named_so if isinstance(term, Constant)]
                for sort, term in here:
                    uses.add(sort, term)
                if len(here) > 1:
                    lists.append((atom, each, here))
    for atom, each, here in lists:
        alone = [(sort, term) for sort, term in here if uses.of_terms[sort, term] == 1]
        for (sort, term), (other_sort, other) in combinations(alone, 2):
            if sort != other_sort and uses.fits(sort, other, term) and uses.fits(other_sort, term, other):
                message = f"{term} and {other} stand the other way round everywhere else"
                yield _CODE.found(message, atom.span, hint=_turned_round(atom, each, term, other))


def _turned_round(atom: Atom, inner: Atom | Compound, one: Constant, other: Constant) -> str:
    """Return an atom with two arguments exchanged, of its own or of a term in it."""
    exchange = {one: other, other: one}
    terms = tuple(
        exchange.get(term, term) if isinstance(term, Constant) else term for term in inner.arguments
    )
    turned = Atom(inner.predicate, terms) if isinstance(inner, Atom) else Compound(inner.functor, terms)
    return str(atom).replace(str(inner), str(turned), 1)


class _Uses:
    """How often each constant stands at places of each sort, and how many of them are numbers."""

    def __init__(self) -> None:
        self.of_terms: Counter[tuple[Place, Constant]] = Counter()
        self._of_looks: Counter[tuple[Place, bool]] = Counter()

    def add(self, sort: Place, term: Constant) -> None:
        self.of_terms[sort, term] += 1
        self._of_looks[sort, term.name.isdecimal()] += 1

    def fits(self, sort: Place, term: Constant, odd: Constant) -> bool:
        """Return whether a constant belongs where another one stands once: it stands there, or looks so."""
        looks, odd_looks = term.name.isdecimal(), odd.name.isdecimal()
        is_odd = looks != odd_looks and self._of_looks[sort, odd_looks] == 1
        often = self._of_looks[sort, looks] if is_odd else self.of_terms[sort, term]
        return often >= _MOST_OFTEN


CHECK: Final = Check((_CODE,), _check)
