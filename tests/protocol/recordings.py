"""Recorded traffic between managers and players of the field: one file per connection and direction.

The folder is the one that ANYGAME_RECORDINGS names, or one called ``protocol`` in a folder beside the
checkout, with ``wire/NAME/request-NNN.txt`` as the manager sent it, ``response-NNN.txt`` as the player did,
``index.md``, and the manager's match records, ``records/NAME.json``.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from anygame.protocol.http.listener import read_request

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Exchange:
    """One connection: what was sent and what came back, as bytes; and the message that was sent."""

    recording: str
    number: int
    player: str
    request: bytes
    response: bytes
    text: str

    def __str__(self) -> str:
        return f"{self.recording}-{self.number:03}"


def find_recordings() -> Path | None:
    named = os.environ.get("ANYGAME_RECORDINGS")
    folders = [Path(named)] if named else sorted(_ROOT.parent.glob("*/protocol"))
    return next((folder for folder in folders if (folder / "wire").is_dir()), None)


_FOLDER = find_recordings()
needs_recordings = pytest.mark.skipif(
    _FOLDER is None,
    reason="no recorded traffic: set ANYGAME_RECORDINGS to a folder that has wire/ and records/",
)


def names() -> list[str]:
    return sorted(path.name for path in (_FOLDER / "wire").iterdir() if path.is_dir()) if _FOLDER else []


@cache
def exchanges(name: str) -> list[Exchange]:
    """Return the connections of a recording that carried a request, in the order they were made."""
    assert _FOLDER is not None
    folder = _FOLDER / "wire" / name
    index = (folder / "index.md").read_text(encoding="utf-8")
    players = {
        int(number): player for number, player in re.findall(r"^- (\d+) ([\w?]+):", index, re.MULTILINE)
    }
    # A player that was silent, or the only one, has no name on such an exchange.
    named = sorted(set(players.values()) - {"?"})
    silent = next((player for player in named if "fake" in player or len(named) == 1), "?")
    found = []
    for path in sorted(folder.glob("request-*.txt")):
        number = int(path.stem.removeprefix("request-"))
        response = path.with_name(path.name.replace("request", "response"))
        sent = path.read_bytes()
        if sent:
            received = response.read_bytes() if response.exists() else b""
            message = asyncio.run(_message(sent))
            player = players.get(number, "?").replace("?", silent)
            found.append(Exchange(name, number, player, sent, received, message))
    return found


def record(name: str) -> dict[str, Any]:
    assert _FOLDER is not None
    found: dict[str, Any] = json.loads((_FOLDER / "records" / f"{name}.json").read_text(encoding="utf-8"))
    return found


async def _message(request: bytes) -> str:
    reader = asyncio.StreamReader()
    reader.feed_data(request)
    reader.feed_eof()
    return (await read_request(reader, 2**20, lambda: None)).content.decode()
