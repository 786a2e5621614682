"""Live reports of the matches of this process, for pages.

Matches and pages run in different threads. The reports only record events, so they hardly slow down a match.
The boards of pages are drawn in another process.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any, Final

from anygame.match.referee import Watcher

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anygame.game.state import State
    from anygame.match.judging import Verdict
    from anygame.match.record import Record
    from anygame.match.referee import Turn

#: Maximum number of records that are kept in memory.
_MOST_REMEMBERED: Final = 200


@dataclass(frozen=True, slots=True)
class Cell:
    """Cell of a table. The cell can show a confidence interval: lower end, value and upper end."""

    text: str
    interval: tuple[float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Table of standings with headings, a row for each player, and a note below."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@dataclass(eq=False)
class Broadcast:
    """Report of all matches of a command, in the order in which they begin."""

    title: str
    #: Number of planned matches.
    planned: int
    #: Thread-safe function that returns the standings; None without standings.
    table: Callable[[], Table] | None = None
    #: Matches that have begun.
    matches: list[BroadcastMatch] = field(default_factory=list)
    #: Called with a match after each of its events, and with None when the standings change.
    on_change: Callable[[BroadcastMatch | None], object] = lambda _: None

    def add(self, match: BroadcastMatch) -> None:
        """Add a match that has begun, or a match from an earlier run of the command."""
        self.matches.append(match)
        match.number = len(self.matches)
        if match.number > _MOST_REMEMBERED:
            self.matches[match.number - _MOST_REMEMBERED - 1].forget()
        self.on_change(None)


class BroadcastMatch(Watcher):
    """Report of one match. ``load`` is a thread-safe function that returns the record after the match."""

    def __init__(self, broadcast: Broadcast, load: Callable[[], Record | None] | None) -> None:
        #: Number of the match, from 1 in the order of the starts; 0 before its start.
        self.number = 0
        #: Name of the rule sheet, names of the players, and the outcome, which is empty until the end.
        self.game = self.players = self.result = ""
        #: Record so far. The thread of the match can extend the record at any time.
        self.record: Record | None = None
        #: Number of the last complete state in the record.
        self.last = 0
        #: For each turn, by number, the seconds that each role took.
        self.seconds: dict[int, tuple[float, ...]] = {}
        #: Time at which the players were asked for moves, and their clock in seconds; empty after the match.
        self.live: dict[str, Any] = {}
        self._broadcast = broadcast
        self._load = load

    def started(self, record: Record, state: State) -> None:
        self.record = record
        self.last = record.step
        self.game = Path(str(record.own.get("game", ""))).stem
        self.players = ", ".join(_played(record, record.names))
        self._broadcast.add(self)

    def asked(self, step: int, seconds: float) -> None:
        self.live = {"asked": time(), "clock": seconds, "is_start": not step}
        self._broadcast.on_change(self)

    def moved(self, turn: Turn) -> None:
        self.seconds[turn.step] = turn.seconds
        self.last = turn.step
        self._broadcast.on_change(self)

    def ready(self, verdicts: Sequence[Verdict], seconds: Sequence[float]) -> None:
        self._broadcast.on_change(self)

    def ended(self, record: Record, fault: str) -> None:
        self.live = {}
        goals = [f"{name} {goal}" for name, goal in zip(record.names, record.goals or (), strict=False)]
        self.result = f"given up: {fault}" if fault else ", ".join(_played(record, goals))
        self._broadcast.on_change(self)
        self._broadcast.on_change(None)

    def past(self, game: str, players: str, result: str) -> None:
        """Add a match from an earlier run of the command."""
        self.game, self.players, self.result = Path(game).stem, players, result
        self._broadcast.add(self)

    def read(self) -> Record | None:
        """Return the record; None if no record is kept."""
        return self._load() if self.record is None and self._load is not None else self.record

    def forget(self) -> None:
        """Drop the record from memory if the match is over."""
        if self.result:
            self.record = None
            self.seconds.clear()


def _played(record: Record, of_roles: Sequence[str]) -> list[str]:
    roles = record.own.get("roles") or [""] * len(of_roles)
    return [text for role, text in zip(roles, of_roles, strict=False) if role != "random"]
