"""Solve small boards exactly, and check by play that a strategy of each role guarantees its value.

    python tools/solve_boards.py breakthrough_4x4 dots_and_boxes_2x3

A strategy has one move for each state in which the role chooses. The reasoner checks the strategy against
every reply, independently of the solver: in every reachable terminal state, the role's goal is at least its
value. The boards are from ``tools/small_boards.py``, by default the boards of He, Saffidine and Thielscher
(2024, "Solving two-player games with QBF solvers in general game playing", AAMAS).
"""

from __future__ import annotations

import argparse
from itertools import product
from time import process_time
from typing import TYPE_CHECKING, Final

from tools.small_boards import find_game
from tools.tables import as_markdown

import anygame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.game import Game
    from anygame.language.terms import Term
    from anygame.search.table import Table

_TRIED: Final = (
    "connect_four_4x4",
    "dots_and_boxes_2x2",
    "dots_and_boxes_2x3",
    "breakthrough_3x4",
    "breakthrough_3x5",
    "breakthrough_4x4",
    "knobby_4x4_1_1",
    "skinny_4x4_2_2",
)


class StrategyError(Exception):
    """A strategy does not guarantee its value."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Solve boards, check the strategies of both roles, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("boards", nargs="*", default=_TRIED)
    rows = [["board", "states", "value", "plies", "solve s", "strategies", "check s"]]
    for name in parser.parse_args(arguments).boards:
        game = find_game(name)
        game.compile()
        began = process_time()
        solution = anygame.solve(game, table=True)
        solved = process_time()
        if solution.table is None:
            raise StrategyError(f"{name}: {solution.reason}")
        met = [check(game, solution.table, role) for role in game.roles]
        value = " ".join(f"{role} {solution.goals[role]:g}" for role in game.roles)
        distance = solution.table.distance(game.initial_state())
        times = [f"{solved - began:.1f}", f"{process_time() - solved:.1f}"]
        strategies = " ".join(f"{count:,}" for count in met)
        rows.append([name, f"{solution.states:,}", value, str(distance), times[0], strategies, times[1]])
        print("\n".join(as_markdown(rows[:1] + rows[-1:])[2:]), flush=True)
    print("\n" + "\n".join(as_markdown(rows)))


def check(game: Game, table: Table, role: str) -> int:
    """Check that a role gets its value against every reply; return the number of states that were checked.

    Args:
        game: the game.
        table: exact values of all states.
        role: the role.

    Raises:
        StrategyError: a state has no move that keeps the value, a match ends with less than the value, or a
            state repeats.
    """
    rules = anygame.loads(str(game.program), name=game.name, machine="reasoner")
    place = rules.role_index(role)
    start = rules.initial_state()
    wanted = _least(table, game, start, role)
    #: The current path, the unchecked joint moves of each state on it, and the states that are checked.
    way, ways, done = [start], [_replies(table, game, start, place, wanted)], set()
    on_way = {start}
    while way:
        if not ways[-1]:
            ways.pop()
            state = way.pop()
            done.add(state)
            on_way.discard(state)
            continue
        state = way[-1].next(ways[-1].pop())
        if state in on_way:
            raise StrategyError(f"play goes in a circle at {state}")
        if state in done:
            continue
        way.append(state)
        on_way.add(state)
        ways.append(_replies(table, game, state, place, wanted))
    return len(done)


def _replies(
    table: Table, game: Game, state: anygame.State, place: int, wanted: float
) -> list[tuple[Term, ...]]:
    """Return the joint moves that are possible in a state if a role plays its strategy."""
    role = state.game.roles[place]
    if state.is_terminal:
        if (state.goal(role) or 0) < wanted:
            raise StrategyError(f"{role} has {state.goal(role)} and not {wanted} at {state}")
        return []
    legal = [state.legal_moves(each) for each in state.game.roles]
    for move in legal[place]:
        joints = list(product(*[[move] if n == place else each for n, each in enumerate(legal)]))
        if all(_least(table, game, state.next(joint), role) >= wanted for joint in joints):
            return joints
    raise StrategyError(f"no move of {role} keeps {wanted} at {state}")


def _least(table: Table, game: Game, state: anygame.State, role: str) -> float:
    value = table.value(game.state(state.facts))
    if value is None:
        raise StrategyError(f"the table does not have {state}")
    return value[role].least


if __name__ == "__main__":
    main()
