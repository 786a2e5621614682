"""The server over its protocol, as an editor speaks it: a real process, its standard input and output."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
from tests.language_server.client import PATIENCE, URI, Client
from tests.language_server.places import GAME

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("pygls", reason="the language server needs pygls")

WHOLE = {"start": {"line": 0, "character": 0}, "end": {"line": 10_000, "character": 0}}


@pytest.fixture(scope="module")
def shared() -> Iterator[Client]:
    with Client() as client:
        yield client


@pytest.fixture
def client(shared: Client) -> Iterator[Client]:
    yield shared
    shared.tell("textDocument/didClose", textDocument={"uri": URI})


def _place(text: str, before: str, after: str) -> tuple[int, int]:
    """Return line and character, as UTF-16 counts, between two pieces of a text."""
    offset = text.index(before + after) + len(before)
    line = text[:offset].count("\n")
    start = text.rfind("\n", 0, offset) + 1
    return line, len(text[start:offset].encode("utf-16-le")) // 2


def _taken(text: str, place: dict[str, dict[str, int]]) -> str:
    """Return what stands in a range of a text."""
    lines = text.split("\n")
    start, end = place["start"], place["end"]
    assert start["line"] == end["line"]
    units = lines[start["line"]].encode("utf-16-le")
    return units[2 * start["character"] : 2 * end["character"]].decode("utf-16-le")


def _edited(text: str, edits: list[dict[str, Any]]) -> str:
    """Return a text of plain characters after edits."""
    lines = text.split("\n")
    starts = [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines) + 1)]

    def offset(place: dict[str, int]) -> int:
        return min(starts[min(place["line"], len(lines))] + place["character"], len(text))

    for edit in sorted(edits, key=lambda edit: offset(edit["range"]["start"]), reverse=True):
        start, end = offset(edit["range"]["start"]), offset(edit["range"]["end"])
        text = text[:start] + edit["newText"] + text[end:]
    return text


def _actions(client: Client, place: dict[str, Any] = WHOLE, **context: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.about(
        "codeAction", range=place, context={"diagnostics": [], **context}
    )
    return found


def test_the_server_announces_its_capabilities(shared: Client) -> None:
    able = shared.begun["capabilities"]
    assert shared.begun["serverInfo"]["name"] == "anygame"
    assert able["positionEncoding"] == "utf-16"
    for name in (
        "hover", "definition", "references", "documentHighlight", "documentSymbol", "workspaceSymbol",
        "completion", "signatureHelp", "rename", "documentFormatting", "documentRangeFormatting",
        "foldingRange", "semanticTokens", "codeAction",
    ):  # fmt: skip
        assert able[f"{name}Provider"]


def test_diagnostics_have_places_codes_and_links(client: Client) -> None:
    text = f"; \N{GAME DIE}\n{GAME};\N{GAME DIE}\n(<= (late \N{GAME DIE} ?n) (not (p ?n)))\n"
    client.open(text)
    found = {each["code"]: each for each in client.diagnostics(1)}
    unsafe = found["unsafe-variable"]
    assert _taken(text, unsafe["range"]) == "?n"
    assert (unsafe["severity"], unsafe["source"]) == (1, "anygame")
    (related,) = unsafe["relatedInformation"]
    assert _taken(text, related["location"]["range"]) == "?n"
    path = Path(url2pathname(urlsplit(unsafe["codeDescription"]["href"]).path))
    assert path.read_text(encoding="utf-8").startswith("unsafe-variable: a variable that no positive literal")


def test_diagnostics_follow_the_text_and_only_the_last_version_counts(client: Client) -> None:
    client.open(GAME)
    assert all(each["severity"] > 1 for each in client.diagnostics(1))
    typed = "(<= (lost ?x) (role ?y))"
    for version in range(2, 26):
        client.change(version, {"text": GAME + typed[: version - 1]})
    codes = {each["code"] for each in client.diagnostics(25)}
    assert "unsafe-variable" in codes
    told = [params for each in client.heard if (params := each["params"]).get("uri") == URI]
    assert not any(params.get("version", 25) > 25 for params in told)


def test_closing_takes_diagnostics_back(client: Client) -> None:
    client.open("(role x")
    assert client.diagnostics(1)
    client.tell("textDocument/didClose", textDocument={"uri": URI})
    told = client.notified("textDocument/publishDiagnostics")
    assert (told["uri"], told["diagnostics"]) == (URI, [])


def test_quick_fixes(client: Client) -> None:
    text = GAME.replace("(next (control black))", "(next (contrl black))")
    client.open(text)
    assert client.diagnostics(1)
    actions = {each["title"]: each for each in _actions(client)}
    assert _edited(text, actions["Change to control"]["edit"]["changes"][URI]) == GAME
    assert actions["Change to control"]["kind"] == "quickfix"
    assert [each["title"] for each in _actions(client, only=["refactor"])] == []


def test_all_mends_at_once(client: Client) -> None:
    text = f"{GAME}(<= (late ?p) (NOT (true (cell 1 ?p))) (role ?p))\n"
    client.open(text)
    assert client.diagnostics(1)
    (action,) = _actions(client, only=["source.fixAll"])
    assert action["kind"] == "source.fixAll.anygame"
    assert "(role ?p) (" in _edited(text, action["edit"]["changes"][URI])


def test_declarations_are_made_when_an_editor_asks_for_them(client: Client) -> None:
    client.open(GAME)
    assert client.diagnostics(1)
    (action,) = [each for each in _actions(client) if each["title"] == "Declare base and input"]
    assert "edit" not in action
    resolved = client.ask("codeAction/resolve", **action)["result"]
    text = _edited(GAME, resolved["edit"]["changes"][URI])
    assert text.startswith(GAME)
    assert "(input" in text


def test_names_under_the_pointer(client: Client) -> None:
    text = f"; \N{GAME DIE}\N{GAME DIE}\n{GAME}"
    client.open(text)
    assert client.diagnostics(1)
    hover = client.at("hover", *_place(text, "(true (ce", "ll ?n b)"))
    assert hover["contents"]["kind"] == "markdown"
    assert hover["contents"]["value"].startswith("`(cell ?n ?player)` fluent\n\n- `?n`: `1, 2, 3`")
    assert _taken(text, hover["range"]) == "cell"
    (definition,) = client.at("definition", *_place(text, "(not op", "en)"))
    assert (definition["uri"], _taken(text, definition["range"])) == (URI, "open")
    place = _place(text, "(not op", "en)")
    assert len(client.at("references", *place, context={"includeDeclaration": False})) == 1
    assert [each["kind"] for each in client.at("documentHighlight", *place)] == [3, 2]
    signature = client.at("signatureHelp", *_place(text, "(true (cell ?n ", "b)"))
    assert (signature["signatures"][0]["label"], signature["activeParameter"]) == ("(cell ?n ?player)", 1)


def test_renaming_edits_the_document(client: Client) -> None:
    client.open(GAME)
    place = _place(GAME, "(not op", "en)")
    told = client.at("prepareRename", *place)
    assert (told["placeholder"], _taken(GAME, told["range"])) == ("open", "open")
    edit = client.at("rename", *place, newName="free")
    assert _edited(GAME, edit["changes"][URI]) == GAME.replace("open", "free")
    position = {"line": place[0], "character": place[1]}
    refused = client.ask(
        "textDocument/rename", textDocument={"uri": URI}, position=position, newName="terminal"
    )
    assert refused["error"] == {"code": -32803, "message": "terminal is a keyword of GDL"}


def test_completion_while_parentheses_are_open(client: Client) -> None:
    text = f"{GAME}(<= (lost ?p)\n    (true (cell ?n "
    client.open(text)
    assert client.diagnostics(1)
    line, character = text.count("\n"), len("    (true (cell ?n ")
    # What rules make of a place is told when it is computed; until then, what is written there.
    expected, until = {"?p", "?n", "b", "white", "black"}, time.monotonic() + PATIENCE
    while not expected <= (
        labels := {each["label"] for each in client.at("completion", line, character)["items"]}
    ):
        assert time.monotonic() < until, labels
        time.sleep(0.05)
    items = client.at("completion", line, len("    (tr"))["items"]
    assert [(each["label"], each["textEdit"]["newText"]) for each in items] == [("true", "true ${1:fluent}")]
    assert items[0]["insertTextFormat"] == 2


def test_outline_folds_colours_and_layout(client: Client) -> None:
    text = GAME.replace("\n    (true (cell ?n b)))", " (true (cell ?n b)))")
    client.open(text)
    assert [each["name"] for each in client.about("documentSymbol")][:2] == ["(role ?role)", "(index ?n)"]
    assert {"startLine": 8, "endLine": 9, "kind": "comment"} in client.about("foldingRange")
    assert len(client.about("semanticTokens/full")["data"]) % 5 == 0
    assert len(client.about("semanticTokens/range", range=WHOLE)["data"]) % 5 == 0
    options = {"tabSize": 4, "insertSpaces": True}
    laid_out = _edited(text, client.about("formatting", options=options))
    assert "    (true (control ?player))\n    (true (cell ?n b)))" in laid_out
    part = {"start": {"line": 10, "character": 0}, "end": {"line": 11, "character": 0}}
    assert len(client.about("rangeFormatting", range=part, options=options)) == 1


def test_a_broken_sheet_is_not_laid_out(client: Client) -> None:
    client.open("(role x")
    options = {"tabSize": 4, "insertSpaces": True}
    answer = client.ask("textDocument/formatting", textDocument={"uri": URI}, options=options)
    assert answer["error"]["code"] == -32803
    assert "this list is never closed" in answer["error"]["message"]


def test_symbols_are_found_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "other.kif").write_text("(role x)\n(flag a)\n", encoding="utf-8")
    (tmp_path / "broken.gdl").write_text("(flagged a\n(role x", encoding="utf-8")
    (tmp_path / "bytes.kif").write_bytes(b"\xff\xfe")
    with Client(folder=tmp_path.as_uri()) as client:
        client.open("(flags b)", uri=(tmp_path / "open.kif").as_uri())
        found = client.ask("workspace/symbol", query="FLAG")["result"]
        assert [(each["name"], each["containerName"]) for each in found] == [
            ("(flags ?arg1)", "open.kif"),
            ("(flagged ?arg1)", "broken.gdl"),
            ("(flag ?arg1)", "other.kif"),
        ]


@pytest.mark.slow
def test_settings_are_taken_from_the_start_from_changes_and_by_asking() -> None:
    text = f"{GAME}(<= (won ?p) (role ?p))\n"
    able = {"workspace": {"configuration": True}}
    with Client(options={"infos": False}) as client:
        client.open(text)
        assert "unused-relation" not in {each["code"] for each in client.diagnostics(1)}
        client.tell("workspace/didChangeConfiguration", settings={"anygame": {"infos": True}})
        assert "unused-relation" in {each["code"] for each in client.diagnostics(1)}
    with Client(capabilities=able, options={"infos": False}) as client:
        client.settings = {"infos": True}
        client.open(text)
        while "unused-relation" not in {each["code"] for each in client.diagnostics(1)}:
            pass


def test_editors_that_can_do_little() -> None:
    able = {"general": {"positionEncodings": ["utf-32"]}, "textDocument": {"hover": {"contentFormat": []}}}
    with Client(capabilities=able) as client:
        assert client.begun["capabilities"]["positionEncoding"] == "utf-32"
        text = "; x\n(role \N{GAME DIE}) (p \N{GAME DIE} a)"
        client.open(text)
        assert client.at("hover", 1, 6)["contents"]["kind"] == "plaintext"
        assert client.at("definition", 1, 12)[0]["range"]["start"] == {"line": 1, "character": 6}


def test_editors_that_cannot_ask_for_edits_later_get_them_at_once() -> None:
    with Client(capabilities={}) as client:
        client.open(GAME)
        assert client.diagnostics(1)
        (action,) = [each for each in _actions(client) if each["title"] == "Declare base and input"]
        assert "(base (control white))" in _edited(GAME, action["edit"]["changes"][URI])


def test_an_editor_that_goes_without_a_word_leaves_nothing_behind() -> None:
    client = Client()
    client.open(GAME)
    client.diagnostics(1)
    assert client.process.stdin
    client.process.stdin.close()
    assert client.process.wait(PATIENCE) == 1
    assert client.process.stderr
    assert client.process.stderr.read() == b""
    for pipe in (client.process.stdout, client.process.stderr):
        assert pipe
        pipe.close()


def test_the_server_can_listen_on_a_port() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "anygame", "language-server", "--tcp", str(port)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            with _connected(port) as connection:
                message = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'
                connection.sendall(b"Content-Length: %d\r\n\r\n" % len(message) + message)
                assert b"Content-Length" in connection.recv(1_000)
            process.wait(PATIENCE)
        finally:
            process.kill()


def _connected(port: int) -> socket.socket:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
