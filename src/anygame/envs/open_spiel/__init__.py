"""OpenSpiel: rule sheets as games for the algorithms of ``pyspiel`` (extra ``open-spiel``).

Importing this package registers the games: ``pyspiel.load_game("anygame(file=kuhn_poker)")``.
OpenSpiel: M. Lanctot et al., "OpenSpiel: a framework for reinforcement learning in games", 2019.
"""

from __future__ import annotations

import binascii
import os
import re
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, get_args

from anygame.errors import RuleSheetError, needing

with needing("open-spiel", "this needs OpenSpiel, which is not installed"):
    import pyspiel

from anygame.envs.open_spiel.state import Dynamics, SheetObserver, SheetState, Utilities, describe
from anygame.game import Game
from anygame.game.encoding import rules_digest
from anygame.sheets.installed import open_sheet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anygame.envs.open_spiel.state import Description

__all__ = ["SheetGame", "SheetObserver", "SheetState", "load"]

#: File names that OpenSpiel parses as strings, not as numbers or several parameters.
_PLAIN: Final = re.compile(r"[\w./~-]*[A-Za-z_/~][\w./~-]*", re.ASCII)
#: The registered name, for ``pyspiel.load_game``.
NAME: Final = "anygame"
#: The parameters of a game, with their defaults.
DEFAULTS: Final[Mapping[str, Any]] = {
    "file": "",
    "rules": "",
    "case_sensitive": True,
    "lenient": False,
    "dynamics": "auto",
    "max_steps": 0,
    "scale": 1.0,
    "offset": 0.0,
    "zero_sum": False,
}
#: Maximum size in bytes of a sheet in a parameter, as for files.
_LARGEST: Final = 16 * 2**20
#: Maximum number of players, more than in any known sheet.
_MOST_PLAYERS: Final = 100


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
        offset: the number that is added to ``scale * goal``.
        zero_sum: whether to subtract the mean goal of all players from each goal.
        max_steps: number of joint moves after which a play is cut. The default is the length of the longest
            play if this length is known, or else 1,000.
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


class SheetGame(pyspiel.Game):
    """A rule sheet as a game of OpenSpiel, made by ``load``."""

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        complete = {**DEFAULTS, **(params or {})}
        # OpenSpiel adds defaults when it parses a name. Without stored defaults, equal games compare equal.
        self._parameters = {name: value for name, value in complete.items() if value != DEFAULTS[name]}
        self.description: Description = _described(complete)
        self.utilities = _utilities(complete)
        info = _info_of(self.description, self.utilities)
        super().__init__(_type_of(self.description, self.utilities), info, self._parameters)

    def __reduce__(self) -> tuple[type[SheetGame], tuple[dict[str, Any]]]:
        # OpenSpiel's own pickling drops the Python attributes.
        return SheetGame, (self._parameters,)

    def new_initial_state(self) -> SheetState:
        """Return the initial state."""
        return SheetState(self, self.description, self.utilities)

    def deserialize_state(self, text: str) -> SheetState:
        """Return the state that ``state.serialize()`` wrote; raise ValueError for a state of another game."""
        state: SheetState = super().deserialize_state(text)
        # OpenSpiel does not check that the state is of this game.
        if rules_digest(state.sheet) != rules_digest(self.description.game):
            raise ValueError(f"the state belongs to {state.sheet.name}, not to {self.description.game.name}")
        return state

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> SheetObserver:
        """Return a `SheetObserver`."""
        return SheetObserver(self.description, iig_obs_type, params)


def _described(parameters: Mapping[str, Any]) -> Description:
    dynamics, steps = parameters["dynamics"], int(parameters["max_steps"])
    if dynamics not in get_args(Dynamics):
        raise ValueError(f"dynamics must be one of {', '.join(get_args(Dynamics))}, not {dynamics!r}")
    if steps < 0:
        raise ValueError(f"max_steps must be a number of joint moves, or 0 for the default, not {steps}")
    if bool(parameters["file"]) == bool(parameters["rules"]):
        raise ValueError("expected one of the parameters `file` (a sheet, or an installed game) and `rules`")
    if parameters["file"]:
        source = open_sheet(parameters["file"])
        name, text = source.name, source.text
    else:
        name, text = "<rules>", _unpacked(parameters["rules"])
    case_sensitive, lenient = bool(parameters["case_sensitive"]), bool(parameters["lenient"])
    return describe(name, text, case_sensitive, lenient, dynamics, steps)


def _utilities(parameters: Mapping[str, Any]) -> Utilities:
    scale, offset = float(parameters["scale"]), float(parameters["offset"])
    if not isfinite(scale) or scale == 0:
        raise ValueError(f"scale (utility per point) must be a finite number other than 0, not {scale}")
    if not isfinite(offset):
        raise ValueError(f"offset must be a finite number, not {offset}")
    return Utilities(scale, offset, bool(parameters["zero_sum"]))


def packed_rules(text: str) -> str:
    """Return the text of a sheet in an encoding for parameters: letters, digits, ``-`` and ``_``."""
    return urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")


def _unpacked(packed: str) -> str:
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), _LARGEST)
        text = data.decode()
    except (binascii.Error, zlib.error, ValueError) as error:
        raise RuleSheetError(f"the parameter `rules` is not a packed sheet: {error}") from None
    if unpacker.unconsumed_tail:
        raise RuleSheetError(f"the sheet in the parameter `rules` has more than {_LARGEST // 2**20} MiB")
    return text


def general_type(**properties: Any) -> Any:
    """Return the OpenSpiel type of a sheet with the given properties; by default, the type for all sheets."""
    kinds = pyspiel.GameType
    general = {
        "short_name": NAME,
        "long_name": "a sheet in the Game Description Language",
        "dynamics": kinds.Dynamics.SEQUENTIAL,
        "chance_mode": kinds.ChanceMode.EXPLICIT_STOCHASTIC,
        "information": kinds.Information.IMPERFECT_INFORMATION,
        "utility": kinds.Utility.GENERAL_SUM,
        "reward_model": kinds.RewardModel.TERMINAL,
        "max_num_players": _MOST_PLAYERS,
        "min_num_players": 1,
        "provides_information_state_string": True,
        "provides_information_state_tensor": True,
        "provides_observation_string": True,
        "provides_observation_tensor": True,
        "provides_factored_observation_string": True,
        "parameter_specification": dict(DEFAULTS),
        "default_loadable": False,
    }
    return kinds(**general | properties)


def _type_of(description: Description, utilities: Utilities) -> Any:
    kinds, form = pyspiel.GameType, description.form
    at_once, is_drawn = form.order == "simultaneous", len(description.draws) > 1
    chances, knowledge = kinds.ChanceMode, kinds.Information
    return general_type(
        long_name=f"anygame: {description.game.name}",
        dynamics=kinds.Dynamics.SIMULTANEOUS if at_once else kinds.Dynamics.SEQUENTIAL,
        chance_mode=chances.EXPLICIT_STOCHASTIC if is_drawn else chances.DETERMINISTIC,
        information=knowledge.IMPERFECT_INFORMATION if form.hides_moves else knowledge.PERFECT_INFORMATION,
        utility=_sum_of(description, utilities)[0],
        max_num_players=len(form.players),
        min_num_players=len(form.players),
        provides_information_state_tensor=description.memory_shape is not None,
        provides_observation_tensor=bool(description.observables),
    )


def _sum_of(description: Description, utilities: Utilities) -> tuple[Any, float | None]:
    """Return OpenSpiel's class of the sum of utilities, and the sum if the sum is constant."""
    kinds, players = pyspiel.GameType.Utility, len(description.form.players)
    if players == 1 or (description.goal_sum is None and not utilities.zero_sum):
        return kinds.GENERAL_SUM, None
    goals = 0 if utilities.zero_sum else description.goal_sum or 0
    total = utilities.scale * goals + utilities.offset * players
    # With a scale such as 1/3, the sum has rounding errors.
    return (kinds.ZERO_SUM, 0.0) if abs(total) < 1e-9 else (kinds.CONSTANT_SUM, total)


def _info_of(description: Description, utilities: Utilities) -> Any:
    players = len(description.form.players)
    least, most = utilities.bounds(*description.goals, players)
    return pyspiel.GameInfo(
        num_distinct_actions=len(description.actions),
        max_chance_outcomes=len(description.draws),
        num_players=players,
        min_utility=least,
        max_utility=most,
        utility_sum=_sum_of(description, utilities)[1],
        max_game_length=max(1, description.longest),
    )


if NAME not in pyspiel.registered_names():
    pyspiel.register_game(general_type(), SheetGame)
