"""Tables of exact values as files.

A file has a line with the name of the format, the size of the header, and the header. The header is JSON:
digest of the rules, roles, method, fluents, numbers of states, words and different values. Arrays follow:
states, different values, the value of each state, and distances. All integers are little-endian. At the end
is a SHA-256 digest of the rest of the file.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import TableError, TermSyntaxError
from anygame.files import file_faults, write_whole
from anygame.game.encoding import rules_digest
from anygame.language.parser import parse_term
from anygame.search.table import Table, kind_type

if TYPE_CHECKING:
    from typing import BinaryIO

    from numpy.typing import DTypeLike, NDArray

    from anygame.game.game import Game

_MAGIC: Final = b"anygame table 1\n"
#: Bytes of the largest header: the names of tens of thousands of fluents.
_LARGEST_HEADER: Final = 16 << 20
#: Numbers of states have 31 bits.
_MOST_STATES: Final = (1 << 31) - 1
#: Words of a state with the fluents of the largest header.
_MOST_WORDS: Final = _LARGEST_HEADER // 64
_DIGEST: Final = hashlib.sha256().digest_size
#: Bytes read and digested at a time.
_CHUNK: Final = 1 << 24


def save_table(table: Table, path: str | Path) -> None:
    """Write a table of exact values to a file, whole or not at all.

    Raises:
        TableError: the file cannot be written, or exists and is not a table.
    """
    path = Path(path)
    with file_faults("write", path, TableError):
        if path.exists() and not _is_table(path):
            raise TableError(f"{path} exists and is not a table of values; choose another name")
        header = json.dumps(
            {
                "game": table.game.name,
                "rules": rules_digest(table.game),
                "roles": list(map(str, table.game.roles)),
                "method": table.method,
                "fluents": list(map(str, table.fluents)),
                "states": len(table),
                "words": table.states.words,
                "values": len(table.bounds),
                "distances": table.distances is not None,
            }
        ).encode()
        if len(header) > _LARGEST_HEADER:
            raise TableError(f"the names of {len(table.fluents):,} facts are too long for the file")
        arrays = [table.states.part(0, len(table)), table.bounds, table.kinds]
        arrays += [] if table.distances is None else [table.distances]
        parts: list[bytes | memoryview] = [_MAGIC, len(header).to_bytes(8, "little"), header]
        parts += [_bytes_of(array) for array in arrays]
        digest = hashlib.sha256()
        for part in parts:
            digest.update(part)
        write_whole(path, *parts, digest.digest())


def load_table(path: str | Path, game: Game) -> Table:
    """Read a table of exact values from a file.

    Args:
        path: of the file.
        game: the game of the values.

    Raises:
        TableError: the file cannot be read, is not a table, is damaged, or belongs to other rules.
    """
    with file_faults("read", path, TableError), Path(path).open("rb") as file:
        return _Reader(file, str(path)).table(game)


def _is_table(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def _bytes_of(array: NDArray[Any]) -> memoryview:
    import numpy as np

    return np.ascontiguousarray(array, array.dtype.newbyteorder("<")).data.cast("B")


class _Reader:
    """Reads a file, and updates a digest meanwhile."""

    def __init__(self, file: BinaryIO, path: str) -> None:
        self._file, self._path = file, path
        self._digest = hashlib.sha256()

    def table(self, game: Game) -> Table:
        import numpy as np

        from anygame.search.state_set import StateSet

        if self._file.read(len(_MAGIC)) != _MAGIC:
            raise TableError(f"{self._path} is not a table of values, as `anygame solve --table` writes it")
        self._digest.update(_MAGIC)
        header = self._header()
        if header["rules"] != rules_digest(game):
            raise TableError(
                f"{self._path} is a table of {header['game'][:200]!r}; the rules of {game.name} differ"
            )
        count, words, kinds = header["states"], header["words"], header["values"]
        roles = len(game.roles)
        kind = np.dtype(kind_type(kinds))
        here = self._file.tell()
        size = count * (words * 8 + kind.itemsize + 4 * header["distances"]) + kinds * roles * 16 + _DIGEST
        if self._file.seek(0, 2) - here != size:
            raise self._damaged("its size does not match its header")
        self._file.seek(here)
        rows = self._array((count, words), np.uint64)
        bounds = self._array((kinds, roles, 2), np.float64)
        of_states = self._array((count,), kind)
        distances = self._array((count,), np.uint32) if header["distances"] else None
        if self._file.read() != self._digest.digest():
            raise self._damaged("its digest does not match")
        states = StateSet(words)
        for first in range(0, count, _CHUNK // 64):
            states.add(rows[first : first + _CHUNK // 64])
        if len(states) != count or of_states.max() >= kinds:
            raise self._damaged("its states or values are invalid")
        fluents = tuple([self._fluent(text, game) for text in header["fluents"]])
        return Table(game, header["method"], fluents, states, of_states, bounds, distances)

    def _header(self) -> dict[str, Any]:
        size = self._file.read(8)
        length = int.from_bytes(size, "little")
        if len(size) < 8 or length > _LARGEST_HEADER:
            raise self._damaged("its header is missing, or too large")
        text = self._file.read(length)
        self._digest.update(size)
        self._digest.update(text)
        try:
            header = json.loads(text)
        except (ValueError, RecursionError):
            raise self._damaged("its header is not JSON") from None
        if not (isinstance(header, dict) and _is_header(header)):
            raise self._damaged("its header is invalid")
        return header

    def _array(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Read an array; the size of the file was checked before."""
        import numpy as np

        array = np.empty(shape, np.dtype(dtype).newbyteorder("<"))
        content = array.data.cast("B")
        for first in range(0, len(content), _CHUNK):
            part = content[first : first + _CHUNK]
            if self._file.readinto(part) != len(part):  # type: ignore[attr-defined]
                raise self._damaged("it was truncated meanwhile")
            self._digest.update(part)
        return array.astype(dtype, copy=False)

    def _fluent(self, text: str, game: Game) -> Any:
        try:
            return parse_term(text, case_sensitive=game.case_sensitive)
        except TermSyntaxError as error:
            raise self._damaged(f"a fact cannot be read: {error}") from error

    def _damaged(self, reason: str) -> TableError:
        return TableError(f"{self._path} is damaged: {reason}")


def _is_header(header: dict[str, Any]) -> bool:
    counts = (("states", _MOST_STATES), ("words", _MOST_WORDS), ("values", _MOST_STATES))
    return (
        all(isinstance(header.get(name), str) for name in ("game", "rules", "method"))
        and all(_is_count(header.get(name), most) for name, most in counts)
        and isinstance(header.get("distances"), bool)
        and isinstance(header.get("fluents"), list)
        and all(isinstance(fluent, str) for fluent in header["fluents"])
        and len(set(header["fluents"])) == len(header["fluents"])
        and header["words"] == max(1, -(-len(header["fluents"]) // 64))
    )


def _is_count(value: object, most: int) -> bool:
    return type(value) is int and 0 < value <= most
