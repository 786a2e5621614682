"""A program writes a small game from nothing, by the tools alone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("mcp")

from mcp import Client

from anygame.tool_server.server import make_server

#: Two players take one or two of three matches; who takes the last one wins. With two slips: a parenthesis
#: is missing, and a name is typed wrongly, so that whoever waits has no move.
FIRST = """\
(role left) (role right)
(init (heap 3)) (init (control left))
(less 3 1 2) (less 3 2 1) (less 2 1 1) (less 2 2 0) (less 1 1 0)
(other left right) (other right left)
(<= (legal ?r (take ?k)) (true (control ?r)) (true (heap ?n)) (less ?n ?k ?m)
(<= (legal ?r noop) (other ?r ?s) (true (contol ?s)))
(<= (next (heap ?m)) (does ?r (take ?k)) (true (heap ?n)) (less ?n ?k ?m))
(<= (next (control ?s)) (true (control ?r)) (other ?r ?s))
(<= terminal (true (heap 0)))
(<= (goal ?r 100) (other ?r ?s) (true (control ?s)))
(<= (goal ?r 0) (true (control ?r)))
"""


class Program:
    """What a program does with tools."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self._client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        assert result.structured_content is not None
        found: dict[str, Any] = result.structured_content
        return found

    async def refused(self, tool: str, **arguments: Any) -> str:
        result = await self._client.call_tool(tool, arguments)
        assert result.is_error
        return str(getattr(result.content[0], "text"))  # noqa: B009


async def _write_a_game() -> list[str]:
    seen = []
    async with Client(make_server("0")) as client:
        program = Program(client)
        guide = await client.get_prompt("from_document_to_sheet", {"document": "Take matches."})
        assert "Take matches." in str(guide.messages[0].content)
        assert "unclosed-list" in await program.refused("load", sheet=FIRST)

        sheet = FIRST
        for _ in range(5):
            found = await program.call("check", sheet=sheet)
            if not found["errors"] + found["warnings"]:
                break
            first = found["diagnostics"][0]
            seen.append(first["code"])
            sheet = (await program.call("mend", sheet=sheet, fixes=[first["number"]]))["sheet"]
        assert found["playable"]

        game = (await program.call("load", sheet=sheet))["game"]
        legal = await program.call("legal", game=game)
        assert legal["legal"] == {"left": ["(take 1)", "(take 2)"], "right": ["noop"]}
        moves: list[Any] = []
        for joint in ("(take 1)", "(take 2)"):
            played = await program.call("play", game=game, moves=moves, joint=joint)
            moves = played["moves"]
        assert played["terminal"]
        assert played["goals"] == {"left": 0, "right": 100}
        why = await program.call("why", game=game, moves=moves, atom="(goal right 100)")
        assert "(true (control left))" in why["explanation"]
        simulated = await program.call("simulate", game=game, playouts=300)
        assert (simulated["playouts"], simulated["cut"], simulated["stuck"]) == (300, 0, 0)
        solved = await program.call("solve", game=game)
        assert solved["goals"] == {"left": 0, "right": 100}
        proved = await program.call("prove", game=game, properties=["playable", "ends"])
        assert [each["verdict"] for each in proved["verdicts"]] == ["proved", "proved"]
        loaded = await client.read_resource(f"anygame://loaded/{game}")
        assert getattr(loaded.contents[0], "text") == sheet  # noqa: B009
    return seen


def test_a_game_is_written_from_nothing() -> None:
    seen = asyncio.run(_write_a_game())
    assert seen[0] == "unclosed-list"
    assert len(seen) == 2
