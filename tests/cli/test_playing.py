"""A person at a table, on a terminal and from a script."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from tests.cli.test_player import player
from tests.cli.transcripts import ROOT, run
from tests.match.games import NO_GOAL

import anygame
from anygame.cli.playing.table import Seating, Table
from anygame.cli.repl.session import Session
from anygame.match import read_record, replay
from anygame.match.judging import outcome
from anygame.match.local import LocalSeat
from anygame.players import make_player

pexpect = pytest.importorskip("pexpect", reason="needs a pseudo terminal")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pexpect import spawn

MAIN = "import sys; from anygame.cli.main import main; sys.exit(main())"
PLAIN = "import sys; sys.modules.update(prompt_toolkit=None, rich=None); " + MAIN
CTRL_C, CTRL_D = "\x03", "\x04"


@pytest.fixture(autouse=True)
def _in_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., spawn[str]]]:
    """Return what starts ``anygame`` on a terminal."""
    children = []

    def begin(*arguments: str, program: str = MAIN) -> spawn[str]:
        child: spawn[str] = pexpect.spawn(
            sys.executable,
            ["-c", program, *arguments],
            cwd=str(ROOT),
            env=os.environ | {"TERM": "xterm", "XDG_STATE_HOME": str(tmp_path), "PROMPT_TOOLKIT_NO_CPR": "1"},
            dimensions=(50, 100),
            encoding="utf-8",
            timeout=90,
        )
        children.append(child)
        return child

    yield begin
    for child in children:
        child.close(force=True)


def shown(child: spawn[str]) -> str:
    """Return what came before the last match, without the codes of the terminal."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", child.before or "")


def recorded(folder: Path) -> Path:
    (path,) = folder.rglob("*.json")
    return path


# -- scripts -------------------------------------------------------------------------------------------------


def play(game: str, lines: list[str], *more: str) -> tuple[str, int]:
    return run(["play", game, "--seed", "3", "--echo", *more], "\n".join(lines))


def test_a_game_is_played_to_its_end_and_recorded(tmp_path: Path) -> None:
    output, status = play(
        "tic_tac_toe", ["1 1", "2 1", "3 1"], "--against", "legal", "--record", str(tmp_path)
    )
    assert status == 0
    assert "  1  x (mark 1 1)\n  2  o (mark 1 2)\nmove 3: x, your turn\n" in output
    assert "The game is over. You win: x 100, o 0\n" in output
    path = recorded(tmp_path)
    assert output.endswith(f"record: {path}\n")
    record = read_record(path)
    assert (record.names, record.humans, record.goals) == (["human", "legal"], [True, False], [100, 0])
    assert record.is_completed
    assert not replay(record).faults


def test_undo_takes_back_both_moves(tmp_path: Path) -> None:
    lines = ["1 1", "2 1", "undo", "history", "2 2", "undo 2", "undo", "3 1", "3 2", "3 3", "undo", "3 3"]
    output, status = play("tic_tac_toe", lines, "--against", "legal", "--record", str(tmp_path))
    assert status == 1
    assert "> undo\ntook back 2 moves\nmove 3: x, your turn\n" in output
    assert "> history\n1  (mark 1 1) noop\n2  noop (mark 1 2)\n> 2 2\n" in output
    assert "> undo 2\ntook back 4 moves\nmove 1: x, your turn\n" in output
    assert "> undo\nerror: there is no move to take back\n" in output
    assert "> undo\ntook back 1 move\nmove 5: x, your turn\n" in output
    record = read_record(recorded(tmp_path))
    assert [joint[0] for joint in record.moves[::2]] == ["( mark 3 1 )", "( mark 3 2 )", "( mark 3 3 )"]
    assert record.goals == [100, 0]
    assert not replay(record).faults


def test_one_gives_up_and_thinks_better_of_it(tmp_path: Path) -> None:
    lines = ["1 1", "resign", "2 2", "resign", "undo", "3 3", "resign"]
    output, status = play("tic_tac_toe", lines, "--against", "legal", "--record", str(tmp_path))
    assert status == 1
    assert "> resign\nThe game is over. x resigned\nrecord: " in output
    assert output.count("error: The game is over. x resigned") == 2
    assert "> undo\ntook back 1 move\nmove 3: x, your turn" in output
    record = read_record(recorded(tmp_path))
    assert (record.own["resigned"], record.is_aborted, record.is_completed) == ("x", True, False)


def test_a_game_that_is_left_is_recorded_as_given_up(tmp_path: Path) -> None:
    play("tic_tac_toe", ["1 1", "quit"], "--against", "legal", "--record", str(tmp_path))
    record = read_record(recorded(tmp_path))
    assert (record.is_aborted, record.is_completed, record.step) == (True, False, 2)


def test_closing_the_table_ends_running_tasks() -> None:
    game = anygame.load("tic_tac_toe")
    people = dict.fromkeys(game.roles, ("human", "human"))
    table = Table(Session(game, seed=1), Seating(people, {}, 1.0))
    waiting = asyncio.run_coroutine_threadsafe(asyncio.sleep(600), table._loop)
    table.leave()
    assert waiting.cancelled()


def test_the_table_is_left_also_where_the_record_cannot_be_written(tmp_path: Path) -> None:
    game = anygame.load("rock_paper_scissors")
    left, right = game.roles
    folder = tmp_path / "records"
    folder.mkdir()
    players = {left: ("human", "human"), right: ("random", "random")}
    seating = Seating(players, {right: LocalSeat(make_player("random"))}, 1.0)
    table = Table(Session(game, seed=1), seating, lambda _: str(folder / "game.json"))
    table.chosen = {left: game.initial_state().legal_moves(left)[0]}
    table.play_turn()
    (folder / "game.json").unlink()
    folder.rmdir()
    before = {thread for thread in threading.enumerate() if thread.name == "opponents"}
    with pytest.raises(anygame.AnygameError):
        table.leave()
    assert len(before - set(threading.enumerate())) == 1


def test_saved_games_can_be_continued(tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    output, status = play("tic_tac_toe", ["1 1", f"save {path}"], "--against", "legal")
    assert (status, f"saved 2 moves to {path}\n" in output) == (0, True)
    lines = [f"load {path}", "2 1", "3 1"]
    output, status = play("tic_tac_toe", lines, "--against", "legal", "--record", str(tmp_path / "records"))
    assert status == 0
    assert "You win" in output
    assert not replay(read_record(recorded(tmp_path / "records"))).faults


def test_an_end_without_a_goal_is_a_fault_of_the_sheet(tmp_path: Path) -> None:
    sheet, folder = tmp_path / "sheet.kif", tmp_path / "records"
    sheet.write_text(f"{NO_GOAL} (legal a wait)", encoding="utf-8")
    output, status = play(str(sheet), ["go"], "--record", str(folder))
    assert status == 0
    assert "The match has no result because of an error in the rule sheet: " in output
    assert "the rules give a no goal: no (goal a ...) holds here\n" in output
    record = read_record(recorded(folder))
    assert (record.is_completed, record.is_aborted, record.goals) == (False, True, None)
    assert "no goal" in record.own["fault"]


def test_a_fault_is_forgotten_where_its_move_is_taken_back(tmp_path: Path) -> None:
    sheet, folder = tmp_path / "sheet.kif", tmp_path / "records"
    sheet.write_text(f"{NO_GOAL} (legal a wait) (<= (next well) (does a wait)) (<= (goal a 7) (true well))")
    play(str(sheet), ["go", "undo", "wait"], "--record", str(folder))
    record = read_record(recorded(folder))
    assert (record.is_completed, record.goals, record.own.get("fault")) == (True, [7], None)


def test_the_record_of_a_saved_game_that_is_over_has_its_goals(tmp_path: Path) -> None:
    path, folder = tmp_path / "game.json", tmp_path / "records"
    play("tic_tac_toe", ["1 1", "2 1", "3 1", f"save {path}"], "--against", "legal")
    output, _ = play("tic_tac_toe", [f"load {path}"], "--against", "legal", "--record", str(folder))
    assert "The game is over. You win: x 100, o 0" in output
    assert read_record(recorded(folder)).goals == [100, 0]


@pytest.mark.slow
def test_moves_are_taken_back_against_a_player_elsewhere(tmp_path: Path) -> None:
    with player("--port", "0", "--strategy", "legal", "--json") as process:
        assert process.stdout is not None
        address = f"127.0.0.1:{json.loads(process.stdout.readline())['port']}"
        lines = ["1 1", "2 1", "undo 2", "restart", "2 2", "2 1", "2 3"]
        output, status = play("tic_tac_toe", lines, "--against", address, "--record", str(tmp_path))
    assert status == 0
    assert "> undo 2\ntook back 4 moves\nmove 1: x, your turn\n" in output
    assert "was played instead" not in output
    assert "The game is over. You win: x 100, o 0\n" in output


def test_restart_begins_a_new_record(tmp_path: Path) -> None:
    lines = ["1 1", "2 1", "3 1", "restart", "2 2"]
    _, status = play("tic_tac_toe", lines, "--against", "legal", "--record", str(tmp_path))
    assert status == 0
    steps = sorted(read_record(path).step for path in tmp_path.glob("*.json"))
    assert steps == [2, 5]


def test_any_role_can_be_played() -> None:
    output, status = play("tic_tac_toe", ["2 2"], "--as", "o", "--against", "legal")
    assert status == 0
    assert output.startswith("  1  x (mark 1 1)\nmove 2: o, your turn\n")


def test_people_play_each_other_by_turns_and_at_once() -> None:
    output, status = play("tic_tac_toe", ["1 1", "2 2", "1 2", "undo", "1 3"], "--against", "human")
    assert status == 0
    assert "> 1 1\n  1  x (mark 1 1)\nmove 2: o to move\n" in output
    assert "> undo\ntook back 1 move\nmove 3: x to move\n" in output
    lines = ["rock", "paper", "r", "undo", "p", "r"]
    output, status = play("rock_paper_scissors", lines, "--as", "left", "--as", "right")
    assert status == 0
    assert "> rock\nmove 1: right to move\n" in output
    assert "> paper\n  1  left rock  right paper\n" in output
    assert "> undo\ntook back 1 move\nmove 2: left to move\n" in output
    assert "> r\n  2  left paper  right rock\n" in output


def test_chance_is_drawn_without_asking_a_script() -> None:
    output, status = play("pig", ["roll", "", "h"], "--against", "legal")
    assert status == 0
    assert re.search(r"> roll\n  3  player1 roll\n  4  random \(die \d\)\n", output)
    assert "> \n> h\n  5  player1 hold\n" in output


def test_players_that_fail_do_not_end_the_game() -> None:
    output, status = play("tic_tac_toe", ["1 1"], "--against", "tests/match/games.py:Illegal")
    assert status == 0
    assert re.search(r"o: IL fly; \(mark . .\) was played instead", output)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tic_tac_toe", "--as", "z"], "no role is called z"),
        (["pig", "--as", "random"], "nobody can play the role `random`"),
        (["tic_tac_toe", "--against", "mtcs"], "did you mean mcts?"),
        (["three_player_chomp", "--against", "legal", "--against", "legal", "--against", "legal"], "found 3"),
        (["no_such_game"], "there is no file"),
        (["-"], "give the rule sheet as a file"),
    ],
)
def test_bad_arguments_of_play_cause_an_error(arguments: list[str], message: str) -> None:
    output, status = run(["play", *arguments])
    assert (status, message in output) == (2, True), output


def test_play_works_with_one_role_and_with_three_roles() -> None:
    output, status = play("lights_out", ["press 1 1", "why terminal", "hint 1"])
    assert status == 1
    assert "> hint 1\nplayer: (press " in output
    output, status = play("three_player_chomp", ["d 5"], "--against", "legal")
    assert status == 0
    assert "alice" in output


def test_hidden_facts_are_not_shown(tmp_path: Path) -> None:
    sheet = tmp_path / "secret.kif"
    sheet.write_text(
        "(role me) (role random) (init (step 1)) (legal random (hide 1)) (legal random (hide 2))"
        "(legal me (guess 1)) (legal me (guess 2)) (<= (next (hidden ?x)) (does random (hide ?x)))"
        "(<= (next (said ?x)) (does me (guess ?x))) (<= (sees me (heard ?x)) (does me (guess ?x)))"
        "(<= (next (step 2)) (true (step 1))) (<= (next (step 3)) (true (step 2)))"
        "(<= terminal (true (step 3))) (<= (goal me 100) (true (hidden 1)))"
        "(<= (goal me 0) (true (hidden 2))) (goal random 0)"
    )
    output, status = play(
        str(sheet), ["guess 2", "board", "roles", "state", "history", "why terminal", "guess 1"]
    )
    assert status == 1
    assert "me sees (heard 2)\n" in output
    assert output.count("error: commands that show hidden information need `anygame play --reveal`") == 3
    assert "hidden  ?\nsaid    2\nstep    2\n" in output
    assert "1  me (guess 2), sees (heard 2)\n" in output
    assert "hide" not in output
    assert "The game is over. You reach" in output
    output, _ = play(str(sheet), ["guess 2", "board"], "--reveal")
    assert "hidden" in output


@pytest.mark.slow
def test_hints_use_only_the_knowledge_of_the_role(tmp_path: Path) -> None:
    # A coin is hidden, which the role sees in one of the sheets alone; 60 it has for sure.
    coin = (
        "(role me) (role random) (side heads) (side tails) (init start)"
        "(<= (legal random (hide ?s)) (true start) (side ?s)) (<= (legal random noop) (not (true start)))"
        "(<= (legal me noop) (true start)) (<= (legal me (say ?s)) (not (true start)) (side ?s))"
        "(<= (legal me sure) (not (true start))) (<= (next (hidden ?s)) (does random (hide ?s)))"
        "(<= (next (hidden ?s)) (true (hidden ?s))) (<= (next (said ?s)) (does me (say ?s)))"
        "(<= (next safe) (does me sure)) (<= terminal (true safe)) (<= terminal (true (said ?s)))"
        "(<= (goal me 60) (true safe)) (<= (goal me 100) (true (said ?s)) (true (hidden ?s)))"
        "(<= (goal me 0) (true (said ?s)) (not (true (hidden ?s)))) (goal random 0) "
    )
    blind, seeing = tmp_path / "blind.kif", tmp_path / "seeing.kif"
    blind.write_text(coin + "(<= (sees me something) (does random (hide ?s)))")
    seeing.write_text(coin + "(<= (sees me ?s) (does random (hide ?s)))")
    for seed in ("1", "2", "3"):
        output, _ = play(str(blind), ["hint 0.3", "analyse 0.3", "sure"], "--seed", seed)
        assert "me: sure   (mean goal 60.0)\n" in output
        assert re.search(r"tries in [\d.]+ s, 2 possible states\nme +tries +goal\n  sure ", output)
        output, _ = play(str(seeing), ["hint 0.3", "sure"], "--seed", seed)
        side = "heads" if "me sees heads" in output else "tails"
        assert f"me: (say {side})   (mean goal 100.0)\n" in output


def test_rules_are_described_in_the_words_of_their_author() -> None:
    output, status = play("hex_pie", ["rules"])
    assert status == 0
    assert "Red needs a path from the top row to the bottom row" in output
    assert "Moves  (place ROW COL)" in output
    assert "board: hex" not in output
    assert "The rules for the goals of each role:\n" in output
    assert "(<= (goal ?player 100)" in output
    assert "Cells that a role aims at: red: a ?column; red: i ?column; blue: ?row 1; blue: ?row 9\n" in output


def test_people_play_against_levels(tmp_path: Path) -> None:
    lines = ["1 1", "1 2", "1 3", "2 1", "2 2", "2 3", "3 1", "3 2", "3 3"]
    play("tic_tac_toe", lines, "--against", "beginner", "--record", str(tmp_path))
    assert read_record(recorded(tmp_path)).names == ["human", "beginner"]


def test_thoughts_of_players_are_hidden_in_games_with_hidden_information() -> None:
    lines = ["thinking", "call", "pass", "pass", "call", "bet"]
    told, _ = play("kuhn_poker", lines, "--against", "mcts:iterations=30", "--thinking")
    assert " says: " not in told
    told, _ = play("kuhn_poker", lines[1:], "--against", "mcts:iterations=30", "--thinking", "--reveal")
    assert " says: " in told


@pytest.mark.parametrize(
    ("goals", "people", "words"),
    [
        ([100, 0], ["a"], "You win: a 100, b 0"),
        ([100, 0], ["b"], "a wins, b (you) do not: a 100, b 0"),
        ([50, 50], ["b"], "It is a draw: a 50, b 50"),
        ([100, 0], ["a", "b"], "a wins: a 100, b 0"),
        ([100, 100, 0], ["a"], "You share the win with b: a 100, b 100, c 0"),
        ([100, 100, 0], ["c"], "a and b win, c (you) do not: a 100, b 100, c 0"),
        ([30], ["a"], "You reach 30 of 100"),
        ([100], ["a"], "You reach 100, the highest goal"),
        ([], [], "Only chance played"),
    ],
)
def test_the_outcome_is_described_in_words(goals: list[int], people: list[str], words: str) -> None:
    assert outcome(dict(zip("abc", goals, strict=False)), people) == words


# -- terminals -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_terminal_shows_boards_turns_and_the_end(start: Callable[..., spawn[str]], tmp_path: Path) -> None:
    child = start("play", "tic_tac_toe", "--against", "legal", "--seed", "1")
    child.expect("x>")
    assert "tic_tac_toe: x: you, o: legal" in shown(child)
    assert "move 1: x, your turn" in shown(child)
    assert max(map(len, shown(child).splitlines())) <= 100
    child.sendline("11")
    child.expect("move 3: x, your turn")
    assert "1  x (mark 1 1)" in shown(child)
    assert "x o ." in shown(child)
    for move in ("21", "31"):
        child.sendline(move)
    child.expect("The game is over. You win: x 100, o 0")
    child.expect("record: ")
    child.sendline("quit")
    child.expect(pexpect.EOF)
    assert read_record(recorded(tmp_path / "anygame" / "matches")).goals == [100, 0]


def test_enter_draws_for_chance(start: Callable[..., spawn[str]]) -> None:
    child = start("play", "pig", "--against", "legal", "--seed", "1")
    child.expect("move 2: Enter samples the move")
    child.sendline("hold")
    child.expect("no person has a choice here; Enter samples the move")
    child.sendline("")
    child.expect(r"2  random \(die \d\)")
    child.expect("move [34]: ")


@pytest.mark.slow
def test_ctrl_c_ends_waiting_and_ctrl_d_the_game(start: Callable[..., spawn[str]]) -> None:
    child = start("play", "tic_tac_toe", "--against", "tests/match/games.py:Hanging", "--clock", "20")
    child.expect("x>")
    child.sendline("1 1")
    child.expect("Hanging to move: ")
    child.send(CTRL_C)
    child.expect("interrupted; Ctrl-D or `quit` leaves the prompt")
    child.expect("x>")
    child.send(CTRL_D)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_play_works_without_the_extra(start: Callable[..., spawn[str]]) -> None:
    child = start("play", "tic_tac_toe", "--against", "legal", program=PLAIN)
    child.expect("x>")
    for move in ("11", "21", "31"):
        child.sendline(move)
    child.expect("You win: x 100, o 0")
    child.expect("5> ")
    child.sendeof()
    child.expect(pexpect.EOF)


# -- matches and tournaments ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_person_plays_a_match_and_may_leave_it(start: Callable[..., spawn[str]], tmp_path: Path) -> None:
    records = ["--record", str(tmp_path)]
    child = start("match", "tic_tac_toe", "--players", "human", "legal", "--play-clock", "0.1", *records)
    child.expect("move 1: x, your turn.*x>")
    child.sendline("what")
    child.expect("what is neither a command nor a legal move")
    child.expect("x>")
    child.sendline("1 1")
    child.expect(r"2  noop  \(mark 1 2\).*x>")
    child.send(CTRL_D)
    child.expect("interrupted; to resume: anygame match --resume")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    path = recorded(tmp_path)
    assert read_record(path).step == 2
    child = start("match", "--resume", str(path))
    for move in ("2 1", "3 1"):
        child.expect("x>")
        child.sendline(move)
    child.expect(r"goals: x \(human\) 100, o \(legal\) 0")
    child.expect(pexpect.EOF)
    record = read_record(path)
    assert (record.humans, record.goals, record.errors[1:]) == ([True, False], [100, 0], [["", ""]] * 5)


@pytest.mark.slow
@pytest.mark.parametrize("program", [MAIN, PLAIN], ids=["terminal", "plain"])
def test_two_people_share_a_terminal(start: Callable[..., spawn[str]], program: str) -> None:
    child = start("match", "rock_paper_scissors", "--players", "human", "human", program=program)
    for number in (1, 2, 3):
        child.expect(f"move {number}: left, your turn.*left>")
        child.sendline("rock")
        child.expect(f"move {number}: right, your turn.*right>")
        child.sendline("scissors")
        child.expect(f"{number}  rock  scissors")
    child.expect(r"goals: left \(human\) 100, right \(human-2\) 0")
    child.expect(pexpect.EOF)


@pytest.mark.slow
def test_a_person_plays_a_tournament(start: Callable[..., spawn[str]], tmp_path: Path) -> None:
    store = ["--store", str(tmp_path / "store.sqlite")]
    child = start("tournament", "gdl/rock_paper_scissors.kif", "--players", "human", "legal", *store)
    for role in ("left", "right"):
        for _ in range(3):
            child.expect(f"{role}, your turn.*{role}>")
            child.sendline("scissors")
    child.expect("2 of 2 matches")
    child.expect(pexpect.EOF)


def test_people_need_a_terminal(tmp_path: Path) -> None:
    for command in (
        ["match", "tic_tac_toe", "--players", "human", "legal"],
        ["tournament", "gdl/tic_tac_toe.kif", "--players", "human", "legal", "--store", str(tmp_path / "s")],
    ):
        output, status = run(command)
        assert status == 2
        assert "`human` needs a terminal for standard input and output" in output
    with pytest.raises(anygame.PlayerError, match="is a person at a terminal"):
        make_player("human")


def test_people_and_json_do_not_share_a_terminal(start: Callable[..., spawn[str]]) -> None:
    child = start("match", "tic_tac_toe", "--players", "human", "legal", "--json")
    child.expect("leave out --json")
    child.expect(pexpect.EOF)
