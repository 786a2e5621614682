"""What roles see of a joint move: the network, in its lanes too, says what the reasoner says."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.examples import examples
from tests.game.sheets import SHEETS
from tests.network.random_rules import sheets_with_percepts

import anygame
from anygame.datalog.reasoner import Reasoner
from anygame.language.parser import parse_program
from anygame.network.compiled import compile_game
from anygame.network.grounding.grounder import GroundingLimits
from anygame.network.kernels.kernel import build_kernel
from anygame.network.lanes import Lanes

if TYPE_CHECKING:
    from pathlib import Path

_LANES = 70
_HIDING = [path for path in sorted(SHEETS.glob("*.kif")) if anygame.load(path).is_gdl2]


def _assert_percepts_agree(text: str, seed: int, steps: int = 6) -> int:
    """Play side by side in lanes and by the reasoner; return how many percepts were compared."""
    game = anygame.loads(text, machine="network")
    plain = anygame.loads(text, machine="reasoner")
    assert game.compile()
    lanes = game.backends.needed_network().lanes(_LANES, seed)
    terms = [game.percept_terms(role) for role in game.roles]
    for of_role in terms:
        assert list(of_role) == sorted(set(of_role), key=str)
    random, compared = Random(seed), 0
    for _ in range(steps):
        stuck = lanes.stuck | lanes.terminal
        before = [plain.state(game.backends.machine.facts(lanes.position(lane))) for lane in range(_LANES)]
        chosen = lanes.step_random()
        seen = [lanes.percepts_of(role) for role in range(len(game.roles))]
        assert not any(of_role[stuck].any() for of_role in seen)
        for lane in random.sample(range(_LANES), 12):
            if stuck[lane]:
                continue
            moves = {
                str(role): game.actions(role)[chosen[number][lane]] for number, role in enumerate(game.roles)
            }
            expected = before[lane].percepts(moves)
            assert game.state(before[lane].facts).percepts(moves) == expected
            for number, role in enumerate(game.roles):
                found = [terms[number][place] for place in np.flatnonzero(seen[number][lane])]
                assert tuple(found) == expected[role]
                compared += len(found)
        lanes.reset(lanes.stuck | lanes.terminal)
    return compared


@pytest.mark.parametrize("sheet", _HIDING, ids=lambda path: path.stem)
def test_percepts_of_public_sheets_agree(sheet: Path) -> None:
    # Some of them tell little.
    assert _assert_percepts_agree(sheet.read_text(), seed=1) > 0


@pytest.mark.slow
@pytest.mark.parametrize("block", range(examples(3)))
def test_random_sheets_of_hidden_information(block: int) -> None:
    compared = 0
    for seed, text in sheets_with_percepts(range(8 * block, 8 * block + 8)):
        try:
            compared += _assert_percepts_agree(text, seed)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{text}") from None
    assert compared > 50


_SECRET = """
    (role a) (role b) (init (s 1)) (succ 1 2) (succ 2 3) (legal a wait) (legal b wait) (legal b (say 1))
    (<= (next (s ?n)) (true (s ?m)) (succ ?m ?n)) (<= terminal (true (s 3)))
    (goal a 50) (goal b 50)"""
_SEES = " (<= (sees a (heard ?w)) (does b (say ?w))) (sees b clock)"


def test_sheets_without_percepts_have_the_same_network_alone() -> None:
    told, silent = (compile_game(Reasoner(parse_program(text))) for text in (_SECRET + _SEES, _SECRET))
    assert silent.percept_network is None
    assert silent.percepts == ((), ())
    assert silent.network.gates == told.network.gates
    assert silent.network.inputs.tolist() == told.network.inputs.tolist()
    assert told.percept_network is not None
    assert told.percept_network.facts == told.network.fluents == silent.network.fluents


def test_lanes_that_are_put_into_a_state_have_seen_nothing() -> None:
    compiled = compile_game(Reasoner(parse_program(_SECRET + _SEES)))
    assert compiled.percept_network is not None
    lanes = Lanes(build_kernel(compiled.percept_network), 4)
    say = [list(map(str, moves)).index("(say 1)") for moves in compiled.actions[1:]]
    joint = [np.zeros(4, np.int64), np.full(4, say[0])]

    def seen() -> list[list[bool]]:
        found: list[list[bool]] = np.concatenate(lanes.percepts(), axis=1).tolist()
        return found

    quiet, loud = [False, False], [True, True]
    assert seen() == [quiet] * 4
    packed, states = lanes.packed(), lanes.observation()
    assert packed.shape == (4, 1)
    assert states.shape == (4, compiled.network.fluents)
    lanes.step(joint)
    assert seen() == [loud] * 4
    assert lanes.copy().percepts()[0].all()
    lanes.reset(np.array([True, False, False, False]))
    lanes.set(1, states[0])
    assert seen() == [quiet, quiet, loud, loud]
    lanes.step(joint)
    assert lanes.terminal.tolist() == [False, False, True, True]
    lanes.step(joint)
    assert seen() == [loud, loud, quiet, quiet]
    lanes.load(states)
    assert seen() == [quiet] * 4
    lanes.step(joint)
    lanes.load_packed(packed)
    assert seen() == [quiet] * 4


def test_a_sheet_too_large_for_percepts_has_a_network_without_them() -> None:
    numbers = " ".join(f"(n {number})" for number in range(60))
    text = _SECRET + numbers + " (<= (sees a (x ?i ?j)) (n ?i) (n ?j) (true (s 2)))"
    reasoner = Reasoner(parse_program(text))
    compiled = compile_game(reasoner, GroundingLimits(instances=1000))
    assert compiled.percepts == ()
    assert compiled.percept_network is None
    game = anygame.loads(text, machine="network")
    assert game.compile(instances=1000)
    state = game.initial_state().next(["wait", "wait"])
    assert len(state.percepts(["wait", "wait"])["a"]) == 3600
    with pytest.raises(anygame.LimitError, match="too large for a network that computes percepts"):
        game.percept_terms("a")


def test_roles_that_see_nothing_have_no_percept_terms() -> None:
    game = anygame.loads(_SECRET)
    assert game.percept_terms("a") == ()
    assert game.backends.needed_network().lanes(3, 1).percepts_of(0).shape == (3, 0)
    with pytest.raises(anygame.UnknownRoleError):
        game.percept_terms("nobody")
