"""What notebooks show of an error: the caller's code and the message."""

from __future__ import annotations

import re

import pytest

shells = pytest.importorskip("IPython.core.interactiveshell")


def test_errors_are_shown_without_internal_frames(capsys: pytest.CaptureFixture[str]) -> None:
    shell = shells.InteractiveShell(colors="nocolor")
    shell.run_cell('import anygame\ngame = anygame.loads("(role x)\\n(init (a ?x))", name="sheet")')
    shown = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert shown.count("File ") == 1
    assert 'game = anygame.loads("' in shown
    assert "RuleSheetError: sheet:2:10: error[variable-in-fact]: a fact has no variables, found ?x" in shown
    shell.run_cell('anygame.load("tic_tac_toe").initial_state().next(["(fly 1)", "noop"])')
    shown = capsys.readouterr().out
    assert shown.count("File ") == 1
    assert "IllegalMoveError" in shown
