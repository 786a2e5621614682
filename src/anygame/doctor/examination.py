"""Examination of a sheet: reading, checks, play, diagnosis of causes, and proofs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from anygame.doctor import check_program, read_sheet
from anygame.doctor.causes.diagnosis import Diagnosis, ranked
from anygame.doctor.finding import Finding
from anygame.doctor.mending import as_read_leniently, with_edits
from anygame.doctor.play.checking import BRIEF, PlayCheck, cut_short, game_or_faults, limit_reached
from anygame.errors import LimitError, RuleSheetError
from anygame.game.loading import game_of, read_silently
from anygame.game.machine import FallbackWarning
from anygame.language.diagnostics import Diagnostic, Severity
from anygame.language.rules import Program
from anygame.language.source import Source
from anygame.language.terms import collector_paused

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.doctor.play.checking import Bounds
    from anygame.game.game import Game
    from anygame.language.limits import Limits
    from anygame.proving import Verdict


def examine(source: Source, settings: ExaminationSettings | None = None) -> Examination:
    """Return an examination of a sheet, with all its findings.

    >>> from anygame.language.source import Source
    >>> sheet = Source("sheet", "(role x) (legal x go) (<= (goal x 100) (true won)) (<= terminal (true wom))")
    >>> examination = examine(sheet, ExaminationSettings(play=None))
    >>> [finding.diagnostic.code for finding in examination.findings if not finding.diagnostic.follows][0]
    'unwritten-fluent'
    """
    examination = Examination(source, settings or ExaminationSettings())
    examination.run()
    return examination


@dataclass(frozen=True, slots=True)
class ExaminationSettings:
    """Settings of an examination."""

    #: Whether names that differ only in capitals are different names.
    case_sensitive: bool = True
    #: Whether unbound variables are read as in Prolog.
    lenient: bool = False
    #: Bounds on reading and reasoning.
    limits: Limits | None = None
    #: Bounds on play; None for no play.
    play: Bounds | None = BRIEF
    #: Time limit in seconds for the proof of each property; None for no proofs.
    prove: float | None = None


class CheckedSheet:
    """A parsed sheet, which runs its checks and makes its game on first use."""

    def __init__(self, source: Source, settings: ExaminationSettings) -> None:
        self.source = source
        self._settings = settings
        limits = settings.limits.reading if settings.limits else None
        with collector_paused():
            reading = read_sheet(source, case_sensitive=settings.case_sensitive, limits=limits)
        self.program = reading.program
        self.complete = reading.complete
        self._parser_diagnostics = reading.diagnostics

    def edited(self, text: str) -> CheckedSheet:
        """Return the sheet with another text."""
        return CheckedSheet(Source(self.source.name, text), self._settings)

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
        """Whether the sheet has errors, which prevent play."""
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
        """Return a check by play, which the caller starts. Raises AnygameError if the sheet is not a game."""
        return PlayCheck(self.game, bounds)


@dataclass
class Examination:
    """Examines one sheet in stages; an interrupt keeps the findings so far."""

    source: Source
    settings: ExaminationSettings
    #: The findings so far, in the order of display.
    findings: list[Finding] = field(default_factory=list)
    #: The checked sheet; None before `run`.
    sheet: CheckedSheet | None = None
    #: The number of random playouts begun so far; None without play.
    played: int | None = None
    #: The results of proofs.
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def program(self) -> Program:
        """The rules that could be read; empty before `run`."""
        return self.sheet.program if self.sheet else Program(())

    def worst(self, most: int, least: Severity = Severity.INFO) -> list[Finding]:
        """Return the ``most`` worst findings of at least a given severity, in the order of display."""
        bad = [each for each in self.findings if each.diagnostic.severity >= least]
        worst_first = sorted(range(len(bad)), key=lambda number: -bad[number].diagnostic.severity)
        return [bad[number] for number in sorted(worst_first[:most])]

    def run(
        self,
        progress: Callable[[int, int], None] | None = None,
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Read, check and play the sheet, find the causes of its findings, and try proofs.

        Args:
            progress: called with the numbers of states and playouts so far.
            report: called with the claim that is being proved, as a phrase.

        Raises:
            MissingExtraError: the settings ask for proofs, but the solver is not installed.
        """
        self.sheet = CheckedSheet(self.source, self.settings)
        findings = with_edits(self.sheet.program, self.sheet.diagnostics)
        # `anygame mend` accepts only sheets whose rules can all be read.
        self._add(findings if self.sheet.complete else [replace(each, kinds=None) for each in findings])
        if self.settings.play is not None and not self.sheet.has_errors:
            self._play(self.sheet, self.settings.play, progress)
        self._name_causes(self.sheet)
        if self.settings.prove is not None and not self.sheet.has_errors:
            self._prove(self.sheet.game, self.settings.prove, report)

    def _add(self, more: list[Finding]) -> None:
        known = {each.diagnostic: each for each in [*self.findings, *more]}
        self.findings = [known[each] for each in ranked(known)]

    def _play(self, sheet: CheckedSheet, bounds: Bounds, progress: Callable[[int, int], None] | None) -> None:
        try:
            check = sheet.play(bounds)
        except LimitError as error:
            self._add([Finding(limit_reached(error, sheet.program.rules))])
            return
        except RuleSheetError as error:
            self._add([Finding(each) for each in error.diagnostics if isinstance(each, Diagnostic)])
            return
        try:
            check.run(progress)
        finally:
            self.played = check.played
            self._add(check.findings())

    def _prove(self, game: Game, seconds: float, report: Callable[[str], None]) -> None:
        from anygame.doctor.proofs import Proofs

        proofs = Proofs(game, self.findings)
        try:
            with warnings.catch_warnings():
                # The verdicts already say why a game has no network, so the warning is suppressed.
                warnings.simplefilter("ignore", FallbackWarning)
                proofs.run(seconds, report)
        finally:
            self.findings, self.verdicts = proofs.findings, proofs.verdicts

    def _name_causes(self, sheet: CheckedSheet) -> None:
        """Move findings that name a cause to the front, and mark findings that follow from a cause."""
        bounds = self.settings.play if any(each.line is not None for each in self.findings) else None
        diagnosis = Diagnosis(sheet, self.findings, bounds)
        with read_silently():  # warnings of the parser are findings already
            self.findings = list(diagnosis.findings())
        if diagnosis.is_late:
            message = "the search for causes stopped at the time limit"
            self.findings.append(Finding(cut_short(message, sheet.program)))
