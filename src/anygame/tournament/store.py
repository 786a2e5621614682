"""The store of a tournament, a file or a data base: every match, written after every step.

A match that was under way when the process ended is there with its record so far, and goes on from it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from anygame.errors import RecordError
from anygame.language.diagnostics import shown
from anygame.match.record import parse_record
from anygame.tournament.databases import open_database
from anygame.tournament.schedule import Meeting

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from anygame.match.record import Record

_FORMAT: Final = "anygame tournament 1"
_TABLES: Final = (
    "CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS matches (
    key TEXT PRIMARY KEY,
    round INTEGER NOT NULL,
    sheet TEXT NOT NULL,
    players TEXT NOT NULL,
    record TEXT NOT NULL,
    is_over INTEGER NOT NULL,
    goals TEXT,
    errors TEXT,
    fault TEXT NOT NULL
)""",
)
_COLUMNS: Final = ("round", "sheet", "players", "record", "is_over", "goals", "errors", "fault")
_WRITE: Final = f"""INSERT INTO matches (key, {", ".join(_COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET {", ".join(f"{column} = excluded.{column}" for column in _COLUMNS)}"""
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Result:
    """A match that is over.

    Attributes:
        round: from 1.
        sheet: the name of the game.
        players: names, in the order of the roles that are not ``random``.
        goals: in the same order; None where the match was given up.
        errors: how many replies of each were replaced, in the same order.
        fault: why it was given up; empty otherwise.
    """

    round: int
    sheet: str
    players: tuple[str, ...]
    goals: tuple[int, ...] | None
    errors: tuple[int, ...]
    fault: str


class Store:
    """The matches of a tournament. Use it as a context manager, or `close` it.

    Args:
        path: an SQLite file, or the address of a PostgreSQL data base, ``postgresql://USER@HOST/NAME``, which
            several machines can share.

    Raises:
        RecordError: it cannot be used, here and in all methods.
        MissingExtraError: it is a PostgreSQL data base, and psycopg is not installed.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._base = open_database(path)
        #: What it is called in messages: an address without its password.
        self.path = self._base.name
        try:
            with self._base.transaction():
                for table in _TABLES:
                    self._base.execute(table)
            self.settle({"format": _FORMAT})
        except BaseException:
            self._base.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close it."""
        self._base.close()

    def claim(self, meeting: Meeting) -> bool:
        """Take a match for this process; return False where another one that shares the store has it.

        A claim ends with `release`, or with the process. Who shares a file does not know of others.
        """
        return self._base.claim(meeting.key)

    def release(self, meeting: Meeting) -> None:
        """Let others have a match."""
        self._base.release(meeting.key)

    def settle(self, facts: Mapping[str, str]) -> None:
        """Note facts about the tournament that must not change, such as its clocks.

        Raises:
            RecordError: the store says otherwise.
        """
        with self._base.transaction():
            for name, value in facts.items():
                self._base.execute(
                    "INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO NOTHING", (name, value)
                )
                ((known,),) = self._base.execute("SELECT value FROM facts WHERE name = ?", (name,))
                if known != value:
                    raise RecordError(
                        f"{self.path} is of another tournament: there, {name} is {str(known)[:200]!r}, "
                        f"not {value[:200]!r}; choose another store"
                    )

    def keep(self, meeting: Meeting, record: Record) -> None:
        """Write the record of a match that is under way."""
        self._write(meeting, record, is_over=False)

    def finish(
        self,
        meeting: Meeting,
        record: Record,
        goals: tuple[int, ...] | None,
        errors: tuple[int, ...],
        fault: str,
    ) -> None:
        """Write a match that is over."""
        self._write(meeting, record, is_over=True, goals=goals, errors=errors, fault=fault)

    def _write(
        self,
        meeting: Meeting,
        record: Record,
        *,
        is_over: bool,
        goals: tuple[int, ...] | None = None,
        errors: tuple[int, ...] = (),
        fault: str = "",
    ) -> None:
        row: tuple[Any, ...] = (
            meeting.key,
            meeting.round,
            meeting.sheet,
            json.dumps(meeting.players),
            json.dumps(record.to_json()),
            int(is_over),
            None if goals is None else json.dumps(goals),
            json.dumps(errors),
            fault,
        )
        self._base.execute(_WRITE, row)

    def is_over(self, meeting: Meeting) -> bool:
        """Return whether a match has been played, or given up for an error of the rules."""
        rows = self._base.execute("SELECT is_over FROM matches WHERE key = ?", (meeting.key,))
        return bool(rows) and bool(rows[0][0])

    def record(self, meeting: Meeting) -> Record | None:
        """Return the record of a match, over or not; None where it has not begun."""
        rows = self._base.execute("SELECT record FROM matches WHERE key = ?", (meeting.key,))
        if not rows:
            return None
        ((text,),) = rows
        if not isinstance(text, str):
            raise self._damaged(meeting.key, "record")
        return parse_record(text, name=f"the match {meeting.key} in {self.path}")

    def results(self) -> list[Result]:
        """Return all matches that are over, in the order of rounds, sheets and players."""
        rows = self._base.execute(
            "SELECT key, round, sheet, players, goals, errors, fault FROM matches WHERE is_over = 1 "
            "ORDER BY round, sheet, players"
        )
        return [self._result(*row) for row in rows]

    def _result(self, key: object, number: object, sheet: object, players: object, *rest: object) -> Result:
        """Return the result that a row holds; anybody may have written the file.

        Raises:
            RecordError: the row is damaged.
        """
        goals, errors, fault = rest
        if not (isinstance(number, int) and isinstance(sheet, str) and isinstance(fault, str)):
            raise self._damaged(key, "round, sheet or fault")
        names = self._list(key, "players", players, str)
        if key != Meeting(number, sheet, names).key:
            raise self._damaged(key, "key or players")
        reached = None if goals is None else self._list(key, "goals", goals, int)
        replaced = self._list(key, "errors", errors, int)
        if len(replaced) != len(names) or (reached is not None and len(reached) != len(names)):
            raise self._damaged(key, "the number of goals or errors")
        return Result(number, sheet, names, reached, replaced, fault)

    def _list(self, key: object, column: str, text: object, kind: type[_Item]) -> tuple[_Item, ...]:
        try:
            items = json.loads(text) if isinstance(text, str) else None
        except (ValueError, RecursionError):
            items = None
        # JSON has true and false beside numbers; to Python they are numbers too.
        if not isinstance(items, list) or any(type(item) is not kind for item in items):
            raise self._damaged(key, column)
        return tuple(items)

    def _damaged(self, key: object, what: str) -> RecordError:
        match = shown(str(key), 200)
        return RecordError(
            f"{self.path} is damaged: in the row of the match {match}, {what} cannot be read; "
            "delete the row and the match is played again"
        )
