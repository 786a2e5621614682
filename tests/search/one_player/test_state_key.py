"""What of a state counts: clocks that run by themselves, and what nothing depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.search.one_player.puzzles import TALLY, sliding

import anygame
from anygame.search.one_player.state_key import Influence, find_step_counter

if TYPE_CHECKING:
    from anygame import Game


def _game(text: str) -> Game:
    game = anygame.loads(text)
    game.compile()
    return game


def _clock(text: str) -> tuple[list[str], frozenset[int]]:
    """Return the fluents of the clock of a game, and the goals for which leaving it out is safe."""
    game = _game(text)
    machine = game.backends.network
    assert machine is not None
    network = machine.compiled.network
    counter, safe_goals = find_step_counter(Influence(network), 0, network.initial)
    fluents = zip(game.fluent_terms, counter.tolist(), strict=True)
    return [str(fluent) for fluent, is_in in fluents if is_in], safe_goals


def test_a_game_without_a_counter_has_no_clock() -> None:
    assert _clock(sliding("cb-a")) == ([], frozenset({0, 100}))


def test_a_counter_that_only_ends_the_match_is_a_clock() -> None:
    fluents, safe = _clock(sliding("cb-a", last=12))
    assert sorted(fluents) == sorted(f"(step {n})" for n in range(13))
    assert safe == frozenset({100}), "who is early cannot wait for the end"


def test_a_counter_that_moves_depend_on_is_none() -> None:
    late = sliding("cb-a", last=12).replace(
        "(<= (legal player (slide ?p))", "(<= (legal player (slide ?p)) (not (true (step 3)))"
    )
    assert _clock(late)[0] == []


@pytest.mark.parametrize("text", [TALLY])
def test_goals_that_the_clock_brings_are_not_safe(text: str) -> None:
    fluents, safe = _clock(text)
    assert "(step 10)" in fluents
    assert not safe


def test_fluents_on_which_nothing_depends_are_not_in_the_key() -> None:
    told = "(<= (next (told ?p)) (does player (slide ?p))) (<= (next (told ?p)) (true (told ?p)))"
    game = _game(sliding("cb-a") + told)
    machine = game.backends.network
    assert machine is not None
    counts = Influence(machine.compiled.network).relevant_fluents(0)
    names = [str(fluent) for fluent in game.fluent_terms]
    assert [name for name, here in zip(names, counts.tolist(), strict=True) if not here] == [
        f"(told {place})" for place in range(1, 5)
    ]


@pytest.mark.parametrize(
    ("rule", "safe"),
    [
        # One of two names of a value depends on the clock.
        ("(<= (goal player 0100) (true (step 9)))", frozenset[int]()),
        # The value changes with the clock, and back.
        ("(<= (goal player 50) (true (step 3)))", frozenset({100})),
    ],
)
def test_a_goal_that_depends_on_the_clock_at_some_steps_is_not_safe(rule: str, safe: frozenset[int]) -> None:
    assert _clock(sliding("cb-a", last=12) + rule)[1] == safe
