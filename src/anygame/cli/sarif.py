"""Findings in SARIF 2.1.0, a format for editors and CI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from anygame.doctor import CODES
from anygame.language.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anygame.doctor.finding import Finding
    from anygame.language.source import Span

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def format_sarif(findings: Iterable[tuple[str, Finding]]) -> dict[str, Any]:
    """Return the findings of files as a SARIF log of one run."""
    findings = list(findings)
    codes = sorted({finding.diagnostic.code for _, finding in findings})
    rules = [
        {"id": code, "shortDescription": {"text": CODES[code].title}, "help": {"text": CODES[code].text}}
        for code in codes
    ]
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "anygame", "rules": rules}},
                "columnKind": "unicodeCodePoints",
                "results": [_result(*each, codes) for each in findings],
            }
        ],
    }


def _result(file: str, finding: Finding, codes: list[str]) -> dict[str, Any]:
    diagnostic = finding.diagnostic
    message = diagnostic.message + (f"; try: {diagnostic.hint}" if diagnostic.hint else "")
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": codes.index(diagnostic.code),
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": message},
        "locations": [_location(file, diagnostic.span)],
    }
    related = [
        {"message": {"text": note.message}, **_location(note.span.source.name, note.span)}
        for note in diagnostic.notes
        if note.span
    ]
    if related:
        result["relatedLocations"] = related
    if finding.command and finding.edits:
        replacements = [
            {"deletedRegion": _region(span), "insertedContent": {"text": text}}
            for span, text in finding.replacements
        ]
        changes = [{"artifactLocation": _artifact(file), "replacements": replacements}]
        result["fixes"] = [{"description": {"text": finding.command}, "artifactChanges": changes}]
    return result


def _location(file: str, span: Span | None) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(file)}
    if span:
        physical["region"] = _region(span)
    return {"physicalLocation": physical}


def _artifact(file: str) -> dict[str, str]:
    return {"uri": quote(file.replace("\\", "/"), safe="/:.-_~")}


def _region(span: Span) -> dict[str, int]:
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
