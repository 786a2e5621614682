"""Termination proofs: a measure that every joint move of a match, except the last move, increases.

The measure is a weighted sum of fluents, a linear ranking function as for programs (Podelski and Rybalchenko
2004, "A complete method for the synthesis of linear ranking functions"). The weights solve a linear program
in which every known step increases the measure. A solver searches for a step that does not increase the
measure. Each such step is added to the program, until no such step exists (Gonnord, Monniaux and Radanne
2015, "Synthesis of ranking functions using extremal counterexamples").

Signals are the literals that a measure can weigh. A kind is a set of signals that share a weight.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from math import gcd
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from anygame.errors import MissingExtraError
from anygame.language.terms import Compound
from anygame.network.network import FALSE, TRUE
from anygame.proving.formula import Formula, any_step
from anygame.proving.induction import by_arguments, disjoint_groups, exclusive_groups

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from anygame.language.terms import Term
    from anygame.proving.matches import Sample
    from anygame.proving.model import Clause, Match, Model
    from anygame.proving.patience import Patience

#: Matrix [signals, kinds] with 1 where a signal is of a kind, and 0 elsewhere.
_Kinds: TypeAlias = "NDArray[np.float64]"

#: Maximum number of kinds of signals in a linear program, each with an unknown weight.
_MOST_UNKNOWN: Final = 3_000
MOST_WEIGHT: Final = 100_000
#: Maximum total weight of literals that a step makes false. The number of gates is quadratic in this weight.
MOST_LOST: Final = 400
#: Maximum number of moves without arguments among the signals.
_MOST_PASSES: Final = 64
#: Number of game steps in the first linear program. Steps that refute the solution are added later.
_STEPS: Final = 200
#: Maximum numbers of rounds of the search for steps per matrix of kinds, without and with ``is_brief``.
_MOST_ROUNDS: Final = 60
_FEW_ROUNDS: Final = 4
#: Maximum number of steps found in a round.
_AT_ONCE: Final = 16
#: Maximum common denominator of weights.
_MOST_PARTS: Final = 60
#: Maximum rounding error of a weight after multiplication by the common denominator.
_NEARLY: Final = 1e-4
#: Cost of a unit of weight in the linear program. Each move in the bound on match length costs 1.
_LITTLE: Final = 1e-3
#: Maximum number of random moves in the search for a repeated state.
_MOST_FOLLOWED: Final = 200


def needed_programs() -> tuple[Any, Any]:
    """Return ``linprog`` and ``sparse`` of scipy. Raises MissingExtraError if scipy is not installed."""
    try:
        from scipy import sparse
        from scipy.optimize import linprog
    except ImportError as error:
        raise MissingExtraError(
            "proofs that every match ends need scipy; install it with: pip install 'anygame[prove]'",
            extra="prove",
        ) from error
    return linprog, sparse


class Measure(NamedTuple):
    """Weighted sum of literals. The literals that a step makes false weigh at most ``most_lost`` in total."""

    parts: list[tuple[int, int]]
    most_lost: int = 0


class Measures:
    """Candidate measures of a game; ``patience`` limits the time of the constructor."""

    def __init__(self, model: Model, sample: Sample, patience: Patience) -> None:
        self._model = model
        self._signals = _signals(model)
        patience.check()
        self._initial = model.values(self._signals, model.initial[None])[0]
        wanted = [model.terminal, *self._signals]
        values = (model.values(wanted, states, patience=patience) for states in sample.steps())
        (_, before), (going, after) = ((~value[:, 0], value[:, 1:]) for value in values)
        patience.check()
        #: Changes of signals in the steps of play that do not end a match: int8 [steps, signals].
        self._played = _distinct(_changes(before[going], after[going]))
        #: Changes of signals in the steps of the linear program.
        self._known: list[NDArray[np.int8]] = [self._played[:: max(1, len(self._played) // _STEPS)]]
        self._added = 0

    def search(
        self, invariant: Sequence[Clause], patience: Patience, *, is_brief: bool = False
    ) -> Iterator[Measure]:
        """Yield candidate measures, the simplest first.

        The last measure increases in every step from a state of the invariant. If the caller adds a step, all
        later measures increase in this step. With ``is_brief``, the search yields few measures.
        """
        levels = _Levels(self._model, self._signals, invariant)
        with Formula(patience) as formula:
            idle: _IdleSteps | None = None
            for kinds in _templates(self._model.fluents, levels.among):
                #: Steps found by a solver. These steps can start in unreachable states.
                possible: list[NDArray[np.int8]] = []
                for _ in range(_FEW_ROUNDS if is_brief else _MOST_ROUNDS):
                    weighed = self._weights(kinds, levels.among, possible, patience)
                    if weighed is None:
                        break
                    if idle is None:
                        rows = np.concatenate([self._played, *self._known])
                        idle = _IdleSteps(formula, self._model, self._signals, invariant, rows)
                    steps = idle.of(levels.measure(*weighed, idle.model), patience)
                    if not steps:
                        yield levels.measure(*weighed, self._model)
                        return
                    possible += steps
                count = self._added if is_brief else -1
                while count < self._added:
                    count = self._added
                    weighed = self._weights(kinds, levels.among, [], patience)
                    if weighed is not None:
                        yield levels.measure(*weighed, self._model)

    def add(self, before: NDArray[np.bool_], after: NDArray[np.bool_]) -> None:
        """Add a step, which must not end the match."""
        values = (self._model.values(self._signals, state[None]) for state in (before, after))
        self._known.append(_changes(*values))
        self._added += 1

    def _weights(
        self,
        kinds: _Kinds,
        among: NDArray[np.int64],
        possible: Sequence[NDArray[np.int8]],
        patience: Patience,
    ) -> tuple[NDArray[np.int64], int] | None:
        """Return weights of signals for which every known step adds at least 1, and ``Measure.most_lost``.

        Returns None if there are no such weights. ``among`` has the group number of each signal; see
        ``_Levels``. The steps in ``possible`` must also add at least 1.
        """
        while True:
            patience.check()
            known = _distinct(np.concatenate([*self._known, *possible]))
            solution = _solved(known @ kinds, kinds, among, self._initial, patience)
            weights = None if solution is None else _whole(kinds @ solution, known)
            if weights is None:
                return None
            places = np.flatnonzero(weights)
            rows = np.concatenate([self._played, *self._known, *possible])[:, places] * weights[places]
            lost = -int(np.minimum(rows, 0).sum(axis=1).min(initial=0))
            if lost > MOST_LOST:
                return None
            broken = np.flatnonzero(rows[: len(self._played)].sum(axis=1) < 1)
            if not len(broken):
                return weights, lost
            self._known.append(self._played[broken[:: max(1, len(broken) // _STEPS)]])


class _IdleSteps:
    """Finds steps that start in a state of the invariant, and do not increase a measure.

    ``known`` has the changes of signals in known steps: int8 [steps, signals].
    """

    def __init__(
        self,
        formula: Formula,
        model: Model,
        signals: Sequence[int],
        invariant: Sequence[Clause],
        known: NDArray[np.int8],
    ) -> None:
        self.model, self._formula = model.scratch(), formula
        #: Pairs (signal, 1) if a known step sets the signal, and (signal, -1) if a known step clears it.
        self._known = {
            (n, sign) for sign in (1, -1) for n in np.flatnonzero((known == sign).any(axis=0)).tolist()
        }
        self._copy = any_step(formula, self.model, invariant)
        then = self._copy.then()
        # An assignment has values only for gates that are added to the formula before the solver runs.
        self._asked = [[of(signal) for signal in signals] for of in (self._copy, then)]

    def of(self, measure: Measure, patience: Patience) -> list[NDArray[np.int8]]:
        """Return the changes of up to ``_AT_ONCE`` steps that do not increase a measure.

        If possible, each step has a change that no earlier step has. This reduces the number of rounds for
        counters that random play seldom advances far.
        """
        formula, (now, later) = self._formula, self._asked
        slipping, differs = self._copy(slip(self.model, measure, patience)), formula.new()
        steps: list[NDArray[np.int8]] = []
        while len(steps) < _AT_ONCE and formula.solve([slipping, differs]):
            value = formula.assignment()
            changes = _changes(*(np.array([list(map(value, literals))]) for literals in (now, later)))
            steps.append(changes)
            changed = {(n, sign) for n, sign in enumerate(changes[0].tolist()) if sign}
            if not changed:
                break
            # At least one of these changes must not occur in the next step.
            changed = changed - self._known or changed
            self._known |= changed
            formula.add(
                -differs, *(x for n, sign in sorted(changed) for x in (sign * now[n], -sign * later[n]))
            )
        return steps


def _signals(model: Model) -> list[int]:
    """Return the signals: fluents, and the legality of moves without arguments.

    Moves without arguments are usually passes. Some steps change only which role can pass.
    """
    moves = [move for of_role in model.actions for move in of_role]
    legal = [x for x, move in zip(model.legal, moves, strict=True) if not isinstance(move, Compound)]
    return [2 * fluent + 2 for fluent in range(len(model.fluents))] + legal[:_MOST_PASSES]


def moving(
    model: Model, parts: Sequence[tuple[int, int]], patience: Patience
) -> tuple[list[tuple[int, int]], ...]:
    """Return weighted literals for "a joint move sets the literal", and for "a joint move clears it"."""
    ways: tuple[list[tuple[int, int]], ...] = ([], [])
    for literal, weight in parts:
        patience.check()
        for way, moved in zip(ways, model.moved(literal), strict=True):
            way.append((moved, weight))
    return ways


def slip(model: Model, measure: Measure, patience: Patience) -> int:
    """Return a literal that holds if a joint move neither ends the match nor increases the measure."""
    gates = model.gates
    won, lost = moving(model, measure.parts, patience)
    most = measure.most_lost + 1
    gain, loss = sums_of(model, won, most, patience), sums_of(model, lost, most, patience)
    grows = gates.disjunction(
        gates.conjunction([reached, at_least(loss, total) ^ 1]) for total, reached in gain.items()
    )
    return gates.conjunction([model.moving, model.later(model.terminal) ^ 1, grows ^ 1])


def kept(model: Model, measure: Measure) -> tuple[tuple[int, ...], ...] | None:
    """Return the rows of ``Certificate.measure`` for a measure; None if a part is no fact over fluents."""
    rows = []
    for literal, weight in measure.parts:
        inputs = model.gates.inputs_of(literal)
        fact = (literal & ~1,) if inputs is None else tuple(x ^ 1 for x in inputs)
        if any(x >> 1 > len(model.fluents) for x in fact):
            return None
        inverted = literal & 1 if inputs is None else literal & 1 ^ 1
        rows.append((weight, inverted, *fact))
    return tuple(rows)


def measured(model: Model, rows: Sequence[Sequence[int]], most_lost: int) -> Measure:
    """Return the measure with the given rows; see ``kept``."""
    gates = model.gates
    return Measure(
        [(gates.disjunction(fact) ^ inverted, weight) for weight, inverted, *fact in rows], most_lost
    )


def sums_of(model: Model, parts: Sequence[tuple[int, int]], most: int, patience: Patience) -> dict[int, int]:
    """Return a literal for "the sum is at least this value", for each possible value in ascending order.

    This is the generalized totalizer of Joshi, Martins and Manquinho (2015, "Generalized totalizer encoding
    for pseudo-Boolean constraints"). Values above ``most`` count as ``most``.
    """
    rows = [{min(weight, most): literal} for literal, weight in parts if literal]
    gates = model.gates
    while len(rows) > 1:
        merged = []
        for one, other in zip(rows[::2], rows[1::2], strict=False):
            sums = {*one, *other} | {min(a + b, most) for a in one for b in other}
            row = {}
            for total in sorted(sums):
                patience.check()
                ways = [gates.conjunction([one.get(a, TRUE), at_least(other, total - a)]) for a in (0, *one)]
                row[total] = gates.disjunction(ways)
            merged.append(row)
        rows = merged + rows[len(merged) * 2 :]
    return rows[0] if rows else {}


def at_least(sums: Mapping[int, int], total: int) -> int:
    """Return a literal that holds if the sum is at least ``total``."""
    if total <= 0:
        return TRUE
    reached = list(sums)
    place = bisect_left(reached, total)
    return sums[reached[place]] if place < len(reached) else FALSE


def _changes(before: NDArray[np.bool_], after: NDArray[np.bool_]) -> NDArray[np.int8]:
    return after.astype(np.int8) - before.astype(np.int8)


def _distinct(rows: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return the distinct rows, sorted. NumPy compares rows as byte strings, which is fast."""
    if not rows.size:
        return rows[:1]
    strings = np.ascontiguousarray(rows + 1).view(np.dtype((np.void, rows.shape[1])))
    return rows[np.unique(strings[:, 0], return_index=True)[1]]


def _solved(
    rows: NDArray[np.float64],
    kinds: _Kinds,
    among: NDArray[np.int64],
    initial: NDArray[np.bool_],
    patience: Patience,
) -> NDArray[np.float64] | None:
    """Return weights of kinds that minimise the bound on match length; each step must add at least 1.

    ``rows`` is [steps, kinds]. ``among`` has the group number of each signal.
    """
    linprog, sparse = needed_programs()
    rows = np.unique(rows, axis=0)
    if not rows.any(axis=1).all():
        return None
    signals, groups = len(kinds), int(among.max(initial=-1)) + 1
    # Minimise the sum of the largest weights of the groups. Among equal solutions, prefer small weights.
    first, small = initial @ kinds, np.abs(kinds).sum(axis=0) * _LITTLE
    highest = sparse.coo_array((-np.ones(signals), (np.arange(signals), among)), (signals, groups))
    steps = sparse.csr_array(np.concatenate([-rows, rows, np.zeros((len(rows), groups))], axis=1))
    levels = sparse.hstack([sparse.csr_array(kinds), sparse.csr_array(-kinds), highest])
    solution = linprog(
        np.concatenate([small - first, small + first, np.ones(groups)]),
        A_ub=sparse.vstack([steps, levels]),
        b_ub=np.concatenate([-np.ones(len(rows)), np.zeros(signals)]),
        method="highs",
        options={"time_limit": patience.left},
    )
    patience.check()
    if solution.x is None:
        return None
    half = kinds.shape[1]
    return np.asarray(solution.x[:half] - solution.x[half : 2 * half])


def _whole(weights: NDArray[np.float64], known: NDArray[np.int8]) -> NDArray[np.int64] | None:
    """Return the smallest integers nearly proportional to the weights; None if an integer is too large."""
    for parts in range(1, _MOST_PARTS + 1):
        whole = np.rint(weights * parts)
        if np.abs(whole - weights * parts).max(initial=0) < _NEARLY or parts == _MOST_PARTS:
            break
    small = whole.astype(np.int64)
    small //= max(1, gcd(*small.tolist()))
    if np.abs(small).max(initial=0) > MOST_WEIGHT or (known @ small < 1).any():
        return None
    return small


def _templates(fluents: Sequence[Term], among: NDArray[np.int64]) -> Iterator[_Kinds]:
    """Yield matrices of kinds, the simplest first.

    First, all fluents of a relation share a weight. In later matrices, only the fluents of one counter have
    weights. Later still, fluents with the same relation and one or two equal arguments share a weight. In the
    last matrix, each fluent has its own weight. Moves never share a weight. ``among`` has the group number of
    each signal; see ``_Levels``.
    """
    signals = len(among)
    singles = [[number] for number in range(len(fluents), signals)]
    relations = by_arguments(fluents, 0)
    counters = [members for members in relations if len(set(among[members].tolist())) == 1]
    seen = set()
    for columns in (
        [*singles, *relations],
        *([[number] for number in members] for members in sorted(counters, key=len)),
        *([*singles, *by_arguments(fluents, width)] for width in (1, 2)),
        [[number] for number in range(signals)],
    ):
        key = tuple(map(tuple, columns))
        if 0 < len(columns) <= _MOST_UNKNOWN and key not in seen:
            seen.add(key)
            kinds = np.zeros((signals, len(columns)))
            for column, members in enumerate(columns):
                kinds[members, column] = 1
            yield kinds


class _Levels:
    """Converts weights of signals into a measure.

    A group of mutually exclusive fluents has one part for each distinct weight. The part has the difference
    to the next smaller weight as its weight. A step between fluents of the same weight changes no part.
    """

    def __init__(self, model: Model, signals: Sequence[int], invariant: Sequence[Clause]) -> None:
        self._signals = signals
        self._groups = disjoint_groups(exclusive_groups(model, invariant), len(signals))
        self._groups.sort()
        #: The group number of each signal.
        self.among = np.zeros(len(signals), np.int64)
        for number, group in enumerate(self._groups):
            self.among[group] = number

    def measure(self, weights: NDArray[np.int64], most_lost: int, model: Model) -> Measure:
        parts: list[tuple[int, int]] = []
        gates = model.gates
        for group in self._groups:
            members = [(int(weights[place]), self._signals[place]) for place in group]
            levels = sorted({0, *(weight for weight, _ in members)})
            for below, level in pairwise(levels):
                if level > 0:
                    literal = gates.disjunction([x for weight, x in members if weight >= level])
                else:
                    literal = gates.conjunction([x ^ 1 for weight, x in members if weight < level])
                parts.append((literal, level - below))
        return Measure(parts, most_lost)


def follow(model: Model, match: Match, state: NDArray[np.bool_]) -> tuple[Match, int | None]:
    """Play random moves after a match until a state repeats.

    Returns the extended match, and the number of moves after which its last state first occurred. The number
    is None if no state repeats.
    """
    random = np.random.default_rng(len(match))
    seen = {state.tobytes(): len(match)}
    for _ in range(_MOST_FOLLOWED):
        legal = model.values([model.terminal, *model.legal], state[None])[0]
        first = model.first_action
        able = [legal[1:][nodes.start - first : nodes.stop - first] for nodes in model.moves_of]
        numbers = list(map(np.flatnonzero, able))
        if legal[0] or not all(map(len, numbers)):
            break
        joint = tuple(int(random.choice(choices)) for choices in numbers)
        match, state = (*match, joint), model.after(state, joint)
        earlier = seen.setdefault(state.tobytes(), len(match))
        if earlier < len(match):
            return match, earlier
    return match, None
