"""ABC beside: what it finds is checked, and what it makes up is not believed."""

from __future__ import annotations

import os
from shutil import which
from typing import TYPE_CHECKING

import pytest
from tests.proving.sheets import CHOMP, NIM, TRAP

import anygame
from anygame.proving.patience import Patience
from anygame.proving.properties import Property, built_in
from anygame.proving.prover import Prover

if TYPE_CHECKING:
    from pathlib import Path

needs_abc = pytest.mark.skipif(which("berkeley-abc") is None, reason="berkeley-abc is not installed")


def _asked(text: str, name: str) -> tuple[Prover, Property]:
    game = anygame.loads(text)
    prover = Prover.of(game, Patience(0))
    return prover, {each.name: each for each in built_in(game, prover.model, prover.sample)}[name]


@needs_abc
@pytest.mark.parametrize("name", ["playable", "goals", "turn-taking"])
@pytest.mark.parametrize("text", [NIM, CHOMP, str(anygame.load("tic_tac_toe").program)])
def test_an_invariant_of_abc_is_one_of_the_game(text: str, name: str) -> None:
    prover, wanted = _asked(text, name)
    assert not prover.invariant
    found = prover._by_second_engine(wanted, Patience(60), Patience(60))
    assert found is not None
    assert (found.outcome, found.match) == ("proved", None)
    assert found.steps or not found.invariant


@needs_abc
def test_what_fails_is_not_proved() -> None:
    prover, wanted = _asked(TRAP, "playable")
    assert prover._by_second_engine(wanted, Patience(60), Patience(60)) is None


@pytest.mark.parametrize(
    "written",
    [
        ".i 0\n.o 1\n.p 0\n.ilb\n.ob inv\n.e\n",
        ".i 1\n.o 1\n.p 1\n.ilb 0\n.ob inv\n0 1\n1 1\n.e\n",
        ".ilb 0 1\n-0 1\n0- 1\n.e\n",
        ".ilb 900\n0 1\n",
        ".ilb 0\n0101 1\n",
        ".ilb nothing\n- 1\n",
        "",
    ],
)
def test_an_invariant_that_is_none_is_not_believed(
    written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lie").write_text(written)
    program = tmp_path / "berkeley-abc"
    program.write_text(f"#!/bin/sh\nexec cp '{tmp_path}/lie' invariant.pla\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    prover, wanted = _asked(TRAP, "playable")
    assert prover._by_second_engine(wanted, Patience(60), Patience(60)) is None
    assert prover.decide(wanted, 60).outcome == "refuted"


def test_without_it_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    prover, wanted = _asked(NIM, "goals")
    assert prover._by_second_engine(wanted, Patience(60), Patience(60)) is None
    assert prover.decide(wanted, 60).outcome == "proved"
