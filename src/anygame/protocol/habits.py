"""How a player goes about matches: with which margins and patience, and within which limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from anygame.game.game import Game
from anygame.language.limits import ReadingLimits
from anygame.language.parser import parse_program
from anygame.language.source import Source

if TYPE_CHECKING:
    from anygame.language.limits import Limits
    from anygame.protocol.messages import Start

__all__ = ["Habits", "load_game"]

_LONGEST_MARGIN: Final = 1.0
_MARGIN_SHARE: Final = 0.2
#: Of the margin, the part that is left when an answer leaves at any rate.
_ANSWER_AT: Final = 0.75
_SHORTEST_CLOCK: Final = 0.3
_SHEETS: Final = ReadingLimits(bytes=4 * 2**20, tokens=1_000_000)


@dataclass(frozen=True, slots=True)
class Habits:
    """How matches are played.

    Attributes:
        gdl2: whether short messages of GDL-II games hold percepts rather than moves.
        case_sensitive: whether names that differ by case are different names.
        limits: of the reasoner.
        margin: seconds before the clock is up when the player should have chosen; None for a fifth of the
            clock, at most a second. When a quarter of it has passed, an answer leaves at any rate.
        patience: seconds without a message after which a match is given up; None to go by its clocks.
    """

    gdl2: bool = False
    case_sensitive: bool = True
    limits: Limits | None = None
    margin: float | None = None
    patience: float | None = None

    def margin_of(self, clock: float) -> float:
        """Return the seconds to keep back of a clock."""
        usual = min(_LONGEST_MARGIN, _MARGIN_SHARE * clock)
        return usual if self.margin is None else min(self.margin, clock)

    def think_by(self, arrived: float, clock: float) -> float:
        """Return when the player should have chosen, as `time.monotonic` and loops count."""
        return arrived + clock - self.margin_of(clock)

    def answer_by(self, arrived: float, clock: float) -> float:
        """Return when an answer must leave at any rate."""
        return arrived + max(_SHORTEST_CLOCK, clock - _ANSWER_AT * self.margin_of(clock))

    def patience_with(self, start: Start) -> float:
        """Return the seconds of silence after which a match is given up."""
        return start.start_clock + 10 * start.play_clock + 10 if self.patience is None else self.patience


def load_game(rules: str, habits: Habits, seconds: float) -> Game:
    """Load the rules of a START or PREVIEW message.

    Args:
        rules: the sheet.
        habits: with the limits of the reasoner.
        seconds: after which nobody waits for the answer to a question any more.

    Raises:
        AnygameError: they cannot be used.
    """
    limits = habits.limits
    if limits is not None:
        limits = replace(limits, seconds=min(limits.seconds, max(seconds, _SHORTEST_CLOCK)))
    program = parse_program(Source("<START>", rules), case_sensitive=habits.case_sensitive, limits=_SHEETS)
    return Game(program, case_sensitive=habits.case_sensitive, limits=limits)
