"""Settings of the server of pages, and its bounds for requests of strangers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from anygame.language.limits import Limits, ReadingLimits

#: Bounds for rules of strangers; visitors wait for every answer.
LIMITS: Final = Limits(
    facts=1_000_000,
    terms=1_000_000,
    seconds=20.0,
    reading=ReadingLimits(bytes=2 * 2**20, tokens=500_000, seconds=20.0),
)
#: Maximum bytes of an answer from the process of a match, which the server parses in some 10 ms.
#: Among 116 public sheets, the largest view of a state has 0.3 MB.
LONGEST_ANSWER: Final = 2 * 2**20

#: Host names of this machine for itself.
LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings and bounds of the server.

    Attributes:
        paths: rule sheets, folders of them, and match records to show beside the installed games.
        players: names and specifications of the players that visitors may choose.
        folder: folder of matches and uploaded sheets.
        host: address to listen on.
        port: port to listen on; 0 for any free one.
        names: further host names under which pages may be requested, as a guard against DNS rebinding.
        play_clock: seconds that players have for a move, unless a visitor asks for less.
        lenient: whether to allow variables that no positive literal binds.
        processes: maximum number of running matches, 30 to 100 MB each; others sleep in their records.
        streams: maximum number of pages kept up to date, some kilobytes each.
        connections: maximum number of open connections; with the pipes of the processes, these stay below the
            usual limit of 1,024 open files.
        sending: seconds for the body of a request.
        body: maximum bytes of an upload: eight times the longest of 371 public sheets.
        kept: maximum number of records and uploads in the folder; the oldest are removed.
        kept_bytes: maximum bytes of records in the folder.
        answer: seconds for an answer of a match, including reading large rules; then its process is killed.
        analysing: maximum number of concurrent searches; more than one a core would starve the players.
        idle: seconds until the process of a match without viewers is killed.
        memory: maximum bytes of address space for the process of a match.
    """

    paths: tuple[Path, ...] = ()
    players: tuple[tuple[str, str], ...] = ()
    folder: Path = Path()
    host: str = "127.0.0.1"
    port: int = 8000
    names: tuple[str, ...] = ()
    play_clock: float = 2.0
    lenient: bool = False
    processes: int = 12
    streams: int = 500
    connections: int = 800
    sending: float = 60.0
    body: int = 2 * 2**20
    kept: int = 2_000
    kept_bytes: int = 4 * 2**30
    answer: float = 60.0
    analysing: int = 2
    idle: float = 600.0
    memory: int = 4 * 2**30

    @property
    def is_local(self) -> bool:
        """Whether only browsers of this machine can open the pages."""
        return self.host in LOCAL and not self.names
