"""Changing how a match may have come here: only ways that agree, each as often as it is probable."""

from __future__ import annotations

from collections import Counter
from math import inf
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.examples import examples
from tests.network.random_rules import sheets_with_percepts
from tests.search.hidden.card_games import card_game

import anygame
from anygame.game.state import Observation, RoleView
from anygame.search.hidden.belief import Belief
from anygame.search.hidden.observing import TurnReader
from anygame.search.hidden.rejuvenation import Rejuvenation

if TYPE_CHECKING:
    from anygame.search.hidden.observing import Particles


def _view(
    game: anygame.Game, role: anygame.Role, random: Random, steps: int, *, tells_own: bool = False
) -> RoleView:
    """Return what a role knows after some turns of a random match."""
    states = [game.initial_state()]
    joints: list[list[anygame.Term]] = []
    while len(joints) < steps and not states[-1].is_terminal:
        legal = [states[-1].legal_moves(each) for each in game.roles]
        if not all(legal):
            break
        joints.append([random.choice(moves) for moves in legal])
        states.append(states[-1].next(joints[-1]))
    view = RoleView.of(role, states, joints)
    told = [turn.move if tells_own or random.random() < 0.8 else None for turn in view.observations]
    return RoleView(
        view.start,
        tuple(Observation(own, turn.percepts) for own, turn in zip(told, view.observations, strict=True)),
    )


def _moved(
    game: anygame.Game, role: anygame.Role, view: RoleView, particles: Particles, sweeps: int
) -> Particles:
    """Change the ways of particles so often."""
    belief = Belief(game, role)
    belief.follow(RoleView(view.start), inf)
    assert belief.particles is not None
    compiled = game.backends.needed_network().compiled
    number = game.role_index(role)
    reader = TurnReader(compiled.actions[number], compiled.percepts[number])
    turns = [turn for turn in map(reader.read, view.observations) if turn is not None]
    random = np.random.default_rng(1)
    rejuvenation = Rejuvenation(compiled.actions, number, belief.pool, belief.observing, random)
    for _ in range(sweeps):
        particles, _ = rejuvenation.moved(particles, belief.particles.states[0], turns)
    return particles


def _marks(particles: Particles) -> list[bytes]:
    both = np.concatenate([particles.states, particles.keys], axis=1)
    return [row.tobytes() for row in both]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_ways_are_met_as_often_as_they_are_probable(seed: int) -> None:
    game = anygame.loads(card_game(players=2, suits=2, ranks=5, cards=3), machine="network")
    role = next(each for each in game.roles if not each.is_random)
    view = _view(game, role, Random(seed), steps=8)
    belief = Belief(game, role)
    belief.follow(view, inf)
    exact = belief.particles
    assert exact is not None
    assert belief.is_exact
    assert len(exact) > 5
    # All begin with the same way.
    count = 3_000
    one = exact.taken(np.zeros(count, np.int64), np.full(count, 1 / count))
    found = Counter(_marks(_moved(game, role, view, one, sweeps=250)))
    marks = _marks(exact)
    assert found.keys() <= set(marks)
    distance = sum(
        abs(found[mark] / count - weight) for mark, weight in zip(marks, exact.weights, strict=True)
    )
    # So far off are so many draws from the right shares, in the mean.
    chance = np.sqrt(2 * exact.weights * (1 - exact.weights) / (np.pi * count)).sum()
    assert distance < 1.25 * chance


@pytest.mark.parametrize("block", range(examples(2)))
def test_in_random_sheets_moved_particles_agree_with_what_was_seen(block: int) -> None:
    changed = 0
    for seed, text in sheets_with_percepts(range(6 * block, 6 * block + 6)):
        game = anygame.loads(text, machine="network")
        for role in game.roles:
            view = _view(game, role, Random(seed), steps=3)
            belief = Belief(game, role)
            belief.follow(view, inf)
            exact = belief.particles
            if exact is None or not belief.is_exact or not view.observations:
                continue
            drawn = exact.drawn(200, np.random.default_rng(seed))
            moved = _moved(game, role, view, drawn, sweeps=3)
            assert set(_marks(moved)) <= set(_marks(exact)), text
            changed += _marks(moved) != _marks(drawn)
    assert changed


def _turns_believed(game: anygame.Game, role: anygame.Role, view: RoleView) -> int:
    """Return after how many turns a small belief is not empty."""
    belief, found = Belief(game, role, most=300), 0
    for turns in range(len(view.observations) + 1):
        belief.follow(RoleView(view.start, view.observations[:turns]), inf)
        if belief.particles is None or belief.is_guess:
            break
        found += 1
    return found


@pytest.mark.slow
def test_deals_that_fit_all_plays_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    game = anygame.loads(card_game(players=3, suits=3, ranks=6, cards=5), machine="network")
    role = next(each for each in game.roles if not each.is_random)
    view = _view(game, role, Random(4), steps=30)
    turns = len(view.observations) + 1
    assert turns == 31
    assert _turns_believed(game, role, view) == turns
    monkeypatch.setattr(Belief, "_can_vary", lambda *_: False)
    assert _turns_believed(game, role, view) < turns


def test_where_no_state_is_found_the_closest_are_a_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Belief, "_can_vary", lambda *_: False)
    monkeypatch.setattr("anygame.search.hidden.belief._MOST_REPLAYS", 0)
    game = anygame.loads(card_game(players=3, suits=3, ranks=6, cards=5), machine="network")
    role = next(each for each in game.roles if not each.is_random)
    seen, own, guesses = set(), set(), 0
    view = _view(game, role, Random(4), steps=30, tells_own=True)
    belief = Belief(game, role, most=300)
    for turns, observation in enumerate(view.observations, 1):
        belief.follow(RoleView(view.start, view.observations[:turns]), inf)
        assert belief.particles is not None
        seen |= {str(each).removeprefix("(got ")[:-1] for each in observation.percepts if "got" in str(each)}
        own |= {str(observation.move).removeprefix("(lay ")[:-1]}
        if belief.is_guess:
            guesses += 1
            # Its own hand it knows all the same.
            weights = belief.weight_of_legal()
            likely = [str(game.actions(role)[action]) for action in np.flatnonzero(weights > 0.99)]
            laid = {move.removeprefix("(lay ")[:-1] for move in likely if move.startswith("(lay")}
            assert laid <= seen - own
    assert guesses > 3


def test_ways_that_are_too_long_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anygame.search.hidden.belief._LONGEST_HISTORY", 20)
    game = anygame.loads(card_game(players=2, suits=2, ranks=4, cards=3), machine="network")
    role = next(each for each in game.roles if not each.is_random)
    view = _view(game, role, Random(3), steps=12)
    belief = Belief(game, role, most=10)
    kept = []
    for turns in range(1, len(view.observations) + 1):
        belief.follow(RoleView(view.start, view.observations[:turns]), inf)
        assert belief.particles is not None
        kept.append(belief.particles.moves.shape[1])
    assert kept[:6] == [1, 2, 3, 4, 5, 6]
    assert not any(kept[6:])
