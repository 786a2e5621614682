from __future__ import annotations

import sys

import pytest
from tests.cli.transcripts import ROOT

from anygame.cli.output import Screen
from anygame.cli.repl.session import Session
from anygame.cli.repl.shell import Shell
from anygame.game.loading import load

pytest.importorskip("prompt_toolkit")

from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from prompt_toolkit.patch_stdout import StdoutProxy

from anygame.cli.repl.prompt import CommandCompleter, Prompt


def completions(game: str, line: str, *moves: str) -> list[str]:
    """Return the lines that Tab offers for a line, after some joint moves."""
    shell = Shell(Session(load(ROOT / "gdl" / f"{game}.kif"), seed=1), Screen())
    for joint in moves:
        shell.session.play(joint)
    offered = CommandCompleter(shell).get_completions(Document(line, len(line)), CompleteEvent())
    return [line[: len(line) + found.start_position] + found.text for found in offered]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("und", ["undo"]),
        ("w", ["why", "why not", "warnings"]),
        ("help re", ["help redo", "help restart"]),
        ("legal player2", ["legal player2"]),
        ("why not term", ["why not terminal"]),
        ("query (lega", ["query (legal "]),
        ("goals ", []),
        ("undo ", []),
        ("(move g", ["(move g 1)", "(move g 2)", "(move g 3)", "(move g 4)"]),
        ("play (move g 4", ["play (move g 4)"]),
        ("play  (move g 4", ["play  (move g 4)"]),
        ("play (move g 4) ", []),
        ("move (move a 1", ["move (move a 1)"]),
        ("play (move h", []),
        ("load pyproj", ["load pyproject.toml"]),
    ],
)
def test_tab_completes_words(line: str, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert completions("copolymer", line) == expected


def test_tab_offers_the_moves_of_the_role_at_that_place() -> None:
    assert completions("rock_paper_scissors", "play rock p") == ["play rock paper"]
    assert completions("rock_paper_scissors", "rock s") == ["rock scissors"]
    assert completions("monty_hall", "ch") == []
    assert completions("monty_hall", "(ch", "") == ["(choose 1)", "(choose 2)", "(choose 3)"]


def test_an_empty_line_offers_commands_and_moves() -> None:
    offered = completions("copolymer", "", "1")
    assert {"play", "quit", "swap", "doNotSwap"} <= set(offered)


def test_notes_stand_above_the_line_that_is_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    with create_pipe_input() as typed, create_app_session(typed, DummyOutput()):
        prompt = Prompt(Shell(Session(load("tic_tac_toe")), Screen()))
        monkeypatch.setattr(prompt._session, "prompt", lambda _: str(isinstance(sys.stderr, StdoutProxy)))
        assert prompt.ask() == "True"
    assert not isinstance(sys.stderr, StdoutProxy)
