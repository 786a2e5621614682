"""How pages are served, and the bounds within which strangers may use it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from anygame.language.limits import Limits, ReadingLimits

#: Rules come from strangers here, and somebody waits for every answer.
LIMITS: Final = Limits(
    facts=1_000_000,
    terms=1_000_000,
    seconds=20.0,
    reading=ReadingLimits(bytes=2 * 2**20, tokens=500_000, seconds=20.0),
)
#: Bytes that the process of a match answers, which the server reads between requests of others: some
#: hundredths of a second of its time. What is shown of a state of 116 public sheets has 0.3 MB at most.
LONGEST_ANSWER: Final = 2 * 2**20

#: The names of this machine for itself.
LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Settings:
    """How pages are served.

    Attributes:
        paths: rule sheets, folders of them, and match records that are shown beside the installed games.
        players: what may be played against, each by its name and as `anygame.players.make_player` takes it,
            or ``HOST:PORT``. Nobody can choose others from a page.
        folder: where matches and uploaded sheets are kept.
        host: for whom to listen.
        port: where; 0 for any free port.
        names: under which hosts pages may be asked for, beside ``host`` and the names of this machine;
            guards against other sites that have their name resolve to this machine (DNS rebinding).
        play_clock: seconds that players have for a move, unless a visitor says less.
        lenient: whether variables of sheets that nothing binds are read as Prolog-like reasoners do.
        processes: matches that are at work at a time. One takes 30 to 100 MB; others sleep in their records.
        streams: pages that may be kept up to date at a time; a stream takes some kilobytes.
        connections: open at a time, streams among them; with the pipes of the processes fewer than the 1,024
            files that a system lets a process have.
        telling: seconds in which a connection says what it asks for, from its start and after each answer.
        sending: seconds in which the form comes that belongs to a request.
        body: bytes of an upload: twice the longest of 371 public sheets are a quarter of it.
        kept: records and uploads in the folder; beyond, the oldest are removed.
        kept_bytes: of records in the folder; likewise.
        answer: seconds for the answer of a match, also until large rules are read; then its process is ended.
        analysing: matches that may be searched for the values of moves at a time: as many as there are cores,
            or players would have no time left.
        idle: seconds after which the process of a match that nobody looks at is ended.
        memory: bytes of address space of a match's process.
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
    telling: float = 10.0
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
