"""Networks to try the kernels on: built by hand, or at random."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

from anygame.network.network import FALSE, TRUE, Cycle, Network

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence


class Builder:
    """Logic written down gate by gate; equal gates are made once."""

    def __init__(self, fluents: int, actions: Sequence[int]) -> None:
        self.fluents = [2 * (1 + fluent) for fluent in range(fluents)]
        self.roles = tuple(actions)
        first = 1 + fluents
        self.actions = []
        for count in actions:
            self.actions.append([2 * (first + action) for action in range(count)])
            first += count
        self._base = first
        self._gates: list[tuple[int, ...]] = []
        self._known: dict[tuple[int, ...], int] = {}
        self.cycles: list[Cycle] = []
        self.initially: dict[int, bool] = {}

    @property
    def gates(self) -> int:
        """How many gates so far."""
        return len(self._gates)

    def gate(self, literals: Sequence[int]) -> int:
        """Add a gate as it is and return its literal."""
        self._gates.append(tuple(literals))
        return 2 * (self._base + len(self._gates) - 1)

    def conjunction(self, *literals: int) -> int:
        """Return the literal of a conjunction."""
        inputs = tuple(sorted({literal for literal in literals if literal != TRUE}))
        if FALSE in inputs:
            return FALSE
        if len(inputs) < 2:
            return inputs[0] if inputs else TRUE
        if inputs not in self._known:
            self._known[inputs] = self.gate(inputs)
        return self._known[inputs]

    def disjunction(self, *literals: int) -> int:
        """Return the literal of a disjunction."""
        return 1 ^ self.conjunction(*(1 ^ literal for literal in literals))

    def network(
        self,
        state_gates: int,
        initial: Sequence[bool],
        legal: Sequence[int],
        terminal: int,
        goals: Sequence[Sequence[tuple[int, int]]],
        next_literals: Sequence[int],
    ) -> Network:
        """Return the finished network."""
        sizes = [len(gate) for gate in self._gates]
        return Network(
            fluents=len(self.fluents),
            actions=self.roles,
            starts=np.cumsum([0, *sizes], dtype=np.int32),
            inputs=np.array([literal for gate in self._gates for literal in gate], np.int32),
            state_gates=state_gates,
            cycles=tuple(self.cycles),
            initially=np.array([self.initially.get(g, False) for g in range(len(self._gates))], np.bool_),
            initial=np.array(initial, np.bool_),
            legal=np.array(legal, np.int32),
            terminal=terminal,
            goals=tuple(tuple(role) for role in goals),
            next=np.array(next_literals, np.int32),
        )


def tic_tac_toe() -> Network:
    """Return tic-tac-toe: per cell x and o, then whose turn it is (x); actions: nine cells and noop each."""
    build = Builder(19, (10, 10))
    x, o, turn = build.fluents[:9], build.fluents[9:18], build.fluents[18]
    lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
    blank = [build.conjunction(1 ^ a, 1 ^ b) for a, b in zip(x, o, strict=True)]
    wins = [build.disjunction(*(build.conjunction(*(m[i] for i in line)) for line in lines)) for m in (x, o)]
    full = build.conjunction(*(1 ^ b for b in blank))
    legal = [build.conjunction(turn, b) for b in blank] + [1 ^ turn]
    legal += [build.conjunction(1 ^ turn, b) for b in blank] + [turn]
    terminal = build.disjunction(full, *wins)
    draw = build.conjunction(*(1 ^ w for w in wins))
    goals = [
        [(0, build.conjunction(wins[1], 1 ^ wins[0])), (50, draw), (100, wins[0])],
        [(0, build.conjunction(wins[0], 1 ^ wins[1])), (50, draw), (100, wins[1])],
    ]
    state_gates = build.gates
    next_literals = [
        build.disjunction(old, does)
        for marks, does_all in ((x, build.actions[0]), (o, build.actions[1]))
        for old, does in zip(marks, does_all[:9], strict=True)
    ]
    return build.network(
        state_gates, [False] * 18 + [True], legal, terminal, goals, [*next_literals, 1 ^ turn]
    )


def countdown(steps: int, moves: int) -> Network:
    """Return a game of one role with ``moves`` moves, all legal, that ends after ``steps`` of them.

    Its fluents: a one-hot counter of the steps, then the last move.
    """
    build = Builder(steps + 1 + moves, (moves,))
    counter, last = build.fluents[: steps + 1], build.fluents[steps + 1 :]
    third = build.disjunction(*last[::3])
    goals = [[(0, 1 ^ third), (100, third)]]
    return build.network(
        build.gates,
        [True] + [False] * (steps + moves),
        [TRUE] * moves,
        counter[-1],
        goals,
        [FALSE, *counter[:-1], *build.actions[0]],
    )


def random_network(rng: random.Random, gates: int = 40, cycles: int = 2, roles: int = 2) -> Network:
    """Return logic without a meaning, in which each role can always move."""
    fluents = rng.randrange(1, 12)
    build = Builder(fluents, [rng.randrange(1, 8) for _ in range(roles)])
    state = [FALSE, *build.fluents]

    def pick(pool: list[int]) -> int:
        return rng.choice(pool[-12:] if rng.random() < 0.5 else pool) ^ rng.randrange(2)

    def grow(pool: list[int], count: int) -> None:
        around = rng.randrange(cycles + 1)
        for number in range(count):
            pool.append(build.gate([pick(pool) for _ in range(rng.choice((2, 2, 2, 3, 4, 7)))]))
            if around and number == count // 2:
                around -= 1
                pool += random_cycle(build, rng, partial(pick, pool))

    grow(state, rng.randrange(1, gates))
    state_gates = build.gates
    pool = state + [action for role in build.actions for action in role]
    legal = [literal for count in build.roles for literal in [TRUE, *(pick(state) for _ in range(count - 1))]]
    terminal = pick(state)
    goals = [[(value, pick(state)) for value in (0, 50, 100)[: rng.randrange(1, 4)]] for _ in build.roles]
    grow(pool, rng.randrange(1, gates))
    initial = [rng.random() < 0.5 for _ in range(fluents)]
    return build.network(state_gates, initial, legal, terminal, goals, [pick(pool) for _ in range(fluents)])


def random_cycle(build: Builder, rng: random.Random, pick: Callable[[], int]) -> list[int]:
    """Add a monotone cycle: gates rise from false or fall from true, and read each other accordingly."""
    first, size = build.gates, rng.randrange(1, 10)
    falls = [rng.random() < 0.5 for _ in range(size)]
    literals = [2 * (build._base + first + number) for number in range(size)]
    for number in range(size):
        inputs = []
        for _ in range(rng.choice((2, 2, 3, 5))):
            other = rng.randrange(size)
            # A conjunction rises if what it reads rises.
            inputs.append(literals[other] ^ (falls[other] ^ falls[number]) if rng.random() < 0.6 else pick())
        build.gate(inputs)
        build.initially[first + number] = falls[number]
    build.cycles.append(Cycle(first, first + size))
    return literals


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """Random networks, cycles included."""
    rng = draw(st.randoms(use_true_random=False))
    gates = draw(st.sampled_from((3, 10, 40, 150)))
    return random_network(rng, gates, draw(st.integers(0, 2)), draw(st.integers(1, 3)))
