"""Domains: the possible terms of every argument of every relation.

The result is a least fixpoint, and an over-approximation, because it treats arguments as independent. A
variable has the values that all its positive literals allow. ``true`` has the values of ``init`` and
``next``, and ``does`` has the values of ``legal``. A *top* is a constant, or the functor of a compound term.
If there are too many places in terms, deeply nested places are merged.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, Final

from anygame.language.rules import Literal, atoms_in
from anygame.language.terms import Compound, Constant, Term, Variable, substitute

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anygame.analysis.normal import NormalRule
    from anygame.language.rules import Atom

#: Name and arity of a functor.
Functor = tuple[str, int]
#: A constant, ATOM, or a functor, whose arguments are separate places.
Top = Constant | Functor
#: The top that represents every constant if constants are not distinguished. Sheets cannot contain this name.
ATOM: Final = Constant(" atom")

#: A place: the name and arity of a relation, and an argument index. For a place inside compound terms, pairs
#: of a functor and an argument index follow. A path that starts with ``*`` is a merged place.
Path = tuple[object, ...]
#: For each variable, its possible tops, and a place that contains the arguments of its compound values.
Values = dict[Variable, tuple[set["Top"], Path]]
#: Maximum nesting depths of distinguished places, in the order of the attempts. Below this depth, each
#: argument of a functor is one place, wherever the functor occurs.
_DEPTHS: Final = (4, 1, 0)
_MOST_PLACES: Final = 100_000
#: Maximum number of place visits during propagation.
_MOST_STEPS: Final = 200_000
#: Per relation, the other relation that receives its facts.
_FEEDS: Final = {"init": "true", "next": "true", "legal": "does"}


class _TooManyPlacesError(Exception):
    """There are too many places at this depth. Raised and caught in this module only."""


class Domains:
    """The possible tops of each place.

    Args:
        rules: normal rules, including facts.
        kinds_only: represent all constants by ``ATOM``.
        declared: include the terms of ``base``, ``input``, and the atoms of ``true`` and ``does`` in bodies.
            Positions that people set up may contain these terms.
        most_positions: maximum number of distinguished places.
        most_steps: maximum number of place visits during propagation.
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
        """Return the possible tops of a relation's argument; the first argument has number 0."""
        return frozenset(self._tops.get((predicate, arity, argument), ()))

    def below(self, path: Path, functor: Functor, argument: int) -> frozenset[Top]:
        """Return the possible tops of a functor's argument, for compound terms at a place."""
        return frozenset(self._tops.get(self._below(path, functor, argument), ()))

    def of_variables(self, rule: NormalRule) -> dict[Variable, frozenset[Top]]:
        """Return the possible tops of each variable of a rule; empty if the rule cannot fire."""
        places = self._places(rule)
        return {variable: frozenset(self._common(paths)) for variable, paths in (places or {}).items()}

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
        if (places := self._places(rule)) is None:
            return
        written = set(rule.head.variables())
        values: Values = {}
        for variable, paths in places.items():
            if len(paths) == 1 and variable not in written:
                continue
            tops = self._common(paths)
            if not tops:
                return
            values[variable] = tops, paths[0]
        arity = len(rule.head.arguments)
        for predicate in (rule.head.predicate, self._feeds.get(rule.head.predicate)):
            if predicate is not None:
                for number, term in enumerate(rule.head.arguments):
                    self._write_term(term, (predicate, arity, number), values)

    def _common(self, paths: Iterable[Path]) -> set[Top]:
        return set.intersection(*[self._tops.get(path, set()) for path in paths])

    def _places(self, rule: NormalRule) -> dict[Variable, list[Path]] | None:
        """Return the places of each variable in positive literals; None if the rule cannot fire."""
        places: dict[Variable, list[Path]] = defaultdict(list)
        literals = (item.atom for item in rule.body if isinstance(item, Literal))
        return places if all(self._readable(atom, places) for atom in literals) else None

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

    def _write_facts(self, key: tuple[str, int], rows: Sequence[tuple[Term, ...]]) -> None:
        # A relation can have a million facts, but each column has few different terms.
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
                continue  # both places already share all places below them
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
        old_tops = self._tops[path]
        if not tops <= old_tops:
            old_tops |= tops
            if len(self._tops) > self._most:
                raise _TooManyPlacesError
            if path[0] == "*":
                self._changed.update(self._readers)
            else:
                self._changed.add((str(path[0]), int(str(path[1]))))

    def _below(self, path: Path, functor: Functor, argument: int) -> Path:
        deeper = (*path, functor, argument)
        return deeper if len(deeper) <= self._longest else ("*", functor, argument)

    def _mention(self, rule: NormalRule) -> None:
        for atom, _ in atoms_in(rule.body):
            if atom.predicate in {"true", "does"} and isinstance(atom.arguments[-1], Compound):
                number = len(atom.arguments) - 1
                # An unbound variable can have any constant as its value.
                bindings = dict.fromkeys(atom.variables(), ATOM) if self._kinds_only else {}
                self._write_term(
                    substitute(atom.arguments[-1], bindings), (atom.predicate, number + 1, number), {}
                )
