"""The fluents of the rule files: what is declared, and what they say beside the pieces and the turn."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from tests.games.rule_files import rule_file
from tests.simulators import SIMULATORS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import anygame

NAMED = {"step", "capture", "pieceCount", "isColor"}


def playout(name: str, seed: int) -> Iterator[tuple[int, Any, anygame.State]]:
    """The states of a random playout, by the simulator and by the rule file, with their step from 1."""
    simulator, game = SIMULATORS[name], rule_file(name)
    generator = random.Random(f"{name} {seed}")
    state, other, step = simulator.initial(), game.initial(), 1
    yield step, state, other
    while not simulator.is_terminal(state):
        joint = {role: generator.choice(moves) for role, moves in simulator.legal(state).items()}
        state, other, step = simulator.next(state, joint), game.next(other, joint), step + 1
        yield step, state, other


def named(name: str, step: int, state: Any) -> set[str]:
    """The fluents that the description names, as the simulator knows them."""
    if name == "copolymer":
        counts = {f"(pieceCount red {len(state.red)})", f"(pieceCount blue {len(state.blue)})"}
        return counts | {f"(isColor {role} {colour})" for colour, role in state.owner}
    if name == "six_in_a_row":
        if state.setup:
            return set()
        other = "white" if state.first_colour == "black" else "black"
        return {f"(isColor player1 {state.first_colour})", f"(isColor player2 {other})"}
    if name == "capture_chess":
        red, blue = state.captures
        return {f"(step {step})", f"(capture red {red})", f"(capture blue {blue})"}
    return {f"(step {step})"}


@pytest.mark.parametrize("name", SIMULATORS)
@pytest.mark.parametrize("seed", range(3))
def test_named_fluents_agree(name: str, seed: int) -> None:
    for step, state, other in playout(name, seed):
        found = {text for text in map(str, other.facts) if text.strip("()").split()[0] in NAMED}
        assert found == named(name, step, state), f"step {step}"


@pytest.mark.parametrize("name", SIMULATORS)
def test_every_fact_and_legal_move_is_declared(name: str) -> None:
    game = rule_file(name)
    start = game.initial()
    base = {str(binding["?fact"]) for binding in start.query("(base ?fact)")}
    moves = {
        role: {str(binding["?move"]) for binding in start.query(f"(input {role} ?move)")}
        for role in game.roles
    }
    for seed in range(4):
        for step, _, state in playout(name, seed):
            assert set(map(str, state.facts)) <= base, f"step {step}"
            for role, legal in game.legal(state).items():
                assert set(legal) <= moves[role], f"step {step}"
