"""Fluents that run by themselves: found once, for phases and for searches that leave counters out."""

from __future__ import annotations

import anygame
from anygame.network.kernels.phases import autonomous_fluents, run_alone

_SHEET = """
    (role a) (role b) (init (step 0)) (init (control a)) (init (cell empty)) (succ 0 1) (succ 1 2)
    (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
    (<= (next (control a)) (true (control b))) (<= (next (control b)) (true (control a)))
    (<= (legal ?r mark) (role ?r)) (<= (legal ?r wait) (role ?r))
    (<= (next (cell full)) (does a mark)) (<= (next (cell empty)) (true (cell empty)) (does a wait))
    (<= terminal (true (step 2))) (<= (goal ?r 100) (role ?r) (true (cell full)))"""


def test_fluents_that_moves_change_are_not_autonomous() -> None:
    game = anygame.loads(_SHEET)
    network = game.backends.needed_network().compiled.network
    names = [str(term) for term in game.fluent_terms]
    assert {names[fluent].split()[0] for fluent in autonomous_fluents(network)} == {"(step", "(control"}


def test_values_are_given_up_to_the_first_that_comes_again() -> None:
    game = anygame.loads(_SHEET)
    network = game.backends.needed_network().compiled.network
    turns = [place for place, term in enumerate(game.fluent_terms) if "control" in str(term)]
    first, second, again = run_alone(network, turns, network.initial, 8)
    assert first == again != second
    steps = [place for place, term in enumerate(game.fluent_terms) if "step" in str(term)]
    values = run_alone(network, steps, network.initial, 8)
    assert len(values) == 5
    assert values[-1] == values[-2] == (False, False, False)
    assert run_alone(network, steps, network.initial, 2) == []
