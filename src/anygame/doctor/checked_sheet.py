"""Sheets with the findings that need no play."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from anygame.doctor import check_program, read_sheet
from anygame.doctor.mending import as_read_leniently
from anygame.doctor.play.checking import BRIEF, PlayCheck, game_or_faults
from anygame.game.loading import game_of
from anygame.language.diagnostics import Severity
from anygame.language.terms import collector_paused

if TYPE_CHECKING:
    from anygame.doctor.play.checking import Bounds
    from anygame.game.game import Game
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.limits import Limits
    from anygame.language.source import Source


@dataclass(frozen=True, slots=True)
class ExaminationSettings:
    """Settings of an examination.

    Attributes:
        case_sensitive: whether names that differ only in capitals are different names.
        lenient: whether unbound variables are read as in Prolog.
        limits: bounds on reading and reasoning.
        play: bounds on play; None for no play.
        prove: time limit in seconds for the proof of each property; None for no proofs.
    """

    case_sensitive: bool = True
    lenient: bool = False
    limits: Limits | None = None
    play: Bounds | None = BRIEF
    prove: float | None = None


class CheckedSheet:
    """A sheet that has been read; its checks run, and its game is made, on first use."""

    def __init__(self, source: Source, settings: ExaminationSettings) -> None:
        self.source = source
        self._settings = settings
        limits = settings.limits.reading if settings.limits else None
        with collector_paused():
            reading = read_sheet(source, case_sensitive=settings.case_sensitive, limits=limits)
        self.program = reading.program
        self.complete = reading.complete
        self._parser_diagnostics = reading.diagnostics

    @cached_property
    def diagnostics(self) -> list[Diagnostic]:
        """The diagnostics that need no play."""
        diagnostics = dict.fromkeys(self._parser_diagnostics)
        if self.program.rules:
            with collector_paused():
                checked = check_program(self.program, complete=self.complete)
                diagnostics.update(dict.fromkeys([*checked, *self._game_or_faults[1]]))
        if self._settings.lenient and self.complete:
            diagnostics = as_read_leniently(self.program, diagnostics)
        return list(diagnostics)

    @cached_property
    def _game_or_faults(self) -> tuple[Game | None, list[Diagnostic]]:
        settings = self._settings
        with collector_paused():
            return game_or_faults(
                self.program, case_sensitive=settings.case_sensitive, limits=settings.limits
            )

    @property
    def has_errors(self) -> bool:
        """Whether errors prevent play."""
        return any(each.severity is Severity.ERROR for each in self.diagnostics)

    @cached_property
    def game(self) -> Game:
        """The game, read leniently if the settings say so. Raises AnygameError if the sheet is not a game."""
        settings = self._settings
        return self._game_or_faults[0] or game_of(
            self.program,
            case_sensitive=settings.case_sensitive,
            lenient=settings.lenient,
            limits=settings.limits,
        )

    def play(self, bounds: Bounds) -> PlayCheck:
        """Return a check by play that has not started. Raises AnygameError if the sheet is not a game."""
        return PlayCheck(self.game, bounds)
