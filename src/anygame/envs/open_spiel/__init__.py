"""OpenSpiel: sheets as games of ``pyspiel``, for its algorithms (extra ``open-spiel``).

Importing this package registers the games: ``pyspiel.load_game("anygame(file=kuhn_poker)")``.
OpenSpiel: M. Lanctot et al., "OpenSpiel: a framework for reinforcement learning in games", 2019.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import needing

with needing("open-spiel", "this needs OpenSpiel, which is not installed"):
    import pyspiel

from anygame.envs.open_spiel.game import NAME, SheetGame, general_type, packed_rules
from anygame.envs.open_spiel.state import SheetObserver, SheetState
from anygame.game import Game
from anygame.sheets.installed import open_sheet

if TYPE_CHECKING:
    from anygame.envs.open_spiel.state import Dynamics

__all__ = ["SheetGame", "SheetObserver", "SheetState", "load"]

#: File names that can be a parameter without encoding and do not look like a number.
_PLAIN: Final = re.compile(r"[\w./~-]*[A-Za-z_/~][\w./~-]*", re.ASCII)

if NAME not in pyspiel.registered_names():
    pyspiel.register_game(general_type(), SheetGame)


def load(
    sheet: str | os.PathLike[str] | Game,
    *,
    dynamics: Dynamics = "auto",
    scale: float = 1.0,
    offset: float = 0.0,
    zero_sum: bool = False,
    max_steps: int | None = None,
    case_sensitive: bool = True,
    lenient: bool = False,
) -> SheetGame:
    """Return a sheet as a game of OpenSpiel.

    Args:
        sheet: a file, the name of an installed game, or a game.
        dynamics: ``sequential`` or ``simultaneous``; by default sequential if roles take turns in random
            play. In a sequential game, roles that move at once decide one after the other, without seeing
            the other moves.
        scale: the factor in a utility, which is ``scale * goal + offset``.
        offset: the summand in a utility.
        zero_sum: whether to subtract the mean goal of all players from each goal.
        max_steps: joint moves after which a play is cut; by default the length of the longest play if all
            states can be visited, else 1,000.
        case_sensitive: whether names that differ by case differ; ignored for a game.
        lenient: whether to read unbound variables as Prolog-like reasoners do (``anygame.load``).

    Raises:
        RuleSheetError: the sheet cannot be used.
        LimitError: the game has no network, which numbers the moves.
        ValueError: an argument is out of range.
    """
    given: dict[str, Any] = {
        "dynamics": dynamics,
        "scale": float(scale),
        "offset": float(offset),
        "zero_sum": zero_sum,
        "max_steps": 0 if max_steps is None else max_steps,
        "case_sensitive": sheet.case_sensitive if isinstance(sheet, Game) else case_sensitive,
        "lenient": lenient,
    }
    return SheetGame(_parameter(sheet) | given)


def _parameter(sheet: str | os.PathLike[str] | Game) -> dict[str, Any]:
    """Return the parameter for the sheet: its name if OpenSpiel can read it, else its text."""
    if isinstance(sheet, Game):
        source = sheet.program.source
        return {"rules": packed_rules(source.text if source else str(sheet))}
    name = os.fspath(sheet)
    return {"file": name} if _PLAIN.fullmatch(name) else {"rules": packed_rules(open_sheet(name).text)}
