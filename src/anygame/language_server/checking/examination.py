"""Examining a sheet: the doctor's diagnostics and mends, and the domains of its places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor import check_program, read_sheet
from anygame.doctor.mending.mends import MENDS, mend_sheet
from anygame.doctor.mending.remedies import as_read_leniently, remedies_for
from anygame.doctor.play.checking import BRIEF, PlayCheck, check_rules
from anygame.doctor.sheet import Sheet
from anygame.errors import AnygameError
from anygame.game.loading import game_of, read_silently
from anygame.language.diagnostics import Diagnostic, Severity, shown
from anygame.language.source import Source
from anygame.language_server.checking.findings import Edit, Finding, Findings, Fix, Related
from anygame.language_server.domains import DomainTable
from anygame.language_server.limits import LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.doctor.mending.remedies import Remedy
    from anygame.language.rules import Program
    from anygame.language_server.settings import Settings

#: Diagnostics of a sheet that are told: an editor that shows more slows down, and nobody reads them.
_MOST: Final = 500
#: Codes whose hint is what was meant, to be written in the place of what is found.
_SAYS_WHAT: Final = frozenset(("likely-typo", "case-differs", "single-variable"))


def examine(name: str, text: str, settings: Settings) -> Findings:
    """Return what is wrong or odd in a sheet, and what can stand where in it."""
    source = Source(name, text)
    reading = read_sheet(source, limits=LIMITS.reading)
    program = reading.program
    found = dict.fromkeys([*reading.diagnostics])
    if program.rules:
        found.update(dict.fromkeys(check_program(program, complete=reading.complete)))
        if reading.complete:
            found.update(dict.fromkeys(check_rules(program)))
    if settings.lenient and reading.complete and program.rules:
        found = as_read_leniently(program, found, "read leniently: ")
    if settings.play and not any(each.severity is Severity.ERROR for each in found):
        found.update(dict.fromkeys(_played(program, lenient=settings.lenient)))
    shown_ones = [each for each in found if settings.infos or each.severity > Severity.INFO]
    worst_first = sorted(sorted(shown_ones), key=lambda each: -each.severity)[:_MOST]
    remedies = remedies_for(program, worst_first)
    findings = tuple(_finding(each, source, remedies.get(each)) for each in sorted(worst_first))
    return Findings(findings, _domains(program))


def _played(program: Program, *, lenient: bool) -> Iterator[Diagnostic]:
    """Yield what a few games at random show."""
    try:
        with read_silently():  # the findings tell
            check = PlayCheck(game_of(program, lenient=lenient, limits=LIMITS), BRIEF)
        check.run()
        yield from (finding.diagnostic for finding in check.findings())
    except AnygameError:
        return


def _domains(program: Program) -> DomainTable:
    """Return what can stand where; what heads leave unbound adds nothing."""
    sheet = Sheet(program)
    read = {("true", 1), ("does", 2), ("role", 1)}
    return DomainTable.of(sheet.domains, sorted({*sheet.heads, *sheet.reads, *read}))


def _finding(found: Diagnostic, source: Source, remedy: Remedy | None) -> Finding:
    start, end = (found.span.start, found.span.end) if found.span else (0, min(1, len(source.text)))
    related = tuple(
        Related(note.span.start, note.span.end, note.message.strip())
        for note in found.notes
        if note.span is not None and note.span.source is source
    )
    said = [found.message, *(note.message.strip() for note in found.notes if note.span is None)]
    if found.hint:
        said.append(f"try: {found.hint}")
    fixes = tuple(_fixes(found, source, remedy))
    return Finding(found.code, int(found.severity), "\n".join(said), start, end, related, fixes)


def _fixes(found: Diagnostic, source: Source, remedy: Remedy | None) -> Iterator[Fix]:
    """Yield the mends of a finding: those of the doctor, and what its hint says."""
    if remedy is not None and remedy.kinds:
        edits = tuple(Edit(span.start, span.end, text) for span, text in remedy.edits)
        title = f"Mend {found.code}" if edits else f"Declare {' and '.join(remedy.kinds)}"
        yield Fix(title, edits, remedy.kinds)
    if found.span is None:
        return
    start, end = found.span.start, found.span.end
    if found.code in _SAYS_WHAT and found.hint:
        meant = found.hint.partition(",")[0]
        yield Fix(f"Change to {shown(meant)}", (Edit(start, end, meant),), sure=False)
    elif found.code == "unexpected-close":
        yield Fix("Delete this parenthesis", (Edit(start, end, ""),), sure=False)
    elif found.code == "unclosed-list":
        place = next((note.span.start for note in found.notes if note.span), len(source.text))
        place = len(source.text[:place].rstrip())
        yield Fix("Close this list before the next item", (Edit(place, place, ")"),), sure=False)


def mended(name: str, text: str, kinds: Iterable[str]) -> str:
    """Return the text of a sheet after mending; the old one where it cannot be read."""
    wanted = [kind for kind in kinds if kind in MENDS] or list(MENDS)
    try:
        return mend_sheet(Source(name, text), wanted).text
    except AnygameError:
        return text
