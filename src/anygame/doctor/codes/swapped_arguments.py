"""Two arguments that seem to be exchanged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import TYPE_CHECKING, Final

from anygame.analysis.groups import grouped
from anygame.doctor.code import CODES, check
from anygame.doctor.sheet import STATE, asked_of, key_of
from anygame.language.diagnostics import Note, shown
from anygame.language.rules import Atom, Literal, atoms_in, atoms_of
from anygame.language.terms import Compound, Constant, Variable
from anygame.sheets.sorts import Sorts, lists_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Rule
    from anygame.language.terms import Term
    from anygame.sheets.sorts import Place


#: Minimum number of occurrences of a constant that is common in a sort.
_MOST_OFTEN: Final = 2
#: Minimum number of atoms that agree on the order of two names, if the atoms have two arguments.
_FEWEST_NAMED: Final = 5
#: Minimum number of atoms that agree on the order of two names, if the atoms have more arguments.
_FEWEST_NAMED_LONG: Final = 2

#: Atoms by relation, fluent or move.
_Uses = Mapping[object, Sequence["_Use"]]


@check("swapped-arguments", once=True)
def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    for rule in sheet.program.rules:
        if rule.head.predicate == "next":
            yield from _in_frame(rule)
    yield from _crossed_names(sheet)
    yield from _crossed_constants(sheet)


# -- variables --------------------------------------------------------------------------------------------


def _in_frame(rule: Rule) -> Iterator[Diagnostic]:
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
        pairs = [pair for pair in zip(kept.arguments, asked.arguments, strict=True) if pair[0] != pair[1]]
        is_exchange = len(pairs) == 2 and pairs[0] == pairs[1][::-1]
        if is_exchange and all(isinstance(term, Variable) for term in pairs[0]):
            message = f"{shown(str(asked))} becomes {shown(str(kept))}: two arguments are exchanged"
            note = Note("the other order", formula.atom.span)
            yield CODES["swapped-arguments"].found(message, rule.head.span, note, hint=f"(next {asked})")


@dataclass(frozen=True, slots=True)
class _Use:
    """An atom of a rule with a body."""

    rule: Rule
    atom: Atom
    #: The relation, fluent or move.
    kind: object
    #: The arguments of the relation, fluent or move.
    terms: tuple[Term, ...]
    #: The names of the arguments; see `_stem`.
    names: tuple[str, ...]


def _crossed_names(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report an atom whose two variables are in the opposite order in all other atoms of the same kind."""
    every = [_use(rule, atom) for rule in sheet.program.rules if rule.body for atom in atoms_of(rule)]
    uses = grouped((use.kind, use) for use in every)
    # Rules read static binary relations, such as successors, in both directions, so neither order is odd.
    ordered = [
        use
        for use in every
        if use.kind != use.atom.key
        or len(use.terms) > 2
        or (use.atom.key in sheet.varying and use.atom.predicate not in STATE)
    ]
    for kind, group in grouped((use.kind, use) for use in ordered).items():
        fewest = _FEWEST_NAMED_LONG if len(group[0].names) > 2 else _FEWEST_NAMED
        if len(group) > fewest:
            for pair in combinations(range(len(group[0].names)), 2):
                yield from _odd_names(uses, uses[kind], pair, fewest)


def _use(rule: Rule, atom: Atom) -> _Use:
    kind, terms = asked_of(atom)
    return _Use(rule, atom, kind, terms, tuple(map(_stem, terms)))


def _odd_names(
    uses: _Uses, group: Sequence[_Use], places: tuple[int, int], fewest: int
) -> Iterator[Diagnostic]:
    pairs = [(each.names[places[0]], each.names[places[1]]) for each in group]
    counts = Counter(pair for pair in pairs if all(pair))
    (usual, often), *_ = counts.most_common(1) or [(("", ""), 0)]
    odd = usual[::-1]
    if odd != usual and counts[odd] == 1 and often >= max(fewest, counts.total() - 1):
        use = group[pairs.index(odd)]
        others = [each for each, pair in zip(group, pairs, strict=True) if pair == usual]
        if _is_slip(uses, use, places, others):
            message = f"{shown(str(use.atom))} exchanges two arguments, compared with {often} other atoms"
            yield CODES["swapped-arguments"].found(
                message, use.atom.span, Note("compare", others[0].atom.span)
            )


def _is_slip(uses: _Uses, use: _Use, places: tuple[int, int], others: Sequence[_Use]) -> bool:
    """Return whether a rule exchanges two variables by mistake in only one atom.

    A mistake is likely if exchanging both variables in the whole rule gives another atom unusual names. If
    all names stay usual, the author only chose other names in the whole rule.
    """
    first, second = places
    one, other = use.terms[first], use.terms[second]
    if not (isinstance(one, Variable) and isinstance(other, Variable)):
        return False
    turned: dict[Term, Term] = {one: other, other: one}
    rest = [each for each in (_use(use.rule, atom) for atom in atoms_of(use.rule)) if each.kind != use.kind]
    for each in rest:
        known = [like.names for like in uses[each.kind] if like.rule is not use.rule]
        after = tuple(_stem(turned.get(term, term)) for term in each.terms)
        if each.names in known and after not in known and set(after) <= {*chain(*known)}:
            return True
    return False


def _stem(term: Term) -> str:
    """Return the name of a variable without its number, "#" for a constant, or "" for a compound term."""
    if isinstance(term, Variable):
        return term.name.rstrip("0123456789_'").lower()
    return "" if isinstance(term, Compound) else "#"


# -- constants --------------------------------------------------------------------------------------------


def _crossed_constants(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report two constants that have exchanged their usual places in only one atom."""
    sorts = Sorts(sheet.program.rules)
    counts: Counter[tuple[Place, Constant]] = Counter()
    lists: list[tuple[Atom, Atom | Compound, list[tuple[Place, Constant]]]] = []
    for rule in sheet.program.rules:
        for atom in atoms_of(rule):
            for inner, places in lists_of(atom):
                arguments = zip(places, inner.arguments, strict=True)
                constants = [
                    (sorts.of(place), term) for place, term in arguments if isinstance(term, Constant)
                ]
                counts.update(constants)
                lists.append((atom, inner, constants))
    by_look: Counter[tuple[Place, bool]] = Counter()
    for (sort, term), count in counts.items():
        by_look[sort, term.name.isdecimal()] += count

    def fits(sort: Place, term: Constant, odd: Constant) -> bool:
        """Return whether a constant belongs in a sort: it is common, or a number (or name) as usual."""
        is_number = term.name.isdecimal()
        is_odd = odd.name.isdecimal() != is_number and by_look[sort, not is_number] == 1
        return (by_look[sort, is_number] if is_odd else counts[sort, term]) >= _MOST_OFTEN

    for atom, inner, constants in lists:
        alone = [(sort, term) for sort, term in constants if counts[sort, term] == 1]
        for (sort, term), (other_sort, other) in combinations(alone, 2):
            if sort != other_sort and fits(sort, other, term) and fits(other_sort, term, other):
                message = f"{term} and {other} are in the opposite order everywhere else"
                hint = _with_exchanged(atom, inner, term, other)
                yield CODES["swapped-arguments"].found(message, atom.span, hint=hint)


def _with_exchanged(atom: Atom, inner: Atom | Compound, one: Constant, other: Constant) -> str:
    """Return an atom with two constants exchanged in ``inner``, which is the atom or a term in the atom."""
    exchange: dict[Term, Term] = {one: other, other: one}
    terms = tuple([exchange.get(term, term) for term in inner.arguments])
    turned = Atom(inner.predicate, terms) if isinstance(inner, Atom) else Compound(inner.functor, terms)
    return str(atom).replace(str(inner), str(turned), 1)
