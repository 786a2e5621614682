"""A rule with very many instances."""

from __future__ import annotations

from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import CODES, check
from anygame.doctor.sheet import DEEPEST
from anygame.language.diagnostics import Note
from anygame.language.rules import Literal
from anygame.language.terms import Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame.analysis.domains import Functor, Top
    from anygame.analysis.normal import NormalRule
    from anygame.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Atom


_MANY: Final = 1_000_000
_MOST: Final = 10**30
#: Maximum number of function arguments whose values are counted; further arguments count as unbounded.
_MOST_PLACES: Final = 200_000
_UNITS: Final = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"))


@check("large-join")
def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    if not sheet.is_safe:
        return
    sizes = _Sizes(sheet)
    worst: dict[int, tuple[int, NormalRule]] = {}
    for part in sheet.normal:
        size = sizes.of_rule(part)
        # Infinitely many instances come from recursion, not from joins.
        if _MOST > size > max(_MANY, worst.get(id(part.origin), (0, part))[0]):
            worst[id(part.origin)] = size, part
    for size, part in worst.values():
        piece = _separable(part)
        notes = [Note("this literal can move to a separate rule", atom.span) for atom in piece[:1]]
        notes += [Note("and this literal, too", atom.span) for atom in piece[1:3]]
        yield CODES["large-join"].found(
            f"this rule has up to {_about(size)} instances",
            part.origin.span,
            *notes,
            hint=_advice(part, piece),
        )


def _about(number: int) -> str:
    for unit, word in _UNITS:
        if number >= unit:
            return f"{number / unit:,.1f} {word}".replace(".0 ", " ")
    return f"{number:,}"


class _Sizes:
    """Upper bounds on the numbers of instances of rules, from the sizes of domains and relations."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._places = _MOST_PLACES
        self._inside_of: dict[tuple[object, ...], int] = {}
        self._facts: dict[Key, int] = {
            key: len(rules)
            for key, rules in sheet.heads.items()
            if key[0] not in {"init", "legal", "next"} and all(not rule.body for rule in rules)
        }

    def of_rule(self, part: NormalRule) -> int:
        """Return an upper bound on the instances of a rule's body."""
        atoms = [item.atom for item in part.body if isinstance(item, Literal)]
        variables: dict[Variable, int] = {}
        for atom in atoms:
            for variable, size in self._variables(atom):
                variables[variable] = min(size, variables.get(variable, _MOST))
        bound = 1
        left = dict(variables)
        while left and bound < _MOST:
            bound *= self._take(atoms, left)
        return min(bound, _MOST)

    def _take(self, atoms: Sequence[Atom], left: dict[Variable, int]) -> int:
        """Remove the variables of the most selective atom, or one variable; return the number of values."""
        best: tuple[float, int, list[Variable]] | None = None
        for atom in atoms:
            fresh = [variable for variable in dict.fromkeys(atom.variables()) if variable in left]
            if fresh:
                free = prod(left[variable] for variable in fresh)
                size = min(free, self._facts.get(atom.key, free))
                ratio = size / free if free else 0.0
                if best is None or ratio < best[0]:
                    best = ratio, size, fresh
        if best is None or best[0] >= 1.0:
            variable = next(iter(left))
            return left.pop(variable)
        for variable in best[2]:
            del left[variable]
        return best[1]

    def _variables(self, atom: Atom) -> Iterator[tuple[Variable, int]]:
        for term, tops, path, *_ in self._sheet.subterms(atom):
            if isinstance(term, Variable):
                yield term, self._count(tops, path)
            elif len(path) > DEEPEST:
                yield from ((variable, _MOST) for variable in variables_of(term))

    def _count(self, tops: Iterable[Top], path: tuple[object, ...]) -> int:
        total = 0
        for top in tops:
            total += self._count_functor(top, path) if isinstance(top, tuple) else 1
        return min(total, _MOST)

    def _count_functor(self, functor: Functor, path: tuple[object, ...]) -> int:
        known = self._inside_of.get((*path, functor))
        if known is not None:
            return known
        self._places -= functor[1]
        if len(path) > DEEPEST or self._places < 0:
            return _MOST
        counts = [
            self._count(self._sheet.domains.below(path, functor, number), (*path, functor, number))
            for number in range(functor[1])
        ]
        found = self._inside_of[*path, functor] = min(prod(counts), _MOST)
        return found


def _separable(part: NormalRule) -> list[Atom]:
    """Return connected atoms that share at most one variable with the rest of a rule."""
    atoms = [item.atom for item in part.body if isinstance(item, Literal) and any(item.variables())]
    head = set(part.head.variables())
    variables = dict.fromkeys(variable for atom in atoms for variable in atom.variables())
    for cut in (None, *variables):
        groups = _groups(atoms, cut)
        inner = [group for group in groups if not head & (_variables(group) - {cut})]
        if len(groups) > 1 and inner:
            largest = max(inner, key=lambda group: len(_variables(group) - {cut}))
            if cut is None or len(_variables(largest)) > 1 + (len(largest) == 1):
                return largest
    return []


def _variables(atoms: Iterable[Atom]) -> set[Variable | None]:
    return {variable for atom in atoms for variable in atom.variables()}


def _groups(atoms: Iterable[Atom], cut: Variable | None) -> list[list[Atom]]:
    """Return the groups of atoms that share variables other than ``cut``."""
    groups: list[list[Atom]] = []
    for atom in atoms:
        mine = set(atom.variables()) - {cut}
        if mine:
            touched = [group for group in groups if mine & _variables(group)]
            groups = [group for group in groups if group not in touched]
            groups.append([*chain(*touched), atom])
    return groups


def _advice(part: NormalRule, piece: Sequence[Atom]) -> str:
    if not piece:
        return "bind the variables of the rule with relations that have few facts"
    rest = [item for item in part.body if not (isinstance(item, Literal) and item.atom in piece)]
    outside = set(part.head.variables()).union(*(item.variables() for item in rest))
    shared = [
        str(variable)
        for variable in dict.fromkeys(v for a in piece for v in a.variables())
        if variable in outside
    ]
    head = f"(some {' '.join(shared)})" if shared else "some"
    return f"split the rule: (<= {head} {' '.join(map(str, piece))})"
