"""Checker of proofs that no match reaches a bad state. The checker shares only the model with the provers.

An invariant is a set of clauses over the state. The invariant must hold initially, and every step must
preserve the invariant. The invariant contains a property of states as a clause. A property of joint moves
must follow from the invariant. A solver refutes the negation of each condition and logs the learned clauses.
``propagation`` then checks the learned clauses by reverse unit propagation, from the last clause backwards
(Heule, Hunt and Wetzler 2013, "Trimming while checking clausal proofs"). The checker encodes sums as unary
numbers.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final, TypeAlias

from anygame.errors import AnygameError
from anygame.proving.patience import solve
from anygame.proving.propagation import followed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anygame.proving.counting import Sum
    from anygame.proving.model import Model
    from anygame.proving.patience import Patience

#: Unary encoding of a number, 0 or more. Maps each possible value, in ascending order, to a literal that
#: holds if the number is at least this value.
_Number: TypeAlias = "dict[int, int]"

#: Number of clauses added between two checks of the time limit.
_ADDED: Final = 20_000


class CertificateError(AnygameError):
    """A certificate does not prove its claim."""


def check_invariant(
    model: Model, bad: int, invariant: Sequence[Sequence[int]], patience: Patience, sums: Sequence[Sum] = ()
) -> int:
    """Verify that an invariant excludes bad states; return the number of lemmas checked.

    The invariant consists of clauses over the state, and of sums that are constant or have a lower bound.
    Raises CertificateError if the verification fails.
    """
    of_moves = model.depends_on_moves(bad)
    step = _Step(model, invariant if of_moves else [*invariant, (bad ^ 1,)], patience)
    for counted in sums:
        value = sum(weight for weight, *fact in counted.parts if any(_values(model, fact)))
        if value != counted.total if counted.is_exact else value < counted.total:
            raise CertificateError("a conserved sum has the wrong value in the initial state")
    assumed = [_holds(step.here, counted) for counted in sums]
    asked = []
    for counted in sums:
        changes = -_is_kept(step, counted)
        # The solver refutes a query faster if the query is split into cases, one for each value of a counter.
        cases = [step.here.literal(x) for _, *fact in counted.parts if len(fact) > 1 for x in fact]
        asked += [*([changes, case] for case in cases), [changes, *(-case for case in cases)]]
    steps = _refute(step.clauses, asked, assumed) if asked else 0
    assumed += [_holds(step.then, counted) for counted in sums]
    if of_moves:
        step.questions.append([step.here.literal(bad)])
    return steps + _refute(step.clauses, step.questions, assumed)


def check_ending(
    model: Model,
    measure: Sequence[tuple[int, int]],
    most_lost: int,
    invariant: Sequence[Sequence[int]],
    patience: Patience,
) -> tuple[int, int]:
    """Verify that every joint move of a match, except the last move, increases a measure.

    Returns the maximum number of moves of a match, and the number of lemmas checked. The measure is a sum of
    weighted literals over the state. In a joint move, the literals that become false must weigh at most
    ``most_lost`` in total.
    """
    if any(weight < 0 for _, weight in measure):
        raise CertificateError("a weight of the measure is negative")
    step = _Step(model, invariant, patience)
    gain, loss = step.change([(weight, literal) for literal, weight in measure], most_lost + 1)
    # Both sums are capped, which hides losses above the cap. The first literal detects such losses.
    shrinks = step.clauses.either([_at_least(loss, most_lost + 1), _is_at_least(step.clauses, loss, gain)])
    step.questions.append([-step.then.literal(model.terminal), shrinks])
    steps = _refute(step.clauses, step.questions)
    at_first = _values(model, [literal for literal, _ in measure])
    return 1 + sum(weight for (_, weight), holds in zip(measure, at_first, strict=True) if not holds), steps


def check_bounded(
    model: Model, bad: int, depth: int, patience: Patience, *, is_everything: bool = False
) -> int:
    """Verify that no match of up to ``depth`` moves reaches a bad state; return the number of lemmas checked.

    ``bad`` is a literal over the state. With ``is_everything``, also verify that no match has more moves.
    """
    clauses = _Clauses(patience)
    here = _Nodes(clauses, model, [1 if holds else -1 for holds in model.initial.tolist()])
    moving: list[int] = []
    questions = []
    for moves in range(depth + 1):
        questions.append([*moving, here.literal(bad)])
        if moves < depth or is_everything:
            moving.append(clauses.new())
            here.move(moving[-1])
            here = here.then()
    if is_everything:
        questions.append(moving)
    return _refute(clauses, questions)


def check_induction(
    model: Model, bad: int, invariant: Sequence[Sequence[int]], depth: int, patience: Patience
) -> int:
    """Verify that k-induction excludes bad states; return the number of lemmas checked.

    The first condition is that no match reaches a bad state in fewer than ``depth`` moves. The second
    condition is that no bad state follows ``depth`` successive states that are not bad. At depth 0, the
    invariant alone excludes bad states. ``bad`` is a literal over the state.
    """
    steps = check_invariant(model, 0, invariant, patience)
    if depth:
        steps += check_bounded(model, bad, depth - 1, patience)
    clauses = _Clauses(patience)
    here = _Nodes(clauses, model)
    here.demand(invariant)
    for _ in range(depth):
        here.demand([[bad ^ 1]])
        here.move()
        here = here.then()
        here.demand(invariant)
    return steps + _refute(clauses, [[here.literal(bad)]])


def _refute(given: _Clauses, questions: Sequence[Sequence[int]], assumed: Sequence[int] = ()) -> int:
    """Refute all questions, which are conjunctions of literals; return the number of lemmas needed.

    The literals in ``assumed`` slow the solver down, so they are assumed only for questions that the solver
    cannot refute otherwise.
    """
    from pysat.solvers import Glucose4

    refuted, patience = [], given.patience
    with Glucose4(bootstrap_with=given.rows, with_proof=True) as solver:
        for question in questions:
            ways = [list(question), [*question, *assumed]][: 1 + bool(assumed)]
            refuting = next((way for way in ways if not solve(solver, way, given.literals, patience)), None)
            if refuting is None:
                raise CertificateError("a step violates the invariant, or a bad state satisfies it")
            refuted.append(refuting)
        lines = [line.split() for line in solver.get_proof() or ()]
    # A line that is only "0" is the empty clause, which the solver logs after the refutation of a question.
    lemmas = [list(map(int, line[:-1])) for line in lines if line[0] not in ("d", "0")]
    steps = followed(given.rows, lemmas, refuted, patience)
    if steps is None:
        raise CertificateError("a clause that the solver learned does not follow from earlier clauses")
    return steps


class _Clauses:
    """The clauses of a formula in which variable 1 always holds; a time limit ends their construction."""

    def __init__(self, patience: Patience) -> None:
        self.top, self.literals, self.patience = 1, 1, patience
        self.rows: list[list[int]] = [[1]]

    def new(self) -> int:
        self.top += 1
        return self.top

    def add(self, literals: Iterable[int]) -> None:
        row = set(literals) - {-1}
        if 1 not in row:
            self.rows.append(sorted(row))
            self.literals += len(row)
            if len(self.rows) % _ADDED == 0:
                self.patience.check()

    def both(self, literals: Iterable[int]) -> int:
        read = set(literals) - {1}
        if -1 in read:
            return -1
        if len(read) < 2:
            return next(iter(read), 1)
        made = self.new()
        self.add([made, *(-x for x in read)])
        for x in read:
            self.add([-made, x])
        return made

    def either(self, literals: Iterable[int]) -> int:
        return -self.both(-x for x in literals)


class _Nodes:
    """The nodes of the model in one state, as literals; clauses for gates are added on demand."""

    def __init__(self, clauses: _Clauses, model: Model, state: Sequence[int] | None = None) -> None:
        self.clauses, self._model = clauses, model
        inputs = model.gates.inputs
        self._of = {0: -1} | {node: clauses.new() for node in range(1, inputs)}
        if state is not None:
            self._of.update(enumerate(state, start=1))

    def literal(self, literal: int) -> int:
        for node in self._model.cone([literal], self._of):
            inputs = self._model.gates.inputs_of(2 * node) or ()
            read = (-self._of[x >> 1] if x & 1 else self._of[x >> 1] for x in inputs)
            self._of[node] = self.clauses.both(read)
        return -self._of[literal >> 1] if literal & 1 else self._of[literal >> 1]

    def fact(self, literals: Iterable[int]) -> int:
        return self.clauses.either(map(self.literal, literals))

    def demand(self, invariant: Iterable[Iterable[int]]) -> None:
        for clause in invariant:
            self.clauses.add(map(self.literal, clause))

    def then(self) -> _Nodes:
        return _Nodes(self.clauses, self._model, [self.literal(x) for x in self._model.next])

    def move(self, wanted: int = 1) -> None:
        """If ``wanted`` holds, demand a nonterminal state and exactly one legal move of each role."""
        clauses, model = self.clauses, self._model
        clauses.add([-wanted, -self.literal(model.terminal)])
        for role, nodes in enumerate(model.moves_of):
            clauses.add([-wanted, *(self._of[node] for node in nodes)])
            earlier = -1
            for node, legal in zip(nodes, model.legal_of(role), strict=True):
                move, reached = self._of[node], clauses.new()
                clauses.add([-wanted, -move, self.literal(legal)])
                clauses.add([-move, -earlier])
                clauses.add([-move, reached])
                clauses.add([-earlier, reached])
                earlier = reached


class _Step:
    """A state in which an invariant holds, a joint move made there, and the next state.

    Each row of ``questions`` is the negation of a clause of the invariant, in the next state.
    """

    def __init__(self, model: Model, invariant: Sequence[Sequence[int]], patience: Patience) -> None:
        read = sorted({x for clause in invariant for x in clause})
        at_first = dict(zip(read, _values(model, read), strict=True))
        if not all(any(at_first[x] for x in clause) for clause in invariant):
            raise CertificateError("a clause of the invariant does not hold in the initial state")
        self.clauses = _Clauses(patience)
        self.here = _Nodes(self.clauses, model)
        self.then = self.here.then()
        self.here.demand(invariant)
        self.here.move()
        self.questions = [[-self.then.literal(x) for x in clause] for clause in invariant]

    def change(self, parts: Sequence[Sequence[int]], most: int) -> tuple[_Number, _Number]:
        """Return the gain and the loss of a weighted sum in a step, each capped at ``most``."""
        if most < 1 or not all(weight for weight, *_ in parts):
            raise CertificateError("a conserved sum has a weight of 0, or a maximum change below 1")
        ways: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
        for weight, *fact in parts:
            now, then = self.here.fact(fact), self.then.fact(fact)
            ways[weight < 0].append((self.clauses.both([-now, then]), abs(weight)))
            ways[weight > 0].append((self.clauses.both([now, -then]), abs(weight)))
        added, taken = (_sum(self.clauses, way, most) for way in ways)
        return added, taken


def _values(model: Model, literals: Sequence[int]) -> list[bool]:
    values: list[bool] = model.values(literals, model.initial[None])[0].tolist()
    return values


def _sum(clauses: _Clauses, parts: Sequence[tuple[int, int]], most: int) -> _Number:
    """Return the weighted sum of literals, capped at ``most``, as a totalizer.

    See Bailleux and Boufkhad (2003, "Efficient CNF encoding of Boolean cardinality constraints").
    """
    if len(parts) < 2:
        return {0: 1} | {min(weight, most): literal for literal, weight in parts}
    half = len(parts) // 2
    one, other = (_sum(clauses, part, most) for part in (parts[:half], parts[half:]))
    sums = {}
    for number in sorted({min(a + b, most) for a in one for b in other}):
        ways = [clauses.both([x, _at_least(other, number - a)]) for a, x in one.items()]
        sums[number] = clauses.either(ways)
    return sums


def _at_least(number: _Number, least: int) -> int:
    values = list(number)
    place = bisect_left(values, least)
    return number[values[place]] if place < len(values) else -1


def _is_at_least(clauses: _Clauses, number: _Number, other: _Number, more: int = 0) -> int:
    """Return a literal that holds if ``number`` is at least ``other`` plus ``more``."""
    return clauses.both(clauses.either([-x, _at_least(number, n + more)]) for n, x in other.items())


def _holds(nodes: _Nodes, counted: Sum) -> int:
    """Return a literal that holds if a sum equals ``total`` or, for a lower bound, is at least ``total``."""
    sides: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    for weight, *fact in counted.parts:
        sides[weight < 0].append((nodes.fact(fact), abs(weight)))
    most = sum(abs(weight) for weight, *_ in counted.parts)
    plus, minus = (_sum(nodes.clauses, side, most) for side in sides)
    enough = [_is_at_least(nodes.clauses, plus, minus, counted.total)]
    if counted.is_exact:
        enough.append(_is_at_least(nodes.clauses, minus, plus, -counted.total))
    return nodes.clauses.both(enough)


def _is_kept(step: _Step, counted: Sum) -> int:
    """Return a literal that holds if a step does not change a sum, or increases a sum with a lower bound."""
    clauses, most = step.clauses, counted.most
    added, taken = step.change(counted.parts, most + 1)
    # Both sums are capped, which hides changes above the cap. Further literals detect such changes.
    enough = [-_at_least(taken, most + 1), _is_at_least(clauses, added, taken)]
    if counted.is_exact:
        enough += [-_at_least(added, most + 1), _is_at_least(clauses, taken, added)]
    return clauses.both(enough)
