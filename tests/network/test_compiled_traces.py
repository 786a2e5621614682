"""Compiled public sheets give what an independent reasoner recorded: every state in a lane of its own."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.conftest import find_corpus
from tests.network.evaluate import evaluate_moves, evaluate_state

from anygame.datalog.reasoner import Reasoner
from anygame.errors import LimitError
from anygame.language.parser import parse_program
from anygame.language.text import read_source
from anygame.network.compiled import compile_game
from anygame.network.grounding.grounder import GroundingLimits
from anygame.network.kernels.kernel import build_kernel
from anygame.network.lanes import DOUBLE, MISSING, Lanes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.network.compiled import CompiledGame
    from anygame.network.network import Network

_DIFFERENCES = json.loads((Path(__file__).parent.parent / "data" / "known_differences.json").read_text())
_LIMITS = GroundingLimits(instances=250_000, join=4_000_000, steps=200_000_000)
#: What takes a fifth of the time of all sheets together.
_LONG = frozenset({"mineClearingSmall"})
#: Straight code of larger networks takes the compiler seconds; the loop is tried on them.
_STRAIGHT = 8_000


@dataclass(frozen=True)
class Answers:
    """What was computed of many states and the moves made there.

    Attributes:
        legal: bool [states, all actions].
        terminal: bool [states].
        goals: per role int [states], MISSING or DOUBLE where there is not one.
        following: bool [states, fluents].
    """

    legal: NDArray[np.bool_]
    terminal: NDArray[np.bool_]
    goals: list[NDArray[np.int32]]
    following: NDArray[np.bool_]


def by_kernels(network: Network, states: NDArray[np.bool_], moves: NDArray[np.int64]) -> Answers:
    kernel = build_kernel(network, "straight" if len(network.inputs) <= _STRAIGHT else "loop")
    lanes = Lanes(kernel, len(states))
    lanes.load(states)
    legal, terminal, goals = lanes.legal(), lanes.terminal, lanes.goals()
    lanes.step(list(moves))
    return Answers(legal, terminal, goals, lanes.observation())


def plainly(network: Network, states: NDArray[np.bool_], moves: NDArray[np.int64]) -> Answers:
    count = len(states)
    values = evaluate_state(network, _packed(states), count)

    def holds(literal: int) -> NDArray[np.bool_]:
        return _unpacked([values.literal(literal)], count)[:, 0]

    legal = _unpacked([values.literal(literal) for literal in network.legal.tolist()], count)
    terminal = holds(network.terminal)
    goals = [_goal([(value, holds(literal)) for value, literal in role], count) for role in network.goals]
    does = np.zeros((count, sum(network.actions)), np.bool_)
    first = 0
    for of_role, size in zip(moves, network.actions, strict=True):
        does[np.arange(count), first + of_role] = True
        first += size
    following = _unpacked(evaluate_moves(network, values, _packed(does)), count)
    return Answers(legal, terminal, goals, np.where(terminal[:, None], states, following))


def _packed(bits: NDArray[np.bool_]) -> list[int]:
    """Return per column an integer whose bits are the rows."""
    return [int.from_bytes(row.tobytes(), "little") for row in np.packbits(bits.T, axis=1, bitorder="little")]


def _unpacked(values: list[int], count: int) -> NDArray[np.bool_]:
    size = -(-count // 8)
    rows = np.frombuffer(b"".join(value.to_bytes(size, "little") for value in values), np.uint8)
    bits = np.unpackbits(rows.reshape(len(values), size), axis=1, bitorder="little", count=count)
    return bits.T.astype(np.bool_)


def _goal(values: list[tuple[int, NDArray[np.bool_]]], count: int) -> NDArray[np.int32]:
    found = np.full(count, MISSING, np.int32)
    for value, holds in values:
        found = np.where(holds, np.where(found == MISSING, value, DOUBLE), found).astype(np.int32)
    return found


@dataclass(frozen=True)
class Trace:
    """States as they were recorded, in the words of the network."""

    recorded: list[dict[str, Any]]
    states: NDArray[np.bool_]
    legal: NDArray[np.bool_]
    moves: NDArray[np.int64]


def _sheets() -> list[str]:
    folder = find_corpus()
    return sorted(path.name[:-9] for path in (folder / "traces").glob("*.jsonl.gz")) if folder else []


def _read(corpus: Path, name: str, game: CompiledGame) -> Trace:
    with gzip.open(corpus / "traces" / f"{name}.jsonl.gz", "rt") as lines:
        head, *recorded = map(json.loads, lines)
    written = _DIFFERENCES.get(name, {}).get("written", {})
    assert head["roles"] == list(map(str, game.roles))
    fluents = {written.get(str(fact), str(fact)): place for place, fact in enumerate(game.fluents)}
    actions = [{str(move): place for place, move in enumerate(moves)} for moves in game.actions]
    initial = [name for name, holds in zip(fluents, game.network.initial, strict=True) if holds]
    assert sorted(initial) == head["init"]
    first = np.cumsum([0, *game.network.actions])
    states = np.zeros((len(recorded), len(fluents)), np.bool_)
    legal = np.zeros((len(recorded), first[-1]), np.bool_)
    moves = np.zeros((len(actions), len(recorded)), np.int64)
    for lane, state in enumerate(recorded):
        states[lane, [fluents[fact] for fact in state["facts"]]] = True
        for role, places in enumerate(actions):
            some = [places[move] for move in state["legal"][head["roles"][role]]]
            legal[lane, first[role] + np.array(some, np.int64)] = True
            # What has no move ends the recording or the game; a legal one does.
            made = state["moves"]
            moves[role, lane] = places[made[role]] if made else (some or [0])[0]
    return Trace(recorded, states, legal, moves)


@pytest.mark.skipif(not _sheets(), reason="no corpus of public rule sheets (see tests/conftest.py)")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (name in _LONG)) for name in _sheets()]
)
def test_every_recorded_state_agrees_in_its_lane(corpus: Path, name: str) -> None:
    reasoner = Reasoner(parse_program(read_source(corpus / "rules" / f"{name}.kif")))
    try:
        game = compile_game(reasoner, _LIMITS)
    except LimitError as error:
        pytest.skip(f"too large for this test: {error.message}")
    trace = _read(corpus, name, game)
    for compute in (by_kernels, plainly):
        answers = compute(game.network, trace.states, trace.moves)
        _check(game, trace, answers, compute.__name__)


def _check(game: CompiledGame, trace: Trace, answers: Answers, how: str) -> None:
    terms = [move for moves in game.actions for move in moves]
    for lane, action in np.argwhere(answers.legal != trace.legal).tolist():
        pytest.fail(f"{how}, lane {lane}: legal {terms[action]} should be {trace.legal[lane, action]}")
    recorded = trace.recorded
    assert answers.terminal.tolist() == [state["terminal"] for state in recorded], how
    for role, goals in enumerate(answers.goals):
        found = [None if goal in (MISSING, DOUBLE) else goal for goal in goals.tolist()]
        assert found == [state["goals"][role] for state in recorded], how
    going = np.array([bool(state["moves"]) for state in recorded[:-1]])
    wrong = (answers.following[:-1] != trace.states[1:]) & going[:, None]
    for lane, fluent in np.argwhere(wrong).tolist():
        pytest.fail(
            f"{how}, lane {lane}: next {game.fluents[fluent]} should be {trace.states[lane + 1, fluent]}"
        )
