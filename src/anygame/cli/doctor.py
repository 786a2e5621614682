"""The commands ``check`` and ``explain-code``."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from anygame.analysis.doctor import check_program, read_sheet
from anygame.analysis.doctor.explanations import EXPLANATIONS
from anygame.cli.files import SUFFIXES
from anygame.cli.output import Screen, complain, print_json
from anygame.cli.remedies import remedies_for
from anygame.cli.sarif import format_sarif
from anygame.errors import QueryError, RuleSheetError
from anygame.game.checking import Bounds, check_play, check_rules
from anygame.game.game import Game
from anygame.language.diagnostics import CODES, Diagnostic, Severity, format_diagnostic, shown
from anygame.language.limits import ReadingLimits
from anygame.language.source import Source
from anygame.language.text import read_source

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Iterator

    from anygame.cli.remedies import Remedy
    from anygame.game.checking import Line
    from anygame.language.source import Span

__all__ = ["check", "explain_code"]

_ERRORS: Final = 1
_COULD_NOT_RUN: Final = 2


def check(options: Namespace) -> int:
    """Check rule sheets; return the exit status."""
    choice = _Choice.of(options)
    files, status = _files(options.files)
    reports: list[tuple[str, _Found]] = []
    checked = hidden = 0
    for file in files:
        try:
            findings = _examine(_source(file), options)
        except RuleSheetError as error:
            if not error.diagnostics:
                complain(error)
                status = _COULD_NOT_RUN
                continue
            findings = [_Found(d) for d in error.diagnostics if isinstance(d, Diagnostic)]
        checked += 1
        chosen = list(choice.of_findings(findings))
        hidden += len(findings) - len(chosen)
        reports += [(_name(file), finding) for finding in chosen]
        if not (options.json or options.sarif):
            _print(chosen)
    counts = Counter(finding.diagnostic.severity for _, finding in reports)
    if options.json:
        print_json(_json(checked, counts, reports))
    elif options.sarif:
        texts = {code: explanation.text for code, explanation in EXPLANATIONS.items()}
        results = [(file, finding.diagnostic, finding.remedy) for file, finding in reports]
        print_json(format_sarif(results, texts))
    else:
        _summarise(checked, counts, hidden)
    return status or (_ERRORS if counts[Severity.ERROR] else 0)


def explain_code(options: Namespace) -> int:
    """Print what a code means, or all codes."""
    if options.code is None:
        width = max(map(len, CODES))
        for code in sorted(CODES):
            print(f"{code:{width}}  {CODES[code]}")
        return 0
    print(EXPLANATIONS[_known(options.code)].text)
    return 0


def _known(code: str) -> str:
    """Return a code as it is spelled. Raises QueryError where there is none."""
    plain = code.strip().lower()
    if plain in CODES:
        return plain
    near = get_close_matches(plain, CODES, n=3)
    advice = f"did you mean {' or '.join(near)}?" if near else "`anygame explain-code` lists them all"
    raise QueryError(f"there is no code {shown(code)}; {advice}")


# -- what is examined ---------------------------------------------------------------------------------


def _files(names: Iterable[str]) -> tuple[list[str], int]:
    """Return the files that are meant, and the exit status of those that are missing."""
    files: dict[str, None] = {}
    status = 0
    for name in names:
        try:
            is_folder = name != "-" and Path(name).is_dir()
        except (OSError, ValueError):
            is_folder = False
        inside = _sheets_in(Path(name)) if is_folder else [name]
        if not inside:
            complain(f"there is no rule sheet ({', '.join(SUFFIXES)}) in {shown(name)}")
            status = _COULD_NOT_RUN
        files.update(dict.fromkeys(inside))
    return list(files), status


def _sheets_in(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())


def _name(file: str) -> str:
    return "<stdin>" if file == "-" else file


def _source(file: str) -> Source:
    if file != "-":
        return read_source(file)
    limit = ReadingLimits().bytes
    data = sys.stdin.buffer.read(limit + 1)
    if len(data) > limit:
        raise RuleSheetError(f"standard input has more than {limit:,} bytes, the limit for a rule sheet")
    try:
        return Source(_name(file), data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise RuleSheetError(
            f"standard input is not UTF-8 text: byte {error.start} cannot be read"
        ) from error


@dataclass(frozen=True, slots=True)
class _Found:
    """A diagnostic and what belongs to it.

    Attributes:
        diagnostic: what is wrong.
        line: the joint moves that show it, if play did.
        remedy: what `anygame mend` does about it.
    """

    diagnostic: Diagnostic
    line: Line | None = None
    remedy: Remedy | None = None


def _examine(source: Source, options: Namespace) -> list[_Found]:
    """Return all that is found in a sheet, sorted by place."""
    reading = read_sheet(source, case_sensitive=options.case_sensitive)
    program = reading.program
    found = dict.fromkeys(reading.diagnostics)
    if program.rules:
        found.update(dict.fromkeys(check_program(program, complete=reading.complete)))
        found.update(dict.fromkeys(check_rules(program)))
    remedies = remedies_for(program, found) if reading.complete else {}
    findings = [_Found(diagnostic, None, remedies.get(diagnostic)) for diagnostic in found]
    if options.play and not any(d.severity is Severity.ERROR for d in found):
        game = Game(program, case_sensitive=options.case_sensitive)
        bounds = Bounds(options.play, options.seed, options.steps)
        findings += [_Found(each.diagnostic, each.line) for each in check_play(game, bounds)]
    return sorted(findings, key=lambda finding: finding.diagnostic)


@dataclass(frozen=True, slots=True)
class _Choice:
    """Which diagnostics are shown."""

    selected: frozenset[str]
    ignored: frozenset[str]
    infos: bool
    strict: bool

    @classmethod
    def of(cls, options: Namespace) -> _Choice:
        """Return what the options ask for. Raises QueryError for an unknown code."""
        return cls(_codes(options.select), _codes(options.ignore), options.info, options.strict)

    def of_findings(self, findings: Iterable[_Found]) -> Iterator[_Found]:
        """Yield what is shown, warnings as errors if they count as such."""
        for finding in findings:
            diagnostic = finding.diagnostic
            if diagnostic.code in self.ignored or (self.selected and diagnostic.code not in self.selected):
                continue
            if diagnostic.severity is Severity.INFO and not (self.infos or self.selected):
                continue
            if self.strict and diagnostic.severity is Severity.WARNING:
                finding = replace(finding, diagnostic=replace(diagnostic, severity=Severity.ERROR))
            yield finding


def _codes(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(_known(code) for text in texts for code in text.split(",") if code.strip())


# -- what is printed ----------------------------------------------------------------------------------


def _print(findings: Iterable[_Found]) -> None:
    for finding in findings:
        print(format_diagnostic(finding.diagnostic))
        if finding.remedy:
            print(f"  mend: {finding.remedy.command}")


def _summarise(files: int, counts: Counter[Severity], hidden: int) -> None:
    """Print a last line for people."""
    screen = Screen()
    if not screen.is_terminal:
        return
    parts = [_count(counts[severity], str(severity)) for severity in sorted(Severity, reverse=True)]
    told = ", ".join(part for part in parts if part) or "nothing wrong"
    more = f" ({hidden} not shown)" if hidden else ""
    style = "red" if counts[Severity.ERROR] else "yellow" if counts[Severity.WARNING] else "green"
    screen.say(f"{told} in {_count(files, 'file') or 'no file'}{more}", style)


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number > 1)}" if number else ""


def _json(files: int, counts: Counter[Severity], reports: Iterable[tuple[str, _Found]]) -> dict[str, Any]:
    return {
        "files": files,
        "errors": counts[Severity.ERROR],
        "warnings": counts[Severity.WARNING],
        "infos": counts[Severity.INFO],
        "diagnostics": [_json_of(file, finding) for file, finding in reports],
    }


def _json_of(file: str, finding: _Found) -> dict[str, Any]:
    diagnostic = finding.diagnostic
    line = finding.line
    return {
        "file": file,
        **_place(diagnostic.span, with_end=True),
        "code": diagnostic.code,
        "severity": str(diagnostic.severity),
        "message": diagnostic.message,
        "notes": [
            {
                "message": note.message.strip(),
                "file": note.span.source.name if note.span else None,
                **_place(note.span),
            }
            for note in diagnostic.notes
        ],
        "hint": diagnostic.hint,
        **({"mend": finding.remedy.as_json()} if finding.remedy else {}),
        **({} if line is None else {"play": [[str(move) for move in joint] for joint in line]}),
    }


def _place(span: Span | None, *, with_end: bool = False) -> dict[str, int | None]:
    line, column = span.source.position(span.start) if span else (None, None)
    place = {"line": line, "column": column}
    if with_end:
        end_line, end_column = span.source.position(span.end) if span else (None, None)
        place |= {"end_line": end_line, "end_column": end_column}
    return place
