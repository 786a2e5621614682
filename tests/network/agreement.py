"""Plays with the reasoner and asks the network the same questions, all states at once."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import anygame
from anygame.datalog.reasoner import Reasoner
from anygame.language.parser import parse_program
from anygame.network.compiled import CompiledGame, compile_game
from anygame.network.evaluate import evaluate_moves, evaluate_state

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from anygame.language.terms import Term

__all__ = ["assert_agreement", "compiled", "wandered"]

Step = tuple[anygame.State, tuple["Term", ...] | None]


def compiled(text: str, without: Collection[str] = ()) -> CompiledGame:
    """Return the compiled game of a rule sheet, made without some passes."""
    return compile_game(Reasoner(parse_program(text)), without=without)


def wandered(game: anygame.Game, playouts: int, seed: int = 1, longest: int = 30) -> list[Step]:
    """Return states that random play goes through, with the moves made there."""
    random = Random(seed)
    steps: list[Step] = []
    for _ in range(playouts):
        state = game.initial_state()
        for _ in range(longest):
            legal = [state.legal_moves(role) for role in game.roles]
            if state.is_terminal or not all(legal):
                break
            joint = tuple(random.choice(moves) for moves in legal)
            steps.append((state, joint))
            state = state.next(joint)
        steps.append((state, None))
    return steps


def assert_agreement(
    text: str, playouts: int = 20, seed: int = 1, without: Collection[str] = ()
) -> CompiledGame:
    """Check everything the network says of states reached at random; return the compiled game."""
    game = anygame.loads(text)
    network_game = compiled(text, without)
    steps = wandered(game, playouts, seed)
    network = network_game.network
    places = {fluent: place for place, fluent in enumerate(network_game.fluents)}
    fluents = [0] * network.fluents
    for lane, (state, _) in enumerate(steps):
        for fact in state.facts:
            fluents[places[fact]] |= 1 << lane
    values = evaluate_state(network, fluents, len(steps))
    starts = [sum(network.actions[:role]) for role in range(len(game.roles))]
    actions = [0] * sum(network.actions)
    for lane, (state, joint) in enumerate(steps):
        where = f"lane {lane}: {sorted(map(str, state.facts))}"
        assert bool(values.literal(network.terminal) >> lane & 1) == state.is_terminal, where
        for number, role in enumerate(game.roles):
            moves = network_game.actions[number]
            literals = network.legal[starts[number] : starts[number] + len(moves)].tolist()
            found = [
                m for m, literal in zip(moves, literals, strict=True) if values.literal(literal) >> lane & 1
            ]
            assert tuple(found) == state.legal_moves(role), where
            goals = [goal for goal, literal in network.goals[number] if values.literal(literal) >> lane & 1]
            assert goals == sorted(int(str(goal)) for goal in _goals(game, state, number)), where
            if joint is not None:
                actions[starts[number] + moves.index(joint[number])] |= 1 << lane
    following = evaluate_moves(network, values, actions)
    for lane, (state, joint) in enumerate(steps):
        if joint is not None:
            found_facts = {
                f for f, bits in zip(network_game.fluents, following, strict=True) if bits >> lane & 1
            }
            assert found_facts == state.next(joint).facts, f"lane {lane} after {joint}"
    return network_game


def _goals(game: anygame.Game, state: anygame.State, role: int) -> Sequence[Term]:
    return [binding["value"] for binding in state.query(f"(goal {game.roles[role]} ?value)")]
