from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.transcripts import ROOT, run

from anygame.cli import sheets
from anygame.cli.commands import perft as perft_command
from anygame.game import perft_divide
from anygame.game.game import Game
from anygame.game.machines.reasoner import ReasonerMachine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from anygame.game.outcomes import Outcome

COMMAND = [sys.executable, "-c", "import sys; from anygame.cli.main import main; sys.exit(main())"]


@pytest.fixture(autouse=True)
def _in_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def answer(*arguments: str, given: str = "") -> dict[str, object]:
    output, status = run([*arguments, "--json"], given)
    assert status in (0, 1), output
    found = json.loads(output)
    assert isinstance(found, dict)
    return found


def test_sheet_comes_from_standard_input() -> None:
    sheet = "(role solo) (init (at 1)) (legal solo go) (<= terminal (true (at 2)))"
    assert run(["legal", "-", "solo"], sheet) == ("go\n", 0)
    assert answer("state", "-", given=sheet)["game"] == "<stdin>"


def test_standard_input_that_is_no_text_is_refused() -> None:
    done = subprocess.run([*COMMAND, "legal", "-"], input=b"(role \xff)", capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr.decode().strip() == "anygame: standard input is not UTF-8 text: byte 6 cannot be read"


def test_names_are_case_sensitive_by_default() -> None:
    sheet = "(role x) (init (Lamp Off)) (<= (legal x light) (true (lamp off))) (legal x wait)"
    assert run(["legal", "-", "x"], sheet) == ("wait\n", 0)
    assert run(["legal", "-", "x", "--case-insensitive"], sheet) == ("light\nwait\n", 0)
    pattern = "(Legal ?Who Light)"
    assert run(["query", "-", pattern, "--case-insensitive"], sheet) == ("(legal x light)\n", 0)


def test_goals_reports_contradictory_goals_unlike_missing_goals() -> None:
    sheet = "(role x) (role y) (legal x go) (legal y go) (goal x 0) (goal x 100)"
    found = answer("goals", "-", given=sheet)
    assert found["goals"] == {"x": None, "y": None}
    assert found["conflicts"] == {"x": ["0", "100"]}
    output, _ = run(["goals", "-"], sheet)
    assert output == "x 0 and 100 (the rules contradict each other)\ny none\n"


def test_capitals_of_a_typed_move_are_forgiven_where_it_is_clear() -> None:
    sheet = "(role x) (legal x Go) (legal x stay) (legal x STAY) (<= (next (done ?m)) (does x ?m))"
    sheet += "(<= terminal (true (done quit)))"
    assert run(["state", "-", "--after", "go"], sheet) == ("(done Go)\n", 0)
    assert run(["state", "-", "--after", "stay"], sheet) == ("(done stay)\n", 0)
    output, status = run(["state", "-", "--after", "Stay"], sheet)
    assert status == 2
    assert "Stay is not a legal move of x here" in output


def test_a_move_that_is_a_number_is_meant_before_a_place_in_the_list() -> None:
    sheet = "(role x) (legal x 3) (legal x 2) (legal x 7) (<= (next (done ?m)) (does x ?m))"
    sheet += "(<= terminal (true (done quit)))"
    assert run(["state", "-", "--after", "3"], sheet) == ("(done 3)\n", 0)
    assert run(["state", "-", "--after", "1"], sheet) == ("(done 2)\n", 0)


def test_role_without_a_legal_move_is_named() -> None:
    sheet = "(role x) (role y) (legal x go)"
    output, status = run(["state", "-", "--after", "go"], sheet)
    assert (status, output) == (
        2,
        'anygame: --after "go" (number 1): y has no legal move, so nobody can move here\n',
    )


def test_explain_summarises_the_rules() -> None:
    text, status = run(["explain", "gdl/tic_tac_toe.kif"])
    assert status == 0
    assert "roles     x o\n" in text
    assert "state     cell/3          1 2 3 | 1 2 3 | b o x\n" in text
    assert "moves     mark/2          1 2 3 | 1 2 3\n          noop/0\n" in text
    assert "hidden    nothing\n" in text
    summary = answer("explain", "gdl/kuhn_poker.kif")["summary"]
    assert isinstance(summary, dict)
    assert summary["roles"] == ["player1", "player2", "random"]
    assert summary["hides"] is True
    assert summary["moves"]["deal/1"] == [["jack", "king", "queen"]]


@pytest.mark.parametrize("what", ["strata", "plan", "domains"])
def test_explanations_are_text_or_json(what: str) -> None:
    text, status = run(["explain", "gdl/tic_tac_toe.kif", f"--{what}"])
    assert status == 0
    assert "cell" in text
    assert answer("explain", "gdl/tic_tac_toe.kif", f"--{what}")[what]


def test_playouts_are_repeated_by_their_seed_and_counted() -> None:
    first = answer("playout", "gdl/tic_tac_toe.kif", "--count", "20")
    again = answer("playout", "gdl/tic_tac_toe.kif", "--count", "20", "--seed", str(first["seed"]))
    roles = first["roles"]
    assert isinstance(roles, dict)
    assert roles == again["roles"]
    assert [sum(roles[role]["counts"].values()) for role in ("x", "o")] == [20, 20]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "COMMAND"),
        (["legla", "gdl/pig.kif"], "there is no command 'legla'; did you mean legal?"),
        (["zzz"], "there is no command 'zzz'\n  try: anygame --help\n"),
        (["--seed", "1"], "unrecognized arguments: --seed"),
        (["solve", "pig", "--second", "1"], "unrecognized arguments: --second 1; did you mean --seconds?"),
        (["query", "gdl/pig.kif"], "required: PATTERN"),
        (["legal", "gdl/pig.kif", "player1", "player2"], "unrecognized arguments: player2"),
        (["perft", "gdl/pig.kif", "-1"], "expected a whole number of at least 0, found '-1'"),
        (["perft", "gdl/pig.kif", "deep"], "expected a whole number of at least 0, found 'deep'"),
        (["simulate", "gdl/pig.kif", "--threads", "9999999"], "expected a whole number from 1 to 4096"),
        (["simulate", "gdl/pig.kif", "--limit", "9" * 18], "expected a whole number from 0 to 10000000"),
        (
            ["grade", "/dev/null", "/dev/null"],
            "/dev/null has no questions: expected the output of `anygame quiz`",
        ),
        (["match", "gdl/pig.kif", "--players", "legal", "legal", "--sign", "/"], "as a key: Is a directory"),
        (["playout", "gdl/pig.kif", "--count", "0"], "expected a number such as 1000000 or 1e6, found '0'"),
        (["playout", "gdl/pig.kif", "--seed", "x"], "expected a whole number, found 'x'"),
        (["playout", "gdl/pig.kif", "--seed=-+1"], "expected a whole number, found '-+1'"),
        (["check", ""], "expected the name of a rule sheet, found an empty one"),
        (["replay", ""], "expected the name of a match record, found an empty one"),
        (["web", "--port", "0", ""], "expected the name of a rule sheet or a folder, found an empty one"),
        (
            ["check", "gdl/pig.kif", "--play", "0", "--lines", "/missing/lines"],
            "cannot write /missing/lines: No such",
        ),
        (["explain", "gdl/pig.kif", "--plan", "--strata"], "not allowed with argument"),
    ],
)
def test_wrong_arguments_are_refused(arguments: list[str], message: str) -> None:
    output, status = run(arguments)
    assert status == 2
    assert message in output
    assert "Traceback" not in output


@pytest.mark.parametrize(
    ("depth", "options", "message"),
    [
        ("100001", [], "the depth of a count must be from 1 to 100,000, not 100001"),
        ("20000", [], "the count has more than 4,300 digits: choose a smaller DEPTH"),
        ("20000", ["--divide", "--json"], "the count has more than 4,300 digits: choose a smaller DEPTH"),
    ],
)
def test_counts_that_are_too_large_are_refused(
    tmp_path: Path, depth: str, options: list[str], message: str
) -> None:
    sheet = tmp_path / "endless.kif"
    sheet.write_text("(role me) (legal me a) (legal me b) (<= terminal (true over))", encoding="utf-8")
    assert run(["perft", str(sheet), depth, *options]) == (f"anygame: {message}\n", 2)
    output, status = run(["perft", str(sheet), "2000", *options])
    assert status == 0
    assert str(1 << 2_000) in output


@pytest.mark.parametrize("command", ["state", "legal", "goals", "query", "playout", "perft", "explain"])
def test_help_tells_the_shape_of_json(command: str) -> None:
    output, status = run([command, "--help"])
    assert status == 0
    assert '{"game"' in output


def test_unreadable_file_is_refused(tmp_path: Path) -> None:
    for name in ("pipe" * 100, "a\0b", "loop"):
        (tmp_path / "loop").unlink(missing_ok=True)
        (tmp_path / "loop").symlink_to(tmp_path / "loop")
        output, status = run(["legal", str(tmp_path / name)])
        assert status == 2
        assert output.startswith("anygame: ")
        assert "Traceback" not in output


def test_names_that_the_output_cannot_hold_are_spelled_out() -> None:
    sheet = "(role x) (legal x caf\u00e9)".encode()
    done = subprocess.run(
        [*COMMAND, "legal", "-", "x"],
        input=sheet,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )
    assert done.stdout == b"caf\\xe9\n"


def test_closed_pipe_ends_the_command_quietly() -> None:
    line = f"{' '.join(map(repr, COMMAND))} legal gdl/six_in_a_row.kif | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.splitlines()[0] == "player1 (place 1 1)"
    assert done.stdout.splitlines()[1] in ("0", "141")  # 0 where all fits into the pipe


def test_closed_output_ends_quietly() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*COMMAND, "legal", "gdl/tic_tac_toe.kif"], stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize(
    ("line", "status", "told"),
    [
        ("legal pig >&-", 0, ""),
        ("format pig >&-", 0, ""),
        ("repl pig <&-", 0, ""),
        ("legal - <&-", 2, "<stdin>:1:1: error[no-role]"),
        ("legal nope >&-", 2, "anygame: there is no file nope"),
        ("legal nope 2>&-", 2, ""),
        ("legal nope 2>/dev/full", 2, ""),
        ("legal pig >/dev/full", 2, "anygame: cannot continue: No space left on device"),
        ("format pig >/dev/full", 2, "anygame: cannot continue: No space left on device"),
        (
            "repl pig </dev/zero",
            2,
            "anygame: line 1 of the script has more than 1,048,576 characters, which is the limit",
        ),
    ],
)
def test_streams_that_are_closed_or_full_end_it_quietly(line: str, status: int, told: str) -> None:
    if "/dev/full" in line and not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    done = subprocess.run(
        ["bash", "-c", f'"$@" {line}', "bash", *COMMAND], capture_output=True, text=True, check=False
    )
    assert done.returncode == status
    assert done.stderr.startswith(told)
    assert bool(done.stderr) == bool(told)
    assert "Traceback" not in done.stderr


def test_games_are_listed_and_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    output, status = run(["games"])
    assert status == 0
    listed = [line.split("  ")[0] for line in output.splitlines()]
    assert listed == sorted(path.stem for path in (ROOT / "gdl").glob("*.kif"))
    assert "pig                  player1, player2, random  Two players take turns and roll a die" in output
    assert "  A puzzle for one. A knight leaps over a 5 by 5 board and never returns" in output
    found = answer("games")["games"]
    assert isinstance(found, list)
    assert found[-1] == {
        "name": "tic_tac_toe",
        "title": "Tic-tac-toe",
        "roles": ["x", "o"],
        "description": (
            "X and O take turns to mark the cells of a 3 by 3 grid. Three equal marks "
            "in a row, a column or a diagonal win; a full grid without such a line is a draw."
        ),
    }
    for command in (["legal"], ["check"], ["perft"], ["format", "--diff"], ["mend"]):
        assert run([*command, "tic_tac_toe", *(["1"] if command == ["perft"] else [])])[1] == 0
    assert answer("legal", "pig")["game"] == "pig"


@pytest.mark.parametrize("command", ["format", "mend"])
def test_a_game_of_the_package_is_not_written(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    message = "anygame: pig is an installed game, which cannot be overwritten: leave out --write\n"
    assert run([command, "pig", "--write"]) == (message, 2)
    assert list(tmp_path.iterdir()) == []


def _interrupted_count(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Let Ctrl-C be pressed when some first joint moves are counted."""

    def divide(game: Game, depth: int, *, progress: Callable[[Mapping[Any, int], int], object]) -> None:
        def tell(counts: Mapping[Any, int], total: int) -> None:
            progress(counts, total)
            if len(counts) == after:
                raise KeyboardInterrupt

        perft_divide(game, depth, progress=tell)

    monkeypatch.setattr(perft_command, "perft_divide", divide)


@pytest.mark.parametrize("more", [[], ["--divide"]])
def test_interrupted_counts_print_results(more: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    _interrupted_count(monkeypatch, 2)
    command = ["perft", "gdl/tic_tac_toe.kif", "3", *more]
    note = "anygame: interrupted: 2 of 9 first joint moves were counted\n"
    output, status = run(command)
    assert status == 130
    assert output == f"{note}          56  (mark 1 1) noop\n          56  (mark 1 2) noop\n"
    output, status = run([*command, "--json"])
    assert status == 130
    assert json.loads(output.removeprefix(note)) == {
        "game": "gdl/tic_tac_toe.kif",
        "depth": 3,
        "count": None,
        "divide": [
            {"moves": ["(mark 1 1)", "noop"], "count": 56},
            {"moves": ["(mark 1 2)", "noop"], "count": 56},
        ],
        "interrupted": True,
    }


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_count_shows_how_far_it_is_on_a_terminal() -> None:
    pexpect = pytest.importorskip("pexpect")
    pytest.importorskip("rich")
    command = ["-m", "anygame", "perft", "hex_pie", "5"]
    child = pexpect.spawn(sys.executable, command, timeout=60, encoding="utf-8", dimensions=(24, 120))
    child.expect(r"first moves.*\d+/81")
    child.sendintr()
    child.expect(r"interrupted: \d+ of 81 first joint moves were counted")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 130


def test_interrupted_playouts_print_their_results_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, played = ReasonerMachine.play_out, count()

    def play_out(machine: ReasonerMachine, *arguments: Any) -> Outcome:
        if next(played) % 3 == 2:
            raise KeyboardInterrupt
        return whole(machine, *arguments)

    monkeypatch.setattr(ReasonerMachine, "play_out", play_out)
    arguments = ["playout", "gdl/tic_tac_toe.kif", "--count", "1000", "--seed", "1"]
    output, status = run(arguments)
    assert status == 130
    assert output.startswith("2 of 1,000 random playouts of gdl/tic_tac_toe.kif, seed 1\n")
    output, status = run([*arguments, "--json"])
    assert status == 130
    found = json.loads(output)
    assert (found["asked"], found["playouts"]) == (1000, 2)


def test_other_commands_end_quietly_when_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(game: Game) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Game, "initial_state", interrupted)
    assert run(["legal", "gdl/tic_tac_toe.kif"]) == ("", 130)


def _loaded(*arguments: str) -> set[str]:
    """Return the modules that a command has loaded at its end."""
    program = (
        "import sys; from anygame.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "finally: print('\\n', *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


def test_help_and_version_load_no_library_that_they_do_not_need() -> None:
    for argument in ("--version", "--help"):
        assert not {"lark", "rich", "prompt_toolkit"} & _loaded(argument)


#: What takes long to load, and no question about a state needs.
_HEAVY = {"asyncio", "llvmlite", "networkx", "numpy", "prompt_toolkit", "rich", "scipy", "multiprocessing"}
_HEAVY |= {"anygame.network", "anygame.proving", "anygame.search", "anygame.players", "anygame.doctor"}


@pytest.mark.parametrize("question", [["legal"], ["state"], ["goals"], ["query", "(legal ?r ?m)"]], ids=str)
def test_a_question_about_a_state_loads_nothing_heavy(question: list[str]) -> None:
    command, *rest = question
    loaded = _loaded(command, "tic_tac_toe", *rest)
    assert "anygame.datalog.reasoner" in loaded
    assert not _HEAVY & loaded


def test_standard_input_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheets, "_INPUT_LIMIT", 20)
    message = "anygame: standard input has more than 20 bytes, the limit for a rule sheet\n"
    assert run(["legal", "-"], "(role x) (legal x go)") == (message, 2)


def test_playout_reports_playouts_that_reach_the_limit() -> None:
    sheet = "(role x) (legal x go) (init a) (<= (next a) (true a)) (<= terminal (true b))"
    output, status = run(["playout", "-", "--count", "3", "--seed", "1", "--limit", "7"], sheet)
    assert status == 0
    assert output.splitlines()[1:3] == [
        "3 more games were abandoned at the move limit",
        "goal of x  unknown",
    ]


MANY = (
    "(role x) (role y) (role z) (legal x wait) (legal y (go 1)) (legal y (go 2)) (legal z (a 1)) (legal z b)"
)


@pytest.mark.parametrize(
    ("sheet", "moves", "message"),
    [
        (
            MANY,
            "b",
            "expected a move of y and a move of z (no other role has a choice), or one move for each role",
        ),
        (
            MANY,
            "wait (go 3) b",
            "(go 3) is not a legal move of y here; the nearest legal moves are (go 2), (go 1)",
        ),
        (
            "(role x) (legal x (go 1 2)) (legal x (go 1 3))",
            "go 1 4",
            "go 1 4 is not a legal move of x here; the nearest legal moves are (go 1 3), (go 1 2)",
        ),
        (MANY, "wait (go 1) 3", "z has no move 3: its legal moves are numbered 1 to 2"),
        (MANY, "wait 99999999999 b", "y has no move 99999999999: its legal moves are numbered 1 to 2"),
        (
            "(role x) (legal x a)",
            "a b",
            "expected no move, because nobody has a choice, or else one move; found 2",
        ),
        (
            f"(role x) {' '.join(f'(legal x (go {n}))' for n in range(9))}",
            "zzzzzzzzzz",
            "zzzzzzzzzz is not a legal move of x here; there are 9 others, such as (go 0)",
        ),
        ("(role x)", "a", "x has no legal move, so nobody can move here"),
        ("(role x)", "1", "x has no legal move"),
    ],
)
def test_moves_that_cannot_be_are_explained(sheet: str, moves: str, message: str) -> None:
    output, status = run(["state", "-", "--after", moves], sheet)
    assert status == 2
    assert message in output


def test_the_error_for_unbound_variables_suggests_lenient_reading() -> None:
    sheet = "(role x) (legal x go) (on a) (init (at a)) (<= terminal (not (true (at ?any))))"
    output, status = run(["legal", "-"], sheet)
    assert status == 2
    assert output.splitlines()[-1].startswith(
        "anygame: note: Prolog-style sheets leave variables unbound; try --lenient"
    )
    assert run(["legal", "-"], sheet + "(true a)")[0].count("--lenient") == 0
    assert run(["legal", "-", "--lenient"], sheet)[1] == 0


def test_capitals_of_a_move_do_not_matter_where_they_tell_nothing_apart() -> None:
    sheet = "(role x) (legal x (Go 1)) (legal x stay) (<= (next ?m) (does x ?m))"
    assert run(["state", "-", "--after", "(gO 1)"], sheet) == ("(Go 1)\n", 0)
    sheet += "(legal x (GO 1))"
    output, status = run(["state", "-", "--after", "(gO 1)"], sheet)
    assert (status, "nearest legal moves are (GO 1), (Go 1)" in output) == (2, True)


def test_the_error_for_too_many_terms_names_the_rules() -> None:
    rules = "".join(f"\n(<= (n (s ?x)) (n ?x) (m {number}))" for number in range(5))
    output, status = run(["legal", "-"], f"(role x) (n z) (m 0) (<= (legal x ?n) (n ?n)){rules}")
    assert status == 2
    assert "try: let the recursion end" in output
    assert output.count("a rule of n/1") == 3
    assert "... and 2 more rules of n/1" in output


def test_tests_of_rules_are_spelled_out_in_the_strata() -> None:
    test = "(or (distinct ?x ?y) (not (distinct ?x a)))"
    sheet = f"(role x) (p a) (<= (q ?x ?y) (p ?x) (p ?y) {test})"
    output, status = run(["explain", "-", "--strata"], sheet)
    assert status == 0
    assert "(?x != ?y or ?x == a)" in output


def test_usage_errors_come_first_and_take_two_lines() -> None:
    for words, said in (
        (["solve", "gdl/pig.kif", "--frobnicate"], "unrecognized arguments: --frobnicate"),
        (["solve"], "the following arguments are required: FILE"),
        (
            ["perft", "gdl/pig.kif", "many"],
            "argument DEPTH: expected a whole number of at least 0, found 'many'",
        ),
    ):
        output, status = run(words)
        name = f"anygame {words[0]}"
        assert (output, status) == (f"{name}: error: {said}\n  try: {name} --help\n", 2)


def test_trees_are_drawn_in_ascii_where_a_terminal_has_no_more(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.kif"
    sheet.write_text(
        "(role x) (p 1) (caf\u00e9 1) (<= (legal x go) (p 1) (caf\u00e9 1)) (<= terminal (p 2)) (goal x 0)"
    )
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": os.pathsep.join(sys.path)}
    output = subprocess.run(
        [sys.executable, "-m", "anygame", "repl", str(sheet)],
        input=b"why (legal x go)\n", env=ascii_only, capture_output=True, check=True,
    ).stdout.decode("ascii")  # fmt: skip
    assert "\n+- (p 1)" in output
    assert "\n`- (caf\\xe9 1)" in output
