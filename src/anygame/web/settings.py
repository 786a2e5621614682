"""Settings of the server of pages, and its bounds for requests of strangers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from anygame.language.limits import Limits, ReadingLimits

#: Bounds for rules of strangers. Visitors wait for every answer.
LIMITS: Final = Limits(
    facts=1_000_000,
    terms=1_000_000,
    seconds=20.0,
    reading=ReadingLimits(bytes=2 * 2**20, tokens=500_000, seconds=20.0),
)
#: Maximum bytes of an answer from the process of a match. The server parses such an answer in about 10 ms.
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
        port: port to listen on; 0 for any free port.
        names: further host names of the server. Requests for other names are refused (DNS rebinding).
        play_clock: seconds that players have for a move, unless a visitor chooses another time.
        lenient: whether to allow variables that no positive literal binds.
        processes: maximum number of running matches, which take 30 to 100 MB each. Other matches sleep.
        streams: maximum number of pages that receive updates, which take a few kilobytes each.
        connections: maximum number of open connections. With the pipes of the processes, the server stays
            below the usual limit of 1,024 open files.
        sending: time limit for the body of a request in seconds.
        body: maximum bytes of an upload, eight times the size of the longest of 371 public sheets.
        kept: maximum number of records in the folder; the server removes the oldest records.
        kept_bytes: maximum bytes of records in the folder.
        answer: time limit for an answer of a match in seconds; after that, its process is killed.
        analysing: maximum number of concurrent searches; more than one per core would starve the players.
        idle: seconds without viewers after which the process of a match is killed.
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
