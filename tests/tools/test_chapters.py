from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.cli.transcripts import ROOT, run
from tests.tools.chapters import (
    CHAPTERS,
    EXPERIMENTS,
    README,
    absent,
    hidden,
    libraries,
    needed,
    replayed,
    replayed_apart,
    sheets,
    told,
)

import anygame
from anygame import language

if TYPE_CHECKING:
    from pathlib import Path

_LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)

#: Chapters whose examples start notebooks and clusters, or compile with JAX.
_SLOW = ("notebooks", "clusters", "jax", "open_spiel")

chapters = pytest.mark.parametrize(
    "path", CHAPTERS + EXPERIMENTS, ids=lambda path: path.relative_to(ROOT).as_posix()
)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            path, marks=[pytest.mark.slow] * (path.stem in _SLOW), id=path.relative_to(ROOT).as_posix()
        )
        for path in CHAPTERS + EXPERIMENTS
    ],
)
def test_examples_print_the_documented_output(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if absent(text):
        pytest.skip(f"the examples need {', '.join(absent(text))}, not installed here")
    assert replayed_apart(path) == text, "if it is meant so: python -m tests.tools.chapters"


def test_the_readme_is_short_and_has_an_example() -> None:
    text = README.read_text(encoding="utf-8")
    assert text.count("\n") <= 150
    assert "```python" in text


@chapters
def test_links_of_chapters_have_targets(path: Path) -> None:
    for link in _LINK.findall(_FENCED.sub("", path.read_text(encoding="utf-8"))):
        if link.startswith(("http://", "https://")):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), link
        assert not anchor or anchor in _anchors(target), link


def _anchors(path: Path) -> set[str]:
    """Return what the headings of a chapter can be linked by."""
    headings = re.findall(r"^#+ (.*)$", _FENCED.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_chapter_describes_every_command() -> None:
    listed = re.findall(r"^    ([a-z-]+)(?:  |$)", run(["--help"])[0], re.MULTILINE)
    assert len(listed) > 15
    text = (ROOT / "docs" / "guide" / "prompt.md").read_text(encoding="utf-8")
    assert [name for name in listed if f"`anygame {name}" not in text] == []


def test_files_that_are_named_are_there() -> None:
    for path in set(re.findall(r"\b(?:gdl|tools|tests|src)/[\w./]*", told())):
        assert (ROOT / path.rstrip(".")).exists(), path


def test_the_sheet_of_the_first_steps_is_a_sound_game() -> None:
    sheet = sheets((ROOT / "docs" / "start" / "first-steps.md").read_text(encoding="utf-8"))["matches.kif"]
    game = anygame.loads(sheet)
    assert not game.program.warnings
    for playout in game.playouts(20, seed=1):
        assert playout.is_complete
        assert sorted(goal or 0 for goal in playout.goals.values()) == [0, 100]
        assert list(playout.goals.values()) == [100, 0] if playout.length % 2 else [0, 100]
    output, status = run(["check", "--play", "20", "-"], sheet)
    assert (output, status) == ("", 0)


GAME = "(role a) (legal a x) (<= terminal (true over)) (d 1) (d 2) (d 3) "


@pytest.mark.parametrize(
    ("rules", "pattern", "answers"),
    [
        ("(p 1) (q 2) (<= (n ?x) (d ?x) (not (or (p ?x) (q ?x))))", "(n ?x)", ["3"]),
        ("(<= (won) (d 1)) (<= (n 1) won)", "(n ?x)", ["1"]),
        ("(p 1) (p 1 2) (<= (n ?y) (p ?x) (p ?x ?y))", "(n ?x)", ["2"]),
        (
            "(w 1) (<= (goal ?r 100) (role ?r) (w 0)) (<= (goal ?r 0) (role ?r) (not (goal ?r 100)))",
            "(goal a ?x)",
            ["0"],
        ),
        ("(role a)", "(role ?x)", ["a"]),
        ("(w 01) (<= (n ?x) (w ?x) (distinct ?x 1))", "(n ?x)", ["01"]),
        ("(INIT (S 1)) (<= (n ?x) (True (S ?x))) (<= (n 7) (true (s ?x)))", "(n ?x)", ["1"]),
    ],
)
def test_the_documented_dialect_is_right(rules: str, pattern: str, answers: list[str]) -> None:
    game = anygame.loads(GAME + rules)
    assert [str(found["x"]) for found in game.initial_state().query(pattern)] == answers
    assert game.roles == ("a",)


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ("(<= (n ?x) (d ?x) (not (d ?y)))", "unsafe-variable"),
        ("(<= (n ?x) (d ?x) (distinct ?x ?y))", "unsafe-variable"),
        ("(<= (goal ?r 100) (d 1))", "unsafe-variable"),
        ("(<= p (not q)) (<= q (not p))", "unstratified"),
        ("(true (f 1))", "state-in-head"),
    ],
)
def test_sheets_are_refused_as_documented(rules: str, code: str) -> None:
    with pytest.raises(anygame.RuleSheetError) as refused:
        anygame.loads(GAME + rules)
    assert code in {getattr(found, "code", "") for found in refused.value.diagnostics}


def test_documented_limits_are_right() -> None:
    text = told().replace("\n", " ")
    read, reason = language.ReadingLimits(), anygame.Limits()
    assert f"{read.bytes // 2**20} MiB of text, {read.depth} nested parentheses" in text
    assert f"{reason.facts // 10**6} million facts of a relation" in text
    assert f"terms {reason.depth} deep, {reason.steps // 10**6:,} million steps for a question" in text


@pytest.mark.parametrize(
    ("block", "output"),
    [
        ("```python\nn = 1 + 1\nprint(n)\n```\n\n```text\n3\n```\n", "\n2\n```\n"),
        ("```python\nn = 1\n```\n```python\nprint(n)\n```\n```text\n```\n", "\n1\n```\n"),
        ("```console\n$ anygame perft tic_tac_toe 1\n8\n```\n", "\n9\n```\n"),
        (
            '```lisp title="one.kif"\n(role a)\n```\n```lisp title="one.kif"\n(legal a b)\n```\n'
            "```console\n$ anygame legal one.kif\n```\n",
            "\na b\n```\n",
        ),
        (
            "```console\n$ anygame repl pig --echo < f\n> roles\nnobody\n```\n",
            "\n> roles\n1  player1",
        ),
    ],
)
def test_other_output_is_noticed(block: str, output: str) -> None:
    assert replayed(block) != block
    assert output in replayed(block)
    assert replayed(replayed(block)) == replayed(block)


def test_chapters_name_extras_that_there_are() -> None:
    named = {extra for path in CHAPTERS for extra in needed(path.read_text(encoding="utf-8"))}
    assert {"prove", "web", "pettingzoo"} <= named <= libraries().keys()


_NEEDS_SCIPY = "The examples need `pip install 'anygame[{}]'`.\n\n```python\nimport pysat\nimport sys\n```\n"


def test_an_extra_that_is_not_named_is_missing(tmp_path: Path) -> None:
    assert {"pysat", "scipy", "starlette"} <= hidden("")
    assert not {"numpy", "lark", "networkx", "pytest"} & hidden("")
    assert "scipy" not in hidden(_NEEDS_SCIPY.format("prove")) | hidden(_NEEDS_SCIPY.format("solve"))
    path = tmp_path / "chapter.md"
    path.write_text(_NEEDS_SCIPY.format("web,prove"), encoding="utf-8")
    assert replayed_apart(path) == path.read_text(encoding="utf-8")
    path.write_text(_NEEDS_SCIPY.format("solve"), encoding="utf-8")
    with pytest.raises(AssertionError, match=r"extras \['solve'\] alone:[^$]*No module named 'pysat'"):
        replayed_apart(path)


def test_processes_of_examples_lack_other_extras(tmp_path: Path) -> None:
    path = tmp_path / "chapter.md"
    call = (
        "subprocess.call([sys.executable, '-W', 'ignore', '-c', 'import pysat'], stderr=subprocess.DEVNULL)"
    )
    code = f"import subprocess, sys\nprint({call})"
    text = f"```python\n{code}\n```\n\n```text\n1\n```\n"
    path.write_text(text, encoding="utf-8")
    assert replayed_apart(path) == text


def test_output_that_is_not_shown_is_noticed() -> None:
    with pytest.raises(AssertionError, match="which is not shown"):
        replayed("```python\nprint(1)\n```\n")
