"""What practice brought: how much was played, and whether a trial showed that it helps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PracticeReport:
    """What a search learned of a game by playing with itself.

    >>> print(PracticeReport(12_000, 700_000, 4.8, 6, 5.5, True))
    practised 12,000 games in 4.8 s; 5.5 points of 6 trial matches: used

    Attributes:
        games: how many games were played.
        positions: how many positions of them were learned from.
        seconds: how long that took.
        trial_matches: of searches with what was learned against searches without.
        trial_score: points of the former in these: for each half a point, and half of what they got more than
            the others, on a scale from 0 to 1; so 1 for a win, and 0.5 for a draw.
        is_used: whether searches use it from now on: only where the trial speaks for it.
    """

    games: int
    positions: int
    seconds: float
    trial_matches: int
    trial_score: float
    is_used: bool

    def __str__(self) -> str:
        trial = "not tried out"
        if self.trial_matches:
            trial = f"{self.trial_score:.3g} points of {self.trial_matches} trial matches"
        used = "used" if self.is_used else "not used"
        return f"practised {self.games:,} games in {self.seconds:.1f} s; {trial}: {used}"
