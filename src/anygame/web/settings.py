"""Settings of the web server, and its limits for requests of strangers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from anygame.language.limits import Limits, ReadingLimits

#: Limits for rules of strangers, low enough for visitors who wait for an answer.
LIMITS: Final = Limits(
    facts=1_000_000,
    terms=1_000_000,
    seconds=20.0,
    reading=ReadingLimits(bytes=2 * 2**20, tokens=500_000, seconds=20.0),
)
#: Maximum size in bytes of an answer from the process of a match. The server parses an answer of this size
#: in about 10 ms. Among 116 public sheets, the largest view of a state has 0.3 MB.
LONGEST_ANSWER: Final = 2 * 2**20

#: Host names by which this machine can connect to itself.
LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings and limits of the server.

    Attributes:
        paths: rule sheets, match records, and folders of such files, to show beside the installed games.
        players: names and specifications of the players that visitors may choose.
        folder: folder of matches and uploaded sheets.
        host: address to listen on.
        port: port to listen on; 0 for any free port.
        names: further host names of the server. Requests for other names are refused (DNS rebinding).
        play_clock: seconds that players have for each move, unless a visitor chooses another time.
        lenient: whether to allow variables that no positive literal binds.
        processes: maximum number of running matches. A running match has a process of 30 to 100 MB.
        streams: maximum number of pages that receive updates. Each page takes a few kilobytes of memory.
        connections: maximum number of open connections. Connections and pipes of processes together must stay
            below the usual limit of 1,024 open files.
        sending: time limit in seconds for receiving the body of a request.
        body: maximum size in bytes of an upload, eight times that of the longest of 371 public sheets.
        kept: maximum number of records in the folder. The server removes the oldest records.
        kept_bytes: maximum total size in bytes of the records in the folder.
        answer: time limit in seconds for an answer of a match. The server kills slower processes.
        analysing: maximum number of concurrent searches. More searches than cores would starve the players.
        idle: seconds without viewers after which the server may kill the process of a match.
        memory: maximum size in bytes of the address space of a match's process.
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
