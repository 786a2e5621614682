"""Fixes: edits that correct a finding, for editors and programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anygame.doctor.mending import UNSAFE_MENDS
from anygame.language.diagnostics import shown
from anygame.sheets.edits import Edit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.doctor.finding import Finding
    from anygame.language.source import Source


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that correct a finding."""

    title: str
    #: The edits; empty if only `mend_sheet` makes the fix.
    edits: tuple[Edit, ...]
    #: The kinds of mends that make the fix, as in ``anygame mend --select``.
    kinds: tuple[str, ...] = ()
    #: Whether the fix certainly restores the intended text.
    sure: bool = True


def fixes_of(finding: Finding, source: Source) -> Iterator[Fix]:
    """Yield the fixes of a finding."""
    found = finding.diagnostic
    if finding.kinds or finding.edits:
        kinds = finding.kinds or ()
        title = f"Mend {found.code}" if finding.edits else f"Declare {' and '.join(kinds)}"
        yield Fix(title, _plain(finding.edits, source), kinds, UNSAFE_MENDS.isdisjoint(kinds))
    if found.span is None:
        return
    start, end = found.span.start, found.span.end
    if finding.meant:
        edits = _plain(finding.meant, source)
        yield Fix(f"Change to {shown(edits[0].text)}", edits, sure=False)
    elif found.code == "single-variable" and found.hint:
        meant = found.hint.partition(",")[0]
        yield Fix(f"Change to {shown(meant)}", (Edit(start, end, (meant,)),), sure=False)
    elif found.code == "unexpected-close":
        yield Fix("Delete this parenthesis", (Edit(start, end, ("",)),), sure=False)
    elif found.code == "unclosed-list":
        place = next((note.span.start for note in found.notes if note.span), len(source.text))
        place = len(source.text[:place].rstrip())
        yield Fix("Close this list before the next item", (Edit(place, place, (")",)),), sure=False)


def _plain(edits: Iterable[Edit], source: Source) -> tuple[Edit, ...]:
    return tuple(Edit(each.start, each.end, (each.written(source.text),)) for each in edits)
