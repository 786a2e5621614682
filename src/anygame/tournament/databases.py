"""The data bases that a store may be: a file of SQLite, or PostgreSQL, which many machines can share."""

from __future__ import annotations

import re
import sqlite3
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from anygame.errors import MissingExtraError, RecordError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

#: Seconds to wait for another process that writes; each row is written in milliseconds.
_PATIENCE: Final = 30
#: What a lock of all that share a data base is called; matches have other names.
_ALL: Final = "anygame tournament"
_POSTGRES: Final = re.compile(r"postgres(ql)?://")
#: Where an address may have a password: before the host, or as a parameter.
_PASSWORD: Final = re.compile(r"(?<=://)([^:/@]*:).*(?=@)|([?&]password=)[^&]*")
#: What an address of something else begins with; files are not called so.
_OTHER: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


class Database(Protocol):
    """What a store asks of a data base. All methods raise RecordError where it cannot be used.

    Attributes:
        name: what it is called in messages.
    """

    name: str

    def execute(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Carry out a statement, with ``?`` for each value, and return its rows."""

    def transaction(self) -> AbstractContextManager[None]:
        """Return a context for one process at a time; its statements count all, or none."""

    def claim(self, key: str) -> bool:
        """Take a name for this process; return whether no other one has it."""

    def release(self, key: str) -> None:
        """Give a name back."""

    def close(self) -> None:
        """End the connection."""


def open_database(path: str | os.PathLike[str]) -> Database:
    """Open a file, or what an address of PostgreSQL says.

    Raises:
        MissingExtraError: psycopg is needed and not installed.
        RecordError: it cannot be opened.
    """
    if isinstance(path, str) and _POSTGRES.match(path):
        return _Postgres(path)
    if isinstance(path, str) and _OTHER.match(path):
        raise RecordError(
            f"a store is a file or postgresql://[USER@]HOST/NAME, not {_without_password(path)}"
        )
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise RecordError(f"cannot use {path} as the store of a tournament: there is no folder {folder}")
    return _Sqlite(path)


def _without_password(address: str) -> str:
    """Return an address as it may be shown.

    >>> _without_password("postgresql://me:a:b/c@host/db"), _without_password("postgresql://host/db?password=x")
    ('postgresql://me:...@host/db', 'postgresql://host/db?password=...')
    """
    return _PASSWORD.sub(r"\1\2...", address)


class _Sqlite:
    """A file, for the processes of one machine."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = str(path)
        with _told(self.name, sqlite3.Error):
            self._base = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
        try:
            self.execute("PRAGMA synchronous = FULL")
        except BaseException:
            self._base.close()
            raise

    def execute(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with _told(self.name, sqlite3.Error):
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
    """A data base of PostgreSQL. Claims are advisory locks of its session, which end with it."""

    def __init__(self, address: str) -> None:
        self.name = _without_password(address)
        try:
            self._library = import_module("psycopg")
        except ImportError as error:
            raise MissingExtraError(
                "a PostgreSQL store needs psycopg: pip install 'anygame[postgresql]'", "postgresql"
            ) from error
        with self._told():
            self._base = self._library.connect(address, autocommit=True, connect_timeout=_PATIENCE)

    def _told(self) -> AbstractContextManager[None]:
        return _told(self.name, self._library.Error)

    def execute(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._told():
            found = self._base.execute(query.replace("?", "%s"), values)
            return found.fetchall() if found.description else []

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._told(), self._base.transaction():
            # Ends with the transaction. Two processes that make the same table would be in each other's way.
            self.execute("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", (_ALL,))
            yield

    def claim(self, key: str) -> bool:
        ((is_mine,),) = self.execute("SELECT pg_try_advisory_lock(hashtextextended(?, 0))", (key,))
        return bool(is_mine)

    def release(self, key: str) -> None:
        # A connection that has ended, has given its names back.
        if not self._base.closed:
            self.execute("SELECT pg_advisory_unlock(hashtextextended(?, 0))", (key,))

    def close(self) -> None:
        self._base.close()


@contextmanager
def _told(name: str, kind: type[Exception]) -> Iterator[None]:
    """Turn errors of a data base into those for people."""
    try:
        yield
    except kind as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise RecordError(f"cannot use {name} as the store of a tournament: {reason}") from error
