"""Players that fail, and players that say what they think."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from tests.cli.transcripts import ROOT, run
from tests.match import games

import anygame
from anygame.match import read_record
from anygame.match import run as run_match
from anygame.match.record import parse_record
from anygame.players import LegalPlayer
from anygame.players.player import Failures, own_traceback

if TYPE_CHECKING:
    from pathlib import Path

    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.players import Clock

_FAILING = """\
from anygame.players import Player

class Failing(Player):
    turn = 0

    def move(self, state, clock):
        self.turn += 1
        return self.deeper(self.turn)

    def deeper(self, turn):
        raise ZeroDivisionError(f"turn {turn}")

    def stop(self, goals):
        raise OSError("no way to learn")
"""


class Talking(LegalPlayer):
    def move(self, state: State, clock: Clock) -> Term:
        self.say("a move of", len(state.legal_moves(self.role)))
        self.say("\x1b[31mred")
        return super().move(state, clock)


class Chatterbox(LegalPlayer):
    def move(self, state: State, clock: Clock) -> Term:
        for number in range(1_000):
            self.say(f"{number}" * 1_000)
        return super().move(state, clock)


def _sheet() -> str:
    return str(ROOT / "gdl" / "rock_paper_scissors.kif")


@pytest.fixture
def failing(tmp_path: Path) -> str:
    path = tmp_path / "failing.py"
    path.write_text(_FAILING)
    return f"{path}:Failing"


def test_a_traceback_is_printed_once_and_kept_beside_the_record(failing: str, tmp_path: Path) -> None:
    records = tmp_path / "records"
    players = ["--players", failing, "legal", "--games", "2", "--record", str(records)]
    output, status = run(["match", _sheet(), *players])
    assert status == 1  # all moves of a player were replaced
    assert (
        output.count("the player Failing failed; its traceback:\nTraceback (most recent call last):\n") == 2
    )
    assert output.count('in deeper\n    raise ZeroDivisionError(f"turn {turn}")') == 1
    assert output.count("OSError: no way to learn\n") == 1
    assert "workers.py" not in output
    assert output.count("goals: left (Failing)") == 2
    files = sorted(records.glob("*.failures.txt"))
    assert [path.name.removesuffix(".failures.txt") for path in files] == [
        path.stem for path in sorted(records.glob("*.json"))
    ]
    for path in files:
        assert len(re.findall("^ZeroDivisionError: turn", path.read_text(), re.MULTILINE)) == 1


def test_from_python_it_is_printed_as_well(failing: str, capsys: pytest.CaptureFixture[str]) -> None:
    record = run_match(anygame.load(_sheet()), [failing, "legal"], play_clock=5)
    assert record.is_completed
    assert capsys.readouterr().err.count("ZeroDivisionError: turn 1") == 1


def test_play_prints_failures_of_players(failing: str) -> None:
    output, status = run(["play", _sheet(), "--against", failing, "--echo"], "rock\nrock\nrock\n")
    assert status == 0
    assert (
        output.count("ZeroDivisionError: turn 1\nanygame") + output.count("ZeroDivisionError: turn 1\n") >= 1
    )
    assert output.count("its traceback") == 2
    assert "The game is over" in output


def test_only_ten_different_failures_are_printed() -> None:
    failures = Failures()
    for number in range(100):
        failures.report("many", f'Traceback (most recent call last):\n  File "x", line {number}\nError: x\n')
    assert len(failures._printed) == 10


def test_a_traceback_has_an_end() -> None:
    def fail(text: str) -> None:
        raise ValueError(text)

    with pytest.raises(ValueError, match="xxx") as raised:
        fail("x" * 10**6)
    assert len(own_traceback(raised.value)) == 20_000


def test_comments_of_players_are_printed_and_recorded(tmp_path: Path) -> None:
    path = tmp_path / "match.json"
    run_match(anygame.loads(games.COUNTDOWN), [Talking(), "legal"], play_clock=5, record=path)
    record = read_record(path)
    assert record.said[0] == [[], []]
    assert record.said[1] == [["a move of 2", "\N{REPLACEMENT CHARACTER}[31mred"], []]
    output, status = run(["replay", str(path)])
    assert status == 0
    assert "     a said: a move of 2\n" in output


def test_watchers_receive_comments_of_players() -> None:
    players = ["--players", "tests.match.test_failures:Talking", "legal"]
    output, status = run(["match", _sheet(), *players])
    assert (status, output.count("     left says: a move of 3\n")) == (0, 3)
    output, _ = run(["match", _sheet(), *players, "--json"])
    turns = [json.loads(line) for line in output.splitlines() if '"turn"' in line]
    assert [turn["said"]["left"][0] for turn in turns] == ["a move of 3"] * 3
    assert all(turn["said"].keys() == {"left"} for turn in turns)


def test_at_the_prompt_it_is_shown_where_it_is_wanted() -> None:
    said = "right says: a move of 3"
    command = ["play", _sheet(), "--against", "tests.match.test_failures:Talking"]
    assert said not in run(command, "rock\nrock")[0]
    assert run(command, "rock\nthinking\nrock")[0].count(said) == 1
    assert run([*command, "--thinking"], "rock\nrock")[0].count(said) == 2


def test_long_comments_of_players_are_shortened() -> None:
    record = run_match(anygame.loads(games.COUNTDOWN), [Chatterbox(), "legal"], play_clock=5)
    assert {len(step[0]) for step in record.said[1:]} == {20}
    assert max(len(line) for step in record.said for line in step[0]) == 500


def test_a_record_without_comments_has_no_key_for_comments() -> None:
    record = run_match(anygame.loads(games.COUNTDOWN), ["legal", "legal"], play_clock=5)
    assert "said" not in record.to_json()["anygame"]


@pytest.mark.parametrize("said", [5, [5], [[5]], [[[5]]], "x", {"a": 1}])
def test_damaged_words_are_refused(said: object) -> None:
    data = run_match(anygame.loads(games.COUNTDOWN), ["legal", "legal"], play_clock=5).to_json()
    data["anygame"]["said"] = said
    with pytest.raises(anygame.RecordError, match="said should be lists of lists of strings"):
        parse_record(json.dumps(data))
