"""Tables of exact values: as the solution says, from files as from memory, and safe from damaged files."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.search.board_sheets import breakthrough, connect, dots_and_boxes, nim
from tests.search.graph_games import KINDS, random_nodes, sheet

import anygame
from anygame.errors import PositionError, TableError
from anygame.search import Table, load_table, save_table, solve
from anygame.search.analysis import Analysis, MoveAnalysis
from anygame.search.array_file import read_arrays, write_arrays
from anygame.search.table import FORMAT

if TYPE_CHECKING:
    from pathlib import Path

    from anygame import Game, State


def _table(game: Game) -> Table:
    table = solve(game, table=True).table
    assert table is not None
    return table


def _states(game: Game, count: int, seed: int) -> list[State]:
    """Return states of random matches."""
    random, found = Random(seed), list[anygame.State]()
    while len(found) < count:
        state = game.initial_state()
        while not state.is_terminal and len(found) < count:
            found.append(state)
            state = state.next([random.choice(state.legal_moves(role)) for role in game.roles])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("machine", ["reasoner", "network"])
def test_values_are_those_of_each_state_solved_by_itself(machine: str) -> None:
    for text in (nim(1, 2, 3), connect(3, 3, 3)):
        game = anygame.loads(text, machine=machine)  # type: ignore[arg-type]
        table = _table(game)
        for state in _states(game, 10, seed=3):
            found = solve(game, state)
            assert table.value(state) == found.bounds
            assert table.distance(state) == len(found.line)


def test_the_best_moves_are_those_that_keep_the_value() -> None:
    game = anygame.loads(dots_and_boxes(2, 1))
    table = _table(game)
    for state in _states(game, 30, seed=8):
        values = table.moves(state)
        ((role, best),) = table.best_moves(state).items()
        now = table.value(state)
        assert now is not None
        assert set(values[role]) == set(state.legal_moves(role))
        for move, value in values[role].items():
            assert (move in best) == (value == now[role])
            joint = {other: state.legal_moves(other)[0] for other in game.roles} | {role: move}
            reached = table.value(state.next(joint))
            assert reached is not None
            assert reached[role] == value


def test_the_winner_takes_the_shortest_line_and_the_loser_the_longest() -> None:
    game = anygame.loads(breakthrough(3, 4))
    table = _table(game)
    state, length = game.initial_state(), table.distance(game.initial_state())
    while not state.is_terminal:
        ((role, moves),) = table.best_moves(state).items()
        joint = {other: state.legal_moves(other)[0] for other in game.roles} | {role: moves[0]}
        state = state.next(joint)
        assert length is not None
        length -= 1
        assert table.distance(state) == length


def test_a_table_is_the_same_from_a_file(tmp_path: Path) -> None:
    random = Random(2)
    path = tmp_path / "values.table"
    for machine in ("reasoner", "network"):
        for _ in range(8):
            game = anygame.loads(
                sheet(random_nodes(random, KINDS, forward=False, missing=0.1)), machine=machine
            )
            table = solve(game, table=True).table
            if table is None:
                continue
            save_table(table, path)
            again = load_table(path, game)
            assert len(again) == len(table)
            for state in [game.initial_state(), *_some(game)]:
                assert again.value(state) == table.value(state) is not None
                assert again.best_moves(state) == table.best_moves(state)
                assert again.distance(state) == table.distance(state)


def _some(game: Game) -> list[State]:
    state = game.initial_state()
    if state.is_terminal:
        return []
    return [state.next([state.legal_moves(role)[-1] for role in game.roles])]


def test_either_machine_reads_the_table_of_the_other(tmp_path: Path) -> None:
    text, path = connect(3, 3, 3), tmp_path / "values.table"
    games = [anygame.loads(text, machine=machine) for machine in ("reasoner", "network")]
    for one, other in (games, games[::-1]):
        table = _table(one)
        save_table(table, path)
        again = load_table(path, other)
        for state in _states(other, 10, seed=1):
            assert again.value(state) == table.value(one.state(map(str, state.facts)))


def test_states_that_no_play_leads_to_are_not_in_it() -> None:
    game = anygame.load("tic_tac_toe")
    table = _table(game)
    facts = sorted(map(str, game.initial_state().facts))
    assert game.initial_state() in table
    for strange in (game.state([*facts, "(cell 1 1 x)"]), game.state([*facts, "(weather fine)"])):
        assert strange not in table
        assert table.value(strange) is None
        assert table.distance(strange) is None
        assert table.best_moves(strange) == {}
    with pytest.raises(PositionError, match="expected a state of"):
        table.value(anygame.load("pig").initial_state())


def test_games_without_values_have_no_table() -> None:
    assert solve(anygame.load("three_player_chomp"), table=True).table is None
    assert solve(anygame.load("connect_four"), memory=8 << 20, table=True).table is None


def test_chance_and_simultaneous_moves_have_values_too() -> None:
    game = anygame.load("rock_paper_scissors")
    table = _table(game)
    assert table.value(game.initial_state()) == {"left": (50, 50), "right": (50, 50)}
    assert table.best_moves(game.initial_state()) == {}
    game = anygame.loads(
        "(role me) (role random) (legal me a) (legal me b) (legal random 0) (legal random 1)"
        "(<= (next (did ?m ?n)) (does me ?m) (does random ?n)) (<= terminal (true (did ?m ?n)))"
        "(<= (goal me 100) (true (did a 1))) (<= (goal me 0) (true (did a 0)))"
        "(<= (goal me 40) (true (did b ?n)))"
    )
    table = _table(game)
    assert {str(move): value for move, value in table.moves(game.initial_state())["me"].items()} == {
        "a": (50, 50),
        "b": (40, 40),
    }
    assert [str(move) for move in table.best_moves(game.initial_state())["me"]] == ["a"]


# -- files that cannot be used -------------------------------------------------------------------------------


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "values.table"
    save_table(_table(anygame.loads(nim(1, 2))), path)
    return path


def test_the_table_of_other_rules_is_refused(written: Path) -> None:
    with pytest.raises(TableError, match=r"has values for the rules of '<text>'; the rules of <text> differ"):
        load_table(written, anygame.loads(nim(1, 3)))


def test_damaged_files_are_refused(written: Path) -> None:
    game, content, random = anygame.loads(nim(1, 2)), written.read_bytes(), Random(7)
    start = game.initial_state()
    value = load_table(written, game).value(start)
    refused = 0
    for _ in range(400):
        damaged = bytearray(content)
        kind = random.randrange(3)
        at = random.randrange(len(content))
        if kind == 0:
            damaged[at] ^= 1 << random.randrange(8)
        elif kind == 1:
            del damaged[at:]
        else:
            damaged[at:at] = random.randbytes(random.randrange(1, 9))
        written.write_bytes(damaged)
        try:
            # What remains readable is no part of a value: the time of an array, for example.
            assert load_table(written, game).value(start) == value
        except TableError:
            refused += 1
    assert refused > 300


@pytest.mark.parametrize(
    "change",
    [
        {"fluents": ["(heap"]},
        {"fluents": 7},
        {"fluents": [7]},
        {"fluents": [f"(heap a {n})" for n in range(65)]},
        {"method": None},
    ],
)
def test_headers_that_lie_are_refused(written: Path, change: dict[str, object]) -> None:
    header, arrays = read_arrays(written, FORMAT, TableError)
    write_arrays(written, header | change, arrays, TableError)
    with pytest.raises(TableError, match="is damaged"):
        load_table(written, anygame.loads(nim(1, 2)))


@pytest.mark.parametrize(
    "change",
    [
        {"states": np.zeros((0, 1), np.uint64), "kinds": np.zeros(0, np.uint8)},
        {"states": np.zeros((2, 2), np.uint64)},
        {"states": np.zeros(3, np.uint64)},
        {"bounds": np.zeros((1, 2, 2))},
        {"bounds": np.zeros((3, 2, 2), np.float32)},
        {"kinds": np.zeros(3, np.uint8)},
        {"distances": np.zeros(3, np.uint32)},
    ],
)
def test_arrays_of_other_shapes_are_refused(written: Path, change: dict[str, np.ndarray]) -> None:
    header, arrays = read_arrays(written, FORMAT, TableError)
    write_arrays(written, header, arrays | change, TableError)
    with pytest.raises(TableError, match="is damaged"):
        load_table(written, anygame.loads(nim(1, 2)))


def test_other_files_are_neither_read_nor_overwritten(tmp_path: Path) -> None:
    game = anygame.loads(nim(1, 2))
    other = tmp_path / "notes.txt"
    other.write_text("mine")
    with pytest.raises(TableError, match="exists and is not a table"):
        save_table(_table(game), other)
    assert other.read_text() == "mine"
    with pytest.raises(TableError, match="is not a valid 'anygame table 2' file"):
        load_table(other, game)
    with pytest.raises(TableError, match="cannot read"):
        load_table(tmp_path / "nothing", game)
    with pytest.raises(TableError, match="cannot write"):
        save_table(_table(game), other / "folder")


def test_a_table_adds_exact_values_to_an_analysis() -> None:
    game = anygame.load("tic_tac_toe")
    table = _table(game)
    state = game.initial_state().next(["(mark 1 1)", "noop"])
    x, o = game.roles
    unknown = anygame.Bounds(0, 100)
    moves = {
        x: (MoveAnalysis(state.legal_moves(x)[0], 5, 50.0, 1.0, unknown),),
        o: tuple(
            MoveAnalysis(move, 5 + n, 60.0, 1.0, unknown) for n, move in enumerate(state.legal_moves(o))
        ),
    }
    searched = Analysis(9, 0.1, 9, 2, 100, moves, {x: 40.0, o: 60.0}, {x: None, o: None}, "lanes")
    found = table.annotate(searched, state)
    assert found.proven == {x: 50, o: 50}
    assert [(str(each.move), each.proven) for each in found.moves[o]][:2] == [
        ("(mark 2 2)", 50),
        ("(mark 3 3)", 0),
    ]
    assert found.moves[o][0].visits == searched.moves[o][3].visits
    strange = game.state(["(control x)"])
    assert table.annotate(searched, strange) is searched
