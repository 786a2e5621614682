"""Proofs of properties of a game, which decide uncertain findings.

A proof of a property removes findings that doubt the property. A refuting match is a finding.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Final

from anygame.doctor.codes import CODES
from anygame.doctor.finding import Finding
from anygame.doctor.play.checking import endless_at, faults_at_end
from anygame.errors import LimitError
from anygame.language.diagnostics import Note, Severity, counted, shown
from anygame.proving import Verdict, each_verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from anygame.game.game import Game
    from anygame.proving.verdict import Outcome

#: For each property: claim, codes of findings that refute the claim, code of findings that a proof removes.
_PROPERTIES: Final[dict[str, tuple[str, frozenset[str], str]]] = {
    "playable": ("every role has a legal move in every state until the end", frozenset(("no-move",)), ""),
    "goals": (
        "every role has exactly one goal at the end, from 0 to 100",
        frozenset(("goal-missing", "goal-conflict", "goal-in-play")),
        "overlapping-goals",
    ),
    "ends": ("every match ends", frozenset(("endless",)), "endless"),
}
_RULES: Final = "every rule fires in some match"
#: Maximum number of characters of a rule that a verdict shows.
_SHOWN: Final = 90


class Proofs:
    """Proofs about one game; an interrupt keeps the results so far."""

    def __init__(self, game: Game, findings: Iterable[Finding]) -> None:
        self._game = game
        #: The given findings that no proof removed, and the findings of proofs.
        self.findings = list(findings)
        #: The verdict of each property so far.
        self.verdicts: list[Verdict] = []

    def run(self, seconds: float, report: Callable[[str], None] = lambda _: None) -> None:
        """Try to decide each property within a number of seconds.

        Raises:
            MissingExtraError: the solver is not installed.
        """
        try:
            for verdict in each_verdict(self._game, _PROPERTIES, seconds=seconds, report=report):
                self._take(verdict)
            self._find_dead_rules(seconds, report)
        except LimitError as error:
            claims = {name: claim for name, (claim, *_) in _PROPERTIES.items()} | {"dead-rules": _RULES}
            decided = {verdict.name for verdict in self.verdicts}
            open_claims = [(name, claim) for name, claim in claims.items() if name not in decided]
            self.verdicts += [Verdict(name, claim, "open", note=error.message) for name, claim in open_claims]

    def _take(self, verdict: Verdict) -> None:
        doubt = _PROPERTIES[verdict.name][2]
        if verdict.outcome == "open":
            self.verdicts.append(verdict)
            return
        kept = [each for each in self.findings if each.diagnostic.code != doubt]
        gone = len(self.findings) - len(kept)
        if verdict.outcome == "proved" or verdict.name == "ends":
            self.findings = kept
        if verdict.outcome == "refuted":
            for fault in self._refuting(verdict):
                self._add(fault)
        elif gone:
            withdrawn = f"{counted(gone, f'{doubt} finding')} dropped"
            verdict = replace(verdict, note="; ".join(filter(None, [verdict.note, withdrawn])))
        self.verdicts.append(verdict)

    def _refuting(self, verdict: Verdict) -> Iterator[Finding]:
        assert verdict.match is not None
        if verdict.name == "ends":
            findings = [endless_at(self._game, verdict.match, verdict.note)]
        else:
            findings = faults_at_end(self._game, verdict.match)
        shortest = "a shortest match" if verdict.is_shortest else "a match"
        note = Note(f"refuted by {shortest}: {verdict.claim}")
        for each in findings:
            if each.diagnostic.code in _PROPERTIES[verdict.name][1]:
                notes = (note, *each.diagnostic.notes)
                diagnostic = replace(each.diagnostic, severity=Severity.ERROR, notes=notes)
                yield replace(each, diagnostic=diagnostic, verdict=verdict)

    def _add(self, fault: Finding) -> None:
        """Add a fault, or merge it with the finding from play, which may name a cause of the same fault."""
        one, line = fault.diagnostic, fault.line or ()
        for place, known in enumerate(self.findings):
            other = known.diagnostic
            if other.code == one.code and other.message.startswith(one.message):
                if len(line) < len(known.line or ()):
                    notes, known = one.notes, replace(known, line=line)
                else:
                    notes = (one.notes[0], *other.notes)
                self.findings[place] = replace(
                    known, diagnostic=replace(other, notes=notes), verdict=fault.verdict
                )
                return
        self.findings.append(fault)

    def _find_dead_rules(self, seconds: float, report: Callable[[str], None]) -> None:
        from anygame.proving.survey import firings

        began = perf_counter()
        results = list(firings(self._game, seconds, report))
        dead = [firing.rule for firing in results if firing.outcome == "proved"]
        undecided = sum(firing.outcome == "open" for firing in results)
        outcome: Outcome = "refuted" if dead else "open" if undecided else "proved"
        note = f"{counted(undecided, 'rule')} undecided" if undecided else ""
        texts = tuple(shown(str(rule), _SHOWN) for rule in dead)
        took = perf_counter() - began
        verdict = Verdict("dead-rules", _RULES, outcome, note=note, found=texts, seconds=took)
        reported = {each.diagnostic.span for each in self.findings if each.diagnostic.code == "never-fires"}
        message = "this rule fires in no match: its conditions hold in no reachable state"
        for rule in dead:
            if rule.span not in reported:
                note_ = Note("proved for matches of any length")
                diagnostic = CODES["dead-rule"].found(message, rule.span, note_, hint="correct or delete it")
                self.findings.append(Finding(diagnostic, verdict=verdict))
        self.verdicts.append(verdict)
