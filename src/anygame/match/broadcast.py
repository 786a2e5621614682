"""Matches that are played in this process, reported to pages as they go on.

Matches and pages are in threads of their own. What happens is only noted here, which costs a match next to
nothing; where somebody looks, the server follows the match, in a process that draws its boards.
"""

from __future__ import annotations

from dataclasses import dataclass
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

#: Matches that are over of which the records are remembered, where nobody else keeps them.
_MOST_REMEMBERED: Final = 200


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a table.

    Attributes:
        text: for people.
        interval: the least value that is likely, the value, and the largest; None where it is not drawn.
    """

    text: str
    interval: tuple[float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table, with a row for each player.

    Attributes:
        rows: each as long as the columns.
        note: what else there is to say.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


class Broadcast:
    """All matches of a command, in the order in which they are played.

    Args:
        planned: how many matches there will be.
        table: returns how the players stand, in whatever thread it is asked; None where that is not shown.

    Attributes:
        matches: those that have begun.
        on_change: is called, in the thread of a match, when one has gone on; and with None when the table has
            changed.
    """

    def __init__(self, title: str, planned: int, table: Callable[[], Table] | None = None) -> None:
        self.title = title
        self.planned = planned
        self.table = table
        self.matches: list[BroadcastMatch] = []
        self.on_change: Callable[[BroadcastMatch | None], object] = lambda _: None

    def match(self, load: Callable[[], Record | None] | None = None) -> BroadcastMatch:
        """Return what is shown of the next match.

        Args:
            load: returns its record when it is over, in whatever thread it is asked.
        """
        return BroadcastMatch(self, load)

    def add(self, match: BroadcastMatch) -> None:
        """Show a match that has begun, or one that was played before."""
        self.matches.append(match)
        match.number = len(self.matches)
        if match.number > _MOST_REMEMBERED:
            self.matches[match.number - _MOST_REMEMBERED - 1].forget()
        self.on_change(None)


class BroadcastMatch(Watcher):
    """A match that is played, or was.

    Args:
        broadcast: of which it is a part.
        load: returns its record when it is over; None where nobody keeps that.

    Attributes:
        number: from 1, in the order of the matches; 0 before it has begun.
        game: the name of its sheet.
        result: how it ended; empty while it goes on.
        record: of the match, so far; it may grow while it is read.
        last: the number of its last state that is whole.
        seconds: by the number of a turn, how long each role took.
        live: since when moves are waited for, and how long they may take; empty when it is over.
    """

    def __init__(self, broadcast: Broadcast, load: Callable[[], Record | None] | None) -> None:
        self.number = 0
        self.game = self.players = self.result = ""
        self.record: Record | None = None
        self.last = 0
        self.seconds: dict[int, tuple[float, ...]] = {}
        self.live: dict[str, Any] = {}
        self._broadcast = broadcast
        self._load = load

    def started(self, record: Record, state: State) -> None:
        """Note that the match starts, or goes on."""
        self.record = record
        self.last = record.step
        self.game = Path(str(record.own.get("game", ""))).stem
        self.players = ", ".join(_played(record, record.names))
        self._broadcast.add(self)

    def asked(self, step: int, seconds: float) -> None:
        """Note since when moves are waited for."""
        self.live = {"asked": time(), "clock": seconds, "is_start": not step}
        self._broadcast.on_change(self)

    def moved(self, turn: Turn) -> None:
        """Note a turn."""
        self.seconds[turn.step] = turn.seconds
        self.last = turn.step
        self._broadcast.on_change(self)

    def ready(self, verdicts: Sequence[Verdict], seconds: Sequence[float]) -> None:
        """Note that the players are ready."""
        self._broadcast.on_change(self)

    def ended(self, record: Record, fault: str) -> None:
        """Note how the match ended."""
        self.live = {}
        goals = [f"{name} {goal}" for name, goal in zip(record.names, record.goals or (), strict=False)]
        self.result = f"given up: {fault}" if fault else ", ".join(_played(record, goals))
        self._broadcast.on_change(self)
        self._broadcast.on_change(None)

    def past(self, game: str, players: str, result: str) -> None:
        """Note a match that was played before."""
        self.game, self.players, self.result = Path(game).stem, players, result
        self._broadcast.add(self)

    def read(self) -> Record | None:
        """Return the record; None where it is not kept."""
        found = self.record
        return found if found is not None or self._load is None else self._load()

    def forget(self) -> None:
        """Remember no longer what happened, where the match is over."""
        if self.result:
            self.record = None
            self.seconds.clear()


def _played(record: Record, of_roles: Sequence[str]) -> list[str]:
    """Return what is shown of each role, without those that chance plays."""
    roles = record.own.get("roles") or [""] * len(of_roles)
    return [told for role, told in zip(roles, of_roles, strict=False) if role != "random"]
