"""What our player answers, message by message: over no wire at all, and as each kind of client speaks HTTP.

``transcripts/NAME.txt`` has messages after ``> ``, the reply below each, and names for long texts,
``NAME = text``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus

import pytest
from tests.protocol.loops import LocalTransport, listening, reply_of, run, send, started

from anygame.players import LegalPlayer
from anygame.protocol.player.server import PlayerServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.players import Player

_FILES = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))

#: How clients ask: the bytes they send for a message, and whether they close their side.
CLIENTS: dict[str, Callable[[str], tuple[bytes, bool]]] = {
    "reference": lambda text: (
        (
            "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: localhost\r\nSender: GAMESERVER\r\n"
            f"Receiver: x\r\nContent-Type: text/acl\r\nContent-Length: {len(text)}\r\n\r\n{text}"
        ).encode(),
        False,
    ),
    "no Host, LF alone, upper case": lambda text: (
        (
            "POST / HTTP/1.0\nSENDER: Gamecontroller\nRECEIVER: 127.0.0.1\n"
            f"CONTENT-LENGTH: {len(text)}\n\n{text}"
        ).encode(),
        False,
    ),
    "tournament server": lambda text: (
        (
            "POST / HTTP/1.0\r\nGGP-Match-ID: M\r\nGGP-Match-Step: 1\r\nGGP-Match-Host: somewhere\r\n"
            f"GGP-Match-Players: 0a, 1b\r\nContent-Length: {len(text)}\r\n\r\n{text}"
        ).encode(),
        False,
    ),
    "no length": lambda text: (f"POST / HTTP/1.0\r\nSender: x\r\n\r\n{text}".encode(), True),
    "HTTP/1.1 in chunks": lambda text: (
        (
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
            f"{len(text):x}\r\n{text}\r\n0\r\n\r\n"
        ).encode(),
        False,
    ),
    "GET": lambda text: (f"GET /{quote_plus(text)} HTTP/1.0\r\n\r\n".encode(), False),
}


def _read(path: Path) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    text = path.read_text(encoding="utf-8")
    options = re.search(r"^# options: (\w+)=(\d+)$", text, re.MULTILINE)
    names = dict(re.findall(r"^([A-Z]+) = (.*)$", text, re.MULTILINE))
    said = re.findall(r"^> (.*)\n(.*)$", text, re.MULTILINE)
    for name, meaning in names.items():
        said = [(message.replace(f"{{{name}}}", meaning), reply) for message, reply in said]
    return ({options[1]: int(options[2])} if options else {}), said


@pytest.mark.parametrize("path", _FILES, ids=lambda path: path.stem)
def test_replies_without_a_wire(path: Path) -> None:
    _check_without_a_wire(path, LegalPlayer)


@pytest.mark.parametrize("name", ["gdl2", "repeated", "spelling"])
def test_replies_of_a_player_in_a_process_of_its_own(name: str) -> None:
    _check_without_a_wire(Path(__file__).parent / "transcripts" / f"{name}.txt", "legal")


def _check_without_a_wire(path: Path, player: Callable[[], Player] | str) -> None:
    options, said = _read(path)
    assert said

    async def main() -> None:
        server = PlayerServer(player, **options)
        server._sessions.warm_up()
        await started(server._sessions._idle[0])
        transport = LocalTransport(server.respond)
        for message, reply in said:
            assert (message, (await transport.exchange(message, 10)).text) == (message, reply)
        await server.close()

    run(main)


@pytest.mark.slow
@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("path", _FILES, ids=lambda path: path.stem)
def test_replies_over_sockets(path: Path, client: str) -> None:
    options, said = _read(path)

    async def main() -> None:
        async with listening(**options) as (_, port):
            for message, reply in said:
                data, half_close = CLIENTS[client](message)
                assert (message, reply_of(await send(port, data, half_close=half_close))) == (message, reply)

    run(main)
