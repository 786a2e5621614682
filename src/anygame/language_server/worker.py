"""The process that examines sheets: it computes findings and the possible values of places.

The process reads questions from standard input and writes answers to standard output. Sheets are untrusted,
and no other thread can interrupt reading or reasoning. Therefore the process has bounded memory, and the
server kills the process after a timeout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from anygame.doctor import CODES
from anygame.doctor.examination import ExaminationSettings
from anygame.doctor.examination import examine as examined
from anygame.doctor.mending import EVERY_MEND, MENDS, fixes_of, mend_sheet
from anygame.doctor.play.checking import BRIEF
from anygame.doctor.sheet import Sheet
from anygame.errors import AnygameError
from anygame.game.loading import read_silently
from anygame.language.diagnostics import Severity
from anygame.language.source import Source
from anygame.language_server.findings import LIMITS, DomainTable, Finding, Findings, Related, Settings
from anygame.processes.inside import answer_questions, set_up

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anygame.doctor.finding import Finding as DoctorFinding


#: Maximum number of diagnostics of a sheet; more would slow editors down.
_MOST: Final = 500


def examine(name: str, text: str, settings: Settings) -> Findings:
    """Return the findings of a sheet, and the possible values of its places."""
    source = Source(name, text)
    wanted = ExaminationSettings(
        lenient=settings.lenient, limits=LIMITS, play=BRIEF if settings.play else None
    )
    with read_silently():  # the findings replace the warnings about lenient reading
        examination = examined(source, wanted)
    least = Severity.INFO if settings.infos else Severity.WARNING
    worst = sorted(examination.worst(_MOST, least), key=lambda finding: finding.diagnostic)
    sheet = Sheet(examination.program)
    relations = {*sheet.heads, *sheet.reads, ("true", 1), ("does", 2), ("role", 1)}
    findings = tuple(_finding(finding, source, settings) for finding in worst)
    return Findings(findings, DomainTable.of(sheet.domains, sorted(relations)))


def _finding(finding: DoctorFinding, source: Source, settings: Settings) -> Finding:
    shown = finding.diagnostic
    code, severity = shown.code, shown.severity
    start, end = (shown.span.start, shown.span.end) if shown.span else (0, min(1, len(source.text)))
    related = tuple(
        Related(note.span.start, note.span.end, note.message.strip())
        for note in shown.notes
        if note.span is not None and note.span.source is source
    )
    is_read = settings.lenient and severity < CODES[code].severity and finding.kinds is not None
    lines = [f"read leniently: {shown.message}" if is_read else shown.message]
    lines += [note.message.strip() for note in shown.notes if note.span is None]
    lines += [line for line in (finding.echoes, shown.hint and f"try: {shown.hint}") if line]
    fixes = tuple(fixes_of(finding, source))
    return Finding(code, int(severity), "\n".join(lines), start, end, related, fixes)


def mended(name: str, text: str, kinds: Iterable[str]) -> str:
    """Return the text of a sheet after mending; the old text if the sheet cannot be read."""
    wanted = [kind for kind in kinds if kind in EVERY_MEND] or list(MENDS)
    try:
        return mend_sheet(Source(name, text), wanted).text
    except AnygameError:
        return text


#: Niceness of the process: examining a sheet has a lower priority than typing.
_NICENESS: Final = 5


def main(memory: int, longest: int) -> None:
    """Answer questions until the input ends, with limits in bytes on address space and answer size."""
    answer_questions(set_up(memory, _NICENESS), answer, longest)


def answer(question: dict[str, Any]) -> object:
    """Return the answer to a question: the findings of a sheet, or its text after mending."""
    if question["do"] == "mend":
        return mended(question["name"], question["text"], question["kinds"])
    settings = Settings().changed(question["settings"])
    return examine(question["name"], question["text"], settings).as_json()
