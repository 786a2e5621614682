"""OpenSpiel: rule sheets as games for the algorithms of ``pyspiel`` (extra ``open-spiel``).

Importing this package registers the games: ``pyspiel.load_game("anygame(file=kuhn_poker)")``.
OpenSpiel: M. Lanctot et al., "OpenSpiel: a framework for reinforcement learning in games", 2019.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

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

#: File names that OpenSpiel parses as strings, not as numbers or several parameters.
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
    """Return a rule sheet as a game of OpenSpiel.

    Args:
        sheet: a file, the name of an installed game, or a game.
        dynamics: ``sequential`` or ``simultaneous``; by default, sequential if roles take turns in random
            play. In a sequential game, roles that move at the same time decide one after the other, without
            seeing the other moves.
        scale: the factor in a utility, which is ``scale * goal + offset``.
        offset: the summand in a utility.
        zero_sum: whether to subtract the mean goal of all players from each goal.
        max_steps: number of joint moves after which a play is cut; by default the length of the longest play
            if that is known, or else 1,000.
        case_sensitive: whether names are case-sensitive; ignored for a game.
        lenient: whether to read unbound variables as Prolog-like reasoners do (``anygame.load``).

    Raises:
        RuleSheetError: the sheet cannot be used.
        LimitError: the game has no network.
        ValueError: an argument is out of range.
    """
    if isinstance(sheet, Game):
        source = sheet.program.source
        case_sensitive = sheet.case_sensitive
        rules = {"rules": packed_rules(source.text if source else str(sheet))}
    elif _PLAIN.fullmatch(name := os.fspath(sheet)):
        rules = {"file": name}
    else:
        rules = {"rules": packed_rules(open_sheet(name).text)}
    options = {
        "dynamics": dynamics,
        "scale": float(scale),
        "offset": float(offset),
        "zero_sum": zero_sum,
        "max_steps": 0 if max_steps is None else max_steps,
        "case_sensitive": case_sensitive,
        "lenient": lenient,
    }
    return SheetGame(rules | options)
