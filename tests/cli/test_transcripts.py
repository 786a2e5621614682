from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cli.transcripts import HERE, ROOT, commands, session

if TYPE_CHECKING:
    from pathlib import Path

SESSIONS = sorted((HERE / "transcripts").glob("*.txt"))
COMMANDS = sorted((HERE / "commands").glob("*.txt"))


@pytest.fixture(autouse=True)
def _in_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_session_is_as_recorded(path: Path) -> None:
    assert session(path) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_command_lines_are_as_recorded(path: Path) -> None:
    assert commands(path) == path.read_text(encoding="utf-8")


def test_every_rule_file_has_a_session_that_draws_it() -> None:
    drawn = {path.stem for path in SESSIONS if "> board" in path.read_text(encoding="utf-8")}
    cards_and_dice = {"kuhn_poker", "leduc_poker", "liars_dice"}
    without_board = {"monty_hall", "pig", "rock_paper_scissors", *cards_and_dice}
    assert drawn | without_board == {path.stem for path in (ROOT / "gdl").glob("*.kif")}
    assert without_board <= {path.stem for path in SESSIONS}
