"""Boards of what a role knows, where the game takes long to compile."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING

import anygame
from anygame.boards import Painter
from anygame.match.course import Course
from anygame.match.running import Terms, new_record
from anygame.web.hosting import known_boards
from anygame.web.hosting.known_boards import KnownBoards

if TYPE_CHECKING:
    import pytest


def course(name: str) -> Course:
    game = anygame.load(name)
    record = new_record(game, [], Terms(1, 1, 0), match_id="1")
    return Course(game, record, [game.initial_state()])


def test_boards_appear_when_the_game_is_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(known_boards, "_COMPILING", 0.0)
    match, may_compile, told = course("kuhn_poker"), Event(), Event()
    needed = match.game.backends.needed_network

    def slow() -> object:
        may_compile.wait(60)
        return needed()

    monkeypatch.setattr(match.game.backends, "needed_network", slow)
    boards = KnownBoards(match, Painter.of(match.game), told.set)
    assert boards.view([0], 0) == {}
    may_compile.set()
    assert told.wait(60)
    monkeypatch.setattr(known_boards, "_COMPILING", 60.0)
    assert list(boards.view([0], 0)) == ["player1"]


def test_games_without_hidden_information_have_no_known_boards() -> None:
    match = course("tic_tac_toe")
    assert KnownBoards(match, Painter.of(match.game), lambda: None).view([0], 0) == {}
