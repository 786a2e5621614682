"""Games as circuits for model checkers: read by other readers, they step as the reasoner does."""

from __future__ import annotations

import shutil
import subprocess
from random import Random
from typing import TYPE_CHECKING, Final

import pytest
from tests.examples import examples
from tests.network.random_rules import sheets_with_percepts
from tests.proving.circuits import read_aiger
from tests.proving.sheets import GOALS, NAMES, NIM, ROADS, TRAP

import anygame
from anygame.language.parser import parse_term
from anygame.proving.exports import binary_aiger, export_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.proving.circuits import Circuit

    from anygame.language.terms import Term

READERS: Final[dict[str, Callable[[anygame.Game], Circuit]]] = {
    "ascii": lambda game: read_aiger(export_text(game, "aiger").encode()),
    "binary": lambda game: read_aiger(binary_aiger(game)),
}
SHEETS: Final = {"nim": NIM, "trap": TRAP, "goals": GOALS, "names": NAMES, "roads": ROADS}
GAMES: Final = ["tic_tac_toe", "line_chess", "rock_paper_scissors", "monty_hall", "three_player_chomp"]


def game_of(name: str, machine: str = "reasoner") -> anygame.Game:
    load = anygame.loads if name in SHEETS else anygame.load
    return load(SHEETS.get(name, name), machine=machine)  # type: ignore[arg-type]


def term(text: str) -> Term:
    return parse_term(text)


def expected_bad(state: anygame.State) -> dict[str, bool]:
    """Return what must not hold, by the reasoner."""
    moves = [len(state.legal_moves(role)) for role in state.game.roles]

    def goal_is_sound(role: str) -> bool:
        values = [int(str(row["v"])) for row in state.query(f"(goal {role} ?v)")]
        return len(values) == 1 and 0 <= values[0] <= 100

    return {
        "playable": not state.is_terminal and not all(moves),
        "goals": state.is_terminal
        and not all(goal_is_sound(role) for role in state.game.roles if not role.is_random),
        "turn-taking": not state.is_terminal and sum(count > 1 for count in moves) > 1,
    }


def expected_outputs(state: anygame.State) -> set[str]:
    """Return what holds in a state, of legal moves, the end and goals, by the reasoner."""
    found = [f"(legal {role} {move})" for role in state.game.roles for move in state.legal_moves(role)]
    found += ["terminal"] * state.is_terminal
    for role in state.game.roles:
        found += [f"(goal {role} {row['v']})" for row in state.query(f"(goal {role} ?v)")]
    return {str(term(text)) for text in found}


def compare(circuit: Circuit, state: anygame.State) -> None:
    facts = {str(term(f"(true {fact})")) for fact in state.facts}
    assert {fact for fact, holds in circuit.state.items() if holds} == facts
    found = {text for text, holds in circuit.outputs().items() if holds}
    wanted = expected_outputs(state)
    if not state.is_terminal:
        # Goals count at the end.
        found, wanted = ({text for text in texts if "goal" not in text} for texts in (found, wanted))
    assert found == wanted
    assert {kind.replace("_", "-"): holds for kind, holds in circuit.bad().items()} == expected_bad(state)


def check_plays(game: anygame.Game, form: str, plays: int = 2, longest: int = 8) -> None:
    """Play at random, and compare each state."""
    circuit, random = READERS[form](game), Random(1)
    first = dict(circuit.state)
    for _ in range(plays):
        circuit.state, state = dict(first), game.initial_state()
        for _ in range(longest):
            compare(circuit, state)
            moves = [state.legal_moves(role) for role in game.roles]
            if state.is_terminal or not all(moves):
                break
            joint = [random.choice(of_role) for of_role in moves]
            pairs = zip(game.roles, joint, strict=True)
            circuit.step([str(term(f"(does {role} {move})")) for role, move in pairs])
            state = state.next(joint)


@pytest.mark.parametrize("form", READERS)
@pytest.mark.parametrize("sheet", [*SHEETS, *GAMES])
def test_a_circuit_steps_as_the_reasoner_does(sheet: str, form: str) -> None:
    check_plays(game_of(sheet), form)


@pytest.mark.parametrize("seed", range(examples(4)))
def test_circuits_of_random_rules_step_as_the_reasoner_does(seed: int) -> None:
    for _, text in sheets_with_percepts([seed]):
        for form in READERS:
            check_plays(anygame.loads(text, machine="reasoner"), form, plays=1, longest=3)


@pytest.mark.parametrize("form", READERS)
@pytest.mark.parametrize("moves", [[], ["go", "rest"], ["go"], ["rest"]])
def test_steps_that_are_none_of_play_are_remembered(form: str, moves: list[str]) -> None:
    circuit = READERS[form](anygame.loads(TRAP))
    circuit.step([f"(does lone {move})" for move in moves])
    legal = len(moves) == 1
    assert circuit.state["illegal"] is not legal
    assert circuit.bad()["playable"] is (moves == ["go"])
    # Neither from the end nor from a state without moves is there a step.
    circuit.step(["(does lone rest)"])
    assert circuit.state["illegal"]
    assert not any(circuit.bad().values())


#: What model checkers find out: which of playable, goals and turn-taking hold in all states.
VERDICTS: Final = {
    "tic_tac_toe": [True, True, True],
    "nim": [True, True, True],
    "trap": [False, True, True],
    "goals": [True, False, True],
    "rock_paper_scissors": [True, True, False],
    "monty_hall": [True, True, True],
}


@pytest.mark.skipif(shutil.which("berkeley-abc") is None, reason="berkeley-abc is not installed")
@pytest.mark.parametrize("sheet", VERDICTS)
def test_abc_proves_and_refutes(sheet: str, tmp_path: Path) -> None:
    path = tmp_path / "game.aig"
    path.write_bytes(binary_aiger(game_of(sheet)))
    for number, holds in enumerate(VERDICTS[sheet]):
        script = f"read {path}; cone -s -O {number}; pdr"
        found = subprocess.run(["berkeley-abc", "-c", script], capture_output=True, text=True, check=True)
        assert ("Property proved" in found.stdout, "was asserted in frame" in found.stdout) == (
            holds,
            not holds,
        ), found.stdout
