"""Trees as text: what is written, and that OpenSpiel reads the same game from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cli.transcripts import run
from tests.envs.test_extensive import count
from tests.match.games import NO_GOAL

import anygame
from anygame.envs.extensive import ExtensiveForm, gambit_text

if TYPE_CHECKING:
    from pathlib import Path


def test_a_tree_is_written_whole() -> None:
    output, status = run(["export", "monty_hall", "--to", "efg"])
    assert status == 0
    lines = output.splitlines()
    assert lines[:4] == [
        'EFG 2 R "monty_hall" { "candidate" }',
        '""',
        'c "" 1 "" { "(hide 1)" 1/3 "(hide 2)" 1/3 "(hide 3)" 1/3 } 0',
        'p "" 1 1 "candidate at step 2" { "(choose 1)" "(choose 2)" "(choose 3)" } 0',
    ]
    found = count(ExtensiveForm(anygame.load("monty_hall")))
    assert len(lines) == 2 + found.histories
    assert sum(line.startswith("t ") for line in lines) == found.plays
    sets = {line.split('"')[3] for line in lines if line.startswith("p ")}
    assert (len(sets),) == found.information_sets


def test_payoffs_are_exact() -> None:
    output, _ = run(["export", "leduc_poker", "--to", "efg", "--scale", "1/3", "--offset=-50/3"])
    payoffs = {line.split("{")[1].strip(" }") for line in output.splitlines() if line.startswith("t ")}
    assert payoffs == {"0 0", *(f"{n} {-n}" for n in range(-13, 14, 2))}


def test_names_are_quoted() -> None:
    game = anygame.loads(
        '(role |a"b|) (legal |a"b| \\x) (legal |a"b| y)'
        "(<= (next over) (does ?r ?m)) (<= terminal (true over)) (<= (goal ?r 0) (role ?r))"
    )
    assert '{ "\\\\x" "y" }' in list(gambit_text(game))[2]


def test_legal_moves_that_depend_on_hidden_facts_are_refused(tmp_path: Path) -> None:
    sheet = tmp_path / "cards.kif"
    sheet.write_text(
        "(role random) (role me) (init start) (card 1) (card 2)"
        "(<= (legal random (deal ?c)) (true start) (card ?c)) (<= (legal random noop) (not (true start)))"
        "(<= (legal me noop) (true start)) (<= (next (dealt ?c)) (does random (deal ?c)))"
        "(<= (legal me (take ?c)) (true (dealt ?c))) (<= (legal me stay) (not (true start)))"
        "(<= (next over) (true (dealt ?c))) (<= terminal (true over))"
        "(goal me 100) (<= (sees me fog) (true over))"
    )
    output, status = run(["export", str(sheet), "--to", "efg"])
    assert status == 2
    assert (
        "me has different legal moves in histories that it cannot distinguish: (take 1), stay, or" in output
    )


def test_it_is_written_to_a_file_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "kuhn.efg"
    assert run(["export", "kuhn_poker", "--to", "efg", "-o", str(path)]) == ("", 0)
    assert len(path.read_text().splitlines()) == 60
    other = tmp_path / "large.efg"
    output, status = run(["export", "tic_tac_toe", "--to", "efg", "--histories", "500", "-o", str(other)])
    assert (status, other.exists()) == (2, False)
    assert "tic_tac_toe has too many histories: about 500,000 (estimated from random play)" in output


@pytest.mark.parametrize("number", ["1/0", "x", "1e999999", "9" * 41])
def test_odd_numbers_are_refused(number: str) -> None:
    output, status = run(["export", "kuhn_poker", "--to", "efg", "--scale", number])
    assert status == 2
    assert "expected a number such as 2, -0.5 or 1/3" in output


def test_open_spiel_reads_the_same_game() -> None:
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: pip install open-spiel")
    from anygame.envs.open_spiel import load

    text = run(["export", "kuhn_poker", "--to", "efg", "--scale", "1/25", "--offset=-2"])[0]
    read = pyspiel.load_efg_game(text)
    assert read.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM
    gains = []
    for game in (read, load("kuhn_poker", scale=1 / 25, offset=-2.0)):
        solver = pyspiel.CFRPlusSolver(game)
        for _ in range(20):
            solver.evaluate_and_update_policy()
        found = solver.average_policy()
        value = pyspiel.expected_returns(game.new_initial_state(), found, -1, True)
        gains.append([*value, pyspiel.nash_conv(game, found)])
    assert gains[0] == pytest.approx(gains[1], abs=1e-9)


def test_open_spiel_reads_moves_that_are_made_at_once() -> None:
    policy = pytest.importorskip("open_spiel.python.policy", reason="OpenSpiel is not installed")
    import pyspiel

    read = pyspiel.load_efg_game(run(["export", "rock_paper_scissors", "--to", "efg"])[0])
    assert read.utility_sum() == 100
    assert len(policy.TabularPolicy(read).state_lookup) == 182
    uniform = pyspiel.UniformRandomPolicy(read)
    assert pyspiel.expected_returns(read.new_initial_state(), uniform, -1, True) == pytest.approx([50, 50])


def test_a_missing_goal_is_no_payoff(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.kif"
    sheet.write_text(NO_GOAL, encoding="utf-8")
    output, status = run(["export", str(sheet), "--to", "efg"])
    assert status == 2
    assert "the rules give a no goal: no (goal a ...) holds here" in output
