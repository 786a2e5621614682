"""The plain search, with budgets of tries in place of clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.game.sheets import SHEETS
from tests.match.games import COUNTDOWN

import anygame
from anygame.match import run
from anygame.players import Clock, make_player
from anygame.players.simple import UctPlayer

if TYPE_CHECKING:
    from anygame.game.state import State

TIC_TAC_TOE = anygame.load(SHEETS / "tic_tac_toe.kif")


def _player(tries: int | None, seed: int = 1, role: str = "x") -> UctPlayer:
    player = UctPlayer(seed, tries=tries)
    player.begin(TIC_TAC_TOE, TIC_TAC_TOE.roles[TIC_TAC_TOE.role_index(role)], Clock.of(0))
    return player


def _after(*moves: str) -> State:
    state = TIC_TAC_TOE.initial_state()
    for number, move in enumerate(moves):
        state = state.next([move, "noop"] if number % 2 == 0 else ["noop", move])
    return state


@pytest.mark.parametrize("seed", range(5))
def test_it_wins_when_it_can(seed: int) -> None:
    state = _after("(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)")
    assert str(_player(200, seed).move(state, Clock.of(60))) == "(mark 1 3)"


@pytest.mark.parametrize("seed", range(5))
def test_uct_prevents_a_win_of_the_opponent(seed: int) -> None:
    state = _after("(mark 1 1)", "(mark 2 2)", "(mark 1 2)")
    assert str(_player(400, seed, "o").move(state, Clock.of(60))) == "(mark 1 3)"


def test_the_same_seed_plays_the_same() -> None:
    moves = [str(_player(50, 3).move(_after(), Clock.of(60))) for _ in range(3)]
    assert len(set(moves)) == 1


def test_a_single_move_is_made_at_once() -> None:
    player = _player(10**9)
    assert str(player.move(_after("(mark 1 1)"), Clock.of(1e9))) == "noop"


def test_there_is_a_move_when_there_is_no_time() -> None:
    state = _after()
    assert _player(None).move(state, Clock.of(0)) in state.legal_moves("x")


def test_the_clock_ends_the_search() -> None:
    state = _after()
    assert _player(None).move(state, Clock.of(0.2)) in state.legal_moves("x")


def test_the_tree_is_kept_between_moves() -> None:
    player = _player(200)
    state = _after(str(player.move(_after(), Clock.of(60))))
    player.search.begin(state)
    tried = player.search.value(player.search.root, 1)[0]
    assert tried > 5
    player.role = TIC_TAC_TOE.roles[1]
    player.move(state, Clock.of(60))
    assert player.search.value(player.search.root, 1)[0] == tried + 200


def test_simultaneous_moves_are_chosen_apart() -> None:
    game = anygame.loads(COUNTDOWN)
    player = UctPlayer(1, tries=100)
    player.begin(game, game.roles[1], Clock.of(60))
    assert str(
        player.move(game.initial_state().next(["(say no)"] * 2).next(["(say no)"] * 2), Clock.of(60))
    ) == ("(say yes)")


def test_compiled_games_are_played_in_lanes() -> None:
    game = anygame.load(SHEETS / "tic_tac_toe.kif")
    player = UctPlayer(1, tries=60)
    player.begin(game, game.roles[0], Clock.of(600))
    assert player.search.in_lanes
    state = game.state(_after("(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)").facts)
    assert str(player.move(state, Clock.of(600))) == "(mark 1 3)"


#: The first role can jump off a cliff, where the second has no move; the goals there are what the rules say.
_CLIFF = """
(role a) (role b) (init (at start))
(<= (legal a hill) (true (at start))) (<= (legal a cliff) (true (at start)))
(<= (legal a on) (not (true (at start))))
(<= (legal b wait) (not (true (at cliff))))
(<= (next (at ?x)) (does a ?x))
(<= terminal (true (at on)))
(<= (goal a 70) terminal) (<= (goal a 10) (not terminal)) (goal b 30)
"""


@pytest.mark.parametrize("machine", ["reasoner", "network"])
def test_uct_searches_past_stuck_states(machine: Any) -> None:
    game = anygame.loads(_CLIFF, machine=machine)
    cliff = game.initial_state().next(["cliff", "wait"])
    assert cliff.stuck_role == "b"
    assert game.initial_state().stuck_role is None
    player = UctPlayer(1, tries=40)
    player.begin(game, game.roles[0], Clock.of(60))
    assert str(player.move(game.initial_state(), Clock.of(60))) == "hill"


@pytest.mark.parametrize("strategy", ["greedy", "uct", "mcts"])
def test_goals_may_be_larger_than_floats(strategy: str) -> None:
    goal = "9" * 500
    game = anygame.loads(
        "(role r) (legal r stay) (legal r win) (<= (next (did ?x)) (does r ?x)) (<= terminal (true (did ?x)))"
        f"(<= (goal r {goal}) (true (did win))) (<= (goal r -{goal}) (true (did stay)))",
        machine="reasoner",
    )
    player = make_player(strategy, seed=1)
    player.begin(game, game.roles[0], Clock.of(0.3))
    assert str(player.move(game.initial_state(), Clock.of(0.3))) == "win"


def test_a_full_tree_is_searched_without_growing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anygame.search.state_tree._MOST_NODES", 30)
    player = _player(300)
    assert player.move(_after(), Clock.of(60)) in _after().legal_moves("x")
    assert player.search.nodes == 30


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four"])
def test_uct_beats_random(name: str) -> None:
    game = anygame.load(SHEETS / f"{name}.kif")
    count = len(game.roles)
    reached = 0
    for match in range(2 * count):
        order: list[UctPlayer | str] = ["random"] * count
        order[match % count] = UctPlayer(match, tries=60)
        record = run(game, order, start_clock=60, play_clock=60, seed=match)
        assert record.goals is not None
        reached += record.goals[match % count]
    assert reached / (2 * count) >= 75


@pytest.mark.parametrize("cap", [300, 40, 1])
def test_only_the_kept_tree_counts_towards_the_limit(cap: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anygame.search.state_tree._MOST_NODES", cap)
    player, state = _player(250), _after()
    while state.movers:
        (player.role,) = state.movers
        move = player.move(state, Clock.of(60))
        assert player.search.nodes <= cap
        state = state.play(player.role, move)


def test_a_full_tree_still_evaluates_successors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anygame.search.state_tree._MOST_NODES", 0)
    state = _after("(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)")
    assert str(_player(200).move(state, Clock.of(60))) == "(mark 1 3)"
