"""Files of tables of exact values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import TableError
from anygame.game.encoding import rules_digest
from anygame.language.parser import parse_term
from anygame.search.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from anygame.game.game import Game

FORMAT: Final = "anygame table 2"
#: Maximum size of a file in bytes: 2**31 states of several thousand fluents.
_LARGEST: Final = 1 << 40
#: Number of states added to the set at a time.
_CHUNK: Final = 1 << 18


def save_table(table: Table, path: str | Path) -> None:
    """Write a table of exact values to a file atomically.

    Raises:
        TableError: the file cannot be written, or it exists and is not a table.
    """
    from anygame.search.array_file import read_header, write_arrays

    path = Path(path)
    if path.exists():
        try:
            read_header(path, FORMAT, TableError)
        except TableError as error:
            raise TableError(f"{path} exists and is not a table of values; choose another name") from error
    header = {
        "format": FORMAT,
        "game": table.game.name,
        "rules": rules_digest(table.game),
        "method": table.method,
        "fluents": list(map(str, table.fluents)),
    }
    arrays = {"states": table.states.part(0, len(table)), "bounds": table.bounds, "kinds": table.kinds}
    if table.distances is not None:
        arrays["distances"] = table.distances
    write_arrays(path, header, arrays, TableError)


def load_table(path: str | Path, game: Game) -> Table:
    """Read a table of exact values from a file.

    Args:
        path: path of the file.
        game: the game whose states have these values.

    Raises:
        TableError: the file cannot be read, is not a table, is damaged, or was made for other rules.
    """
    from anygame.search.array_file import read_arrays

    header, arrays = read_arrays(Path(path), FORMAT, TableError, _LARGEST)
    if header.get("rules") != rules_digest(game):
        name = str(header.get("game"))[:200]
        raise TableError(f"{path} is a table of {name!r}; the rules of {game.name} differ")
    try:
        return _table(header, arrays, game)
    except (KeyError, TypeError, ValueError) as error:
        raise TableError(f"{path} is damaged: {error}") from error


def _table(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], game: Game) -> Table:
    """Return the table of a file; raise KeyError, TypeError or ValueError if the file is damaged."""
    import numpy as np

    from anygame.search.lanes import words_for
    from anygame.search.state_set import StateSet

    fluents = tuple([parse_term(text, case_sensitive=game.case_sensitive) for text in header["fluents"]])
    rows, bounds, kinds = arrays["states"], arrays["bounds"], arrays["kinds"]
    distances, count, words = arrays.get("distances"), len(rows), words_for(len(fluents))
    expected = [
        (rows, (count, words), np.uint64),
        (bounds, (len(bounds), len(game.roles), 2), np.float64),
        (kinds, (count,), np.min_scalar_type(max(0, len(bounds) - 1))),
        *([] if distances is None else [(distances, (count,), np.uint32)]),
    ]
    if any(array.shape != shape or array.dtype != kind for array, shape, kind in expected):
        raise ValueError("its arrays do not match its header")
    states = StateSet(words)
    for first in range(0, count, _CHUNK):
        states.add(rows[first : first + _CHUNK])
    if len(states) != count or not count or kinds.max() >= len(bounds):
        raise ValueError("its states or values are invalid")
    if not isinstance(header["method"], str):
        raise TypeError("its method is no text")
    return Table(game, header["method"], fluents, states, kinds, bounds, distances)
