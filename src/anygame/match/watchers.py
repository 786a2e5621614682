"""Several who watch one match."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.match.referee import Watcher

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.game.state import State
    from anygame.match.judging import Verdict
    from anygame.match.record import Record
    from anygame.match.referee import Turn


class Watchers(Watcher):
    """Reports to several watchers of a match, one after the other."""

    def __init__(self, *watchers: Watcher) -> None:
        self.watchers = watchers

    def started(self, record: Record, state: State) -> None:
        """Report that the match starts."""
        for each in self.watchers:
            each.started(record, state)

    def asked(self, step: int, seconds: float) -> None:
        """Report that the players are asked."""
        for each in self.watchers:
            each.asked(step, seconds)

    def ready(self, verdicts: Sequence[Verdict], seconds: Sequence[float]) -> None:
        """Report what the players said to START."""
        for each in self.watchers:
            each.ready(verdicts, seconds)

    def moved(self, turn: Turn) -> None:
        """Report a turn."""
        for each in self.watchers:
            each.moved(turn)

    def ended(self, record: Record, fault: str) -> None:
        """Report that the match is over."""
        for each in self.watchers:
            each.ended(record, fault)
