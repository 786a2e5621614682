"""Estimates of how far a goal is, and the searches that they lead."""

from __future__ import annotations

from itertools import count
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.search.graph_games import random_nodes, sheet
from tests.search.one_player.puzzles import TALLY, latin, lights, pegs, sliding, sokoban

import anygame
from anygame.search.one_player.breadth_first import Incumbent
from anygame.search.one_player.guided import BestFirst, DepthFirst, EstimatedStates
from anygame.search.one_player.relaxation import ENDLESS, ChoiceGates, Relaxation
from anygame.search.one_player.state_key import StateKey
from anygame.search.one_player.successors import LaneSuccessors

if TYPE_CHECKING:
    from anygame import Game
    from anygame.network.network import Network

#: A square that is to be filled with the numbers from 1 to 5.
_SQUARE = ("1...5", ".3...", "..5..", "...2.", "4....")


def _network(game: Game) -> Network:
    game.compile()
    machine = game.backends.network
    assert machine is not None
    return machine.compiled.network


def _relaxation(game: Game) -> Relaxation:
    network = _network(game)
    return Relaxation(network, 0, np.zeros(network.fluents, np.bool_))


def _random_sheets() -> list[str]:
    random = Random(8)
    return [sheet(random_nodes(random, ("left",), forward=False)) for _ in range(5)]


@pytest.mark.parametrize(
    "text",
    [
        sliding("cb-a", last=9),
        lights("10110"),
        TALLY,
        pegs("10111011"),
        latin("1..", ".3.", "..."),
        *_random_sheets(),
    ],
)
def test_the_relaxation_never_excludes_a_reachable_goal(text: str) -> None:
    game = anygame.loads(text)
    relaxation = _relaxation(game)
    role = game.roles[0]
    random = Random(1)
    for playout in game.playouts(10, seed=random.randrange(100), limit=40):
        goal = playout.goals[role]
        if goal is None or not playout.is_complete:
            continue
        states = [game.initial_state()]
        for joint in playout.moves:
            states.append(states[-1].next(joint))
        batch = game.batch(len(states), seed=0)
        for lane, state in enumerate(states):
            batch.set_state(lane, state)
        place = relaxation.goals.index(goal)
        estimates = relaxation.estimate(batch.packed(), [place])
        assert (estimates.costs < ENDLESS).all()
        relaxation.aim(place)
        last = relaxation.estimate(batch.packed(), [place])
        assert last.costs[-1] == 0
        assert last.goals[-1] == place
        assert not last.open_parts[-1].any()


def test_a_goal_that_cannot_be_reached_any_more_is_recognised() -> None:
    # Whatever is put elsewhere, the last cell of the first row can hold no number if there is a 3 below it.
    for rows, is_lost in ((("12.", "3..", "..."), False), (("12.", "..3", "..."), True)):
        game = anygame.loads(latin(*rows))
        cost = _relaxation(game).estimate(game.batch(1, seed=0).packed(), [1]).costs[0]
        assert (cost == ENDLESS) == is_lost


def test_an_estimate_knows_that_a_role_makes_one_move() -> None:
    # A cell stays blank if something is put elsewhere: each of these moves need not be made, but one has to.
    elsewhere = """
        (<= (next (blank ?r ?c)) (true (blank ?r ?c)) (does player (put ?s ?d ?n)) (distinct ?r ?s))
        (<= (next (blank ?r ?c)) (true (blank ?r ?c)) (does player (put ?s ?d ?n)) (distinct ?c ?d))
        (<= (next (blank ?r ?c)) (true (blank ?r ?c)) (does player quit))"""
    text = latin("12.", "..3", "...")
    rule = "(<= (next (blank ?r ?c)) (true (blank ?r ?c)) (not (filled ?r ?c)))"
    assert rule in text
    game = anygame.loads(text.replace(rule, elsewhere))
    assert _relaxation(game).estimate(game.batch(1, seed=0).packed(), [1]).costs[0] == ENDLESS


def _estimated(game: Game, incumbent: Incumbent) -> tuple[LaneSuccessors, StateKey, Relaxation]:
    network = _network(game)
    successors = LaneSuccessors(game, 512, game.initial_state(), 0)
    key = StateKey.of_network(network, 0, successors.root, skip_counter=True)
    incumbent.most = 100
    return successors, key, Relaxation(network, 0, key.counter)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        latin(*_SQUARE),
        pegs("10111011"),
        sokoban("#####", "#@$.#", "#.$ #", "#   #", "#####"),
        sliding("cab-"),
        lights("1010110"),
    ],
)
def test_best_first_finds_lines(text: str) -> None:
    game, incumbent = anygame.loads(text), Incumbent()
    search = BestFirst(*_estimated(game, incumbent), incumbent, 1 << 28)
    rounds = count()
    while not incumbent.is_best and not search.is_over and next(rounds) < 30_000:
        search.step(0.01)
    assert incumbent.goal == 100
    assert incumbent.method == "best first"


def test_best_first_knows_when_nothing_is_left() -> None:
    game, incumbent = anygame.loads(pegs("1010101")), Incumbent()
    search = BestFirst(*_estimated(game, incumbent), incumbent, 1 << 28)
    while not search.is_over:
        search.step(0.01)
    assert (incumbent.goal, search.is_complete) == (0, True) or incumbent.goal is None


def test_a_dive_chooses_the_most_constrained_place_first() -> None:
    game, incumbent = anygame.loads(latin(*_SQUARE)), Incumbent()
    successors, key, relaxation = _estimated(game, incumbent)

    def fresh() -> EstimatedStates:
        return EstimatedStates(successors, key, relaxation, incumbent, "depth first")

    search = DepthFirst(fresh, 1 << 28, seed=1)
    rounds = count()
    while not incumbent.is_best and next(rounds) < 30_000:
        search.step(0.01)
    assert (incumbent.goal, incumbent.method) == (100, "depth first")
    assert len(incumbent.line) == sum(row.count(".") for row in _SQUARE)


def test_short_dives_can_restart_thousands_of_times() -> None:
    game, incumbent = anygame.loads(pegs("101")), Incumbent()
    successors, key, relaxation = _estimated(game, incumbent)
    root = EstimatedStates(successors, key, relaxation, incumbent, "depth first")
    restarts: list[None] = []

    def fresh() -> EstimatedStates:
        restarts.append(None)
        return root

    search = DepthFirst(fresh, 0, seed=1)
    while len(restarts) < 4000:
        search.step(0.01)


def test_moves_of_different_roles_are_distinguished() -> None:
    text = """
        (role left) (role right) (role third) (init (at 0))
        (legal left a) (legal left b) (legal left c)
        (legal left d) (legal right x) (legal right y) (legal third noop)
        (<= (next (at 1)) (does left a) (does right x))
        (<= (next (at 1)) (true (at 0)) (not (does left b)) (not (does left c)))
        (<= (next both) (does left ?m) (distinct ?m c)) (<= (next third) (does third noop))
        (<= terminal (true (at 1))) (<= (goal left 100) (true both)) (<= (goal left 0) (not (true both)))"""
    network = _network(anygame.loads(text))
    gates = ChoiceGates.of(network, 0)
    # Neither b nor c is a or d; the only move of the third role is always made.
    sets = {tuple(row) for row in gates.has.tolist()}
    assert sets & {(True, False, False, True), (False, True, True, False)}
    assert (True, True, True, True) in sets
    # The moves of the second role are unknown, made or not.
    assert len(gates.fixed) == 4
