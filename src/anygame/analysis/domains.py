"""Domains: the possible terms of every argument of every relation.

An over-approximation that treats arguments as independent, computed as a least fixpoint: a variable takes the
values that all positive literals with it allow. ``true`` takes those of ``init`` and ``next``, ``does`` those
of ``legal``. *Tops* distinguish kinds of terms only, which is cheaper and decides the layout of relations. If
there are too many places, those deep inside terms are joined.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, Final

from anygame.language.rules import Literal, atoms_in
from anygame.language.terms import Compound, Constant, Term, Variable, substitute

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame.analysis.normal import NormalRule
    from anygame.language.rules import Atom

#: Name and arity of a function constant.
Functor = tuple[str, int]
#: A constant, a functor (whose arguments have places of their own), or ATOM.
Top = Constant | Functor
#: Any constant, if constants are not distinguished; no sheet can hold this name.
ATOM: Final = Constant(" atom")

Path = tuple[object, ...]
#: The values of each variable: its possible tops, and the place of the arguments of compound values.
Values = dict[Variable, tuple[set["Top"], Path]]
#: Depths inside terms to which places are distinguished; deeper, a functor's argument is one place.
_DEPTHS: Final = (4, 1, 0)
_MOST_PLACES: Final = 100_000
#: Maximum number of places visited during propagation.
_MOST_STEPS: Final = 200_000
#: The relation in which rules read the terms that heads of each key write.
_FEEDS: Final = {"init": "true", "next": "true", "legal": "does"}


class _TooManyPlacesError(Exception):
    """There are too many places. Raised and caught in this module only."""


class Domains:
    """The tops of every place.

    Args:
        rules: normal rules, including facts.
        kinds_only: distinguish functors but not constants (all are ``ATOM``).
        declared: let ``base`` and ``input`` feed ``true`` and ``does``, too, and let atoms of ``true`` and
            ``does`` in bodies feed their own relations: the possible contents of positions made by hand.
        most_positions: maximal number of distinguished positions in terms.
        most_steps: maximal number of positions visited during propagation.
    """

    def __init__(
        self,
        rules: Iterable[NormalRule],
        *,
        kinds_only: bool = False,
        declared: bool = False,
        most_positions: int = _MOST_PLACES,
        most_steps: int = _MOST_STEPS,
    ) -> None:
        self._kinds_only = kinds_only
        self._feeds = _FEEDS | ({"base": "true", "input": "does"} if declared else {})
        rules = list(rules)
        for depth in _DEPTHS:
            self._longest = 3 + 2 * depth
            self._steps: float = most_steps if depth else inf
            self._most: float = most_positions if depth else inf
            with suppress(_TooManyPlacesError):
                self._compute(rules, declared)
                break

    def _compute(self, rules: Iterable[NormalRule], declared: bool) -> None:
        self._tops: dict[Path, set[Top]] = defaultdict(set)
        self._readers: dict[tuple[str, int], list[int]] = defaultdict(list)
        self._changed: set[tuple[str, int]] = set()
        compiled: list[NormalRule] = []
        facts: dict[tuple[str, int], list[tuple[Term, ...]]] = defaultdict(list)
        for rule in rules:
            if rule.body:
                for key in {item.atom.key for item in rule.body if isinstance(item, Literal)}:
                    self._readers[key].append(len(compiled))
                compiled.append(rule)
                if declared:
                    self._mention(rule)
            else:
                facts[rule.head.key].append(rule.head.arguments)
        for key, rows in facts.items():
            self._write_facts(key, rows)
        self._run(compiled)

    def tops(self, predicate: str, arity: int, argument: int) -> frozenset[Top]:
        """Return the tops of an argument (counted from 0) of a relation."""
        return frozenset(self._tops.get((predicate, arity, argument), ()))

    def below(self, path: Path, functor: Functor, argument: int) -> frozenset[Top]:
        """Return the tops of an argument of a functor at a place."""
        return frozenset(self._tops.get(self._below(path, functor, argument), ()))

    def of_variables(self, rule: NormalRule) -> dict[Variable, frozenset[Top]]:
        """Return the possible tops of each variable of a rule; empty if the rule cannot fire."""
        places: dict[Variable, list[Path]] = defaultdict(list)
        for item in rule.body:
            if isinstance(item, Literal) and not self._readable(item.atom, places):
                return {}
        return {
            variable: frozenset(set.intersection(*[self._tops.get(path, set()) for path in paths]))
            for variable, paths in places.items()
        }

    def _run(self, rules: Sequence[NormalRule]) -> None:
        waiting = dict.fromkeys(range(len(rules)))
        while waiting:
            for number in list(waiting):
                del waiting[number]
                self._changed.clear()
                self._fire(rules[number])
                for key in self._changed:
                    waiting.update(dict.fromkeys(self._readers.get(key, ())))

    def _fire(self, rule: NormalRule) -> None:
        places: dict[Variable, list[Path]] = defaultdict(list)
        for item in rule.body:
            if isinstance(item, Literal) and not self._readable(item.atom, places):
                return
        written = set(rule.head.variables())
        values: Values = {}
        for variable, paths in places.items():
            if len(paths) == 1 and variable not in written:
                continue
            tops = set.intersection(*[self._tops.get(path, set()) for path in paths])
            if not tops:
                return
            values[variable] = tops, paths[0]
        self._write(rule.head, values)

    def _readable(self, atom: Atom, places: dict[Variable, list[Path]]) -> bool:
        root: Path = (atom.predicate, len(atom.arguments))
        pending: list[tuple[Term, Path]] = [
            (term, (*root, number)) for number, term in enumerate(atom.arguments)
        ]
        while pending:
            term, path = pending.pop()
            tops = self._tops.get(path)
            if not tops:
                return False
            if isinstance(term, Variable):
                places[term].append(path)
            elif isinstance(term, Compound):
                functor = (term.functor, len(term.arguments))
                if functor not in tops:
                    return False
                pending += [
                    (sub, self._below(path, functor, number)) for number, sub in enumerate(term.arguments)
                ]
            elif self._constant(term) not in tops:
                return False
        return True

    def _constant(self, term: Term) -> Constant:
        assert isinstance(term, Constant)
        return ATOM if self._kinds_only else term

    def _write(self, atom: Atom, values: Values) -> None:
        arity = len(atom.arguments)
        for predicate in (atom.predicate, self._feeds.get(atom.predicate)):
            if predicate is not None:
                for number, term in enumerate(atom.arguments):
                    self._write_term(term, (predicate, arity, number), values)

    def _write_facts(self, key: tuple[str, int], rows: Sequence[tuple[Term, ...]]) -> None:
        """Write all facts of a relation by column: there may be a million."""
        for number, column in enumerate(zip(*rows, strict=True)):
            terms = set(column)
            constants = {term for term in terms if isinstance(term, Constant)}
            for predicate in (key[0], self._feeds.get(key[0])):
                if predicate is not None:
                    path = (predicate, key[1], number)
                    if constants:
                        self._add(path, {ATOM} if self._kinds_only else set[Top](constants))
                    for term in terms - constants:
                        self._write_term(term, path, {})

    def _write_term(self, term: Term, path: Path, values: Values) -> None:
        if isinstance(term, Variable):
            if term in values:
                self._copy(*values[term], path)
        elif isinstance(term, Compound):
            functor = (term.functor, len(term.arguments))
            self._add(path, {functor})
            for number, sub in enumerate(term.arguments):
                self._write_term(sub, self._below(path, functor, number), values)
        else:
            self._add(path, {self._constant(term)})

    def _copy(self, tops: set[Top], source: Path, target: Path) -> None:
        pending: list[tuple[set[Top], Path, Path]] = [(tops, source, target)]
        seen = set()
        while pending:
            tops, source, target = pending.pop()
            self._add(target, tops)
            if len(source) >= self._longest <= len(target):
                continue  # both have the same places below
            for top in tops:
                if isinstance(top, tuple):
                    self._steps -= top[1]
                    if self._steps < 0:
                        raise _TooManyPlacesError
                    for number in range(top[1]):
                        pair = self._below(source, top, number), self._below(target, top, number)
                        if pair[0] != pair[1] and pair not in seen:
                            seen.add(pair)
                            pending.append((self._tops.get(pair[0], set()), *pair))

    def _add(self, path: Path, tops: set[Top]) -> None:
        known = self._tops[path]
        if not tops <= known:
            known |= tops
            if len(self._tops) > self._most:
                raise _TooManyPlacesError
            self._changed.update(_relations_at(path, self._readers))

    def _below(self, path: Path, functor: Functor, argument: int) -> Path:
        deeper = (*path, functor, argument)
        return deeper if len(deeper) <= self._longest else ("*", functor, argument)

    def _mention(self, rule: NormalRule) -> None:
        for atom, _ in atoms_in(rule.body):
            if atom.predicate in {"true", "does"} and isinstance(atom.arguments[-1], Compound):
                number = len(atom.arguments) - 1
                # A variable may be any constant.
                bindings = dict.fromkeys(atom.variables(), ATOM) if self._kinds_only else {}
                self._write_term(
                    substitute(atom.arguments[-1], bindings), (atom.predicate, number + 1, number), {}
                )


def _relations_at(path: Path, readers: dict[tuple[str, int], list[int]]) -> Iterator[tuple[str, int]]:
    if path[0] == "*":
        yield from readers
    else:
        yield path[0], path[1]  # type: ignore[misc]
