"""The model: a game as a transition system of gates, to which properties add more gates.

A state is a value of each fluent. In a step, each role makes exactly one of its legal moves. Terminal states
have no steps. Literals are numbered as in ``Network``: twice the node, plus one if negated.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from anygame.errors import LimitError
from anygame.network.logic.gates import Gates
from anygame.network.network import FALSE

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from anygame.language.terms import Term
    from anygame.network.compiled import CompiledGame
    from anygame.network.network import Cycle, Network
    from anygame.proving.patience import Patience

#: Maximum number of gates of a game. Solvers hold several copies of the gates, at 100 bytes a gate.
_MOST_GATES: Final = 500_000
#: A match: for each joint move, the action numbers of the roles.
Match = tuple[tuple[int, ...], ...]
#: A clause over the state: literals of the model in ascending order, mostly of fluents.
Clause = tuple[int, ...]
#: Maximum depth in gates at which ``Model.moved`` substitutes the current values of fluents.
_DEPTH: Final = 4
#: Number of states evaluated at once: 64 words of 64 bits. The rows of most games then fit into the cache.
_AT_ONCE: Final = 4096


class Lemma(NamedTuple):
    """A predicate over the state, and the steps that can change the predicate.

    ``holds`` is a literal over the state. ``changes`` is a literal over a state and a joint move; ``changes``
    holds for every step that makes ``holds`` false.
    """

    holds: int
    changes: int


class Model:
    """A game as a transition system.

    Attributes:
        gates: the gates of the game, without cycles. Properties can add gates.
        initial: the initial state, as bool [fluents].
        next: for each fluent, the literal of its value in the next state.
        legal: for each action, role by role, the literal that holds if the action is legal.
        goals: for each role, its goal values with their literals.
        exclusive: for each literal that means "at most one fluent of a group holds", the group's literals.

    Raises:
        LimitError: the network is too large.
    """

    def __init__(self, compiled: CompiledGame) -> None:
        network = compiled.network
        if network.gates > _MOST_GATES:
            raise LimitError(
                f"the network has {network.gates:,} gates; proofs allow at most {_MOST_GATES:,}",
                limit="gates",
                bound=_MOST_GATES,
            )
        self.roles = compiled.roles
        self.fluents = compiled.fluents
        self.actions = compiled.actions
        self.gates = Gates(network.first_gate)
        self.initial = network.initial
        literal = _Translation(network, self.gates)
        self.next = list(map(literal, network.next.tolist()))
        self.legal = list(map(literal, network.legal.tolist()))
        self.terminal = literal(network.terminal)
        self.goals = [[(value, literal(holds)) for value, holds in role] for role in network.goals]
        self.exclusive: dict[int, tuple[int, ...]] = {}

    def scratch(self) -> Model:
        """Return a copy of the model, to which temporary gates can be added."""
        scratch = copy(self)
        scratch.gates = self.gates.copy()
        scratch.exclusive = self.exclusive.copy()
        return scratch

    @property
    def first_action(self) -> int:
        """The node of the first action of the first role."""
        return 1 + len(self.fluents)

    @property
    def nodes(self) -> int:
        """The number of nodes: the constant node, fluents, actions and gates."""
        return self.gates.inputs + len(self.gates.gates)

    @cached_property
    def moves_of(self) -> list[range]:
        """The nodes of the actions of each role."""
        ranges, first = [], self.first_action
        for moves in self.actions:
            ranges.append(range(first, first + len(moves)))
            first += len(moves)
        return ranges

    def legal_of(self, role: int) -> list[int]:
        """Return, for each action of a role, the literal that holds if the action is legal."""
        return [self.legal[node - self.first_action] for node in self.moves_of[role]]

    @cached_property
    def blocked(self) -> int:
        """The literal that holds in nonterminal states in which a role has no legal move."""
        return self.gates.conjunction([self.terminal ^ 1, self.gates.conjunction(self.able()) ^ 1])

    def able(self) -> list[int]:
        """Return, for each role, a literal that holds if the role has a legal move."""
        return [self.gates.disjunction(self.legal_of(role)) for role in range(len(self.roles))]

    @cached_property
    def moving(self) -> int:
        """The literal that holds if a joint move is made."""
        return self.gates.disjunction([2 * node for node in self.moves_of[0]])

    def at_most_one(self, literals: Sequence[int]) -> int:
        """Return a literal that holds if at most one of the given literals holds."""
        some, two = FALSE, FALSE
        for literal in literals:
            two = self.gates.disjunction([two, self.gates.conjunction([some, literal])])
            some = self.gates.disjunction([some, literal])
        return two ^ 1

    def exclusion(self, group: Sequence[int]) -> Clause:
        """Return the clause that allows at most one of the given fluents to hold."""
        literal = self.at_most_one(group)
        self.exclusive[literal] = tuple(group)
        return (literal,)

    def later(self, literal: int) -> int:
        """Return a literal over state and joint move that holds if ``literal`` holds in the next state."""
        return self.copied(self.gates, dict(enumerate(self.next, start=1)))(literal)

    def copied(self, gates: Gates, literals: Mapping[int, int]) -> Callable[[int], int]:
        """Return a function that copies a literal to ``gates``, with the nodes in ``literals`` replaced."""
        of = {0: FALSE, **literals}

        def literal(wanted: int) -> int:
            for node in self.cone([wanted], of):
                inputs = self.gates.inputs_of(2 * node)
                assert inputs is not None, "an input has no literal"
                of[node] = gates.conjunction(of[x >> 1] ^ (x & 1) for x in inputs)
            return of[wanted >> 1] ^ (wanted & 1)

        return literal

    def depends_on_moves(self, literal: int) -> bool:
        """Return whether a literal depends on moves, not on the state alone."""
        return any(self.first_action <= node < self.gates.inputs for node in self.cone([literal]))

    def moved(self, literal: int) -> tuple[int, int]:
        """Return literals for "a joint move sets the given literal" and "a joint move clears the literal".

        The literal's value before the move can determine fluents. The values of these fluents are substituted
        into the literal's next value, so solvers need not compare the two states fluent by fluent.
        """
        after = self.later(literal)
        rises = self.gates.conjunction([literal ^ 1, self._given(after, self._cube(literal ^ 1))])
        falls = self.gates.conjunction([literal, self._given(after, self._cube(literal)) ^ 1])
        return rises, falls

    def _cube(self, literal: int) -> dict[int, int]:
        inputs = None if literal & 1 else self.gates.inputs_of(literal)
        return {x >> 1: x & 1 ^ 1 for x in inputs or (literal,) if x >> 1 < self.first_action}

    def _given(self, literal: int, values: dict[int, int], depth: int = _DEPTH) -> int:
        """Return a literal with ``values`` substituted for nodes, at most ``depth`` gates down."""
        node = literal >> 1
        inputs = self.gates.inputs_of(literal) if depth and node not in values else None
        value = values.get(node, 2 * node)
        if inputs is not None:
            given = [self._given(x, values, depth - 1) for x in inputs]
            value = 2 * node if given == list(inputs) else self.gates.conjunction(given)
        return value ^ (literal & 1)

    def cone(self, literals: Iterable[int], known: Container[int] = ()) -> list[int]:
        """Return the nodes on which the literals depend, including their own nodes, in ascending order.

        The search stops at nodes in ``known``, and omits them.
        """
        seen = {literal >> 1 for literal in literals if literal >> 1 not in known}
        pending = list(seen)
        while pending:
            inputs = self.gates.inputs_of(2 * pending.pop())
            for literal in inputs or ():
                node = literal >> 1
                if node not in seen and node not in known:
                    seen.add(node)
                    pending.append(node)
        return sorted(seen)

    def values(
        self,
        wanted: Sequence[int],
        states: NDArray[np.bool_],
        moves: NDArray[np.bool_] | None = None,
        patience: Patience | None = None,
    ) -> NDArray[np.bool_]:
        """Return the values of the ``wanted`` literals in the given states: bool [states, wanted].

        ``states`` is bool [states, fluents]. ``moves`` is bool [states, actions of all roles], or None if no
        literal depends on moves.
        """
        values = np.empty((len(states), len(wanted)), np.bool_)
        cone = [node for node in self.cone(wanted) if node >= self.gates.inputs]
        for first in range(0, len(states), _AT_ONCE):
            if patience is not None:
                patience.check()
            part = slice(first, first + _AT_ONCE)
            given = states[part] if moves is None else np.concatenate([states[part], moves[part]], axis=1)
            rows = np.packbits(given, axis=0, bitorder="little").T
            table: dict[int, NDArray[np.uint8]] = {0: np.zeros(rows.shape[1], np.uint8)}
            table.update(enumerate(rows, start=1))
            for node in cone:
                inputs = self.gates.inputs_of(2 * node)
                assert inputs is not None
                total = np.full(rows.shape[1], 255, np.uint8)
                for literal in inputs:
                    total &= ~table[literal >> 1] if literal & 1 else table[literal >> 1]
                table[node] = total
            for column, literal in enumerate(wanted):
                bits = np.unpackbits(table[literal >> 1], count=len(given), bitorder="little").view(np.bool_)
                values[part, column] = ~bits if literal & 1 else bits
        return values

    def after(self, state: NDArray[np.bool_], joint: Sequence[int]) -> NDArray[np.bool_]:
        """Return the state after a joint move, which is given by action numbers."""
        moves = np.zeros((1, len(self.legal)), np.bool_)
        for role, action in enumerate(joint):
            moves[0, self.moves_of[role][action] - self.first_action] = True
        after: NDArray[np.bool_] = self.values(self.next, state[None], moves)[0]
        return after

    def name_of(self, literal: int) -> str:
        """Return a literal of a fluent as GDL."""
        fact = f"(true {self.fluents[(literal >> 1) - 1]})"
        return f"(not {fact})" if literal & 1 else fact

    def joint_of(self, joint: Sequence[int]) -> tuple[Term, ...]:
        """Return the moves of a joint move as terms."""
        return tuple(moves[action] for moves, action in zip(self.actions, joint, strict=True))


class _Translation:
    """Translates literals of a network into literals of gates without cycles."""

    def __init__(self, network: Network, gates: Gates) -> None:
        self._network = network
        self._starts, self._inputs = network.starts.tolist(), network.inputs.tolist()
        self._of = [2 * node for node in range(network.first_gate)] + [-1] * network.gates
        cycles = {cycle.first: cycle for cycle in network.cycles}
        gate = 0
        while gate < network.gates:
            if gate in cycles:
                self._unroll(cycles[gate], gates)
                gate = cycles[gate].end
            else:
                self._of[network.first_gate + gate] = gates.conjunction(map(self, self._inputs_of(gate)))
                gate += 1

    def __call__(self, literal: int) -> int:
        return self._of[literal >> 1] ^ (literal & 1)

    def _inputs_of(self, gate: int) -> list[int]:
        inputs: list[int] = self._inputs[self._starts[gate] : self._starts[gate + 1]]
        return inputs

    def _unroll(self, cycle: Cycle, gates: Gates) -> None:
        """Unroll a cycle in rounds.

        Each round computes the final value of at least one gate that an earlier gate of the cycle reads.
        """
        first = self._network.first_gate
        for gate in range(cycle.first, cycle.end):
            self._of[first + gate] = int(self._network.initially[gate])
        early = {
            literal >> 1
            for gate in range(cycle.first, cycle.end)
            for literal in self._inputs_of(gate)
            if gate <= (literal >> 1) - first < cycle.end
        }
        for _ in range(len(early) + 1):
            changed = False
            for gate in range(cycle.first, cycle.end):
                value = gates.conjunction(map(self, self._inputs_of(gate)))
                changed |= value != self._of[first + gate]
                self._of[first + gate] = value
            if not changed:
                return
            if len(gates.gates) > _MOST_GATES:
                raise LimitError(
                    f"without cycles, the recursive rules need more than {_MOST_GATES:,} gates",
                    limit="gates",
                    bound=_MOST_GATES,
                )
