"""Best lines against a plain search over dictionaries, and what they say of games that are out of the way."""

from __future__ import annotations

from itertools import count
from random import Random
from typing import TYPE_CHECKING

import pytest
from tests.search.graph_games import random_nodes, sheet
from tests.search.one_player.puzzles import (
    DEAD_END,
    ENDLESS,
    NO_GOAL,
    TALLY,
    WATCHED,
    latin,
    lights,
    pegs,
    sliding,
    sokoban,
)

import anygame
from anygame.errors import GoalError
from anygame.search import solve
from anygame.search.one_player import LineSearch, SeveralChooseError, sole_chooser
from anygame.search.solving import with_best_line

if TYPE_CHECKING:
    from anygame import Game, State
    from anygame.game.backends import MachineName
    from anygame.search import Solution
    from anygame.search.one_player import Line

_MACHINES: tuple[MachineName, ...] = ("network", "reasoner")


def _goal(state: State, role: str) -> int | None:
    try:
        return state.goal(role)
    except GoalError:
        return None


def _best(game: Game, chooser: str) -> tuple[int | None, int]:
    """Return the greatest goal at any end, and the fewest moves to an end that has it."""
    found: dict[int, int] = {}
    layer, seen = {game.initial_state()}, {game.initial_state()}
    for depth in count():
        if not layer:
            return max(found, default=None), found[max(found)] if found else 0
        for state in layer:
            goal = _goal(state, chooser) if state.is_terminal else None
            if goal is not None:
                found.setdefault(goal, depth)
        layer = {
            state.next([move if role == chooser else state.legal_moves(role)[0] for role in game.roles])
            for state in layer
            if not state.is_terminal and all(state.legal_moves(role) for role in game.roles)
            for move in state.legal_moves(chooser)
        } - seen
        seen |= layer
    raise AssertionError


def _check(game: Game, line: Line, chooser: str) -> None:
    """Check that a line is one of the game, and leads to its goal."""
    state = game.initial_state()
    for joint in line.moves:
        assert not state.is_terminal
        state = state.next(joint)
    if line.goal is not None:
        assert state.is_terminal
        assert _goal(state, chooser) == line.goal


@pytest.mark.parametrize("machine", _MACHINES)
@pytest.mark.parametrize(
    "text",
    [
        sliding("cb-a"),
        sliding("-bca"),
        sliding("ab-c", last=3),
        sliding("cb-a", last=4),
        lights("10110"),
        lights("1101"),
        TALLY,
        DEAD_END,
        WATCHED,
        latin("12.", "...", "..."),
        latin("12.", "..3", "..."),
        pegs("110111"),
        pegs("1010101"),
        sokoban("#####", "#@$.#", "#####"),
    ],
)
def test_a_proven_line_is_the_best_of_all(text: str, machine: MachineName) -> None:
    game = anygame.loads(text, machine=machine)
    goal, length = _best(game, "player")
    line = LineSearch(game, seed=1).run(seconds=60)
    assert (line.goal, line.proven) == (goal, True)
    assert not line.shortest or len(line.moves) == length
    _check(game, line, "player")


@pytest.mark.slow
@pytest.mark.parametrize("forward", [True, False])
def test_lines_on_random_graphs_are_optimal(forward: bool) -> None:
    random = Random(forward)
    for _ in range(12):
        nodes = random_nodes(random, ("left",), forward=forward, missing=0.2)
        game = anygame.loads(sheet(nodes))
        goal, length = _best(game, "left")
        line = LineSearch(game, seed=2).run(seconds=60)
        assert (line.goal, line.proven) == (goal, True)
        assert not line.shortest or len(line.moves) == length
        _check(game, line, "left")


def _clock(random: Random, places: int) -> str:
    """Return rules of a counter of steps that ends the match, and of goals that some places have then."""
    last = random.randrange(2, 7)
    steps = " ".join(f"(succ {n} {n + 1})" for n in range(last))
    worth = [f"(worth {n} left {random.choice((0, 20, 90))})" for n in range(places) if random.random() < 0.3]
    return f"""
        (init (step 0)) {steps} (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
        (<= terminal (true (step {last}))) {" ".join(worth)}"""


@pytest.mark.slow
def test_lines_are_not_lost_by_ignoring_a_clock() -> None:
    random = Random(3)
    for _ in range(20):
        nodes = random_nodes(random, ("left",), forward=False, missing=0.1)
        game = anygame.loads(sheet(nodes) + _clock(random, len(nodes)))
        goal, length = _best(game, "left")
        line = LineSearch(game, seed=2).run(seconds=60)
        assert (line.goal, line.proven) == (goal, True)
        assert not line.shortest or len(line.moves) == length
        _check(game, line, "left")


def test_a_game_whose_greatest_goal_cannot_be_reached_is_searched_to_the_end() -> None:
    game = anygame.loads(sliding("cb-a", last=4))
    line = LineSearch(game).run()
    assert (line.goal, line.proven, line.most) == (0, True, 0)


def test_an_endless_game_ends_when_its_states_are_known() -> None:
    for machine in _MACHINES:
        line = LineSearch(anygame.loads(ENDLESS, machine=machine)).run()
        assert (line.goal, line.proven, line.moves, line.method) == (None, True, (), "none")


def test_an_end_without_a_goal_is_no_end_to_look_for() -> None:
    for machine in _MACHINES:
        line = LineSearch(anygame.loads(NO_GOAL, machine=machine)).run()
        assert (line.goal, line.proven, line.moves) == (None, True, ())


def test_a_stuck_state_has_no_line() -> None:
    for machine in _MACHINES:
        game = anygame.loads(DEAD_END, machine=machine)
        line = LineSearch(game, seed=1).run(game.initial_state().next(["left"]))
        assert (line.goal, line.proven, line.moves) == (None, True, ())


def test_from_the_end_there_is_nothing_to_do() -> None:
    game = anygame.loads(TALLY)
    state = game.state(["(good 7)", "(step 10)"])
    line = LineSearch(game).run(state)
    assert (line.goal, line.proven, line.shortest, line.moves) == (7, True, True, ())


def test_the_rest_of_a_line_is_known_one_move_later() -> None:
    for machine in _MACHINES:
        game = anygame.loads(TALLY, machine=machine)
        search = LineSearch(game, seed=1)
        line = search.run()
        state = game.initial_state().next(line.moves[0])
        rest = search.run(state, seconds=0)
        assert (rest.moves, rest.goal, rest.proven) == (line.moves[1:], line.goal, True)


def test_off_the_line_a_new_line_is_searched() -> None:
    game = anygame.loads(TALLY)
    search = LineSearch(game, seed=1)
    search.run()
    line = search.run(game.initial_state().next(["bad"]))
    assert (line.goal, line.proven) == (9, True)


def test_a_stopped_search_continues_in_the_next_call() -> None:
    game = anygame.loads(sliding("cb-a", last=4))
    search = LineSearch(game, seed=1)
    before = search.run(stop=lambda: True)
    assert (before.goal, before.proven, before.states) == (None, False, 0)
    after = search.run()
    assert (after.goal, after.proven) == (0, True)
    assert after.seconds > before.seconds


def test_an_interrupt_keeps_the_best_line_so_far() -> None:
    game = anygame.loads(sliding("cb-a", last=4))
    search = LineSearch(game, seed=1)

    def interrupt(line: Line) -> None:
        if line.goal is not None:
            raise KeyboardInterrupt

    line = search.run(progress=interrupt)
    assert line.goal == 0
    assert search.run().proven


def test_with_little_memory_the_search_continues_without_a_proof() -> None:
    game = anygame.loads(
        TALLY.replace("(legal player bad)", "").replace("(goal player ?n)", "(goal player 3)")
    )
    rounds = count()
    line = LineSearch(game, seed=1, memory=1).run(stop=lambda: next(rounds) > 20)
    assert line.goal == 3
    assert line.method == "nested rollouts"


def test_games_of_several_choosers_are_refused() -> None:
    with pytest.raises(SeveralChooseError, match="another role"):
        LineSearch(anygame.load("tic_tac_toe"))
    assert sole_chooser(anygame.load("monty_hall")) is None
    assert sole_chooser(anygame.load("knights_tour")) == 0
    assert sole_chooser(anygame.loads(WATCHED)) == 1


def test_a_choice_that_no_playout_met_is_met_by_the_search() -> None:
    doors = " ".join(f"(legal player {n})" for n in range(40))
    steps = " ".join(f"(succ {n} {n + 1})" for n in range(7))
    text = f"""
        (role player) (role other) (init (at 0)) {doors} {steps}
        (legal other noop) (<= (legal other choice) (true (at 6)))
        (<= (next (at ?m)) (does player 7) (true (at ?n)) (succ ?n ?m))
        (<= (next end) (does player ?n) (distinct ?n 7)) (<= terminal (true end)) (<= terminal (true (at 7)))
        (<= (goal player 0) (true end)) (<= (goal player 100) (true (at 7))) (goal other 0)"""
    for machine in _MACHINES:
        game = anygame.loads(text, machine=machine)
        with pytest.raises(SeveralChooseError, match="other has choices, too"):
            LineSearch(game, seed=1).run()


def test_thousands_of_moves_a_state() -> None:
    numbers = " ".join(f"(number {n})" for n in range(40))
    text = f"""
        (role player) (init (left 2)) {numbers} (succ 1 2) (succ 0 1)
        (<= (legal player (pick ?a ?b)) (number ?a) (number ?b))
        (<= (next (left ?m)) (true (left ?n)) (succ ?m ?n))
        (<= (next right) (does player (pick 31 17)))
        (<= (next both) (true right) (does player (pick 9 28)))
        (<= (next right) (true right)) (<= terminal (true (left 0)))
        (<= (goal player 100) (true both)) (<= (goal player 50) (true right) (not (true both)))
        (<= (goal player 0) (not (true right)))"""
    line = LineSearch(anygame.loads(text), seed=1).run()
    assert (line.goal, line.proven) == (100, True)
    assert [str(move) for (move,) in line.moves] == ["(pick 31 17)", "(pick 9 28)"]


def _after_counting(game: Game) -> Solution:
    """Return what is told of a game as if its states were too many."""
    uncounted = solve(game, memory=1, seconds=0)
    assert not uncounted.solved
    return with_best_line(game, game.initial_state(), uncounted, 1 << 30, 600)


def test_the_best_line_of_a_game_is_its_value_where_all_ends_have_goals() -> None:
    """Where states are too many to be counted, an end without a goal leaves the value open as well."""
    rules = """
        (role me) (init (at 0)) (succ 0 1) (succ 1 2) (succ 2 3) (bit 0) (bit 1)
        (<= (legal me (take ?b)) (bit ?b)) (<= (next (took ?n ?b)) (true (at ?n)) (does me (take ?b)))
        (<= (next (took ?n ?b)) (true (took ?n ?b))) (<= (next (at ?m)) (true (at ?n)) (succ ?n ?m))
        (<= terminal (true (at 3))) (<= (goal me 40) (true (took 0 1)))
    """
    for machine in _MACHINES:
        found = _after_counting(anygame.loads(rules, machine=machine))
        assert (found.solved, found.goals, found.bounds) == (False, {"me": None}, {"me": (40, 100)})
        found = _after_counting(anygame.loads(rules + "(<= (goal me 0) (true (took 0 0)))", machine=machine))
        assert (found.solved, found.goals) == (True, {"me": 40})
