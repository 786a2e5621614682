"""The process that examines sheets: it runs the doctor and computes the domains of places.

Questions come from standard input, answers go to standard output.

Texts come from strangers, and neither reading nor reasoning can be interrupted from outside. The process
therefore has bounded memory, and is killed if it does not answer in time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from anygame.doctor import CODES
from anygame.doctor.checked_sheet import ExaminationSettings
from anygame.doctor.examination import examine as examined
from anygame.doctor.fixes import fixes_of
from anygame.doctor.mending import EVERY_MEND, MENDS, mend_sheet
from anygame.doctor.play.checking import BRIEF
from anygame.doctor.sheet import Sheet
from anygame.errors import AnygameError
from anygame.game.loading import read_silently
from anygame.language.diagnostics import Severity
from anygame.language.source import Source
from anygame.language_server.checking.findings import Finding, Findings, Related
from anygame.language_server.domains import DomainTable
from anygame.language_server.settings import LIMITS, Settings
from anygame.processes.inside import answer_questions, set_up

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anygame.doctor.finding import Finding as Found
    from anygame.language.rules import Program


#: Maximum number of diagnostics of a sheet; more would slow editors down.
_MOST: Final = 500


def examine(name: str, text: str, settings: Settings) -> Findings:
    """Return the findings of a sheet, and the possible values of its places."""
    source = Source(name, text)
    wanted = ExaminationSettings(
        lenient=settings.lenient, limits=LIMITS, play=BRIEF if settings.play else None
    )
    with read_silently():  # the findings report lenient reading
        examination = examined(source, wanted)
    least = Severity.INFO if settings.infos else Severity.WARNING
    found = sorted(examination.worst(_MOST, least), key=lambda each: each.diagnostic)
    findings = tuple(_finding(each, source, settings) for each in found)
    return Findings(findings, _domains(examination.program))


def _domains(program: Program) -> DomainTable:
    """Return the values of each place; unbound variables of heads add nothing."""
    sheet = Sheet(program)
    read = {("true", 1), ("does", 2), ("role", 1)}
    return DomainTable.of(sheet.domains, sorted({*sheet.heads, *sheet.reads, *read}))


def _finding(finding: Found, source: Source, settings: Settings) -> Finding:
    found = finding.diagnostic
    start, end = (found.span.start, found.span.end) if found.span else (0, min(1, len(source.text)))
    related = tuple(
        Related(note.span.start, note.span.end, note.message.strip())
        for note in found.notes
        if note.span is not None and note.span.source is source
    )
    is_read = settings.lenient and found.severity < CODES[found.code].severity and finding.kinds is not None
    message = f"read leniently: {found.message}" if is_read else found.message
    notes = [note.message.strip() for note in found.notes if note.span is None]
    said = [message, *notes, *filter(None, [finding.echoes])]
    if found.hint:
        said.append(f"try: {found.hint}")
    fixes = tuple(fixes_of(finding, source))
    return Finding(found.code, int(found.severity), "\n".join(said), start, end, related, fixes)


def mended(name: str, text: str, kinds: Iterable[str]) -> str:
    """Return the text of a sheet after mending; the old text if the sheet cannot be read."""
    wanted = [kind for kind in kinds if kind in EVERY_MEND] or list(MENDS)
    try:
        return mend_sheet(Source(name, text), wanted).text
    except AnygameError:
        return text


#: Examining sheets has a lower priority than typing.
_NICENESS: Final = 5


def main(memory: int, longest: int) -> None:
    """Answer questions until the input ends, within bytes of address space and of an answer."""
    answer_questions(set_up(memory, _NICENESS), answer, longest)


def answer(question: dict[str, Any]) -> object:
    """Return the answer to a question: the findings of a sheet, or its text after mending."""
    if question["do"] == "mend":
        return mended(question["name"], question["text"], question["kinds"])
    settings = Settings().changed(question["settings"])
    return examine(question["name"], question["text"], settings).as_json()
