"""Texts, places and messages that make no sense: an answer or a clean error, and the server goes on."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.language_server.client import URI, Client
from tests.language_server.places import GAME, INFIX

from anygame.language_server.completing import complete, signature
from anygame.language_server.documents import Lines
from anygame.language_server.meanings import hover
from anygame.language_server.navigating import (
    RenamingError,
    colours,
    definitions,
    folds,
    outline,
    references,
    rename,
)
from anygame.language_server.sheet import WrittenSheet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from anygame.language_server.findings import DomainTable

pytest.importorskip("pygls", reason="the language server needs pygls")

_PLACE = ("hover", "definition", "documentHighlight", "completion", "signatureHelp", "prepareRename")
_WHOLE = ("documentSymbol", "foldingRange", "semanticTokens/full")
#: Pieces of both forms, in any order.
_WORDS = "( ) (( <= (<= ?x ? not or true role p a ; % :- & | ~ , ' ?' distinct _ X (p \N{GAME DIE} \ud800"
_PIECES = st.lists(st.sampled_from([*_WORDS.split(), " ", "\n", "\r", "\x0c"]), max_size=25).map("".join)


def _ask_everything(sheet: WrittenSheet, offset: int, table: DomainTable) -> None:
    """Ask all there is to be asked about a place."""
    hover(sheet, offset, table)
    definitions(sheet, offset)
    references(sheet, offset)
    complete(sheet, offset, table)
    signature(sheet, offset, table)
    with suppress(RenamingError):
        rename(sheet, offset, "something")


def _ask_of_the_whole(sheet: WrittenSheet) -> None:
    lines = Lines(sheet.text)
    for entry in outline(sheet):
        assert entry.range.start <= entry.selection.start < entry.selection.end <= entry.range.end
    assert len(list(colours(sheet, lines))) % 5 == 0
    assert all(number >= 0 for number in colours(sheet, lines))
    assert all(first < last for first, last, _ in folds(sheet, lines))


@pytest.mark.parametrize(("name", "text"), [("game.kif", GAME), ("game.hrf", INFIX)])
def test_every_beginning_of_a_sheet_can_be_asked_about(name: str, text: str) -> None:
    for end in range(0, len(text), 7):
        sheet = WrittenSheet(name, text[:end])
        _ask_everything(sheet, end, sheet.written)
        _ask_of_the_whole(sheet)


@pytest.mark.parametrize("text", [":-true:-", "p:-q:-true", ":-:-", "p:-q:-"])
def test_parts_lie_inside_their_items_behind_several_arrows(text: str) -> None:
    sheet = WrittenSheet("game.hrf", text)
    _ask_of_the_whole(sheet)
    for item in sheet.items:
        assert all(item.start <= part.start <= part.end <= item.end for part in item.children or ())


@given(text=_PIECES, name=st.sampled_from(["game.kif", "game.hrf", "game.gdl"]), data=st.data())
def test_any_text_can_be_asked_about(text: str, name: str, data: st.DataObject) -> None:
    sheet = WrittenSheet(name, text)
    _ask_everything(sheet, data.draw(st.integers(0, len(text))), sheet.written)
    _ask_of_the_whole(sheet)


def test_public_sheets_can_be_asked_about(corpus: Path) -> None:
    for path in sorted((corpus / "rules").glob("*.kif"))[::12]:
        sheet = WrittenSheet(path.name, path.read_text(encoding="utf-8", errors="replace"))
        assert outline(sheet)
        _ask_of_the_whole(sheet)
        for found in sheet.occurrences[::97]:
            _ask_everything(sheet, found.start, sheet.written)


# -- over the protocol --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with Client() as client:
        yield client


@pytest.fixture(autouse=True)
def _is_alive(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "client" in request.fixturenames:
        client: Client = request.getfixturevalue("client")
        client.open("(role x)", uri="file:///alive.kif")
        assert client.at("hover", 0, 2, uri="file:///alive.kif")["contents"]["value"].startswith(
            "`(role role)`"
        )


def _position(line: int, character: int) -> dict[str, Any]:
    return {"textDocument": {"uri": URI}, "position": {"line": line, "character": character}}


@pytest.mark.parametrize(
    "text",
    [
        "(" * 20_000,
        ")" * 20_000,
        "(a " * 20_000 + ")" * 20_000,
        "(role x)\n" + "(<= (p ?x) (or " * 1_000,
        "(p x) " * 2_000,
        "(p " + "x" * 200_000 + ")",
        "; " + "\N{GAME DIE}" * 50_000,
        "(role x)" * 400_000,
    ],
    ids=["open", "close", "deep", "rules", "one line", "long name", "wide", "beyond the bound"],
)
def test_hostile_texts_get_answers(client: Client, text: str) -> None:
    client.open(text)
    for method in _PLACE:
        answer = client.ask(f"textDocument/{method}", **_position(0, 3))
        assert "result" in answer or answer["error"]["code"] == -32803
    for method in _WHOLE:
        assert "result" in client.ask(f"textDocument/{method}", textDocument={"uri": URI})
    assert client.diagnostics(1)
    client.tell("textDocument/didClose", textDocument={"uri": URI})


@pytest.mark.parametrize("place", [(0, 10**9), (10**9, 0), (10**9, 10**9), (2**31 - 1, 2**31 - 1)])
def test_places_outside_the_text_get_answers(client: Client, place: tuple[int, int]) -> None:
    client.open(GAME)
    for method in _PLACE:
        answer = client.ask(f"textDocument/{method}", **_position(*place))
        assert "result" in answer or answer["error"]["code"] == -32803
    start, end = {"line": place[0], "character": place[1]}, {"line": 0, "character": 0}
    answer = client.ask(
        "textDocument/semanticTokens/range", textDocument={"uri": URI}, range={"start": start, "end": end}
    )
    assert "result" in answer
    client.tell("textDocument/didClose", textDocument={"uri": URI})


def test_documents_that_are_not_open(client: Client) -> None:
    for uri in ("file:///nowhere.kif", "untitled:Untitled-1", "", "%%%", "http://[", "file:///a\0b"):
        document = {"uri": uri}
        for method in _WHOLE:
            assert client.ask(f"textDocument/{method}", textDocument=document)["result"] is None
        for method in _PLACE:
            answer = client.ask(
                f"textDocument/{method}", textDocument=document, position={"line": 0, "character": 0}
            )
            assert answer["result"] is None
        client.tell(
            "textDocument/didChange", textDocument={"uri": uri, "version": 2}, contentChanges=[{"text": ""}]
        )
        client.tell("textDocument/didClose", textDocument=document)


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "%%%", "file:///a%00b.kif", "x:y:z"])
def test_documents_with_unusual_addresses_get_answers(client: Client, uri: str) -> None:
    client.open("(role x)", uri=uri)
    assert client.at("hover", 0, 2, uri=uri)
    assert client.ask("workspace/symbol", query="")["result"]
    client.tell("textDocument/didClose", textDocument={"uri": uri})


def test_messages_that_make_no_sense(client: Client) -> None:
    assert client.ask("textDocument/noSuchThing", x=1)["error"]["code"] == -32601
    client.open("(role x)")
    refused = client.ask("textDocument/rename", **_position(0, 6), newName="y" * 100_000)
    assert refused["error"]["code"] == -32803
    opened = {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {}}
    senseless: tuple[object, ...] = ({"jsonrpc": "2.0"}, [], {"a": 1}, opened)
    for message in senseless:
        client.send(message)
    action = {"title": "x", "data": {"uri": 3, "version": "x", "kinds": [1]}}
    assert client.ask("codeAction/resolve", **action)["result"]["title"] == "x"
    action = {"title": "x", "data": {"uri": URI, "version": 10**6, "kinds": ["no such kind"]}}
    assert "edit" not in client.ask("codeAction/resolve", **action)["result"]
