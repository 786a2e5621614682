"""The command line, the language server and the page say the same of a sheet."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.cli.transcripts import run
from tests.examples import some

from anygame.language.source import Source
from anygame.language_server.findings import Settings
from anygame.language_server.worker import examine
from anygame.web.hosting.questions import check

CASES = sorted((Path(__file__).parent / "cases").glob("*/in.kif"))
#: Codes, with where they stand, and what was meant there where that is known.
Said = list[tuple[str, int, str]]


def by_command_line(text: str) -> Said:
    output, _ = run(["check", "-", "--json", "--info", "--all"], text)
    found: list[dict[str, Any]] = json.loads(output)["diagnostics"]
    source = Source("sheet", text)
    starts = [source.line_bounds(each["line"])[0] + each["column"] - 1 for each in found]
    return sorted((each["code"], start, each["hint"]) for each, start in zip(found, starts, strict=True))


def by_language_server(text: str) -> Said:
    found = examine("sheet", text, Settings(play=True)).findings
    hints = [re.search(r"^try: (.*)", each.message, re.MULTILINE) for each in found]
    return sorted(
        (each.code, each.start, hint[1] if hint else "") for each, hint in zip(found, hints, strict=True)
    )


def by_page(text: str) -> Said:
    found = check("sheet", text)["diagnostics"]
    return sorted((each["code"], each["start"], each["hint"]) for each in found)


@pytest.mark.parametrize("case", some(CASES, 80), ids=lambda path: path.parent.name)
def test_all_say_the_same_and_name_the_same_causes(case: Path) -> None:
    text = case.read_text(encoding="utf-8")
    said = by_command_line(text)
    assert by_language_server(text) == said
    assert by_page(text) == said


SLIP = """\
(role x) (role o) (init (contrl x)) (other x o) (other o x)
(<= (legal ?p go) (true (control ?p)))
(<= (legal ?p noop) (role ?p) (not (true (control ?p))))
(<= (next (control ?q)) (true (control ?p)) (other ?p ?q))
(<= (next (gone ?p)) (does ?p go))
(<= terminal (true (gone o)))
(<= (goal ?p 50) (role ?p))
"""
TURNS = """\
(role ann) (role bob) (init (turn ann)) (init (left 2))
(<= (legal ?r take) (true (turn ?r)))
(<= (legal ?r wait) (role ?r) (true (turn ?r)))
(<= (next (turn bob)) (true (turn ann)))
(<= (next (turn ann)) (true (turn bob)))
(<= (next (left 1)) (true (left 2)))
(<= (next (left 0)) (true (left 1)))
(<= terminal (true (left 0)))
(<= (goal ?r 50) (role ?r))
"""


#: Nobody can move after the first move.
STUCK = """\
(role x) (init a)
(<= (legal x go) (true a))
(<= (next b) (does x go))
(<= terminal (true c))
(<= (next c) (true b))
(goal x 0)
"""


def test_all_interfaces_show_the_moves_and_the_consequences() -> None:
    for text, notes in ((STUCK, ["after 1 joint move:", "play go"]), (SLIP, ["because of this fault, "])):
        printed, _ = run(["check", "-"], text)
        in_editor = "\n".join(each.message for each in examine("sheet", text, Settings(play=True)).findings)
        on_page = "\n".join(note for each in check("sheet", text)["diagnostics"] for note in each["notes"])
        for note in notes:
            assert note in printed
            assert note in in_editor
            assert note in on_page
        assert "--all" not in in_editor + on_page


@pytest.mark.parametrize(
    ("text", "place", "meant"),
    [(SLIP, "contrl x", "control"), (TURNS, "(true (turn ?r)))\n(<= (next", "(not (true (turn ?r)))")],
)
def test_editors_and_pages_name_the_cause_and_can_mend_it(text: str, place: str, meant: str) -> None:
    first = check("sheet", text)["diagnostics"][0]
    assert first["start"] == text.index(place)
    found = {each.start: each for each in examine("sheet", text, Settings(play=True)).findings}
    (fix,) = [fix for fix in found[text.index(place)].fixes if not fix.sure]
    assert {edit.text for edit in fix.edits} == {meant}
