from __future__ import annotations

import re

import pytest
from tests.cli.transcripts import ROOT, run
from tests.tools.readme import README, replayed

import anygame


@pytest.fixture(autouse=True)
def _in_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_examples_print_what_the_readme_shows() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(re.findall(r"^```(?:python|console)$", text, re.MULTILINE)) >= 4
    assert replayed(text) == text


def test_examples_of_sheets_and_tools_are_there() -> None:
    text = README.read_text(encoding="utf-8")
    for path in set(re.findall(r"\b(?:gdl|tools|tests|src)/[\w./]*", text)):
        assert (ROOT / path).exists(), path


def test_sheet_in_the_readme_is_a_sound_game() -> None:
    (sheet,) = re.findall(
        r"^```lisp\n(.*?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    game = anygame.loads(sheet)
    assert not game.program.warnings
    for playout in game.playouts(20, seed=1):
        assert playout.is_complete
        assert sorted(goal or 0 for goal in playout.goals.values()) == [0, 100]
        assert list(playout.goals.values()) == [100, 0] if playout.length % 2 else [0, 100]
    output, status = run(["check", "--play", "20", "-"], sheet)
    assert (output, status) == ("", 0)


@pytest.mark.parametrize(
    ("block", "output"),
    [
        ("```python\nn = 1 + 1\nprint(n)\n```\n\n```text\n3\n```\n", "\n2\n```\n"),
        ("```python\nn = 1\n```\n```python\nprint(n)\n```\n```text\n```\n", "\n1\n```\n"),
        ("```console\n$ anygame perft gdl/tic_tac_toe.kif 1\n8\n```\n", "\n9\n```\n"),
        (
            "```console\n$ anygame repl gdl/pig.kif --echo < f\n> roles\nnobody\n```\n",
            "\n> roles\n1  player1",
        ),
    ],
)
def test_other_output_is_noticed(block: str, output: str) -> None:
    assert replayed(block) != block
    assert output in replayed(block)
    assert replayed(replayed(block)) == replayed(block)


def test_output_that_is_not_shown_is_noticed() -> None:
    with pytest.raises(AssertionError, match="which the README does not show"):
        replayed("```python\nprint(1)\n```\n")
