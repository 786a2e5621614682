"""Certificates: whether an invariant shows that bad states are never reached, checked anew.

Nothing is shared with the provers but the model. An invariant is a set of clauses over the state, together
with the property where that is of states. It has to hold at the start, every step has to keep it, and it has
to imply the property. A solver refutes the opposite of each and writes down the clauses that it learns; these
are followed by reverse unit propagation (``propagation``), from the last one backwards (Heule, Hunt and
Wetzler 2013, "Trimming while checking clausal proofs").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.errors import AnygameError
from anygame.proving.patience import interruptible
from anygame.proving.propagation import followed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pysat.solvers import Glucose4

    from anygame.proving.model import Lemma, Model
    from anygame.proving.patience import Patience

#: Conflicts of the solver between two looks at the clock.
_CONFLICTS: Final = 1_000


class CertificateError(AnygameError):
    """An invariant does not show what it is said to show."""


def check_invariant(
    model: Model,
    bad: int,
    invariant: Sequence[Sequence[int]],
    patience: Patience,
    lemmas: Sequence[Lemma] = (),
) -> int:
    """Return how many lemmas were followed to be sure that an invariant excludes bad states.

    Args:
        model: the game.
        bad: literal.
        invariant: clauses over the state.
        patience: how long it may take.
        lemmas: more of the invariant.

    Raises:
        CertificateError: the invariant does not show it.
        OutOfTimeError: there was not enough time to follow the solver.
    """
    start = model.initial
    read = sorted({x for clause in invariant for x in clause})
    at_first = dict(zip(read, model.values(read, np.asarray([start]))[0].tolist(), strict=True))
    if not all(any(at_first[x] for x in clause) for clause in invariant):
        raise CertificateError("a clause of the invariant does not hold at the start")
    counted = [lemma.holds for lemma in lemmas]
    if not model.values(counted, np.asarray([start])).all():
        raise CertificateError("what is counted is something else at the start")
    of_moves = any(model.first_action <= node < model.gates.inputs for node in model.cone([bad]))
    if not of_moves and model.values([bad], np.asarray([start]))[0, 0]:
        raise CertificateError("the first state is bad")
    now = _Clauses()
    here = _Nodes(now, model)
    after = [here.literal(literal) for literal in model.next]
    then = _Nodes(now, model, after)
    for clause in invariant:
        now.add(map(here.literal, clause))
    guards = [now.new() for _ in counted]
    for guard, holds in zip(guards, counted, strict=True):
        now.add([-guard, here.literal(holds)])
    if not of_moves:
        now.add([-here.literal(bad)])
    here.move()
    questions = [[then.literal(x ^ 1) for x in clause] for clause in invariant]
    for lemma in lemmas:
        changes, cases = here.literal(lemma.changes), list(map(here.literal, lemma.cases))
        questions += [*([changes, case] for case in cases), [changes, *(-case for case in cases)]]
    asked = [here.literal(bad)] if of_moves else list(map(then.literal, [bad, *counted]))
    questions.append(asked)
    return _refute(now, questions, patience, guards)


def check_bounded(
    model: Model, bad: int, depth: int, patience: Patience, *, is_everything: bool = False
) -> int:
    """Return how many lemmas were followed to be sure that no match of so many moves is bad.

    Args:
        model: the game.
        bad: literal, over the state alone.
        depth: moves at most.
        patience: how long it may take.
        is_everything: whether no match has more moves, which is made sure of, too.

    Raises:
        CertificateError: one does.
        OutOfTimeError: there was not enough time to follow the solver.
    """
    clauses = _Clauses()
    here = _Nodes(clauses, model, [1 if holds else -1 for holds in model.initial.tolist()])
    moving: list[int] = []
    questions = []
    for moves in range(depth + 1):
        patience.check()
        questions.append([*moving, here.literal(bad)])
        if moves < depth or is_everything:
            moving.append(clauses.new())
            here.move(moving[-1])
            here = _Nodes(clauses, model, [here.literal(literal) for literal in model.next])
    if is_everything:
        questions.append(moving)
    return _refute(clauses, questions, patience)


def check_induction(
    model: Model, bad: int, invariant: Sequence[Sequence[int]], depth: int, patience: Patience
) -> int:
    """Return how many lemmas were followed to be sure that induction over moves excludes bad states.

    Args:
        model: the game.
        bad: literal, over the state alone.
        invariant: clauses over the state that hold in every state.
        depth: after so many moves without a bad state none follows; and there is none within so many moves.
        patience: how long it may take.

    Raises:
        CertificateError: that is not so.
        OutOfTimeError: there was not enough time to follow the solver.
    """
    steps = check_invariant(model, 0, invariant, patience)
    steps += check_bounded(model, bad, depth - 1, patience)
    clauses = _Clauses()
    here = _Nodes(clauses, model)
    for moves in range(depth + 1):
        patience.check()
        for clause in invariant:
            clauses.add(map(here.literal, clause))
        if moves < depth:
            clauses.add([-here.literal(bad)])
            here.move()
            here = _Nodes(clauses, model, [here.literal(literal) for literal in model.next])
    return steps + _refute(clauses, [[here.literal(bad)]], patience)


def _refute(
    given: _Clauses, questions: Sequence[Sequence[int]], patience: Patience, guards: Sequence[int] = ()
) -> int:
    """Make sure that no question can be answered with yes; return how many lemmas were needed.

    What guards switch on is true, but takes a solver long; so it is left out where a question is refuted
    without it.
    """
    from pysat.solvers import Glucose4

    refuted = []
    with Glucose4(bootstrap_with=given.rows, with_proof=True) as solver:
        for question in questions:
            ways = [list(question), [*question, *guards]][: 1 + bool(guards)]
            found = next((way for way in ways if not _is_possible(solver, way, patience)), None)
            if found is None:
                raise CertificateError(
                    "a step leads out of the invariant, or it does not exclude what is bad"
                )
            refuted.append(found)
        lines = [line.split() for line in solver.get_proof() or ()]
    # An empty one only says that a question was answered with no.
    lemmas = [list(map(int, line[:-1])) for line in lines if line[0] not in ("d", "0")]
    steps = followed(given.rows, lemmas, refuted, patience)
    if steps is None:
        raise CertificateError("a clause that the solver learned does not follow")
    return steps


def _is_possible(solver: Glucose4, question: Sequence[int], patience: Patience) -> bool:
    """Return what a solver answers to a question."""
    while True:
        patience.check()
        solver.conf_budget(_CONFLICTS)
        with interruptible():
            found = solver.solve_limited(assumptions=question)
        if found is not None:
            return bool(found)
        patience.spend()


class _Clauses:
    """A formula whose first variable always holds."""

    def __init__(self) -> None:
        self.top = 1
        self.rows: list[list[int]] = [[1]]

    def new(self) -> int:
        self.top += 1
        return self.top

    def add(self, literals: Iterable[int]) -> None:
        row = set(literals) - {-1}
        if 1 not in row:
            self.rows.append(sorted(row))


class _Nodes:
    """The nodes of the model, written as clauses where they are asked for."""

    def __init__(self, clauses: _Clauses, model: Model, state: Sequence[int] | None = None) -> None:
        self._clauses, self._model = clauses, model
        inputs = model.gates.inputs
        self._of = {0: -1} | {node: clauses.new() for node in range(1, inputs)}
        if state is not None:
            self._of.update(enumerate(state, start=1))

    def literal(self, literal: int) -> int:
        for node in self._model.cone([literal], self._of):
            inputs = self._model.gates.inputs_of(2 * node) or ()
            read = {-self._of[x >> 1] if x & 1 else self._of[x >> 1] for x in inputs}
            self._of[node] = self._gate(read - {1})
        return -self._of[literal >> 1] if literal & 1 else self._of[literal >> 1]

    def _gate(self, read: set[int]) -> int:
        if -1 in read:
            return -1
        if len(read) < 2:
            return next(iter(read), 1)
        made = self._clauses.new()
        self._clauses.add([made, *(-x for x in read)])
        for x in read:
            self._clauses.add([-made, x])
        return made

    def move(self, wanted: int = 1) -> None:
        """Demand a joint move where a variable holds: one legal move of each role, not from the end."""
        clauses, model = self._clauses, self._model
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
