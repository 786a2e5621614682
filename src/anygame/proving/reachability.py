"""Property directed reachability: an invariant that excludes bad states, or a match to a bad state.

The algorithm is that of Bradley (2011, "SAT-based model checking without unrolling") and Een, Mishchenko and
Brayton (2011, "Efficient implementation of property directed reachability"). Frame ``i`` is a set of clauses.
The clauses and the property hold in every state within ``i`` moves of the initial state. States one move
before a bad state are blocked, from the last frame backwards. A frame that equals the next frame is an
invariant.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.proving.formula import Copy, Formula

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from anygame.proving.model import Clause, Match, Model
    from anygame.proving.patience import Patience

#: Maximum number of clauses for single queries. The solver is rebuilt to drop more such clauses.
_MOST_SPENT: Final = 4_000
#: Maximum number of consecutive failures to drop a literal from a cube.
_MOST_FAILURES: Final = 12

#: A conjunction of literals over fluents; the negation of a cube is a clause.
Cube = frozenset[int]


class Outcome(NamedTuple):
    """Result of the search: either an invariant that excludes bad states, or a match to a bad state."""

    invariant: list[Clause] | None
    match: Match | None


class _Obligation(NamedTuple):
    """A cube to be blocked: from all states of the cube, the joint moves of ``match`` lead to a bad state."""

    cube: Cube
    match: Match


def reach(
    model: Model,
    bad: int,
    patience: Patience,
    *,
    invariant: Sequence[Clause] = (),
    report: Callable[[int, int], None] | None = None,
) -> Outcome:
    """Return an invariant that excludes bad states, or a match to a bad state.

    The literal ``bad`` can depend on the joint move made in a state. ``invariant`` is inductive. After each
    frame, ``report`` is called with the numbers of frames and clauses.
    """
    return _Prover(model, bad, patience, invariant, report).run()


class _Prover:
    def __init__(
        self,
        model: Model,
        bad: int,
        patience: Patience,
        invariant: Sequence[Clause],
        report: Callable[[int, int], None] | None,
    ) -> None:
        self._model, self._bad, self._patience = model, bad, patience
        self._known, self._report = list(invariant), report
        self._of_moves = model.depends_on_moves(bad)
        self._initial = frozenset(
            2 * fluent + (2 if holds else 3) for fluent, holds in enumerate(model.initial.tolist())
        )
        #: For each frame, the cubes that this frame excludes and the next frame does not.
        self._frames: list[set[Cube]] = [set()]
        self._solver = Formula(patience)
        self._lifting = Formula(patience)
        self._lifted = Copy(self._lifting, model)
        self._lifted_then = self._lifted.then()
        #: The bad literal in the lifting formula, for the next state unless moves are bad.
        self._lifted_bad = (self._lifted if self._of_moves else self._lifted_then)(bad)
        self._encode()

    def run(self) -> Outcome:
        try:
            return self._run()
        finally:
            self._lifting.close()
            self._solver.close()

    def _run(self) -> Outcome:
        if self._solver.solve([*self._guard, *self._bad_here]):
            return Outcome(None, (self._copy.joint(self._solver.assignment()),) if self._of_moves else ())
        while True:
            self._frames.append(set())
            self._guard.append(self._solver.new())
            last = len(self._frames) - 1
            while self._solver.solve([*self._guards(last), *self._bad_next]):
                match = self._block(self._obligation([-self._lifted_bad], ()), last)
                if match is not None:
                    return Outcome(None, match)
            invariant = self._propagate()
            if invariant is not None:
                return Outcome(invariant, None)
            if self._report is not None:
                self._report(last, sum(map(len, self._frames)))

    # The solver has one copy of the model. Guards, which are assumed literals, enable the frames.

    def _encode(self) -> None:
        formula, self._spent = self._solver, 0
        self._copy = Copy(formula, self._model)
        self._copy.clauses(self._known)
        self._moving = formula.new()
        self._copy.step(self._moving)
        self._then = self._copy.then()
        #: Assumptions for a bad state, and for a step to a bad state (the same if moves are bad).
        self._bad_here = [self._copy(self._bad)]
        self._bad_next = [self._moving, self._then(self._bad)]
        if self._of_moves:
            self._bad_here = self._bad_next = [self._copy(self._bad), self._moving]
        self._guard = [formula.new() for _ in self._frames]
        for literal in self._initial:
            formula.add(-self._guard[0], self._copy(literal))
        for number, cubes in enumerate(self._frames):
            for cube in cubes:
                self._exclude(cube, self._guard[number])

    def _exclude(self, cube: Iterable[int], guard: int) -> None:
        self._solver.add(-guard, *(-self._copy(literal) for literal in cube))

    def _guards(self, frame: int) -> list[int]:
        """Return the assumptions for a state of a frame; a property of states is also assumed."""
        if self._of_moves:
            return self._guard[frame:]
        return [*self._guard[frame:], -self._bad_here[0]]

    # An assignment gives a cube, which is lifted: literals that the step does not need are dropped.

    def _obligation(self, refuted: list[int], match: Match) -> _Obligation:
        """Return an obligation for the assigned state: its joint move, followed by ``match``.

        In all states of the cube, the joint move is legal and falsifies the literals in ``refuted``.
        """
        model, lifting, lifted = self._model, self._lifting, self._lifted
        value = self._solver.assignment()
        state = [2 * fluent + (2 if value(literal) else 3) for fluent, literal in enumerate(self._copy.state)]
        nodes = range(model.first_action, model.gates.inputs)
        actions = [2 * node + (0 if value(self._copy(2 * node)) else 1) for node in nodes]
        joint = self._copy.joint(value)
        legal = [model.legal_of(role)[action] for role, action in enumerate(joint)]
        impossible = [lifted(model.terminal), *(-lifted(literal) for literal in legal)]
        asked = lifting.new()
        lifting.add(-asked, *refuted, *impossible)
        of = {lifted(literal): literal for literal in state}
        possible = lifting.solve([asked, *map(lifted, actions), *of])
        assert not possible
        core = lifting.core()
        lifting.add(-asked)
        return _Obligation(
            frozenset(literal for assumed, literal in of.items() if assumed in core), (joint, *match)
        )

    def _block(self, bad: _Obligation, last: int) -> Match | None:
        """Exclude a cube from a frame, or return a match to a bad state if the cube is reachable."""
        ticket = count()
        queue = [(last, next(ticket), bad)]
        while queue:
            frame, _, obligation = queue[0]
            if obligation.cube <= self._initial:
                return obligation.match
            if self._spent > _MOST_SPENT:
                self._solver.close()
                self._solver = Formula(self._patience)
                self._encode()
            if self._is_excluded(obligation.cube, frame):
                heappop(queue)
                continue
            smaller = self._unreachable(obligation.cube, frame - 1)
            if smaller is None:
                refuted = [self._lifted_then(literal ^ 1) for literal in obligation.cube]
                before = self._obligation(refuted, obligation.match)
                heappush(queue, (frame - 1, next(ticket), before))
                continue
            heappop(queue)
            cube = self._shrunk(smaller, frame - 1)
            place = frame
            while place < last and (further := self._unreachable(cube, place)) is not None:
                cube = further
                place += 1
            self._add(cube, place)
            if place < last:
                heappush(queue, (place + 1, next(ticket), obligation))
        return None

    def _is_excluded(self, cube: Cube, frame: int) -> bool:
        return any(other <= cube for cubes in self._frames[frame:] for other in cubes)

    def _unreachable(self, cube: Cube, frame: int) -> Cube | None:
        """Return a part of the cube that no step from a frame enters from outside, or None."""
        solver = self._solver
        outside = solver.new()
        self._exclude(cube, outside)
        self._spent += 1
        of = {self._then(literal): literal for literal in sorted(cube)}
        entered = solver.solve([*self._guards(frame), outside, self._moving, *of])
        if entered:
            return None
        core = solver.core()
        smaller = frozenset(literal for assumed, literal in of.items() if assumed in core)
        if smaller <= self._initial:
            smaller |= {min(cube - self._initial)}
        return smaller

    def _shrunk(self, cube: Cube, frame: int) -> Cube:
        """Drop literals of a cube as long as no step from a frame enters the cube from outside."""
        failures = 0
        for literal in sorted(cube):
            if literal not in cube:
                continue
            smaller = cube - {literal}
            if smaller <= self._initial:
                continue
            reduced = self._unreachable(smaller, frame)
            if reduced is None:
                failures += 1
                if failures > _MOST_FAILURES:
                    break
            else:
                cube, failures = reduced, 0
        return cube

    def _add(self, cube: Cube, frame: int) -> None:
        for cubes in self._frames[1 : frame + 1]:
            gone = {other for other in cubes if cube <= other}
            cubes -= gone
        self._frames[frame].add(cube)
        self._exclude(cube, self._guard[frame])

    def _propagate(self) -> list[Clause] | None:
        """Move cubes to later frames that exclude them; return an invariant if a frame becomes empty."""
        last = len(self._frames) - 1
        for frame in range(1, last + 1):
            if frame < last:
                for cube in sorted(self._frames[frame], key=sorted):
                    if cube not in self._frames[frame]:
                        continue
                    if not self._solver.solve([*self._guards(frame), self._moving, *map(self._then, cube)]):
                        self._add(cube, frame + 1)
            if not self._frames[frame] and frame < last:
                remaining = [cube for cubes in self._frames[frame + 1 :] for cube in cubes]
                return [tuple(sorted(literal ^ 1 for literal in cube)) for cube in remaining]
        return None
