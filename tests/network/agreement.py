"""Plays with the reasoner and asks the network the same questions, all states at once."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import numpy as np
from tests.network.evaluate import evaluate_moves, evaluate_state

import anygame
from anygame.datalog.reasoner import Reasoner
from anygame.language.parser import parse_program
from anygame.network.compiled import CompiledGame, compile_game
from anygame.network.kernels.kernel import build_kernel
from anygame.network.lanes import DOUBLE, MISSING, Lanes

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from anygame.language.terms import Term
    from anygame.network.network import Network

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
    network_game = compiled(text, without)
    assert_agreement_of(anygame.loads(text), network_game, playouts, seed)
    return network_game


def assert_agreement_of(
    game: anygame.Game, network_game: CompiledGame, playouts: int = 20, seed: int = 1, longest: int = 30
) -> None:
    """Check everything a network says of states that the game reaches at random."""
    steps = wandered(game, playouts, seed, longest)
    network = network_game.network
    numbers = {fluent: number for number, fluent in enumerate(network_game.fluents)}
    fluents = [0] * network.fluents
    for lane, (state, _) in enumerate(steps):
        for fact in state.facts:
            fluents[numbers[fact]] |= 1 << lane
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


def _goals(game: anygame.Game, state: anygame.State, role: int) -> Sequence[Term]:
    return [binding["value"] for binding in state.query(f"(goal {game.roles[role]} ?value)")]


def assert_kernels_agree(network: Network, seed: int, steps: int = 4) -> None:
    """Check everything that machine code says of random states against the plain evaluation of the gates."""
    lanes = Lanes(build_kernel(network), _LANES, seed)
    random = np.random.default_rng(seed)
    states = random.random((_LANES, network.fluents)) < random.random()
    states[0] = network.initial
    lanes.load(states)
    for _ in range(steps):
        states = lanes.observation()
        values = evaluate_state(network, _packed(states), _LANES)
        terminal = _unpacked(values.literal(network.terminal))
        legal = np.array([_unpacked(values.literal(literal)) for literal in network.legal.tolist()])
        assert (lanes.terminal == terminal).all()
        assert (legal.reshape(-1, _LANES) == lanes.legal().T).all()
        for goals, found in zip(network.goals, lanes.goals(), strict=True):
            held = np.array([_unpacked(values.literal(literal)) for _, literal in goals]).reshape(-1, _LANES)
            several = [value for value, _ in goals]
            for lane in range(_LANES):
                picked = [value for value, holds in zip(several, held[:, lane], strict=True) if holds]
                assert found[lane] == (picked[0] if len(picked) == 1 else DOUBLE if picked else MISSING)
        starts = np.cumsum([0, *network.actions])
        stuck = np.zeros(_LANES, np.bool_)
        for first, end in pairwise(starts):
            stuck |= ~legal.reshape(-1, _LANES)[first:end].any(axis=0)
        lanes.reset(stuck & ~terminal)
        if (stuck & ~terminal).any():
            continue
        choices = lanes.step_random()
        does = np.zeros((_LANES, int(starts[-1])), np.bool_)
        for first, chosen in zip(starts, choices, strict=False):
            does[chosen >= 0, first + chosen[chosen >= 0]] = True
        after = np.array([_unpacked(bits) for bits in evaluate_moves(network, values, _packed(does))])
        after = after.reshape(-1, _LANES).T
        assert (lanes.observation() == np.where(terminal[:, None], states, after)).all()


_LANES = 16


def _packed(bits: NDArray[np.bool_]) -> list[int]:
    """Return one integer per column, with a bit per row."""
    return [sum(1 << int(row) for row in np.flatnonzero(column)) for column in bits.T]


def _unpacked(bits: int) -> NDArray[np.bool_]:
    return np.array([bits >> lane & 1 for lane in range(_LANES)], np.bool_)
