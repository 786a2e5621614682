"""Invariants by induction: the candidate clauses that hold initially and that every step preserves.

The method is from Flanagan and Leino (2001, "Houdini, an annotation assistant for ESC/Java"). Clauses that a
step can break are dropped, until no step breaks a clause.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from dataclasses import replace
from itertools import chain, combinations, takewhile
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.language.terms import Compound
from anygame.proving.formula import Formula, any_step
from anygame.proving.patience import OutOfTimeError
from anygame.proving.verdict import Certificate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from anygame.language.terms import Term
    from anygame.proving.counting import Sum
    from anygame.proving.matches import Sample
    from anygame.proving.model import Clause, Lemma, Model
    from anygame.proving.patience import Patience
    from anygame.proving.store import ProofStore

_MOST_CANDIDATES: Final = 4_096
#: Maximum number of candidates times number of gates, so that a query takes less than a second.
_MOST_WORK: Final = 40_000_000
#: Number of candidates in the first round.
_FIRST: Final = 64
#: Growth factor of the number of candidates from round to round.
_MORE: Final = 8
#: In groups of at least this size, one clause with gates replaces the clauses that exclude each pair.
_FEW: Final = 4
#: Minimum size of a group of fluents that counts as a counter.
_COUNTER: Final = 5
#: Maximum number of multiplications to find fluents that exclude each other: about a second of work.
_MOST_PRODUCTS: Final = 20_000_000_000
#: Maximum number of arguments in which fluents of the same group may differ.
_MOST_COLUMNS: Final = 3
#: The name of the invariant in the cache of proofs.
_EVERYWHERE: Final = "in every state"


class Induction:
    """Clauses proved by induction, in rounds. A clause that is proved stays proved."""

    def __init__(self, model: Model, formula: Formula) -> None:
        self._model, self._formula = model, formula
        self._now = any_step(formula, model)
        self._then = self._now.then_as_asked()
        self._of: dict[Clause, tuple[int, int, list[int]]] = {}
        self.found: list[Clause] = []

    def keep(self, candidates: Sequence[Clause]) -> None:
        """Add the candidates that are proved to hold in every state; none if the time limit is reached."""
        apart, proved = exclusions(self._model, self.found), set(self.found)
        fresh = [
            clause
            for clause in dict.fromkeys(candidates)
            if clause not in proved and not _is_pair(clause, apart)
        ]
        literals = sorted({literal for clause in fresh for literal in clause})
        values = self._model.values(literals, self._model.initial[None])[0].tolist()
        at_first = {literal for literal, holds in zip(literals, values, strict=True) if holds}
        fresh = [clause for clause in fresh if at_first.intersection(clause)]
        if not fresh:
            return
        formula, asked = self._formula, list(map(self._asked, fresh))
        # The solver prefers to break clauses, so each step that it finds breaks many clauses.
        formula.prefer([broken for _, broken, _ in asked])
        after = np.concatenate([then for *_, then in asked])
        of = np.repeat(np.arange(len(asked)), [len(then) for *_, then in asked])
        kept = np.arange(len(asked))
        while len(kept):
            some = formula.new()
            formula.add(-some, *(asked[place][1] for place in kept.tolist()))
            if not formula.solve([some, *(asked[place][0] for place in kept.tolist())]):
                break
            holds = formula.values()[np.abs(after)] == (after > 0)
            kept = kept[np.bincount(of[holds], minlength=len(asked))[kept] > 0]
            formula.add(-some)
        for place in kept.tolist():
            formula.add(asked[place][0])
            self.found.append(fresh[place])

    def _asked(self, clause: Clause) -> tuple[int, int, list[int]]:
        """Return the literals "clause holds" and "a step breaks the clause", and the clause after a step."""
        encoded = self._of.get(clause)
        if encoded is None:
            formula = self._formula
            holds, broken, then = formula.new(), formula.new(), list(map(self._then, clause))
            formula.add(-holds, *map(self._now, clause))
            for literal in then:
                formula.add(-broken, -literal)
            encoded = self._of[clause] = holds, broken, then
        return encoded


def learned(
    model: Model, sample: Sample, patience: Patience, first: Sequence[Clause] = ()
) -> Iterator[list[Clause]]:
    """Yield an invariant that grows from round to round; the clauses in ``first`` are tried first.

    Each yielded invariant is proved.
    """
    with Formula(patience) as formula:
        induction = Induction(model, formula)
        tried = list(first)
        for size in _sizes(len(tried)):
            induction.keep(tried[:size])
            yield induction.found
        of_groups, others = candidates(model, sample, patience)
        # The strongest candidates come first, since candidates that a step breaks take most of the time.
        several = len(tried) + len(of_groups)
        tried += of_groups + others
        for size in sorted({several, *_sizes(len(tried))}):
            induction.keep(tried[:size])
            yield induction.found


def _sizes(count: int) -> list[int]:
    smaller = takewhile(count.__gt__, (_FIRST * _MORE**power for power in range(count)))
    return [*smaller, count] if count else []


def candidates(model: Model, sample: Sample, patience: Patience) -> tuple[list[Clause], list[Clause]]:
    """Return two lists of clauses that a sample does not refute; the first list has the stronger clauses.

    Clauses of the first list say that at most one, or at least one, fluent of a group holds. Clauses of the
    second list are about fluents that never change, pairs that exclude each other, and fluents that imply
    some fluent of a group.
    """
    # With many fluents, a sample of the states suffices: induction drops false candidates later.
    states = sample.states[:: 1 + len(sample.states) * len(model.fluents) ** 2 // _MOST_PRODUCTS]
    always: NDArray[np.bool_] = np.asarray(states.all(axis=0))
    never: NDArray[np.bool_] = np.asarray(~states.any(axis=0))
    changing: NDArray[np.bool_] = np.asarray(~always & ~never)
    values = states.astype(np.float32)
    patience.check()
    apart: NDArray[np.bool_] = np.asarray((values.T @ values) == 0)
    np.fill_diagonal(apart, False)
    # Random play seldom reaches all values of a counter, so groups include fluents that never held.
    several = sorted(groups(model.fluents, ~always), key=len)
    some = _some_of(states, several, patience)
    clauses: dict[Clause, None] = {}
    most = min(_MOST_CANDIDATES, _MOST_WORK // (1 + len(model.gates.gates)))
    for number, group in enumerate(several[:most]):
        patience.check()
        literals = [2 * fluent + 2 for fluent in group]
        if apart[np.ix_(group, group)].sum() == len(group) * (len(group) - 1):
            if len(group) < _FEW:
                clauses.update({(2 * a + 3, 2 * b + 3): None for a, b in combinations(group, 2)})
            else:
                clauses[model.exclusion(literals)] = None
        if some[:, number].all():
            clauses[tuple(literals)] = None
    of_groups = list(clauses)[:most]
    clauses.update({(2 * f + 2,): None for f in np.flatnonzero(always).tolist()})
    clauses.update({(2 * f + 3,): None for f in np.flatnonzero(never).tolist()})
    patience.check()
    for one, other in _complements(states, [*([f] for f in np.flatnonzero(changing).tolist()), *several]):
        clauses[tuple(sorted(2 * fluent + 2 for fluent in (*one, *other)))] = None
        clauses.update({(2 * min(a, b) + 3, 2 * max(a, b) + 3): None for a in one for b in other})
    for one, other in _counters(several, apart, np.asarray(some.all(axis=0))):
        if len(clauses) + len(one) * len(other) <= most:
            clauses.update(
                {(2 * min(a, b) + 3, 2 * max(a, b) + 3): None for a in one for b in other if apart[a, b]}
            )
    places = np.argwhere(np.triu(apart & changing & changing[:, None], 1))
    clauses.update({(2 * a + 3, 2 * b + 3): None for a, b in places[: max(0, most - len(clauses))].tolist()})
    if several:
        patience.check()
        needs = (values.T @ (~some).astype(np.float32)) == 0
        needs &= changing[:, None] & ~some.all(axis=0)
        for fluent, number in np.argwhere(needs)[: 2 * most].tolist():
            if fluent not in several[number] and len(clauses) < most:
                clauses[(2 * fluent + 3, *(2 * member + 2 for member in several[number]))] = None
    return of_groups, list(clauses)[len(of_groups) : most]


def _some_of(
    states: NDArray[np.bool_], several: Sequence[list[int]], patience: Patience
) -> NDArray[np.bool_]:
    """Return, for each state and group, whether a fluent of the group holds: bool [states, groups]."""
    rows = np.packbits(states.T, axis=1)
    some: NDArray[np.bool_] = np.empty((len(states), len(several)), np.bool_)
    for number, group in enumerate(several):
        patience.check()
        row = np.bitwise_or.reduce(rows[group], axis=0)
        some[:, number] = np.unpackbits(row, count=len(states))
    return some


def _counters(
    several: Sequence[list[int]], apart: NDArray[np.bool_], exact: NDArray[np.bool_]
) -> list[tuple[list[int], list[int]]]:
    """Return pairs of disjoint counters, the smallest first.

    A counter is a group of which exactly one fluent holds in each state of the sample. A counter includes
    fluents that never hold in the sample, because random play may not reach all values.
    """
    counters = [
        group
        for group, is_exact in zip(several, exact.tolist(), strict=True)
        if is_exact
        and len(group) >= _COUNTER
        and (apart[np.ix_(group, group)].sum(axis=1) == len(group) - 1).all()
    ]
    pairs = [(a, b) for a, b in combinations(counters, 2) if not set(a) & set(b)]
    return sorted(pairs, key=lambda pair: len(pair[0]) * len(pair[1]))


def _complements(
    states: NDArray[np.bool_], parts: Sequence[list[int]]
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield pairs of groups. In each state, a fluent holds in exactly one of the two groups."""
    parts_by_column: dict[bytes, list[int]] = {}
    for part in parts:
        some = states[:, part[0]] if len(part) == 1 else states[:, part].any(axis=1)
        if some.all() or not some.any():
            continue
        other = parts_by_column.get(np.packbits(~some).tobytes())
        if other is not None:
            yield other, part
        parts_by_column.setdefault(np.packbits(some).tobytes(), part)


def groups(fluents: Sequence[Term], among: NDArray[np.bool_]) -> Iterator[list[int]]:
    """Yield groups of marked fluents: fluents of one relation that differ in few arguments."""
    by_relation: dict[tuple[str, int], list[tuple[int, tuple[Term, ...]]]] = defaultdict(list)
    for number, fluent in enumerate(fluents):
        if among[number]:
            name, arguments = parts_of(fluent)
            by_relation[name, len(arguments)].append((number, arguments))
    seen = set()
    for (_, width), members in by_relation.items():
        for count in range(1, min(width, _MOST_COLUMNS) + 1):
            for columns in combinations(range(width), count):
                groups: dict[tuple[Term, ...], list[int]] = defaultdict(list)
                for number, arguments in members:
                    key = tuple(a for place, a in enumerate(arguments) if place not in columns)
                    groups[key].append(number)
                for group in groups.values():
                    if len(group) > 1 and tuple(group) not in seen:
                        seen.add(tuple(group))
                        yield group


def parts_of(fluent: Term) -> tuple[str, tuple[Term, ...]]:
    """Return the relation and the arguments of a fluent."""
    return (fluent.functor, fluent.arguments) if isinstance(fluent, Compound) else (str(fluent), ())


def exclusive_groups(model: Model, invariant: Sequence[Clause]) -> list[list[int]]:
    """Return the groups of fluents that exclude each other, given an invariant; the largest come first."""
    apart = exclusions(model, invariant)
    everything = np.ones(len(model.fluents), np.bool_)
    exclusive = []
    for group in groups(model.fluents, everything):
        bits = sum(1 << fluent for fluent in group)
        if all(bits & ~apart[fluent] == 1 << fluent for fluent in group):
            exclusive.append(group)
    return sorted(exclusive, key=len, reverse=True)


def disjoint_groups(groups: Iterable[list[int]], count: int) -> list[list[int]]:
    """Choose groups in order, without overlaps; each remaining number below ``count`` is its own group."""
    rest, chosen = set(range(count)), []
    for group in groups:
        if rest.issuperset(group):
            rest -= set(group)
            chosen.append(group)
    return [*chosen, *([number] for number in sorted(rest))]


def by_arguments(fluents: Sequence[Term], width: int) -> list[list[int]]:
    """Return groups of fluents, by number, that share their relation and ``width`` arguments."""
    members: dict[object, list[int]] = defaultdict(list)
    for number, fluent in enumerate(fluents):
        name, arguments = parts_of(fluent)
        for places in combinations(range(len(arguments)), min(width, len(arguments))):
            members[name, len(arguments), places, tuple(arguments[p] for p in places)].append(number)
    return list(members.values())


def exclusions(model: Model, invariant: Sequence[Clause]) -> list[int]:
    """Return, for each fluent, a bit set of the fluents that exclude it, given an invariant."""
    apart = [0] * len(model.fluents)
    for clause in invariant:
        group = model.exclusive.get(clause[0], ()) if len(clause) == 1 else ()
        if len(clause) == 2 and clause[0] & clause[1] & 1:
            group = (clause[0] ^ 1, clause[1] ^ 1)
        bits = sum(1 << (literal >> 1) - 1 for literal in group)
        for literal in group:
            apart[(literal >> 1) - 1] |= bits ^ 1 << (literal >> 1) - 1
    return apart


def _is_pair(clause: Clause, apart: Sequence[int]) -> bool:
    """Return whether a clause only says that two fluents exclude each other, and ``apart`` has this pair."""
    if len(clause) != 2 or not clause[0] & clause[1] & 1:
        return False
    one, other = ((literal >> 1) - 1 for literal in clause)
    return bool(apart[one] >> other & 1)


def trimmed(
    model: Model,
    bad: int,
    clauses: Sequence[Clause],
    patience: Patience,
    wanted: Sequence[Clause] = (),
    lemmas: Sequence[Lemma] = (),
) -> list[Clause]:
    """Return a subset of the clauses of an invariant that is inductive and excludes bad states.

    The clauses in ``wanted`` are always kept. The lemmas hold in every state in which the invariant holds. A
    lemma that the proof needs becomes a clause of the result.
    """
    of_moves = model.depends_on_moves(bad)
    with Formula(patience) as formula:
        copy = any_step(formula, model)
        then = copy.then_as_asked()
        counted = {(lemma.holds,): lemma.changes for lemma in lemmas}
        holds = {formula.new(): clause for clause in [*counted, *clauses]}
        guard_of = {clause: guard for guard, clause in holds.items()}
        for guard, clause in holds.items():
            formula.add(-guard, *map(copy, clause))

        def broken(clause: Clause) -> list[int]:
            return [copy(counted[clause])] if clause in counted else [then(x ^ 1) for x in clause]

        if of_moves:
            goal = [copy(bad)]
        else:
            formula.add(-copy(bad))
            holds.update({then(holding): (holding,) for (holding,) in counted})
            goal = [then(bad), *(then(holding) for (holding,) in counted)]
        needed: dict[Clause, None] = dict.fromkeys(wanted)
        pending = [goal, *map(broken, wanted)]
        while pending:
            goals = pending.pop()
            # Clauses that are already needed are assumed first. Lemmas come last, because they slow the
            # solver.
            parts = [[guard_of[member] for member in clause_set] for clause_set in (needed, clauses, counted)]
            count = next((n for n in range(1, 4) if not formula.solve([*goals, *chain(*parts[:n])])), None)
            assert count, "the clauses are not an invariant"
            core = formula.core()
            fresh = dict.fromkeys(c for guard, c in holds.items() if guard in core and c not in needed)
            needed.update(fresh)
            pending += map(broken, fresh)
    return list(needed)


class Knowledge:
    """Clauses that hold in every state of a game, learned on demand.

    The time limit starts with the first round. ``guesses`` returns candidate clauses that are tried first.
    ``is_everything`` says whether all candidates were tried.
    """

    def __init__(
        self,
        model: Model,
        sample: Sample,
        patience: Patience,
        report: Callable[[str], None],
        guesses: Callable[[Sample], list[Clause]],
        store: ProofStore,
    ) -> None:
        self._model, self._sample, self._patience = model, sample, patience
        self._report, self._guesses, self._store = report, guesses, store
        self.clauses: list[Clause] = []
        self.is_everything, self._is_learning = False, True
        self._learning = self._learned()

    def complete(self) -> list[Clause]:
        """Learn until all candidates are tried or the time limit is reached; return the clauses."""
        self._report("learning an invariant")
        for _ in self._learning:
            pass
        return self.clauses

    def rounds(self, patience: Patience) -> Iterator[bool]:
        """Yield, before each round of learning, whether learning is over.

        Callers can try cheap proofs between rounds. The clock of ``patience`` stops during learning.
        """
        tried = -1
        while self._is_learning:
            if len(self.clauses) > tried:
                yield False
            tried = len(self.clauses)
            self._report("learning an invariant")
            with patience.paused():
                next(self._learning, None)
        yield True

    def _learned(self) -> Iterator[None]:
        kept = self._store.certificates.get(_EVERYWHERE)
        patience = self._patience.again()
        first = clauses_of(self._model, kept) if kept else self._guesses(self._sample)
        try:
            with suppress(OutOfTimeError):
                for clauses in learned(self._model, self._sample, patience, first):
                    self.clauses = list(clauses)
                    # Stop if the cached invariant is complete, and all of its clauses have been proved again.
                    if kept and kept.is_everything and len(clauses) == len(first):
                        break
                    if not kept or len(clauses) >= len(first):
                        self._keep()
                    with patience.paused():
                        yield
                self.is_everything = True
                self._keep()
        finally:
            self._is_learning = False

    def _keep(self) -> None:
        certificate = certificate_of(self._model, self.clauses)
        self._store.keep(_EVERYWHERE, replace(certificate, is_everything=self.is_everything))


def certificate_of(model: Model, clauses: Iterable[Clause], depth: int | None = None) -> Certificate:
    """Return a certificate with the given clauses.

    For clauses with the new gate "at most one fluent of this group", the certificate has the groups instead.
    """
    exclusive = model.exclusive
    groups = {c: exclusive[c[0]] for c in clauses if len(c) == 1 and c[0] in exclusive}
    return Certificate(tuple(c for c in clauses if c not in groups), depth, groups=tuple(groups.values()))


def clauses_of(model: Model, certificate: Certificate) -> list[Clause]:
    """Return the clauses of a certificate."""
    return [*certificate.clauses, *map(model.exclusion, certificate.groups)]


def written(model: Model, certificate: Certificate) -> tuple[str, ...]:
    """Return the invariant of a certificate as text."""
    groups = [f"at most one of {', '.join(map(model.name_of, group))}" for group in certificate.groups]
    sums = [_added(model, counted) for counted in certificate.sums]
    return (*(_disjunction(model, clause) for clause in certificate.clauses), *groups, *sums)


def _disjunction(model: Model, clause: Sequence[int]) -> str:
    names = list(map(model.name_of, clause))
    return names[0] if len(names) == 1 else f"(or {' '.join(names)})"


def _added(model: Model, counted: Sum) -> str:
    """Return a sum as an equation or inequality, with negative weights on the right."""
    sides = [
        [
            f"{abs(weight)} * {_disjunction(model, fact)}".removeprefix("1 * ")
            for weight, *fact in counted.parts
            if weight * sign > 0
        ]
        for sign in (1, -1)
    ]
    sides[counted.total > 0] += [str(abs(counted.total))] if counted.total else []
    return (" = " if counted.is_exact else " >= ").join(" + ".join(side) or "0" for side in sides)
