"""Formulas in a SAT solver. Copies of the model's gates become clauses (Tseitin 1968).

The solver is CaDiCaL (Biere et al., "CaDiCaL 2.0", 2024), through PySAT (Ignatiev, Morgado and Marques-Silva
2018, "PySAT: a Python toolkit for prototyping with SAT oracles").
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from anygame.errors import MissingExtraError
from anygame.proving.patience import solve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from anygame.proving.model import Model
    from anygame.proving.patience import Patience

#: Chronological backtracking is off because it ignores the conflict budget: with a budget of 5, a query took
#: 1,000 conflicts and 40 s. On easy problems, chronological backtracking saves no time.
_OPTIONS: Final = {"cadical195": {"chrono": 0}}
#: Number of literals added between two checks of the time limit.
_ADDED: Final = 100_000
#: Up to this number of actions, clauses exclude each pair of actions. For more actions, variables encode the
#: number of the chosen action in binary.
_FEW: Final = 5


def needed_solver() -> Any:
    """Return PySAT's solver class. Raises MissingExtraError if PySAT is not installed."""
    try:
        from pysat.solvers import Solver
    except ImportError as error:
        raise MissingExtraError(
            "proofs need a solver; install it with: pip install 'anygame[prove]'", extra="prove"
        ) from error
    return Solver


class Formula(AbstractContextManager["Formula"]):
    """A growing formula in DIMACS literals, which is solved under assumptions.

    ``solver`` is the name of a PySAT solver. ``true`` is a literal that always holds; ``top`` is the last
    variable.
    """

    def __init__(self, patience: Patience, solver: str = "cadical195") -> None:
        self.patience = patience
        self._solver = needed_solver()(solver)
        if solver in _OPTIONS:
            self._solver.configure(_OPTIONS[solver])
        self._literals, self._look_at = 0, _ADDED
        self.true = self.top = 1
        self.add(1)

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the solver's memory."""
        self._solver.delete()

    def new(self) -> int:
        """Return a new variable."""
        self.top += 1
        return self.top

    def add(self, *literals: int) -> None:
        """Add a clause."""
        self._solver.add_clause(literals)
        self._literals += len(literals)
        if self._literals >= self._look_at:
            self._look_at = self._literals + _ADDED
            self.patience.check()

    def solve(self, assumptions: Sequence[int] = ()) -> bool:
        """Return whether the formula is satisfiable under the assumptions."""
        return solve(self._solver, assumptions, self._literals, self.patience)

    def prefer(self, literals: Sequence[int]) -> None:
        """Make the solver try these literals first."""
        self._solver.set_phases(literals)

    def values(self) -> NDArray[np.bool_]:
        """Return the values of variables in the last assignment, by number; variable 0 is unused."""
        return np.asarray([0, *self._solver.get_model()]) > 0

    def assignment(self) -> Callable[[int], bool]:
        """Return a function from literals to their values in the last assignment."""
        model = self._solver.get_model()
        return lambda literal: (model[abs(literal) - 1] > 0) == (literal > 0)

    def core(self) -> set[int]:
        """Return the assumptions that made the last call of ``solve`` return False."""
        return set(self._solver.get_core() or ())


class Copy:
    """The model's nodes in one state, as literals of a formula; clauses of gates are added on demand.

    Fluents are the literals in ``state``. With another copy ``before``, fluents are defined on demand by a
    step from that copy. Without either argument, fluents are new variables.
    """

    def __init__(
        self, formula: Formula, model: Model, state: Sequence[int] | None = None, before: Copy | None = None
    ) -> None:
        self._formula, self._model, self._before = formula, model, before
        self._of = {0: -formula.true}
        if before is None:
            fluents = [formula.new() for _ in model.fluents] if state is None else state
            self._of.update(enumerate(fluents, start=1))
        for node in range(model.first_action, model.gates.inputs):
            self._of[node] = formula.new()

    @cached_property
    def state(self) -> list[int]:
        """The literal of each fluent."""
        return [self(2 * node) for node in range(1, self._model.first_action)]

    def __call__(self, literal: int) -> int:
        """Translate a literal of the model to a literal of the formula."""
        copied = self._of.get(literal >> 1)
        if copied is None:
            for node in self._model.cone([literal], self._of):
                self._of[node] = self._gate(node)
            copied = self._of[literal >> 1]
        return -copied if literal & 1 else copied

    def _gate(self, node: int) -> int:
        inputs = self._model.gates.inputs_of(2 * node)
        if inputs is None:
            assert self._before is not None, "the first copy of the model must define all fluents"
            return self._before(self._model.next[node - 1])
        of, true, formula = self._of, self._formula.true, self._formula
        read = {-of[literal >> 1] if literal & 1 else of[literal >> 1] for literal in inputs} - {true}
        if -true in read or any(-literal in read for literal in read):
            return -true
        if len(read) < 2:
            return next(iter(read), true)
        made = formula.new()
        for literal in read:
            formula.add(-made, literal)
        formula.add(made, *(-literal for literal in read))
        return made

    def step(self, wanted: int) -> None:
        """If the literal ``wanted`` holds, demand a joint move."""
        formula, model = self._formula, self._model
        formula.add(-wanted, -self(model.terminal))
        for role, nodes in enumerate(model.moves_of):
            moves = [self._of[node] for node in nodes]
            formula.add(-wanted, *moves)
            for move, legal in zip(moves, model.legal_of(role), strict=True):
                formula.add(-wanted, -move, self(legal))
            self._exclude(moves)

    def _exclude(self, moves: Sequence[int]) -> None:
        formula = self._formula
        if len(moves) <= _FEW:
            for place, one in enumerate(moves):
                for other in moves[place + 1 :]:
                    formula.add(-one, -other)
            return
        bits = [formula.new() for _ in range((len(moves) - 1).bit_length())]
        for number, move in enumerate(moves):
            for place, bit in enumerate(bits):
                formula.add(-move, bit if number >> place & 1 else -bit)

    def then(self) -> Copy:
        """Return the state after the joint move made here."""
        return Copy(self._formula, self._model, [self(literal) for literal in self._model.next])

    def then_as_asked(self) -> Copy:
        """Return the state after the joint move; clauses of a fluent are added when the fluent is used."""
        return Copy(self._formula, self._model, before=self)

    def clauses(self, clauses: Iterable[Sequence[int]]) -> None:
        """Demand that clauses over fluents hold."""
        for clause in clauses:
            self._formula.add(*map(self, clause))

    def joint(self, value: Callable[[int], bool]) -> tuple[int, ...]:
        """Return the joint move of an assignment: the action number of each role."""
        return tuple(
            next(number for number, node in enumerate(nodes) if value(self._of[node]))
            for nodes in self._model.moves_of
        )


def any_step(formula: Formula, model: Model, invariant: Iterable[Sequence[int]] = ()) -> Copy:
    """Return any state in which the invariant holds and a joint move is made."""
    copy = Copy(formula, model)
    copy.clauses(invariant)
    copy.step(formula.true)
    return copy
