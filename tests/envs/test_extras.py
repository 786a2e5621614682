"""Extras: importing the package imports no library, and a missing one is named with its extra."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import anygame
from anygame.envs import episode

_LIBRARIES = ("gymnasium", "pettingzoo", "pyspiel", "jax", "cairosvg")


def _run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True
    )
    return done.stdout.strip()


def test_importing_the_package_imports_no_library() -> None:
    code = f"import sys, anygame, anygame.envs; print([name for name in {_LIBRARIES} if name in sys.modules])"
    assert _run(code) == "[]"


@pytest.mark.parametrize("library", ["gymnasium", "pettingzoo"])
def test_a_missing_library_is_named_with_its_extra(library: str) -> None:
    code = (
        f"import sys; sys.modules[{library!r}] = None\n"
        f"from anygame import MissingExtraError\n"
        f"try:\n import anygame.envs.{library}\n"
        f"except MissingExtraError as error: print(error.extra, error, sep='|')"
    )
    extra, told = _run(code).split("|")
    assert extra == library
    assert told == f"this needs {library}, which is not installed: pip install 'anygame[{library}]'"


def test_pixels_need_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(episode, "RENDER_MODES", ["ansi", "human"])
    with pytest.raises(anygame.MissingExtraError, match=r"needs cairosvg, .*anygame\[cairosvg\]"):
        episode.check_options("rgb_array", "error")


def test_boards_become_pixels() -> None:
    pytest.importorskip("cairosvg", reason="pixels need cairosvg")
    board = anygame.load("tic_tac_toe").initial_state().next(["(mark 1 1)", "noop"]).board()
    pixels: Any = episode.render(board, "rgb_array")
    assert pixels.dtype == np.uint8
    assert pixels.shape[2] == 3
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 5
    # A game without a board has pixels too.
    bare: Any = episode.render(anygame.load("pig").initial_state().board(), "rgb_array")
    assert bare.shape[2] == 3
