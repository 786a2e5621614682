"""What players answer: `parse_info` and `format_info` for INFO, the fixed words for the rest.

Players describe themselves in many ways; a manager reads them all.

>>> parse_info("( ( name Alice ) ( status available ) )")
PlayerInfo(name='Alice', status='available', species=None)
>>> parse_info("( ( status busy ) junk (").status, parse_info("available").status, parse_info("( )").status
('busy', 'available', None)
>>> format_info(PlayerInfo("Alice", "busy", None))
'( ( name Alice ) ( status busy ) )'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

#: A match was aborted, as asked.
ABORTED: Final = "aborted"
#: The player waits for a match.
AVAILABLE: Final = "available"
#: The player has another match, or none of that name.
BUSY: Final = "busy"
#: The match is over.
DONE: Final = "done"
#: There is nothing to say: no move, or a message that nobody knows.
NIL: Final = "nil"
#: The match can begin.
READY: Final = "ready"

_LEXEME: Final = re.compile(r"[()]|[^\s()]+")
_PAIR: Final = re.compile(r"\(\s*(name|status|species)\s+([^\s()]+)\s*\)", re.IGNORECASE)
_WORDS: Final = {AVAILABLE: AVAILABLE, READY: AVAILABLE, BUSY: BUSY, NIL: BUSY}
_LONGEST: Final = 4096
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_.+-]+")


@dataclass(frozen=True, slots=True)
class PlayerInfo:
    """What a player says of itself; None for what it does not say.

    Attributes:
        name: one word.
        status: ``available`` or ``busy``, as a rule.
        species: what it is, ``human`` or ``alien``.
    """

    name: str | None
    status: str | None
    species: str | None = None


def parse_info(text: str) -> PlayerInfo:
    """Read the reply to INFO, as far as it can be read: pairs in any order, a single word, junk."""
    text = text[:_LONGEST]
    words = _LEXEME.findall(text)
    if words and words[0] not in "()":
        return PlayerInfo(None, _WORDS.get(words[0].lower()))
    found: dict[str, str] = {}
    for key, value in _PAIR.findall(text):
        found.setdefault(key.lower(), value)
    status = found.get("status")
    return PlayerInfo(found.get("name"), status.lower() if status else None, found.get("species"))


def format_info(info: PlayerInfo) -> str:
    """Return the reply to INFO."""
    pairs = [("name", info.name), ("status", info.status), ("species", info.species)]
    return f"( {' '.join(f'( {key} {value} )' for key, value in pairs if value is not None)} )"


def player_name(text: str) -> str:
    """Return a name as it can stand in a reply: one word of ASCII letters, digits and ``_ . + -``.

    >>> player_name("My player (v 2)")
    'My_player_v_2'
    """
    return _NOT_IN_NAMES.sub("_", text).strip("_")[:60] or "anygame"
