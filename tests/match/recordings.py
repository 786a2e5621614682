"""Recorded matches between programs of others: records, and the bytes that went over the wire.

They are in the folder that ANYGAME_RECORDINGS names, or one called ``protocol`` in a folder beside the
checkout: ``records/NAME.json`` and ``wire/NAME/request-NNN.txt``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import anygame

ROOT = Path(__file__).parents[2]
_START = re.compile(r"\(\s*START\s+\S+\s+\S+\s+\(", re.IGNORECASE)


def find_recordings() -> Path | None:
    """Return the folder of the recordings, None where there is none."""
    named = os.environ.get("ANYGAME_RECORDINGS")
    folders = [Path(named)] if named else sorted(ROOT.parent.glob("*/protocol"))
    return next((folder for folder in folders if (folder / "records").is_dir()), None)


def record_names() -> list[str]:
    """Return the names of all recorded matches."""
    folder = find_recordings()
    return sorted(path.stem for path in (folder / "records").glob("*.json")) if folder else []


def rules_of(name: str) -> str:
    """Return the rules of a recorded match, as its manager sent them.

    Where it sent other words, they are taken from another match of the game.
    """
    folder = find_recordings()
    assert folder is not None
    plain = {
        "ticTacToe_scrambled": "ticTacToe",
        "scrambled_plain_replies": "start_busy",
        "signed_scrambled": "roshambo2",
    }
    for path in sorted((folder / "wire" / plain.get(name, name)).glob("request-*.txt")):
        text = path.read_text(encoding="latin-1")
        start = _START.search(text)
        if start is not None:
            return text[start.end() : _closing(text, start.end())]
    raise AssertionError(f"no START was recorded in {name}")


def game_of(name: str) -> anygame.Game:
    """Return the game of a recorded match."""
    return anygame.loads(rules_of(name), name=name)


def _closing(text: str, position: int) -> int:
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        position += 1
    return position - 1
