"""Diagnosis: which findings name the cause of a fault, and which findings follow from that cause.

One slip causes many findings: after a misspelt head, rules never fire and roles have no goal. `Diagnosis`
tries edits that may correct the slip. `Diagnosis` checks each edited sheet, and plays the edited game if a
finding came from play. The findings that vanish are consequences of the slip.

For static findings, the method is diagnosis by repair (Lerner, Flower, Grossman and Chambers, "Searching for
type-error messages", 2007). For findings of play, the method is fault localisation by mutation (Papadakis and
Le Traon, "Metallaxis-FL", 2015).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Final

from anygame.doctor.causes.edits import KEYWORDS, cause_in, causes_of_literals
from anygame.doctor.codes import PLAY, READING
from anygame.doctor.play.checking import BRIEF
from anygame.doctor.work import Budget, work_of_checks, work_of_game
from anygame.errors import AnygameError
from anygame.language.diagnostics import Diagnostic, Note, Severity, counted, shown
from anygame.sheets.edits import apply_edits, offset_before

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from anygame.doctor.examination import CheckedSheet
    from anygame.doctor.finding import Finding
    from anygame.doctor.play.checking import Bounds, PlayCheck
    from anygame.language.source import Span
    from anygame.sheets.edits import Mend

#: Codes in the order of display, from mistakes of the author to effects of mistakes. All other codes come
#: later, but before the codes of play.
_ORDER: Final = (
    (
        "likely-typo", "case-differs", "relation-arity", "function-arity", "stray-text", "unknown-role",
        "arithmetic",
    ),
    ("never-starts",),  # before lost-fluent, since no rule keeps a fluent that never becomes true
    (
        "undefined-relation", "unwritten-fluent", "unknown-move", "lost-fluent", "unsafe-variable",
        "swapped-arguments", "odd-fact", "growing-recursion", "unstratified",
    ),
    (
        "repeated-literal", "never-fires", "dead-alternative", "idle-negation", "undeclared-fluent",
        "undeclared-move", "undeclared-percept",
    ),
    ("odd-counterpart", "missing-counterpart"),
    ("fluent-outside-base", "move-outside-input"),
    ("lost-value",),
    ("double-value",),
)  # fmt: skip
_NEARNESS: Final = {code: number for number, codes in enumerate(_ORDER, 1) for code in codes}
#: Codes of findings that usually follow from another finding.
_LAST: Final = frozenset(("idle-declaration", "no-legal", "no-goal", "no-terminal"))
_OF_READING: Final = 0
_OTHERS: Final = len(_ORDER) + 1
_OF_PLAY: Final = _OTHERS + 1
#: Maximum number of proposed edits that are tried; a sheet rarely has more than two mistakes.
_MOST_TRIALS: Final = 12
#: Maximum work on trials of edits that findings propose, in the unit of the module `work`.
_WORK_ON_SLIPS: Final = 1_500_000
#: Maximum work on trials of negated literals.
_WORK_ON_LITERALS: Final = 2_000_000
#: Maximum work of one trial. A trial of a sheet with more than about 300,000 characters would need more work,
#: so there is none.
_MOST_A_TRIAL: Final = 2_500_000
#: The bounds of play in a trial.
_A_TRIAL: Final = replace(BRIEF, playouts=4, states=40)
#: Codes of faults in the values of fluents.
_OF_VALUES: Final = frozenset(("lost-value", "double-value"))
_DEAD: Final = frozenset(("never-fires", "never-starts"))
#: Static codes whose faults also show in play.
_SHOWN_IN_PLAY: Final = frozenset(("lost-fluent", "never-starts"))


class Diagnosis:
    """Tries edits to determine which findings name a cause; ``bounds`` limit play (None: no play)."""

    def __init__(self, sheet: CheckedSheet, findings: Iterable[Finding], bounds: Bounds | None) -> None:
        self._sheet = sheet
        self._source = sheet.source
        self._static = sheet.diagnostics
        self._findings = {each.diagnostic: each for each in findings}
        self._played = sorted(self._findings.keys() - set(self._static))
        self._bounds = bounds
        #: Whether the time limit ended the trials.
        self.is_late = False
        self._named: dict[Diagnostic, Mend] = {}

    def findings(self) -> Iterator[Finding]:
        """Yield all findings in the order of display. Findings that name a cause count its effects."""
        moved = {} if any(each.severity > Severity.INFO for each in self._static) else self._of_literals()
        every = sorted([*self._static, *(moved.get(each, each) for each in self._played)])
        origin = {now: before for before, now in moved.items()}
        causes = self._of_slips(every)
        following = _following(every, causes)
        shown_as = _turned(every)
        every.sort(key=lambda each: (each in following, *_rank(each, causes)))
        echoes = _echoes(every, causes, following)
        for each in every:
            before = self._findings[origin.get(each, each)]
            named = self._named.get(before.diagnostic) or cause_in(before.diagnostic, self._source)
            yield replace(
                before,
                diagnostic=replace(shown_as.get(each, each), follows=each in following),
                meant=named.edits if named else (),
                echoes=_counted(echoes.get(each, ())),
            )

    def _of_slips(self, every: Sequence[Diagnostic]) -> dict[Diagnostic, frozenset[Diagnostic]]:
        """Return the findings that name a slip, each with the findings that vanish without the slip."""
        if sum(each.severity > Severity.INFO for each in every) < 2:
            return {}
        proposed = ((each, cause) for each in every if (cause := cause_in(each, self._source)))
        slips = list(islice(proposed, _MOST_TRIALS))
        by_play = [each for each in every if _is_of_play(each)]
        others = [each for each in every if not _is_of_play(each)]
        causes: dict[Diagnostic, frozenset[Diagnostic]] = {}
        trials = self._trials((cause for _, cause in slips), _WORK_ON_SLIPS)
        for (slip, _), (cause, trial, work) in zip(slips, trials, strict=False):
            work.left -= work_of_checks(trial.source)
            gone, is_worse = _changed(slip, cause, others, trial.diagnostics)
            if is_worse:
                continue
            check = None
            if by_play and self._bounds and not trial.has_errors:
                check = _play(trial, self._bounds, work)
            if check is not None:
                played, is_worse = _changed(slip, cause, by_play, check.diagnostics)
                gone |= played if not is_worse else frozenset()
            if gone:
                causes[slip] = gone
        return causes

    def _of_literals(self) -> dict[Diagnostic, Diagnostic]:
        """Return replacements for the findings of play if negating a single literal resolves all findings."""
        by_play = [each for each in self._played if each.code in KEYWORDS]
        if not by_play:
            return {}
        first, codes = by_play[0], {each.code for each in by_play}
        before = _play(self._sheet, _A_TRIAL, Budget(inf))
        causes = causes_of_literals(self._sheet.program, first) if before and before.played else ()
        for cause, trial, work in self._trials(causes, _WORK_ON_LITERALS):
            if not (before and _goes_well(_play(trial, _A_TRIAL, work), before, codes)):
                continue
            if not any(each.severity > Severity.INFO for each in trial.diagnostics):
                following = {each: replace(each, follows=True) for each in by_play[1:]}
                self._named[first] = cause
                return {first: _at_cause(first, cause), **following}
        return {}

    def _trials(self, causes: Iterable[Mend], most: int) -> Iterator[tuple[Mend, CheckedSheet, Budget]]:
        """Yield edits, each with the edited sheet and the remaining work budget."""
        work = Budget(most)
        cost = work_of_game(self._source)
        if cost + work_of_checks(self._source) > _MOST_A_TRIAL:
            return
        for cause in causes:
            if work.is_done or (cause.span and cause.span.source is not self._source):
                self.is_late |= work.is_late
                break
            work.left -= cost
            yield cause, self._sheet.edited(apply_edits(self._source.text, cause.edits)), work


# -- trials -------------------------------------------------------------------------------------------


def _play(sheet: CheckedSheet, bounds: Bounds, work: Budget) -> PlayCheck | None:
    try:
        check = sheet.play(bounds)
        check.run()
    except AnygameError:
        return None
    work.left -= check.work
    return check


def _goes_well(check: PlayCheck | None, before: PlayCheck, codes: Collection[str]) -> bool:
    """Return whether play shows no fault, has as many boards as before, and can show lost values."""
    if check is None or not check.played or check.boards < before.boards:
        return False
    if any(each.severity > Severity.INFO for each in check.diagnostics):
        return False
    shortest = before.longest if "no-move" in codes else before.longest // 2
    return _OF_VALUES.isdisjoint(codes) or check.longest > shortest


def _changed(
    slip: Diagnostic, cause: Mend, every: Sequence[Diagnostic], remaining: Iterable[Diagnostic]
) -> tuple[frozenset[Diagnostic], bool]:
    """Return the findings that vanish after an edit, and whether there are new warnings or errors."""
    after = Counter(_identity(each, cause) for each in remaining)
    before = Counter(map(_identity, every))
    gone = frozenset(
        each
        for each in every
        if each is not slip and each.severity > Severity.INFO and not after[_identity(each)]
    )
    return gone, any(identity[0] > Severity.INFO for identity in after - before)


def _identity(finding: Diagnostic, cause: Mend | None = None) -> tuple[Severity, str, int]:
    """Return a key that is the same for a finding of the original sheet and of the edited sheet."""
    start = finding.span.start if finding.span else -1
    return finding.severity, finding.code, offset_before(cause.edits, start) if cause else start


def _at_cause(finding: Diagnostic, cause: Mend) -> Diagnostic:
    """Return a finding of play, moved to the place of an edit that corrects the fault."""
    meant = shown(cause.message)
    note = Note("in play, the fault occurs here", finding.span)
    message = f"{finding.message}; writing {meant} here avoids this fault"
    hint = f"{meant}, or {finding.hint}" if finding.hint else meant
    return replace(finding, message=message, span=cause.span, notes=(note, *finding.notes), hint=hint)


# -- the order ----------------------------------------------------------------------------------------


def ranked(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return diagnostics in the order of display, without trials of edits."""
    every = sorted(diagnostics)
    following = _following(every, {})
    return sorted(every, key=lambda each: (each in following, *_rank(each, {})))


def _turned(every: Sequence[Diagnostic]) -> dict[Diagnostic, Diagnostic]:
    """Move findings from an odd rule to its counterpart if only the counterpart has other findings."""
    result = {}
    for each in every:
        if each.code == "odd-counterpart" and each.span and each.notes and (like := each.notes[0].span):
            others = [other for other in every if other is not each and other.severity > Severity.INFO]
            doubted = [any(_is_inside(other, [span]) for other in others) for span in (each.span, like)]
            if doubted == [False, True]:
                note = replace(each.notes[0], span=each.span)
                result[each] = replace(each, span=like, notes=(note,), hint="")
    return result


def _following(
    every: Sequence[Diagnostic], causes: dict[Diagnostic, frozenset[Diagnostic]]
) -> set[Diagnostic]:
    echoes = {echo for gone in causes.values() for echo in gone} - causes.keys()
    following = {each for each in every if each.follows or each in echoes}
    codes = {each.code for each in every}
    if "arithmetic" in codes:  # terms grow because the author treats them as numbers
        following |= {each for each in every if each.code in {"growing-recursion", "limit-reached"}}
    elif "limit-reached" in codes:
        following |= {each for each in every if each.code == "growing-recursion"}
    if _SHOWN_IN_PLAY & codes:
        following |= {each for each in every if _is_of_play(each)}
    strays = [each.span for each in every if each.code == "stray-text" and each.span]
    following |= {each for each in every if each.code != "stray-text" and _is_inside(each, strays)}
    if not any(_may_name_cause(each) for each in every if each not in following):
        # If all findings that may name a cause follow from each other, all of them stay causes.
        following -= {each for each in following if _may_name_cause(each)}
    return following


def _is_of_play(finding: Diagnostic) -> bool:
    return finding.code in _PLAY_CODES


def _may_name_cause(finding: Diagnostic) -> bool:
    is_static = _nearness(finding) < _OF_PLAY and not _is_of_play(finding)
    return finding.severity > Severity.INFO and is_static


def _is_inside(finding: Diagnostic, spans: Iterable[Span]) -> bool:
    place = finding.span
    return place is not None and any(span.start <= place.start < span.end for span in spans)


def _rank(finding: Diagnostic, causes: dict[Diagnostic, frozenset[Diagnostic]]) -> tuple[object, ...]:
    """Return the sort key of a finding: errors and known causes come first, findings of play last."""
    nearness = _nearness(finding)
    is_info = finding.severity is Severity.INFO
    is_error = finding.severity is Severity.ERROR and nearness < _OF_PLAY
    return (is_info, not (is_error or finding in causes), nearness, -finding.severity, finding)


def _nearness(finding: Diagnostic) -> int:
    if finding.code == "fluent-outside-base" and finding.span and _INIT.match(finding.span.text):
        return _OF_START
    if finding.code in _LAST:
        return _OF_PLAY + 1
    if finding.code in _PLAY_CODES and finding.code not in _NEARNESS:
        return _OF_PLAY
    return _OF_READING if finding.code in _READING_CODES else _NEARNESS.get(finding.code, _OTHERS)


#: Position in `_ORDER` of `fluent-outside-base` findings about an `init`.
_OF_START: Final = 3
_INIT: Final = re.compile(r"\(\s*(<=\s*\(\s*)?init\b")
_READING_CODES: Final = frozenset(code.name for code in READING)
_PLAY_CODES: Final = frozenset(code.name for code in PLAY)


# -- the display --------------------------------------------------------------------------------------


def _echoes(
    every: Sequence[Diagnostic], causes: dict[Diagnostic, frozenset[Diagnostic]], following: set[Diagnostic]
) -> dict[Diagnostic, frozenset[Diagnostic]]:
    """Return the findings that follow from each cause; the first cause also gets all unassigned findings."""
    unassigned = frozenset(each for each in following if each.severity > Severity.INFO)
    echoes: dict[Diagnostic, frozenset[Diagnostic]] = {}
    for each in every:
        if each not in following:
            echoes[each] = causes.get(each, frozenset()) & unassigned
            unassigned -= echoes[each]
    if every and every[0] in echoes:
        echoes[every[0]] |= unassigned
    return echoes


def _counted(echoes: Collection[Diagnostic]) -> str:
    if not echoes:
        return ""
    dead = sum(each.code in _DEAD for each in echoes)
    others = len(echoes) - dead
    parts = [f"{counted(dead, 'rule')} never fire{'s' * (dead == 1)}"] if dead else []
    if others:
        more = "more " if dead else ""
        parts.append(f"{counted(others, f'{more}finding')} follow{'s' * (others == 1)}")
    return f"because of this fault, {' and '.join(parts)}"
