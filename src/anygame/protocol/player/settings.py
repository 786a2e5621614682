"""How a player goes about matches: with which margins and patience, and within which limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from anygame.language.limits import Limits
    from anygame.protocol.messages import Start

#: On the networks of today an answer is there in milliseconds; a second is for machines that are busy.
_LONGEST_MARGIN: Final = 1.0
#: Of short clocks no more than this is given away.
_MARGIN_SHARE: Final = 0.2
#: Of the margin, the part that is left when an answer leaves at any rate.
_ANSWER_AT: Final = 0.75
#: Of the margin, the part that is left when the best move so far is no longer waited for.
_GIVE_UP_AT: Final = 0.5
#: Seconds that an answer may take at least, whatever the clock says: it takes some to find any move.
SHORTEST_CLOCK: Final = 0.3
#: Seconds beyond the clocks for rules that are nearly read, on machines that are busy.
_SLACK: Final = 5.0


@dataclass(frozen=True, slots=True)
class PlayerSettings:
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
        return arrived + max(SHORTEST_CLOCK, clock - _ANSWER_AT * self.margin_of(clock))

    def grace_of(self, clock: float) -> float:
        """Return the seconds after `answer_by` for a player in another process to tell its best move."""
        return max(0.05, (_ANSWER_AT - _GIVE_UP_AT) * self.margin_of(clock))

    def rules_by(self, start: Start) -> float:
        """Return the seconds after which rules that still have not answered a question never will."""
        return start.start_clock + 2 * start.play_clock + _SLACK

    def patience_with(self, start: Start) -> float:
        """Return the seconds of silence after which a match is given up."""
        return start.start_clock + 10 * start.play_clock + 10 if self.patience is None else self.patience
