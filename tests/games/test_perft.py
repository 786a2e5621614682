"""Counts of joint-move sequences, as in tests/data/perft, from the rule files."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.games.rule_files import rule_file
from tests.simulators import SIMULATORS
from tests.simulators.perft import TABLES, divide, perft

import anygame

#: Depths that take seconds with the plain reasoner; the split is printed for the last of them.
CHECKED = {"copolymer": 4, "six_in_a_row": 2, "capture_chess": 6, "hex_pie": 3, "line_chess": 6}
#: Depth 3 of the table that all five descriptions were read with.
AGREED = {
    "copolymer": (37, 74, 2664),
    "six_in_a_row": (121, 14520, 1727880),
    "capture_chess": (4, 16, 96),
    "hex_pie": (81, 6561, 518400),
    "line_chess": (4, 16, 96),
}


def table_of(name: str) -> Any:
    return json.loads((TABLES / f"{name}.json").read_text(encoding="utf-8"))


def differences(expected: dict[str, int], found: dict[str, int]) -> str:
    """Every first joint move whose count differs, or that only one side has."""
    lines = [
        f"  {move}: expected {expected.get(move, 'no such move')}, found {found.get(move, 'no such move')}"
        for move in sorted(expected.keys() | found.keys())
        if expected.get(move) != found.get(move)
    ]
    return "\n".join(["by first joint move:", *lines])


@pytest.mark.slow
@pytest.mark.parametrize("name", SIMULATORS)
def test_rule_file_has_the_counts_of_the_table(name: str) -> None:
    nodes = table_of(name)["nodes"]
    game, simulator = rule_file(name), SIMULATORS[name]
    for depth in range(1, CHECKED[name] + 1):
        found = perft(game, game.initial(), depth)
        if found != nodes[str(depth)]:
            split = differences(
                divide(simulator, simulator.initial(), depth), divide(game, game.initial(), depth)
            )
            pytest.fail(f"{name}, depth {depth}: expected {nodes[str(depth)]}, found {found}\n{split}")


@pytest.mark.parametrize("name", SIMULATORS)
def test_table_agrees_with_the_simulator(name: str) -> None:
    table = table_of(name)
    nodes, split = table["nodes"], table["divide"]
    simulator = SIMULATORS[name]
    start = simulator.initial()
    assert tuple(nodes[str(depth)] for depth in (1, 2, 3)) == AGREED[name]
    assert divide(simulator, start, split["depth"]) == split["nodes"]
    assert sum(split["nodes"].values()) == nodes[str(split["depth"])]


@pytest.mark.slow
@pytest.mark.parametrize("name", SIMULATORS)
def test_the_package_counts_the_same(name: str) -> None:
    split = table_of(name)["divide"]
    found = anygame.perft_divide(rule_file(name).game, split["depth"])
    counts = {" ".join(map(str, joint)): count for joint, count in found.items()}
    if counts != split["nodes"]:
        pytest.fail(f"{name}, depth {split['depth']}\n{differences(split['nodes'], counts)}")
