"""What must hold of the simulators themselves, whatever the rule files say."""

from __future__ import annotations

import random
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest
from tests.simulators import SIMULATORS
from tests.simulators.copolymer import NEIGHBOURS
from tests.simulators.hex_pie import joins
from tests.simulators.perft import joint_moves

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.simulators import Simulator


def playout(simulator: Simulator[Any], seed: int) -> Iterator[Any]:
    """The states of a random playout, the terminal one last."""
    generator = random.Random(seed)
    state = simulator.initial()
    yield state
    while not simulator.is_terminal(state):
        joint = {role: generator.choice(moves) for role, moves in simulator.legal(state).items()}
        state = simulator.next(state, joint)
        yield state


@pytest.mark.parametrize("name", SIMULATORS)
def test_one_role_acts_and_the_other_has_noop(name: str) -> None:
    simulator = SIMULATORS[name]
    for seed in range(5):
        *states, last = playout(simulator, seed)
        for state in states:
            legal = simulator.legal(state)
            assert tuple(legal) == simulator.roles
            assert all(moves == tuple(sorted(set(moves))) for moves in legal.values())
            assert ("noop",) in legal.values()
            assert all(moves == ("noop",) or "noop" not in moves for moves in legal.values())
        assert set(simulator.goals(last)) == set(simulator.roles)


def test_copolymer_is_a_hexagon_of_side_four() -> None:
    assert len(NEIGHBOURS) == 37
    assert all(cell in NEIGHBOURS[other] for cell in NEIGHBOURS for other in NEIGHBOURS[cell])
    degrees = sorted(map(len, NEIGHBOURS.values()))
    assert degrees == [3] * 6 + [4] * 12 + [6] * 19
    # Any two cells in touch share two neighbours, or one on the edge: triangles all over.
    shared = [
        len(NEIGHBOURS[cell] & NEIGHBOURS[other])
        for cell, other in combinations(NEIGHBOURS, 2)
        if other in NEIGHBOURS[cell]
    ]
    assert len(shared) == 90
    assert sorted(shared) == [1] * 18 + [2] * 72


def test_copolymer_ends_with_nineteen_of_one_colour() -> None:
    simulator = SIMULATORS["copolymer"]
    for seed in range(50):
        *_, last = playout(simulator, seed)
        assert sorted((len(last.red) == 19, len(last.blue) == 19)) == [False, True]
        assert sorted(simulator.goals(last).values()) == [0, 100]


def test_hex_has_no_draw() -> None:
    cells = sorted((row, column) for row in "abcdefghi" for column in range(1, 10))
    for seed in range(200):
        red = frozenset(random.Random(seed).sample(cells, 41))
        assert joins(red, "red") != joins(frozenset(cells) - red, "blue")


def test_both_chess_games_have_the_same_moves() -> None:
    capturing, lining = SIMULATORS["capture_chess"], SIMULATORS["line_chess"]
    for seed in range(30):
        generator = random.Random(seed)
        one, other = capturing.initial(), lining.initial()
        while not capturing.is_terminal(one):
            assert capturing.legal(one) == lining.legal(other)
            joint = generator.choice(list(joint_moves(capturing, one)))
            one, other = capturing.next(one, joint), lining.next(other, joint)
            assert capturing.cells(one) == lining.cells(other)
            assert capturing.control(one) == lining.control(other)
            assert {"(cell 1 4 red)", "(cell 7 4 blue)"} <= capturing.cells(one)
        assert lining.is_terminal(other)
