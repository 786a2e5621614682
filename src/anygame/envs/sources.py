"""What an environment is made of: a game, however it is named, compiled; and libraries that are extras."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Final

from anygame.errors import MissingExtraError
from anygame.game.game import Game
from anygame.game.loading import load
from anygame.language.installed import find_installed

#: Games that environments made by the same sheet share: learners make many of one kind.
_KEPT: Final = 8


def compiled_game(source: Game | str | os.PathLike[str]) -> Game:
    """Return a compiled game.

    Args:
        source: a game, a rule sheet, or the name of a game that comes with the package.

    Raises:
        RuleSheetError: the rules cannot be used.
        LimitError: the game has no network, which gives its moves and fluents their numbers.
    """
    if not isinstance(source, Game):
        path = Path(find_installed(source) or source).resolve()
        # What is no file fails with a reason when it is loaded.
        stat = path.stat() if path.is_file() else None
        game = _loaded(os.fspath(source), path, stat and (stat.st_mtime_ns, stat.st_size))
    else:
        game = source
    game.backends.needed_network()
    return game


@lru_cache(_KEPT)
def _loaded(source: str, path: Path, version: tuple[int, int] | None) -> Game:
    return load(source)


def missing(library: str, extra: str) -> MissingExtraError:
    """Return the error for a library that is not installed, which names the extra that has it.

    >>> str(missing("pettingzoo", "pettingzoo"))
    "this needs pettingzoo, which is not installed: pip install 'anygame[pettingzoo]'"
    """
    message = f"this needs {library}, which is not installed: pip install 'anygame[{extra}]'"
    return MissingExtraError(message, extra)
