"""Matches: the referee, the seats of players, and match records."""

from __future__ import annotations

from anygame.match.local import LocalSeat
from anygame.match.record import Record, read_record, write_record
from anygame.match.referee import Referee, Turn, Watcher
from anygame.match.replaying import Replay, replay
from anygame.match.running import Terms, resume, run
from anygame.match.seats import MatchInfo, Reply, Seat

__all__ = [
    "LocalSeat",
    "MatchInfo",
    "Record",
    "Referee",
    "Replay",
    "Reply",
    "Seat",
    "Terms",
    "Turn",
    "Watcher",
    "read_record",
    "replay",
    "resume",
    "run",
    "write_record",
]
