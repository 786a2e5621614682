"""Certificates: whether an invariant shows that bad states are never reached, checked anew.

Nothing is shared with the provers but the model. An invariant is a set of clauses over fluents, together with
the property where that is of states. It has to hold at the start, every step has to keep it, and it has to
imply the property. A solver refutes the opposite of each and writes down the clauses that it learns; these
are followed here by reverse unit propagation, from the last one backwards (Heule, Hunt and Wetzler 2013,
"Trimming while checking clausal proofs").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.errors import AnygameError
from anygame.proving.patience import interruptible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
        invariant: clauses over fluents.
        patience: how long it may take.
        lemmas: more of the invariant.

    Raises:
        CertificateError: the invariant does not show it.
        OutOfTimeError: there was not enough time to follow the solver.
    """
    start = model.initial
    if not all(any(start[(x >> 1) - 1] != x & 1 for x in clause) for clause in invariant):
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
    for holds in counted:
        now.add([here.literal(holds)])
    if not of_moves:
        now.add([-here.literal(bad)])
    here.move()
    questions = [[(1 if x & 1 else -1) * after[(x >> 1) - 1] for x in clause] for clause in invariant]
    questions += [[here.literal(lemma.changes)] for lemma in lemmas]
    asked = [here.literal(bad)] if of_moves else list(map(then.literal, [bad, *counted]))
    questions.append(asked)
    return _refute(now, questions, patience)


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
        invariant: clauses over fluents that hold in every state.
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


def _refute(given: _Clauses, questions: Sequence[Sequence[int]], patience: Patience) -> int:
    """Make sure that no question can be answered with yes; return how many lemmas were needed."""
    from pysat.solvers import Glucose4

    with Glucose4(bootstrap_with=given.rows, with_proof=True) as solver:
        for question in questions:
            is_possible = None
            while is_possible is None:
                patience.check()
                solver.conf_budget(_CONFLICTS)
                with interruptible():
                    is_possible = solver.solve_limited(assumptions=question)
                if is_possible is None:
                    patience.spend()
            if is_possible:
                raise CertificateError(
                    "a step leads out of the invariant, or it does not exclude what is bad"
                )
        lines = [line.split() for line in solver.get_proof() or ()]
    lemmas = [list(map(int, line[:-1])) for line in lines if line[0] != "d"]
    proof = _Propagation([*given.rows, *lemmas], len(given.rows), given.top)
    wanted: set[int] = set()
    for question in questions:
        patience.check()
        wanted |= proof.conflict(question, len(proof.clauses))
    followed = 0
    for number in range(len(proof.clauses) - 1, len(given.rows) - 1, -1):
        if number in wanted:
            patience.check()
            followed += 1
            wanted |= proof.conflict([-literal for literal in proof.clauses[number]], number)
    return followed


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


class _Propagation:
    """Unit propagation over clauses, each known by its number; two literals of each are watched.

    Args:
        clauses: the formula, then lemmas.
        given: how many clauses the formula has. What follows from its units always holds.
        top: the last variable.
    """

    def __init__(self, clauses: list[list[int]], given: int, top: int) -> None:
        self.clauses = clauses
        #: By literal, so that those of inverted ones are counted from the end.
        self._holds = bytearray(2 * top + 1)
        self._watched: list[list[int]] = [[] for _ in range(2 * top + 1)]
        self._reason = [-1] * (top + 1)
        self._units = [number for number in range(given, len(clauses)) if len(clauses[number]) == 1]
        self._broken: int | None = None
        for number, clause in enumerate(clauses):
            if len(clause) > 1:
                self._watched[clause[0]].append(number)
                self._watched[clause[1]].append(number)
        units = [number for number in range(given) if len(clauses[number]) == 1]
        self._broken = self._follow(units, [], given, keep=True)

    def conflict(self, assumed: Iterable[int], before: int) -> set[int]:
        """Return clauses with a smaller number that cannot hold together with some literals.

        Asked with numbers that do not grow: clauses with larger ones are forgotten.

        Raises:
            CertificateError: propagation does not show it.
        """
        if self._broken is not None:
            return self._needed(self._broken)
        trail: list[int] = []
        try:
            for literal in assumed:
                if self._holds[-literal]:
                    return self._needed(self._reason[abs(literal)])
                if not self._holds[literal]:
                    self._set(literal, -1, trail)
            self._units = [number for number in self._units if number < before]
            broken = self._follow(self._units, trail, before)
            if broken is None:
                raise CertificateError("a clause that the solver learned does not follow")
            return self._needed(broken)
        finally:
            for literal in trail:
                self._holds[literal] = 0

    def _set(self, literal: int, reason: int, trail: list[int]) -> None:
        self._holds[literal] = 1
        self._reason[abs(literal)] = reason
        trail.append(literal)

    def _follow(self, units: list[int], trail: list[int], before: int, *, keep: bool = False) -> int | None:
        """Propagate; return a clause that is broken, None where there is none."""
        for number in units:
            literal = self.clauses[number][0]
            if self._holds[-literal]:
                return number
            if not self._holds[literal]:
                self._set(literal, number, trail)
        for literal in trail:
            broken = self._propagate(-literal, before, trail, keep=keep)
            if broken is not None:
                return broken
        return None

    def _propagate(self, false: int, before: int, trail: list[int], *, keep: bool) -> int | None:
        """Go through the clauses that watch a literal that is false now; return one that is broken."""
        clauses, holds, watched = self.clauses, self._holds, self._watched
        kept: list[int] = []
        watching = watched[false]
        for place, number in enumerate(watching):
            if number >= before:
                if keep:
                    kept.append(number)
                continue
            clause = clauses[number]
            if clause[0] == false:
                clause[0], clause[1] = clause[1], false
            first = clause[0]
            if holds[first]:
                kept.append(number)
                continue
            for other in range(2, len(clause)):
                literal = clause[other]
                if not holds[-literal]:
                    clause[1], clause[other] = literal, false
                    watched[literal].append(number)
                    break
            else:
                kept.append(number)
                if holds[-first]:
                    kept += watching[place + 1 :]
                    watched[false] = kept
                    return number
                self._set(first, number, trail)
        watched[false] = kept
        return None

    def _needed(self, conflict: int) -> set[int]:
        """Return a clause and those from which its literals were found to be false."""
        needed, pending = {conflict}, [conflict]
        while pending:
            number = pending.pop()
            for literal in self.clauses[number] if number >= 0 else ():
                reason = self._reason[abs(literal)] if self._holds[-literal] else -1
                if reason >= 0 and reason not in needed:
                    needed.add(reason)
                    pending.append(reason)
        return needed
