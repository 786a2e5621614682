"""The REPL as people meet it: on a terminal, and as a script."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.cli.transcripts import ROOT, run

pexpect = pytest.importorskip("pexpect", reason="needs a pseudo terminal")
pytest.importorskip("prompt_toolkit")

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pexpect import spawn

MAIN = "import sys; from anygame.cli.main import main; sys.exit(main())"
PLAIN = "import sys; sys.modules.update(prompt_toolkit=None, rich=None); " + MAIN
UP, CTRL_C, CTRL_D = "\x1b[A", "\x03", "\x04"


def start(tmp_path: Path, game: str, *, program: str = MAIN, columns: int = 100) -> spawn[str]:
    # The size is that of the terminal alone.
    around = {name: value for name, value in os.environ.items() if name not in {"LINES", "COLUMNS"}}
    child: spawn[str] = pexpect.spawn(
        sys.executable,
        ["-c", program, "repl", str(ROOT / "gdl" / f"{game}.kif"), "--seed", "1"],
        cwd=str(ROOT),
        env=around | {"TERM": "xterm", "XDG_STATE_HOME": str(tmp_path), "PROMPT_TOOLKIT_NO_CPR": "1"},
        dimensions=(40, columns),
        encoding="utf-8",
        timeout=30,
    )
    return child


@pytest.fixture
def copolymer(tmp_path: Path) -> Iterator[spawn[str]]:
    child = start(tmp_path, "copolymer")
    child.expect("0>")
    yield child
    child.close(force=True)


def shown(child: spawn[str]) -> str:
    """Return what came before the last match, without the codes of the terminal."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", child.before or "")


def test_a_greeting_counts_warnings(tmp_path: Path) -> None:
    for facts, said in (("(p)", "has 1 warning: see"), ("(p) (q)", "has 2 warnings: see")):
        sheet = tmp_path / "sheet.kif"
        sheet.write_text(f"(role x) {facts} (legal x go) (<= terminal (true done)) (goal x 0)")
        child = start(tmp_path, str(sheet.with_suffix("")))
        child.expect("0>")
        greeting = shown(child)
        child.close(force=True)
        assert said in greeting


def test_terminal_shows_game_board_and_who_acts(copolymer: spawn[str]) -> None:
    greeting = shown(copolymer)
    assert "copolymer.kif: player1, player2" in greeting
    assert "a     . . . .     1..4    ● blue" in greeting
    assert "step 0: player1 to act" in greeting


def test_play_draws_the_board_with_stones(copolymer: spawn[str]) -> None:
    copolymer.sendline("(move d 4)")
    copolymer.expect("1>")
    assert "d  . . . ○ . . .  1..7" in shown(copolymer)
    copolymer.sendline("swap")
    copolymer.expect("2>")
    assert "played noop swap" in shown(copolymer)


def complete(child: spawn[str], typed: str, added: str, answer: str) -> None:
    """Type, press Tab, wait for what it adds, and for the answer."""
    child.send(typed)
    child.expect_exact(typed[-1])
    child.send("\t")
    child.expect_exact(added)
    child.send("\r")
    child.expect_exact(answer)


def test_tab_completes_commands_and_moves(copolymer: spawn[str]) -> None:
    complete(copolymer, "hist", "ory", "no moves yet")
    complete(copolymer, "(move g 4", ")", "played (move g 4) noop")
    complete(copolymer, "play doN", "otSwap", "played noop doNotSwap")
    complete(copolymer, "query ter", "minal", "no instance holds")


@pytest.mark.slow
def test_history_is_kept_for_the_next_session(copolymer: spawn[str], tmp_path: Path) -> None:
    copolymer.sendline("query (true (control ?who))")
    copolymer.expect_exact("(true (control red))")
    copolymer.sendline("quit")
    copolymer.expect(pexpect.EOF)
    again = start(tmp_path, "copolymer")
    again.expect("0>")
    again.send(f"{UP}{UP}\r")
    again.expect_exact("(true (control red))")
    again.close(force=True)


def test_ctrl_c_ends_the_line_and_ctrl_d_the_session(copolymer: spawn[str]) -> None:
    copolymer.send("play (move")
    copolymer.send(CTRL_C)
    copolymer.expect("interrupted; Ctrl-D or `quit` leaves the prompt")
    copolymer.expect("0>")
    copolymer.send(CTRL_D)
    copolymer.expect(pexpect.EOF)
    copolymer.close()
    assert copolymer.exitstatus == 0


def test_errors_are_printed_and_the_session_continues(copolymer: spawn[str]) -> None:
    copolymer.sendline("plya 1")
    copolymer.expect("plya is neither a command nor a legal move; did you mean play")
    copolymer.sendline("(move z 9)")
    copolymer.expect("the nearest legal moves are")
    copolymer.sendline("goals")
    copolymer.expect("player2 none")


def test_the_prompt_prints_the_goals_at_the_end(tmp_path: Path) -> None:
    child = start(tmp_path, "tic_tac_toe")
    child.expect("0>")
    child.sendline("random end")
    child.expect("the game is over; goals: x [0-9]+, o [0-9]+")
    child.sendline("play 1")
    child.expect("`undo` takes back the last move, `restart` starts again")
    child.sendline("quit")
    child.expect(pexpect.EOF)


def test_without_the_extra_the_prompt_is_plain_and_names_the_extra(tmp_path: Path) -> None:
    child = start(tmp_path, "copolymer", program=PLAIN)
    child.expect_exact("pip install 'anygame[terminal]'")
    child.expect("\r\n0> ")
    assert "a     . . . .     1..4    b blue" in shown(child)
    child.sendline("(move d 4)")
    child.expect("\r\n1> ")
    assert "d  . . .(r). . .  1..7" in shown(child)
    child.send(CTRL_C)
    child.expect("interrupted")
    child.sendline("quit")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_a_history_that_cannot_be_kept_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "anygame").write_text("in the way")
    child = start(tmp_path, "copolymer")
    child.expect("0>")
    child.sendline("quit")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def script(text: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    arguments = ["repl", "gdl/tic_tac_toe.kif", *options]
    return subprocess.run(
        [sys.executable, "-c", MAIN, *arguments], input=text, cwd=ROOT, capture_output=True, check=False
    )


def test_scripts_have_no_prompt_and_continue_after_errors() -> None:
    done = script(b"# opening\n(mark 2 2)\n\nfly\nundo\nquery (true (control ?who))\nquit\ngoals\n")
    assert done.returncode == 1
    assert done.stdout.decode() == (
        "played (mark 2 2) noop\nstep 1: o to act\ntook back 1 move\nstep 0: x to act\n(true (control x))\n"
    )
    assert done.stderr.decode() == (
        "anygame: line 4: fly is neither a command nor a legal move; `help` lists the commands\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("text", [b"", b"\xff\xfe\n", b"(" * 100_000, b"\0\n", b"play " + b"x" * 100_000])
def test_strange_scripts_end_well(text: bytes) -> None:
    done = script(text)
    assert done.returncode == bool(text)
    assert b"Traceback" not in done.stderr
    assert len(done.stderr) < 1000


def test_saved_positions_travel_between_sessions(tmp_path: Path) -> None:
    path = tmp_path / "a position.json"
    script(f"(mark 1 1)\nsave '{path}'\n".encode())
    assert json.loads(path.read_text())["moves"] == [["(mark 1 1)", "noop"]]
    done = script(f"load {path}\nhistory\n".encode())
    assert done.stdout.decode().splitlines()[1:] == ["step 1: o to act", "1  (mark 1 1) noop"]


def test_help_tells_of_every_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    summary, _ = run(["repl", "gdl/pig.kif"], "help\n")
    names = [
        line.split("  ")[0].removesuffix(" SENTENCE").split(" [")[0] for line in summary.splitlines()[:-1]
    ]
    names = [name if name == "why not" else name.split()[0] for name in names]
    assert {"board", "legal", "play", "undo", "why", "why not", "save", "quit"} <= set(names)
    for name in names:
        told, _ = run(["repl", "gdl/pig.kif"], f"help {name}\n")
        assert told.startswith(name), told


def test_a_stuck_game_names_the_stuck_role(tmp_path: Path) -> None:
    sheet = tmp_path / "stuck.kif"
    sheet.write_text("(role x) (role y) (legal x go) (<= (legal y go) (true open)) (init open)")
    output, status = run(["repl", str(sheet)], "play go go\nplay go\nundo\nload nowhere\ngoals\n")
    assert status == 1
    assert output.splitlines() == [
        "played go go",
        "step 1: no legal move for y, although the game is not over",
        "anygame: line 2: y has no legal move, so nobody can move here",
        "took back 1 move",
        "step 0: `play` makes the only joint move, go go",
        "anygame: line 4: cannot read nowhere: No such file or directory",
        "x none",
        "y none",
    ]


def test_boards_tell_why_one_is_not_drawn(tmp_path: Path) -> None:
    sheet = tmp_path / "grown.kif"
    sheet.write_text("(role x) (legal x go) (n z) (<= (n (s ?x)) (n ?x)) (<= (init (cell ?x ?x b)) (n ?x))")
    output, _ = run(["repl", str(sheet)], "board\n")
    assert "Traceback" not in output
    assert "terms nest deeper than 150" in output


def test_moves_are_typed_as_people_say_them() -> None:
    lines = ["d 4", "sw", "legal d *", "(move d 3", "d 9", "move d 9", "legal zz", "legal d 9"]
    output, status = run(["repl", "gdl/copolymer.kif", "--echo"], "\n".join(lines))
    assert status == 1
    assert "played (move d 4) noop" in output
    assert "played noop swap" in output
    assert "player1: 6 of 36 legal moves\n  16  (move d 1)" in output
    assert "error: d is neither a command nor a legal move; did you mean (move d 7) or" in output
    assert "error: d is not a legal move of player1 here, but can mean #16 (move d 1), #17" in output
    assert "error: no role is called zz: the roles are player1, player2" in output
    assert "error: no legal move fits d 9; `legal` lists them all" in output


def test_numbers_of_a_script_keep_their_meaning() -> None:
    """For every role a number of its list, also where a person would mean a move by them."""
    assert "played (mark 1 2) noop" in run(["repl", "gdl/tic_tac_toe.kif"], "2 1")[0]


def test_a_person_means_the_words_of_a_move(tmp_path: Path) -> None:
    child = start(tmp_path, "tic_tac_toe")
    child.expect("0>")
    child.sendline("2 1")
    child.expect(r"played \(mark 2 1\) noop")
    child.expect("1>")
    child.sendline("legal")
    child.expect("noop")
    child.close(force=True)


def test_long_lists_are_shown_in_pages_and_groups(tmp_path: Path) -> None:
    child = start(tmp_path, "six_in_a_row")
    for step, move in enumerate(["6 6", "1 1", "1 2"]):
        child.expect(f"{step}>")
        child.sendline(move)
    child.expect("3>")
    child.setwinsize(12, 60)
    child.sendline("legal player2")
    child.expect(r"pick \(2\)")
    child.expect(r"place \(118\)")
    child.expect(r"-- 10 of \d+ lines; Enter for more, q to stop --")
    child.sendline("q")
    child.expect("3>")
    child.close(force=True)
