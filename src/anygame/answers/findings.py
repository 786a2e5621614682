"""Findings in rule sheets as plain data, for ``anygame check --json``, tools and pages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from anygame.language.diagnostics import Note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.doctor.finding import Finding
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.source import Span

#: The shape of `Found.to_json`, for help texts.
SHAPE: Final = """\
{"file", "line", "column",
   "end_line", "end_column", "code", "severity", "message", "notes": [{"message", "file",
   "line", "column"}], "hint", "play": [[MOVE]], "mend": {"command", "edits":
   [{"line", "column", "end_line", "end_column", "text"}]}, "proof": {"property", "verdict"}}"""


@dataclass(frozen=True, slots=True)
class Found:
    """A finding in a file; ``advice`` says how to list the findings that follow from this finding."""

    file: str
    finding: Finding
    advice: str = ""

    @property
    def diagnostic(self) -> Diagnostic:
        """The diagnostic, with a note that counts the findings that follow from the finding."""
        diagnostic = self.finding.diagnostic
        notes = (Note(f"{self.finding.echoes}{self.advice}"),) if self.finding.echoes else ()
        return replace(diagnostic, notes=(*diagnostic.notes, *notes))

    def to_json(self) -> dict[str, Any]:
        """Return plain data of the shape `SHAPE`; parts that a finding lacks are missing or null."""
        finding = self.finding
        data: dict[str, Any] = {"file": self.file} | diagnostic_json(self.diagnostic)
        if finding.command:
            edits = [place_json(span, with_end=True) | {"text": text} for span, text in finding.replacements]
            data["mend"] = {"command": finding.command, "edits": edits}
        if finding.line is not None:
            data["play"] = line_json(finding.line)
        if finding.verdict is not None:
            data["proof"] = {"property": finding.verdict.name, "verdict": finding.verdict.outcome}
        return data


def diagnostic_json(diagnostic: Diagnostic) -> dict[str, Any]:
    """Return place, code, severity, message, notes and hint of a diagnostic as plain data."""
    return {
        **place_json(diagnostic.span, with_end=True),
        "code": diagnostic.code,
        "severity": str(diagnostic.severity),
        "message": diagnostic.message,
        "notes": [
            {
                "message": note.message.strip(),
                "file": note.span.source.name if note.span else None,
                **place_json(note.span),
            }
            for note in diagnostic.notes
        ],
        "hint": diagnostic.hint,
    }


def place_json(span: Span | None, *, with_end: bool = False) -> dict[str, int | None]:
    """Return line and column of the start of a span, from 1; if ``with_end``, also of the end."""
    line, column = span.source.position(span.start) if span else (None, None)
    place = {"line": line, "column": column}
    if with_end:
        end_line, end_column = span.source.position(span.end) if span else (None, None)
        place |= {"end_line": end_line, "end_column": end_column}
    return place


def line_json(joints: Sequence[Sequence[object]]) -> list[list[str]]:
    """Return joint moves as lists of strings."""
    return [[str(move) for move in joint] for joint in joints]
