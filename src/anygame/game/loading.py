"""Games from rule sheets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.game.game import Game
from anygame.language.collector import collector_paused
from anygame.language.installed import open_sheet
from anygame.language.parser import parse_program
from anygame.language.source import Source

if TYPE_CHECKING:
    import os

    from anygame.game.backends import MachineName
    from anygame.language.limits import Limits

__all__ = ["load", "loads"]


def load(
    path: str | os.PathLike[str],
    *,
    case_sensitive: bool = True,
    limits: Limits | None = None,
    machine: MachineName = "auto",
) -> Game:
    """Load a game from a rule sheet.

    Args:
        path: a file in KIF or in the infix form; or, where there is no such file, the name of a game that
            comes with the package (``games``).
        case_sensitive: whether names that differ by case differ; keywords are read in any case.
        limits: bounds on the text and on what may be derived.
        machine: what computes the answers, which are the same. ``reasoner`` works from the rules; ``network``
            compiles them into logic first; ``auto`` asks the reasoner until something is asked that visits
            many states (``simulate``, ``batch``, 500 playouts, a ``perft`` of more than 5,000 states), then
            compiles the game and asks the network from there on.

    Raises:
        RuleSheetError: the sheet cannot be used; names every fault with its place.
        LimitError: a bound was reached.
    """
    source = open_sheet(path, limits.reading if limits else None)
    return _loaded(source, case_sensitive=case_sensitive, limits=limits, machine=machine)


def loads(
    text: str,
    *,
    name: str = "<text>",
    case_sensitive: bool = True,
    limits: Limits | None = None,
    machine: MachineName = "auto",
) -> Game:
    """Load a game from the text of a rule sheet; see ``load``."""
    return _loaded(Source(name, text), case_sensitive=case_sensitive, limits=limits, machine=machine)


def _loaded(source: Source, *, case_sensitive: bool, limits: Limits | None, machine: MachineName) -> Game:
    reading = limits.reading if limits else None
    with collector_paused():
        program = parse_program(source, case_sensitive=case_sensitive, limits=reading)
        return Game(program, case_sensitive=case_sensitive, limits=limits, machine=machine)
