"""The store of a tournament: an SQLite file or a PostgreSQL database.

The record of a match is written after every step, so that an interrupted match can be resumed.
"""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from anygame.errors import RecordError, needing
from anygame.language.diagnostics import shown
from anygame.match.record import parse_record
from anygame.tournament.schedule import Meeting

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from anygame.game.game import Game
    from anygame.match.record import Record


#: Maximum number of seconds to wait for another writer, which holds the lock for milliseconds.
_PATIENCE: Final = 30
#: Name of the lock of the whole database. No match has this key.
_ALL: Final = "anygame tournament"
_POSTGRES: Final = re.compile(r"postgres(ql)?://")
#: Pattern of a password in an address: before the host, or as a parameter.
_PASSWORD: Final = re.compile(r"(?<=://)([^:/@]*:).*(?=@)|([?&]password=)[^&]*")
#: Pattern of a URL scheme, which no file name begins with.
_OTHER: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def _without_password(address: str) -> str:
    """Return an address without its password.

    >>> _without_password("postgresql://me:a:b/c@host/db"), _without_password("postgresql://host/db?password=x")
    ('postgresql://me:...@host/db', 'postgresql://host/db?password=...')
    """
    return _PASSWORD.sub(r"\1\2...", address)


# Both databases have the same methods. `execute` runs a statement, with ``?`` in place of each value, and
# returns rows. `transaction` is exclusive and atomic. `claim` claims a key for this process, and returns
# False if another process has claimed the key. All methods raise RecordError if the database cannot be used.


class _Sqlite:
    """SQLite file. Processes that share the file do not see claims of each other."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = str(path)
        with _database_errors(self.name, sqlite3.Error):
            self._base = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
        try:
            self.execute("PRAGMA synchronous = FULL")
        except BaseException:
            self._base.close()
            raise

    def execute(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with _database_errors(self.name, sqlite3.Error):
            return self._base.execute(query, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.execute("ROLLBACK")
            raise
        self.execute("COMMIT")

    def claim(self, key: str) -> bool:
        return True

    def release(self, key: str) -> None:
        pass

    def close(self) -> None:
        self._base.close()


class _Postgres:
    """PostgreSQL database. Claims are advisory locks, which the end of the database session releases."""

    def __init__(self, address: str) -> None:
        self.name = _without_password(address)
        with needing("postgresql", "a PostgreSQL store needs psycopg"):
            self._library = import_module("psycopg")
        with self._database_errors():
            self._base = self._library.connect(address, autocommit=True, connect_timeout=_PATIENCE)

    def _database_errors(self) -> AbstractContextManager[None]:
        return _database_errors(self.name, self._library.Error)

    def execute(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._database_errors():
            cursor = self._base.execute(query.replace("?", "%s"), values)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._database_errors(), self._base.transaction():
            # The lock lasts until the end of the transaction, so that no two processes create the same table.
            self.execute("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", (_ALL,))
            yield

    def claim(self, key: str) -> bool:
        ((is_mine,),) = self.execute("SELECT pg_try_advisory_lock(hashtextextended(?, 0))", (key,))
        return bool(is_mine)

    def release(self, key: str) -> None:
        # A closed connection has released its keys.
        if not self._base.closed:
            self.execute("SELECT pg_advisory_unlock(hashtextextended(?, 0))", (key,))

    def close(self) -> None:
        self._base.close()


@contextmanager
def _database_errors(name: str, kind: type[Exception]) -> Iterator[None]:
    try:
        yield
    except kind as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise RecordError(f"cannot use {name} as the store of a tournament: {reason}") from error


def _open(path: str | os.PathLike[str]) -> _Sqlite | _Postgres:
    if isinstance(path, str) and _POSTGRES.match(path):
        return _Postgres(path)
    if isinstance(path, str) and _OTHER.match(path):
        raise RecordError(
            f"expected a file or postgresql://[USER@]HOST/NAME as the store, found {_without_password(path)}"
        )
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise RecordError(f"cannot use {path} as the store of a tournament: there is no folder {folder}")
    return _Sqlite(path)


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
class Result(Meeting):
    """Result of a match.

    Attributes:
        goals: goals in the order of ``players``; None if the match was aborted.
        errors: number of replaced replies of each player, in the order of ``players``.
        fault: reason why the match was aborted; empty otherwise.
    """

    goals: tuple[int, ...] | None
    errors: tuple[int, ...]
    fault: str

    @classmethod
    def of(cls, meeting: Meeting, record: Record, game: Game) -> Result:
        """Return the result of a recorded match."""
        indexes = [index for index, role in enumerate(game.roles) if not role.is_random]
        goals = None if record.goals is None else tuple([record.goals[index] for index in indexes])
        errors = tuple([sum(bool(step[index]) for step in record.errors) for index in indexes])
        fault = str(record.own.get("fault", "")) if goals is None else ""
        return cls(meeting.round, meeting.sheet, meeting.players, goals, errors, fault)


class Store(AbstractContextManager["Store"]):
    """Store of the matches of a tournament. Use the store as a context manager, or call `close`.

    Args:
        path: an SQLite file; or ``postgresql://USER@HOST/NAME``, the address of a PostgreSQL database, which
            several machines can share.

    Raises:
        RecordError: the store cannot be used. All methods can raise RecordError.
        MissingExtraError: the store is a PostgreSQL database, and psycopg is not installed.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._base = _open(path)
        #: Name of the file, or address of the database without its password.
        self.path = self._base.name
        try:
            with self._base.transaction():
                for table in _TABLES:
                    self._base.execute(table)
            self.settle({"format": _FORMAT})
        except BaseException:
            self._base.close()
            raise

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        self._base.close()

    def claim(self, meeting: Meeting) -> bool:
        """Claim a match until `release` or the end of this process; return False if another process has it.

        With an SQLite file, every claim succeeds: processes do not see claims of each other.
        """
        return self._base.claim(meeting.key)

    def release(self, meeting: Meeting) -> None:
        """Release a claimed match."""
        self._base.release(meeting.key)

    def settle(self, facts: Mapping[str, str]) -> None:
        """Store facts that must not change, such as clocks. Raises RecordError if a stored value differs."""
        with self._base.transaction():
            for name, value in facts.items():
                self._base.execute(
                    "INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO NOTHING", (name, value)
                )
                ((stored,),) = self._base.execute("SELECT value FROM facts WHERE name = ?", (name,))
                if stored != value:
                    raise RecordError(
                        f"{self.path} belongs to another tournament: its {name} is {str(stored)[:200]!r}, "
                        f"not {value[:200]!r}; choose another store"
                    )

    def keep(self, meeting: Meeting, record: Record) -> None:
        """Write the record of a match. The match is over if ``meeting`` is a `Result`."""
        over = meeting if isinstance(meeting, Result) else None
        row: tuple[Any, ...] = (
            meeting.key,
            meeting.round,
            meeting.sheet,
            json.dumps(meeting.players),
            json.dumps(record.to_json()),
            int(over is not None),
            None if over is None or over.goals is None else json.dumps(over.goals),
            json.dumps(over.errors if over else ()),
            over.fault if over else "",
        )
        self._base.execute(_WRITE, row)

    def players(self) -> list[str]:
        """Return the names of the players; an empty list before the tournament begins."""
        rows = self._base.execute("SELECT name FROM facts WHERE name LIKE 'player %' ORDER BY name")
        return [str(name).removeprefix("player ") for (name,) in rows]

    def is_over(self, meeting: Meeting) -> bool:
        """Return whether a match was completed, or aborted because of an error in the rules."""
        rows = self._base.execute("SELECT is_over FROM matches WHERE key = ?", (meeting.key,))
        return bool(rows) and bool(rows[0][0])

    def record(self, meeting: Meeting) -> Record | None:
        """Return the record of a match; None if the match has not begun."""
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

    def _result(
        self, key: object, number: object, sheet: object, players: object, *outcome: object
    ) -> Result:
        goals, errors, fault = outcome
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
        # The types are compared exactly, because True and False are instances of int.
        if not isinstance(items, list) or any(type(item) is not kind for item in items):
            raise self._damaged(key, column)
        return tuple(items)

    def _damaged(self, key: object, what: str) -> RecordError:
        match = shown(str(key), 200)
        return RecordError(
            f"{self.path} is damaged: {what} of the match {match} cannot be read; "
            "delete the row of this match to play it again"
        )
