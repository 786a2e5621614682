"""A law: what a search proves is what the solution says, in any state of small games, by either engine."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from tests.examples import examples
from tests.search.board_sheets import breakthrough, connect, dots_and_boxes, nim, polyomino_game
from tests.search.graph_games import Node, bounds, missing, random_nodes, sheet

import anygame
from anygame.search import Search, solve

if TYPE_CHECKING:
    from anygame import Game, State, Table
    from anygame.game.backends import MachineName
    from anygame.search import Analysis

_ROW = [(0, 0), (1, 0), (2, 0)]
_SHEETS = {
    "nim": nim(2, 3, 4),
    "connect": connect(4, 4, 3),
    "breakthrough": breakthrough(3, 4),
    "dots and boxes": dots_and_boxes(2, 1),
    "three in a row": polyomino_game(3, 3, _ROW),
}
_CASES = [(name, machine) for name in _SHEETS for machine in ("reasoner", "network")]


def _positions(game: Game, count: int, seed: int) -> list[State]:
    """Return states of random matches, each from which play goes on."""
    random, found = Random(seed), dict[anygame.State, None]()
    while len(found) < count:
        state, before = game.initial_state(), len(found)
        while not state.is_terminal:
            found[state] = None
            state = state.next([random.choice(state.legal_moves(role)) for role in game.roles])
        if len(found) == before and random.random() < 0.05:
            break  # a game of fewer states
    return list(found)[-count:]


def _check(analysis: Analysis, state: State, table: Table) -> int:
    """Compare all that is proven; return how much that is."""
    value, moves, proven = table.value(state), table.moves(state), 0
    assert value is not None
    for role, known in analysis.proven.items():
        if known is not None:
            assert known == value[role].least
            proven += 1
    for chooser, told in moves.items():
        for each in analysis.moves[next(role for role in analysis.moves if role == chooser)]:
            exact = told[each.move].least
            assert each.bounds.least <= exact <= each.bounds.most, (str(state), str(each.move))
            proven += each.proven is not None
    return proven


@pytest.mark.slow
@pytest.mark.parametrize(("name", "machine"), _CASES)
def test_proven_values_agree_with_the_solution(name: str, machine: MachineName) -> None:
    game = anygame.loads(_SHEETS[name], machine=machine)
    solved = anygame.loads(_SHEETS[name])
    table = solve(solved, table=True).table
    assert table is not None
    search = Search(game, seed=1, memory=64 << 20)
    in_lanes = machine == "network" and search.compile(600)
    positions = _positions(game, 400 if in_lanes else 25, seed=4)
    random, proven = Random(9), 0
    for state in positions:
        found = search.run(state, iterations=random.choice([5, 50, 300]) if in_lanes else 40)
        assert found.engine == ("lanes" if in_lanes else "states")
        proven += _check(found, solved.state(map(str, state.facts)), table)
    assert proven > len(positions)


@pytest.mark.parametrize("machine", ["reasoner", "network"])
@pytest.mark.parametrize("kinds", [("left",), ("left", "right")], ids="-".join)
def test_nothing_is_proven_by_ends_without_a_goal(kinds: tuple[str, ...], machine: MachineName) -> None:
    proven = lacking = 0
    for seed in range(examples(12)):
        nodes = random_nodes(Random(f"{kinds} {seed}"), kinds, forward=True, faults=0.3)
        # An end that nothing leads to names the goals from 0 to 100.
        nodes.append(Node(((), (), ()), {}, (0, 100)))
        game = anygame.loads(sheet(nodes), machine=machine)
        search = Search(game, seed=seed)
        if machine == "network":
            assert search.compile(600)
        found = search.run(iterations=400)
        for place, role in enumerate(("left", "right")):
            least, most, _ = bounds(nodes, place)
            known = found.proven[game.roles[game.role_index(role)]]
            lacking += missing(nodes, place)
            if known is not None:
                assert least == known == most, sheet(nodes)
                proven += 1
            for each in found.moves[game.roles[game.role_index(role)]]:
                if len(found.moves[game.roles[game.role_index(role)]]) == 1:
                    assert each.bounds.least <= least, sheet(nodes)
    assert lacking
    assert proven


def test_an_end_without_a_goal_is_not_proven_to_be_worth_nothing() -> None:
    rules = """
        (role left) (role right) (legal left a) (legal left b) (legal right noop)
        (<= (next (chosen ?m)) (does left ?m)) (<= terminal (true (chosen ?m)))
        (<= (goal right 98) (true (chosen a)))
        (<= (goal left 0) (true (chosen b))) (<= (goal right 100) (true (chosen b)))
    """
    for machine in ("reasoner", "network"):
        game = anygame.loads(rules, machine=machine)
        search = Search(game, seed=1)
        if machine == "network":
            assert search.compile(600)
        found = search.run(iterations=200)
        left = next(iter(game.roles))
        assert found.proven[left] is None
        assert {str(each.move): tuple(each.bounds) for each in found.moves[left]} == {
            "a": (0, 100),
            "b": (0, 0),
        }
        end = game.initial_state().next(["a", "noop"])
        assert search.run(end, iterations=10).proven == {"left": None, "right": 98}
