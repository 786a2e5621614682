"""Count joint-move sequences by depth, and write the tables that the rule files are checked with.

``python -m tests.simulators.perft`` (from the root of the repository) writes ``tests/data/perft`` anew
from the simulators; it takes some minutes.
"""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tests.simulators import SIMULATORS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.simulators import Simulator

TABLES: Final = Path(__file__).parents[1] / "data" / "perft"
#: How deep to count, and for which depth to keep the split by first joint move.
DEPTHS: Final = {
    "copolymer": (6, 4),
    "six_in_a_row": (4, 3),
    "capture_chess": (8, 5),
    "hex_pie": (4, 3),
    "line_chess": (8, 5),
}


def joint_moves(simulator: Simulator[Any], state: Any) -> Iterator[dict[str, str]]:
    """Yield the legal joint moves in the order of their texts."""
    legal = simulator.legal(state)
    for moves in itertools.product(*legal.values()):
        yield dict(zip(legal, moves, strict=True))


def perft(simulator: Simulator[Any], state: Any, depth: int) -> int:
    """Count the sequences of ``depth`` joint moves from a state; a terminal state has no continuation."""
    if depth == 0:
        return 1
    if simulator.is_terminal(state):
        return 0
    if depth == 1:
        return math.prod(map(len, simulator.legal(state).values()))
    return sum(
        perft(simulator, simulator.next(state, joint), depth - 1) for joint in joint_moves(simulator, state)
    )


def divide(simulator: Simulator[Any], state: Any, depth: int) -> dict[str, int]:
    """Split ``perft(simulator, state, depth)`` by the first joint move, as in ``(move a 1) noop``."""
    return {
        " ".join(joint.values()): perft(simulator, simulator.next(state, joint), depth - 1)
        for joint in joint_moves(simulator, state)
    }


def main() -> None:
    """Write the table of every game."""
    TABLES.mkdir(parents=True, exist_ok=True)
    for name, simulator in SIMULATORS.items():
        deepest, split_depth = DEPTHS[name]
        start = simulator.initial()
        table = {
            "nodes": {depth: perft(simulator, start, depth) for depth in range(1, deepest + 1)},
            "divide": {"depth": split_depth, "nodes": divide(simulator, start, split_depth)},
        }
        (TABLES / f"{name}.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
