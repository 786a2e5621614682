"""Board games of small size: the values and the states that a plain minimax over the reasoner finds."""

from __future__ import annotations

from functools import cache

import pytest
from tests.search.board_sheets import breakthrough, connect, dots_and_boxes, nim, polyomino_game

import anygame
from anygame.search import solve

_KNOBBY = [(0, 0), (1, 0), (2, 0), (1, 1)]
_ELL = [(0, 0), (1, 0), (0, 1)]

_GAMES = {
    "connect three, 3 x 3": connect(3, 3, 3),
    "connect three, 4 x 2": connect(4, 2, 3),
    "breakthrough 2 x 4": breakthrough(2, 4),
    "dots and boxes 2 x 1": dots_and_boxes(2, 1),
    "dots and boxes 1 x 1": dots_and_boxes(1, 1),
    "nim 1 2 3": nim(1, 2, 3),
    "nim 3 5": nim(3, 5),
    "elly 3 x 2": polyomino_game(3, 2, _ELL),
    "knobby 3 x 2": polyomino_game(3, 2, _KNOBBY),
}


@pytest.mark.parametrize("name", _GAMES)
def test_solutions_are_those_of_a_plain_minimax(name: str) -> None:
    text = _GAMES[name]
    values = _minimax(anygame.loads(text, machine="reasoner"))
    found = solve(anygame.loads(text, machine="network"), table=True)
    start = next(iter(values))
    assert found.solved
    assert found.goals["first"] == values[start]
    assert found.states == len(values)
    assert found.table is not None
    for state, value in values.items():
        known = found.table.value(found.table.game.state(map(str, state.facts)))
        assert known is not None
        assert (known["first"].least, known["second"].least) == (value, 100 - value)


def _minimax(game: anygame.Game) -> dict[anygame.State, int]:
    """Return the value of every state for the first role; the first state comes first."""
    values: dict[anygame.State, int] = {game.initial_state(): 0}

    def value(state: anygame.State) -> int:
        goal = state.goal("first")
        if state.is_terminal:
            assert goal is not None
            return goal
        first, second = (state.legal_moves(role) for role in game.roles)
        found = [known(state.next([one, other])) for one in first for other in second]
        return max(found) if len(first) > 1 else min(found)

    def known(state: anygame.State) -> int:
        if state not in values:
            values[state] = value(state)
        return values[state]

    values[game.initial_state()] = value(game.initial_state())
    return values


def test_connect_four_4_x_4_is_a_draw_of_161029_states() -> None:
    # As counted by Tromp.
    found = solve(anygame.loads(connect(4, 4)))
    assert (found.states, set(found.goals.values())) == (161_029, {50})


def test_dots_and_boxes_2_x_2_agrees_with_a_simulator() -> None:
    # Edges are numbered; a box is the set of its four.
    boxes = [
        sum(1 << edge for edge in (3 * y + x, 3 * y + x + 1, 6 + 2 * y + x, 8 + 2 * y + x))
        for x in range(2)
        for y in range(2)
    ]

    @cache
    def lead(drawn: int) -> int:
        """Return how many boxes more the mover will get than the other."""
        best = -9
        for edge in range(12):
            after = drawn | 1 << edge
            if after != drawn:
                closed = sum(box & after == box and box & drawn != box for box in boxes)
                best = max(best, closed + lead(after) if closed else -lead(after))
        return best if drawn != (1 << 12) - 1 else 0

    found = solve(anygame.loads(dots_and_boxes(2, 2)))
    assert list(found.goals.values()) == [50 + 25 * lead(0) // 2, 50 - 25 * lead(0) // 2]
