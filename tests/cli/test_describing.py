"""What shells complete, and the manual page: both say what the table of commands says."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from argparse import SUPPRESS
from typing import TYPE_CHECKING

import pytest
from tests.cli.transcripts import ROOT, run
from tools.reference_pages import DOCS, pages

import anygame
from anygame.cli.command_table import COMMANDS, full_parser
from anygame.cli.commands.completion import SHELLS
from anygame.cli.commands.listing import _wrapped
from anygame.sheets.installed import games

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from pathlib import Path


def _shown(parser: ArgumentParser) -> set[str]:
    """Return the flags of a parser without the former names, which help does not show."""
    return {flag for flag, action in parser._option_string_actions.items() if action.help != SUPPRESS}


def test_every_option_of_the_help_is_described() -> None:
    for name, parser in full_parser()[1].items():
        output, _ = run([name, "--help"])
        listed = re.findall(r"^  (-.*?)(?:  |$)", output, re.MULTILINE)
        assert _shown(parser) == {
            word for line in listed for word in re.findall(r"(?:^|(?<= ))--?[\w-]+", line)
        }


def test_completion_without_shtab_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    output, status = run(["completion", "bash"])
    assert status == 2
    assert output == "anygame: completion of command lines needs shtab: pip install 'anygame[terminal]'\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_names_all_commands_and_options(shell: str) -> None:
    pytest.importorskip("shtab")
    output, status = run(["completion", shell])
    assert status == 0
    for name, parser in full_parser()[1].items():
        assert name in output
        for flag in _shown(parser):
            assert (flag if shell != "fish" else flag.lstrip("-")) in output


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_can_read_its_script(shell: str, tmp_path: Path) -> None:
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"there is no {shell} here")
    pytest.importorskip("shtab")
    path = tmp_path / "script"
    path.write_text(run(["completion", shell])[0])
    done = subprocess.run([found, "-n", str(path)], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, "")


_TRY = """
source "$1"
compopt() { :; }
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_shtab_anygame
# As `complete -o bashdefault` does.
[[ ${#COMPREPLY[@]} = 0 ]] && COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pl", {"play", "player", "playout"}),
        ("cop", {"copolymer"}),
        ("gdl/pi", {"gdl/pig.kif"}),
        ("play cop", {"copolymer"}),
        ("play copolymer --ag", {"--against"}),
        ("play copolymer --against h", {"hard", "human"}),
        ("match pig --players gre", {"greedy"}),
        ("legal pig --machine re", {"reasoner"}),
        ("match pig --record sr", {"src"}),
        ("replay gdl/pi", {"gdl/pig.kif"}),
        ("check gdl/pi", {"gdl/pig.kif"}),
        ("check gdl/pig.kif gdl/kn", {"gdl/knights_tour.kif"}),
        ("equal cop", {"copolymer"}),
        ("equal gdl/pig.kif gdl/kn", {"gdl/knights_tour.kif"}),
        ("quiz cop", {"copolymer"}),
        ("quiz pig gdl/kn", {"gdl/knights_tour.kif"}),
        ("quiz --kind legal gdl/pi", {"gdl/pig.kif"}),
        ("completion z", {"zsh"}),
        ("games x", set()),
        ("nothing x", set()),
    ],
)
def test_bash_completes(line: str, expected: set[str], tmp_path: Path) -> None:
    pytest.importorskip("shtab")
    path = tmp_path / "script"
    path.write_text(run(["completion", "bash"])[0])
    done = subprocess.run(
        ["bash", "-c", _TRY, "try", str(path), "anygame", *line.split()],
        capture_output=True,
        text=True,
        timeout=30,
        cwd=ROOT,
        check=True,
    )
    assert set(done.stdout.split()) == expected


def test_an_unknown_shell_is_refused() -> None:
    output, status = run(["completion", "tcsh"])
    assert status == 2
    assert "invalid choice: 'tcsh'" in output


def test_the_manual_page_and_the_reference_are_current() -> None:
    for name, text in pages(anygame.__version__).items():
        kept = (DOCS / name).read_text(encoding="utf-8")
        assert kept == text, f"{name}: write it anew: python tools/reference_pages.py"
    text = (DOCS / "anygame.1").read_text(encoding="utf-8")
    assert all(f"anygame {name.replace('-', chr(92) + '-')}" in text for name in COMMANDS)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["setuptools"]["data-files"] == {"share/man/man1": ["docs/anygame.1"]}


@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff here")
def test_the_manual_page_can_be_set() -> None:
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "docs/anygame.1"], capture_output=True, cwd=ROOT, check=True
    )
    assert done.stderr == b""


def test_games_are_described_in_whole_sentences() -> None:
    lines = run(["games"])[0].splitlines()
    assert len(lines) == len(games())
    assert all(line.endswith(".") for line in lines)
    assert any(
        line.endswith("A puzzle for one. Nine lamps stand in a square and all are lit.") for line in lines
    )
    assert not any(line.endswith("Two players take turns.") for line in lines)


def test_on_a_terminal_the_lines_of_games_keep_their_column() -> None:
    summary = "One takes stones. Who takes the last one wins."
    rows = [*_wrapped([("nim", "x, y", summary)], 45)]
    assert rows == [("nim", "x, y", "One takes stones. Who takes the"), ("", "", "last one wins.")]
    narrow = [*_wrapped([("nim", "x, y", summary)], 5)]
    assert " ".join(row[2] for row in narrow) == summary


def test_the_command_alone_suggests_commands() -> None:
    output, status = run([])
    assert status == 2
    for line in ("anygame games", "anygame play tic_tac_toe", "anygame --help"):
        assert line in output


def test_a_sheet_or_a_game_alone_opens_the_prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for name in ("tic_tac_toe", "gdl/tic_tac_toe.kif"):
        assert run([name, "--echo"], "roles\n") == (
            "> roles\n1  x (9 legal moves)\n2  o (1 legal move)\n",
            0,
        )
    sheet = tmp_path / "sheet"
    sheet.write_text("(role me) (legal me go) (<= terminal (true over))")
    monkeypatch.chdir(tmp_path)
    assert run(["sheet"], "roles\n") == ("1  me (1 legal move)\n", 0)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gdl/pigg.kif", "there is no file gdl/pigg.kif; did you mean gdl/pig.kif?"),
        ("copolimer", "there is no command 'copolimer'; did you mean copolymer?"),
        ("pla", "there is no command 'pla'; did you mean play or replay or player?"),
        ("--sede", "unrecognized arguments: --sede"),
    ],
)
def test_a_mistyped_name_gets_similar_names(name: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    output, status = run([name])
    assert (status, message in output) == (2, True), output
