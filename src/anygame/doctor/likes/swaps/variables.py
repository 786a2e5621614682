"""Variables that stand the other way round than in all other rules."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Final

from anygame.doctor.likes.swaps.agreement import MOST_OFTEN, STATE
from anygame.doctor.sheet import key_of
from anygame.doctor.wording import named
from anygame.language.diagnostics import Note, shown
from anygame.language.rules import Atom, Literal, atoms_in
from anygame.language.terms import Compound, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.doctor.code import Code
    from anygame.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Rule
    from anygame.language.terms import Term

#: Atoms that agree on how two arguments are called; of more than two arguments, fewer need to.
_FEWEST_NAMED: Final = 5
_FEWEST_NAMED_LONG: Final = 2
#: Places in the whole sheet that agree on which of two variables stands first.
_FEWEST_ORDERED: Final = 6


#: A fluent or a move, and two of its arguments.
_Pair = tuple[str, "Key", int, int]
_Link = tuple[_Pair, _Pair]


def exchanged_in_frame(code: Code, rule: Rule) -> Iterator[Diagnostic]:
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
            yield code.found(message, rule.head.span, note, hint=f"(next {asked})")


def _are_exchanged(kept: Compound, asked: Compound, first: int, second: int) -> bool:
    one, other = kept.arguments[first], kept.arguments[second]
    exchanged = one is asked.arguments[second] and other is asked.arguments[first]
    return exchanged and isinstance(one, Variable) and isinstance(other, Variable)


def crossed_variables(code: Code, sheet: Sheet) -> Iterator[Diagnostic]:
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
        if len(uses) == 1 and len(rules.get(crossed, ())) >= MOST_OFTEN and id(uses[0][0]) not in told:
            told.add(id(uses[0][0]))
            (_, atom), others = uses[0], rules[crossed]
            message = (
                f"{named(first[1])} and {named(key)} share two variables crosswise here, but straight in "
                f"{len(others)} other rules"
            )
            yield code.found(message, atom.span, Note("as here", others[0][1].span))


def _terms(rule: Rule) -> list[tuple[str, Compound, Atom]]:
    """Return the fluents and moves of a rule that have no variable twice."""
    found = []
    for atom in [rule.head, *(atom for atom, _ in atoms_in(rule.body))]:
        name, term = STATE.get(atom.predicate), atom.arguments[-1] if atom.arguments else None
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


def crossed_names(code: Code, sheet: Sheet) -> Iterator[Diagnostic]:
    """Report an atom with two variables at places where all others have them the other way round."""
    uses: dict[object, list[tuple[Atom, tuple[Term, ...]]]] = defaultdict(list)
    for rule in sheet.program.rules:
        for atom in (rule.head, *(atom for atom, _ in atoms_in(rule.body))) if rule.body else ():
            last = atom.arguments[-1] if atom.arguments else None
            if atom.predicate not in STATE:
                uses[atom.key].append((atom, atom.arguments))
            elif isinstance(last, Compound):
                uses[STATE[atom.predicate], key_of(last)].append((atom, last.arguments))
    for group in uses.values():
        fewest = _FEWEST_NAMED_LONG if len(group[0][1]) > 2 else _FEWEST_NAMED
        if len(group) > fewest:
            named_so = [tuple(map(_stem, terms)) for _, terms in group]
            for one, other in combinations(range(len(named_so[0])), 2):
                yield from _odd_names(code, group, [(names[one], names[other]) for names in named_so], fewest)


def _odd_names(
    code: Code, group: Sequence[tuple[Atom, tuple[Term, ...]]], pairs: Sequence[tuple[str, str]], fewest: int
) -> Iterator[Diagnostic]:
    """Report the one atom whose two names stand the other way round in all others."""
    counts = Counter(pair for pair in pairs if all(pair))
    (usual, often), *_ = counts.most_common(1) or [(("", ""), 0)]
    odd = usual[::-1]
    if odd != usual and counts[odd] == 1 and often >= max(fewest, counts.total() - 1):
        atom = group[pairs.index(odd)][0]
        example = group[pairs.index(usual)][0]
        message = f"{shown(str(atom))} has two arguments the other way round than {often} others"
        yield code.found(message, atom.span, Note("as here", example.span))


def crossed_order(code: Code, sheet: Sheet) -> Iterator[Diagnostic]:
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
        is_state = atom.predicate in STATE or _tells_of_state(sheet, atom.key)
        if more or len(usual) < _FEWEST_ORDERED or len(same) < MOST_OFTEN:
            continue
        if is_state or len(atom.arguments) > 2:
            message = f"?{one} stands before ?{other} here, and after it in {len(usual)} other places"
            yield code.found(message, atom.span, Note("as here", same[0].span))


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
    return (STATE[atom.predicate], key_of(atom.arguments[-1])) if atom.predicate in STATE else atom.key


def _own_terms(atom: Atom) -> tuple[Term, ...]:
    """Return the arguments of a relation; of a fluent or a move, its own."""
    last = atom.arguments[-1] if atom.predicate in STATE and atom.arguments else None
    return last.arguments if isinstance(last, Compound) else () if last else atom.arguments


def _stem(term: Term) -> str:
    """Return how a variable is called, without its number; of constants that they are."""
    if isinstance(term, Variable):
        return term.name.rstrip("0123456789_'").lower()
    return "" if isinstance(term, Compound) else "#"
