from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("mcp")

from mcp import Client
from mcp.client.stdio import StdioServerParameters

from anygame.cli.main import main
from anygame.processes.inside import answered
from anygame.tool_server.answering import answer
from anygame.tool_server.server import chapters, make_server
from anygame.tool_server.sheets import LONGEST_SHEET, KnownSheets

if TYPE_CHECKING:
    from pathlib import Path

TOOLS = (
    *("games", "load", "check", "explain_code", "mend", "format", "state", "legal", "play", "query", "why"),
    *("why_not", "board", "simulate", "analyse", "solve", "prove", "equal"),
)
_COMMAND = [sys.executable, "-m", "anygame", "serve-tools"]


async def _called(client: Client, tool: str, **arguments: Any) -> tuple[bool, Any]:
    result = await client.call_tool(tool, arguments)
    text = str(getattr(result.content[0], "text"))  # noqa: B009
    return bool(result.is_error), text if result.is_error else result.structured_content


def called(tool: str, **arguments: Any) -> tuple[bool, Any]:
    async def call() -> tuple[bool, Any]:
        async with Client(make_server("0")) as client:
            return await _called(client, tool, **arguments)

    return asyncio.run(call())


def asked(do: str, name: str = "tic_tac_toe", **arguments: Any) -> dict[str, Any]:
    """Return what the process of the server would answer."""
    known, text = KnownSheets().find(name)
    question = {"do": do, "name": known, "text": text, "moves": [], "facts": None} | arguments
    return answered(lambda given: answer(lambda *_: None, **given), question)


def checked(text: str, name: str = "sheet", **arguments: Any) -> list[Any]:
    """Return what `check` finds in a text."""
    found: list[Any] = answer(lambda *_: None, "check", name, text, **{"most": 50} | arguments)["diagnostics"]
    return found


def test_tools_have_schemas_of_arguments_and_answers() -> None:
    async def listed() -> list[Any]:
        async with Client(make_server("0")) as client:
            return list((await client.list_tools()).tools)

    tools = asyncio.run(listed())
    assert tuple(tool.name for tool in tools) == TOOLS
    for tool in tools:
        assert tool.description
        assert tool.output_schema
    described = {tool.name: tool.description for tool in tools}
    assert '"legal": {ROLE: [MOVE]}' in described["legal"]
    assert '"playouts_per_second"' in described["simulate"]


def test_standard_output_has_messages_alone() -> None:
    async def talk() -> tuple[bool, Any]:
        server = StdioServerParameters(command=_COMMAND[0], args=_COMMAND[1:], env=dict(os.environ))
        async with Client(server, mode="legacy") as client:
            return await _called(client, "legal", game="tic_tac_toe", matching="x")

    failed, found = asyncio.run(talk())
    assert not failed
    assert {role: len(moves) for role, moves in found["legal"].items()} == {"x": 9}


def test_http_answers_this_machine_alone() -> None:
    import httpx

    server = subprocess.Popen([*_COMMAND, "--http", "0"], stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/mcp", server.stderr.readline())
        assert found

        async def talk() -> tuple[bool, Any]:
            async with Client(found[0]) as client:
                return await _called(client, "games")

        failed, listed = asyncio.run(talk())
        assert not failed
        assert "tic_tac_toe" in [each["game"] for each in listed["games"]]
        headers = {"Host": "elsewhere.example", "Accept": "application/json, text/event-stream"}
        assert httpx.post(found[0], json={}, headers=headers).status_code == 421
        headers = {"Origin": "http://elsewhere.example", "Accept": "application/json, text/event-stream"}
        assert httpx.post(found[0], json={}, headers=headers).status_code == 403
    finally:
        server.terminate()
        server.communicate()


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("legal", {"game": "tic_tac"}, "did you mean tic_tac_toe?"),
        ("legal", {"game": "/etc/passwd"}, "there is no game '/etc/passwd'"),
        ("load", {"sheet": "(role x"}, "    1 | (role x\n      | ^"),
        ("explain_code", {"code": "nothing"}, "there is no code"),
        ("simulate", {"game": "tic_tac_toe", "playouts": 10**9}, "less than or equal to 1000000"),
        ("check", {"sheet": "(" * (LONGEST_SHEET + 1)}, "the limit is 1,048,576"),
    ],
)
def test_bad_arguments_give_faults(tool: str, arguments: dict[str, Any], said: str) -> None:
    failed, found = called(tool, **arguments)
    assert failed
    assert said in found


def test_faulty_moves_give_faults() -> None:
    assert "nearest legal moves" in asked("play", joint="(mark 2 9)", most=9)["fault"]
    assert "joint move 2" in asked("state", moves=["(mark 1 1)", "(mark 1 1)"], most=9)["fault"]
    assert "holds: ask why" in asked("why_not", atom="(role x)")["fault"]


def test_lists_are_bounded_and_the_rest_is_counted() -> None:
    legal = asked("legal", "six_in_a_row", most=5)["value"]
    first = next(iter(legal["legal"]))
    assert (len(legal["legal"][first]), legal["left_out"]) == (5, {f"legal.{first}": 116})
    state = asked("state", most=5)["value"]
    assert len(state["facts"]) == 5
    assert state["left_out"] == {"facts": 5}


def test_a_state_is_named_by_its_facts() -> None:
    facts = ["(cell 1 1 x)", "(cell 1 2 x)", "(cell 1 3 x)", "(control o)"]
    state = asked("state", facts=facts, most=9)["value"]
    assert state["terminal"]
    assert state["goals"] == {"x": 100, "o": 0}


def test_boards_are_drawn() -> None:
    drawn = asked("board", moves=[["(mark 2 2)", "noop"]], svg=True)["value"]
    assert "2  . x ." in drawn["text"]
    assert drawn["svg"].startswith("<svg")


def test_edits_have_places_in_the_text() -> None:
    text = "(role x) (init (cell 1))\n(legal x go)\n(<= (next (cell ?x)) (true (cel ?x)))\n(goal x 100)"
    findings = checked(f"{text} (<= terminal (true (cell 1)))")
    found = next(each for each in findings if each["code"] == "likely-typo")
    (edit,) = found["fixes"][0]["edits"]
    assert not found["fixes"][0]["sure"]
    assert text[edit["start"] : edit["end"]] == "cel"
    line = text.split("\n")[edit["line"] - 1]
    assert line[edit["column"] - 1 : edit["end_column"] - 1] == "cel"
    assert edit["text"] == "cell"


def test_notes_are_those_of_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = "(role x) (init (cell 1))\n(legal x go)\n(<= (nxt (cell ?x)) (true (cell ?x)))\n(goal x 100)"
    text += "(<= terminal (true (cell 1)))\n(init (cell 1))\n(<= (legal x go) (true (cel 1)))"
    path = tmp_path / "slip.kif"
    path.write_text(text)
    main(["check", "--json", "--info", "--all", str(path)])
    reported = json.loads(capsys.readouterr().out)["diagnostics"]
    findings = checked(text, "slip", infos=True, everything=True)
    expected = [
        [(note["message"].removesuffix(" (see `--all`)"), note["line"]) for note in each["notes"]]
        for each in reported
    ]
    assert [[(note["message"], note["line"]) for note in each["notes"]] for each in findings] == expected
    assert any("because of this fault" in note[0] for notes in expected for note in notes)
    assert any(note[1] for notes in expected for note in notes)


def test_texts_are_kept_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anygame.tool_server.sheets.MOST_SHEETS", 2)
    sheets = KnownSheets()
    names = [sheets.keep(f"(role x{number})") for number in range(3)]
    assert sheets.loaded == names[1:]
    assert sheets.keep("(role x2)") == names[2]


def test_a_call_that_is_given_up_ends_its_process() -> None:
    async def give_up() -> Any:
        async with Client(make_server("0")) as client:
            news: list[float] = []

            async def heard(progress: float, total: float | None, message: str | None) -> None:
                news.append(progress)

            slow = asyncio.create_task(
                client.call_tool("analyse", {"game": "hex_pie", "seconds": 100.0}, progress_callback=heard)
            )
            while not news:
                await asyncio.sleep(0.05)
            slow.cancel()
            with pytest.raises(asyncio.CancelledError):
                await slow
            return await _called(client, "legal", game="tic_tac_toe")

    failed, _ = asyncio.run(give_up())
    assert not failed


def test_the_sheet_of_the_guide_is_a_game() -> None:
    from pathlib import Path

    import anygame.tool_server

    guide = Path(anygame.tool_server.__file__).with_name("from_document_to_sheet.md").read_text()
    sheet = "\n".join(line[4:] for line in guide.splitlines() if line.startswith("    "))
    assert checked(sheet) == []


def test_chapters_are_resources() -> None:
    assert "checking" in chapters()
