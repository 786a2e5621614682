"""Budgets of counted work, so findings do not depend on the speed of the machine."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from anygame.game.state import State
    from anygame.language.source import Source

# Costs in units of about a microsecond, measured on 116 public sheets.
#: Cost of reading a character of a sheet.
_READ: Final = 2
#: Cost of checking a character of a sheet.
_CHECKED: Final = 6
_MADE_A_GAME: Final = 10_000
_A_STATE: Final = 40
_A_FACT: Final = 4
#: Cost of a derived row of a state.
_A_ROW: Final = 2
_A_MOVE: Final = 2
#: Time limit in seconds for work, in addition to the counts. Work usually takes a tenth of this time.
LAST_RESORT: Final = 30.0


class Budget:
    """A bound on work; ``left`` is the number of remaining units, which can become negative."""

    def __init__(self, most: float, seconds: float = LAST_RESORT) -> None:
        self.left = most
        self._deadline = monotonic() + seconds

    @property
    def is_late(self) -> bool:
        """Whether the time limit is reached."""
        return monotonic() > self._deadline

    @property
    def is_done(self) -> bool:
        """Whether all work or time is used up."""
        return self.left <= 0 or self.is_late


def work_of_game(source: Source) -> int:
    """Return the cost of reading a sheet and making its game."""
    return _MADE_A_GAME + _READ * len(source.text)


def work_of_checks(source: Source) -> int:
    """Return the cost of the static checks of a sheet."""
    return _CHECKED * len(source.text)


def work_of_state(state: State, successors: int) -> int:
    """Return the cost of examining a state and computing a number of successors."""
    work = _A_STATE * (1 + successors) + _A_FACT * len(state.facts) + _A_ROW * state.derived
    if successors:
        work += _A_MOVE * sum(len(state.legal_moves(role)) for role in state.game.roles)
    return work
