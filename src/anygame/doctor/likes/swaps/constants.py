"""Constants that stand the other way round than in the whole sheet."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

from anygame.doctor.likes.sorts import Sorts, lists_of
from anygame.doctor.likes.swaps.agreement import MOST_OFTEN, is_usual_number
from anygame.language.rules import Atom, atoms_in
from anygame.language.terms import Compound, Constant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.code import Code
    from anygame.doctor.likes.sorts import Place
    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic


def crossed_constants(code: Code, sheet: Sheet) -> Iterator[Diagnostic]:
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
            if sort == other_sort or uses.is_usual(sort, term) or uses.is_usual(other_sort, other):
                continue
            if uses.fits(sort, other, term) and uses.fits(other_sort, term, other):
                message = f"{term} and {other} stand the other way round everywhere else"
                yield code.found(message, atom.span, hint=_turned_round(atom, each, term, other))


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
        self._at: dict[Place, set[str]] = defaultdict(set)

    def add(self, sort: Place, term: Constant) -> None:
        self.of_terms[sort, term] += 1
        self._of_looks[sort, term.name.isdecimal()] += 1
        self._at[sort].add(term.name)

    def is_usual(self, sort: Place, term: Constant) -> bool:
        """Return whether a constant is a number as others that stand at places of a sort."""
        return is_usual_number(term.name, self._at[sort])

    def fits(self, sort: Place, term: Constant, odd: Constant) -> bool:
        """Return whether a constant belongs where another one stands once: it stands there, or looks so."""
        looks, odd_looks = term.name.isdecimal(), odd.name.isdecimal()
        is_odd = looks != odd_looks and self._of_looks[sort, odd_looks] == 1
        often = self._of_looks[sort, looks] if is_odd else self.of_terms[sort, term]
        return often >= MOST_OFTEN
