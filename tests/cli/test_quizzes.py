"""`anygame quiz` and `anygame grade` from the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from anygame.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path


def ask(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str, str]:
    status = main(["quiz", *options])
    out, err = capsys.readouterr()
    return status, out, err


def test_a_quiz_is_asked_and_graded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = (
        "tic_tac_toe",
        "pig",
        "--count",
        "24",
        "--seed",
        "-3",
        "--scramble",
        "symbols",
        "--form",
        "infix",
    )
    status, out, err = ask(capsys, *options)
    assert (status, err) == (0, "")
    assert ask(capsys, *options)[1] == out
    asked = list(map(json.loads, out.splitlines()))
    assert len(asked) == 24
    quiz, replies = tmp_path / "quiz.jsonl", tmp_path / "replies.jsonl"
    quiz.write_text(out)
    replies.write_text("".join(json.dumps("Answer: " + ", ".join(one["answer"])) + "\n" for one in asked))
    assert main(["grade", str(quiz), str(replies)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["all", "24", "24", "1.000", "1.000"]
    first = asked[0]["id"]
    replies.write_text(json.dumps({"id": first, "reply": "no idea"}) + "\n\n")
    assert main(["grade", str(quiz), str(replies), "--show", "1"]) == 1
    told = capsys.readouterr().out
    assert f"{first}: no answer was found in the reply" in told
    assert "and 23 more wrong replies; --show N shows N of them" in told
    assert main(["grade", str(quiz), str(replies), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["questions"], found["replies"], found["exact"], len(found["grades"])) == (24, 1, 0, 24)
    assert found["grades"][0]["says"].startswith("no answer was found")


def test_kinds_are_chosen_and_run_out(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = ask(
        capsys, "rock_paper_scissors", "--kind", "legal", "--kind", "goal", "--depth", "0", "--count", "99"
    )
    assert status == 1
    assert {json.loads(line)["kind"] for line in out.splitlines()} == {"legal", "goal"}
    assert "found only 4 different questions, expected 99" in err


def test_sheets_are_written_as_they_are_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "asked"
    status, out, _ = ask(
        capsys, "rock_paper_scissors", "--count", "1", "--scramble", "words", "--sheets", str(folder)
    )
    assert status == 0
    assert (folder / "rock_paper_scissors.kif").read_text() == json.loads(out)["rules"]
    pytest.importorskip("pysat")
    paths = [str(folder / f"rock_paper_scissors.{suffix}") for suffix in ("kif", "map")]
    assert main(["equal", "rock_paper_scissors", paths[0], "--map", paths[1]]) == 0
    assert "both sheets describe the same game" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("replies", "said"),
    [
        ('{"id": "none", "reply": ""}', "reply 1 answers 'none', which is not a question of the quiz"),
        ('{"id": "pig-legal-1", "reply": 1}', "reply 1: expected a string as its `reply`"),
        ('"a"\n"b"', "reply 2 belongs to no question: the quiz has only 1 questions"),
        ('"a"\n{"id": "pig-legal-1", "reply": ""}', "reply 2 answers 'pig-legal-1', which has"),
        ("yes", "expected reply 1 as one line of JSON"),
    ],
)
def test_faulty_replies_cause_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], replies: str, said: str
) -> None:
    quiz, given = tmp_path / "quiz", tmp_path / "replies"
    quiz.write_text(ask(capsys, "pig", "--kind", "legal", "--count", "1")[1])
    given.write_text(replies)
    assert main(["grade", str(quiz), str(given)]) == 2
    assert said in capsys.readouterr().err


def test_files_that_are_none_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\0")
    for name, said in ((str(tmp_path / "none"), "cannot read"), (str(binary), "cannot read")):
        assert main(["grade", name, "-"]) == 2
        assert said in capsys.readouterr().err
    assert main(["quiz", "tic_tac_to"]) == 2
    assert "did you mean tic_tac_toe" in capsys.readouterr().err
