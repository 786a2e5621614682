"""A sheet and all that is found in it without play."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from anygame.doctor import check_program, read_sheet
from anygame.doctor.mending import as_read_leniently
from anygame.doctor.play.checking import PlayCheck, game_or_faults
from anygame.game.loading import game_of
from anygame.language.collector import collector_paused
from anygame.language.diagnostics import Severity

if TYPE_CHECKING:
    from anygame.doctor.play.checking import Bounds
    from anygame.game.game import Game
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.limits import Limits
    from anygame.language.source import Source


class CheckedSheet:
    """A sheet that has been read; it is checked, and made a game, when that is asked for.

    Attributes:
        source: its text.
        program: the rules that could be read.
        complete: whether these are all rules.
    """

    def __init__(
        self,
        source: Source,
        *,
        case_sensitive: bool = True,
        lenient: bool = False,
        limits: Limits | None = None,
    ) -> None:
        self.source = source
        self._case_sensitive, self._lenient, self._limits = case_sensitive, lenient, limits
        with collector_paused():
            reading = read_sheet(
                source, case_sensitive=case_sensitive, limits=limits.reading if limits else None
            )
        self.program = reading.program
        self.complete = reading.complete
        self._of_text = reading.diagnostics

    @cached_property
    def diagnostics(self) -> list[Diagnostic]:
        """What is wrong or odd in it."""
        found = dict.fromkeys(self._of_text)
        if self.program.rules:
            with collector_paused():
                checked = check_program(self.program, complete=self.complete)
                found.update(dict.fromkeys([*checked, *self._game_or_faults[1]]))
        if self._lenient and self.complete:
            found = as_read_leniently(self.program, found)
        return list(found)

    @cached_property
    def _game_or_faults(self) -> tuple[Game | None, list[Diagnostic]]:
        with collector_paused():
            return game_or_faults(self.program, case_sensitive=self._case_sensitive, limits=self._limits)

    @property
    def has_errors(self) -> bool:
        """Whether it cannot be played."""
        return any(each.severity is Severity.ERROR for each in self.diagnostics)

    @cached_property
    def game(self) -> Game:
        """The game, read leniently where that was asked for. Raises AnygameError where there is none."""
        return self._game_or_faults[0] or game_of(
            self.program, case_sensitive=self._case_sensitive, lenient=self._lenient, limits=self._limits
        )

    def play(self, bounds: Bounds) -> PlayCheck:
        """Return a check by play that has not begun. Raises AnygameError where there is no game."""
        return PlayCheck(self.game, bounds)
