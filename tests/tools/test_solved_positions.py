"""Positions with exact values, and the tool that asks players for moves in them."""

from __future__ import annotations

from collections import Counter

import pytest
from tools.solved_positions import Position, main, read_positions, share

import anygame


def _drops(state: anygame.State) -> dict[str, anygame.State]:
    """Return the state after each legal drop, by column."""
    first, second = (state.legal_moves(role) for role in state.game.roles)
    return {
        str(move).strip("()").split()[-1]: state.next([a, b])
        for a in first
        for b in second
        for move in (a, b)
        if str(move) != "noop"
    }


def test_some_hundred_positions_of_either_role_have_one_or_two_right_moves() -> None:
    positions = read_positions()
    assert len(positions) == len({position.moves for position in positions}) == 400
    assert all(1 <= len(position.right) <= 2 for position in positions)
    kinds = Counter((len(position.moves) % 2, "+" in position.values) for position in positions)
    assert min(kinds.values()) >= 90
    game = anygame.load("connect_four")
    for position in positions[::5]:
        state = position.state(game)
        assert not state.is_terminal
        after = _drops(state)
        assert set(after) == {str(c) for c, sign in enumerate(position.values, start=1) if sign != "."}
        assert not any(reached.is_terminal for reached in after.values())


@pytest.mark.slow
def test_the_values_are_those_of_the_solver_of_the_sheet() -> None:
    game = anygame.load("connect_four")
    game.compile()
    signs = {100: "+", 50: "=", 0: "-"}
    for position in read_positions()[-40::4]:
        mover = game.roles[len(position.moves) % 2]
        for column, after in _drops(position.state(game)).items():
            value = anygame.solve(game, after).goals[mover]
            assert value is not None
            assert signs[int(value)] == position.values[int(column) - 1], position


def test_the_right_moves_are_those_worth_most() -> None:
    assert Position("4", "-=.=-+.").right == {"6"}
    assert Position("4", "-=.=-..").right == {"2", "4"}


def test_a_share_has_its_interval() -> None:
    assert share([True] * 98 + [False] * 2) == "98.0 ± 2.7"


def test_players_are_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["legal", "random", "--every", "40", "--seconds", "5", "--wrong"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["player", "positions"]
    named = [row.split() for row in rows if not row.startswith(" ")]
    assert [row[:2] for row in named] == [["legal", "10"], ["random", "10"]]
    right = sum(float(row[2]) for row in named) / 10
    assert len(rows) == 2 + 20 - round(right)
