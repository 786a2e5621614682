"""``anygame export``: what is written where, and what is refused. What is in it has tests of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cli.transcripts import run

import anygame
from anygame.proving.exports import FORMS, binary_aiger, export_text

if TYPE_CHECKING:
    from pathlib import Path

#: Numbers without an end: what can ever hold cannot be found.
_UNBOUNDED = (
    "(role x) (init (n 0)) (legal x inc) (<= (next (n (s ?n))) (true (n ?n)))"
    "(<= terminal (true (n (s (s 0))))) (goal x 100)"
)
_DEPTH = {form: ["--depth", "2"] if "depth" in names else [] for form, names in FORMS.items()}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_printed_or_written(form: str, tmp_path: Path) -> None:
    arguments = ["export", "tic_tac_toe", "--to", form, *_DEPTH[form]]
    depth = 2 if _DEPTH[form] else None
    text = export_text(anygame.load("tic_tac_toe"), form, depth=depth)
    assert run(arguments) == (text, 0)
    path = tmp_path / "game.txt"
    assert run([*arguments, "-o", str(path)]) == ("", 0)
    assert path.read_text() == text


def test_a_file_that_ends_in_aig_is_binary(tmp_path: Path) -> None:
    path = tmp_path / "game.aig"
    assert run(["export", "tic_tac_toe", "--to", "aiger", "-o", str(path)]) == ("", 0)
    assert path.read_bytes() == binary_aiger(anygame.load("tic_tac_toe"))
    assert path.read_bytes().startswith(b"aig 346 20 30 0 296 3\n")


def test_the_picture_is_that_of_explain() -> None:
    drawn = run(["explain", "tic_tac_toe", "--network", "--dot", "-"])
    assert run(["export", "tic_tac_toe", "--to", "dot"]) == drawn


def test_a_role_and_a_goal_are_asked_for() -> None:
    of_o = export_text(anygame.load("tic_tac_toe"), "asp", depth=3, role="o", goal=50)
    arguments = ["export", "tic_tac_toe", "--to", "asp", "--depth", "3"]
    assert run([*arguments, "--role", "o", "--goal", "50"]) == (of_o, 0)
    assert run(arguments) != (of_o, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "asp"], "--to asp needs --depth N: the maximum number of joint moves"),
        (["--to", "asp", "--depth", "-1"], "expected a whole number of at least 0, found '-1'"),
        (["--to", "asp", "--depth", "x"], "expected a whole number of at least 0, found 'x'"),
        (["--to", "asp", "--depth", "10001"], "the depth is 10,001, above the limit of 10,000"),
        (["--to", "asp", "--depth", "9" * 18], "above the limit of 10,000"),
        (["--to", "asp", "--depth", "1", "--role", "z", "--goal", "1"], "z"),
        (["--to", "asp", "--depth", "1", "--goal", "101"], "a goal from 0 to 100"),
        (["--to", "asp", "--depth", "1", "--role", "x"], "the option role needs the option goal"),
        (["--to", "aiger", "--depth", "1"], "--depth is for --to asp, not for aiger"),
        (["--to", "efg", "--goal", "1"], "--goal is for --to asp, not for efg"),
        (["--to", "aiger", "--scale", "2"], "--scale is for --to efg, not for aiger"),
        (["--to", "dot", "--histories", "2"], "--histories is for --to efg, not for dot"),
        (["--to", "aiger", "--machine", "reasoner"], "--machine is for --to efg, not for aiger"),
        (["--to", "aig"], "invalid choice: 'aig'"),
        ([], "the following arguments are required: --to"),
    ],
)
def test_bad_arguments_cause_an_error_and_write_no_file(
    arguments: list[str], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "out"
    output, status = run(["export", "tic_tac_toe", *arguments, "-o", str(path)])
    assert status == 2
    assert message in output
    assert "Traceback" not in output
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("form", [form for form in FORMS if form != "asp"])
def test_a_sheet_without_a_network(form: str, tmp_path: Path) -> None:
    sheet = tmp_path / "endless.kif"
    sheet.write_text(_UNBOUNDED)
    output, status = run(["export", str(sheet), "--to", form, *_DEPTH[form], "-o", str(tmp_path / "out")])
    assert status == 2
    assert "endless.kif cannot be compiled: " in output
    assert not (tmp_path / "out").exists()


def test_answer_sets_need_no_network(tmp_path: Path) -> None:
    sheet = tmp_path / "endless.kif"
    sheet.write_text(_UNBOUNDED)
    output, status = run(["export", str(sheet), "--to", "asp", "--depth", "2"])
    assert status == 0
    assert "next(n(s(N)),T) :- true(n(N),T), _moved(T)." in output.splitlines()


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    output, status = run(["export", "tic_tac_toe", "--to", "aiger", "-o", str(tmp_path)])
    assert (status, output) == (2, f"anygame: cannot write {tmp_path}: it is not a writable file\n")


def test_export_text_refuses_options_of_other_formats() -> None:
    game = anygame.load("tic_tac_toe")
    with pytest.raises(ValueError, match="expected one of the formats aiger, dot, asp, found 'efg'"):
        export_text(game, "efg")
    with pytest.raises(ValueError, match="the format aiger has no option goal"):
        export_text(game, "aiger", goal=100)
    with pytest.raises(ValueError, match="the format asp needs a depth"):
        export_text(game, "asp")
    with pytest.raises(ValueError, match="a depth of at least 0"):
        export_text(game, "asp", depth=-1)
    with pytest.raises(anygame.UnknownRoleError):
        export_text(game, "asp", depth=1, role="z", goal=100)
