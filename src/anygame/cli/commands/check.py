"""The ``check`` command: what is wrong or odd in rule sheets."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from anygame.analysis.doctor import check_program, read_sheet
from anygame.cli.diagnostic_codes import known_codes
from anygame.cli.exit_status import ANSWER_IS_NO, BAD_INPUT, INTERRUPTED, OK
from anygame.cli.options import Command, argument, command_options, flag, natural, option, several
from anygame.cli.output import Screen, complain, print_json
from anygame.cli.progress import counting_columns, progress_bar
from anygame.cli.remedies import remedies_for
from anygame.cli.sarif import format_sarif
from anygame.cli.shared_options import CaseOption, JsonOption
from anygame.cli.sheets import SUFFIXES, sheet_source
from anygame.errors import RuleSheetError
from anygame.game.checking import Bounds, PlayCheck, check_rules
from anygame.game.game import Game
from anygame.language.diagnostics import Diagnostic, Severity, format_diagnostic, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.cli.remedies import Remedy
    from anygame.game.checking import Line
    from anygame.language.source import Span

__all__ = ["COMMAND"]

_DETAILS: Final = """\
Folders are searched for *.kif. What is style rather than a fault is an info, which
--info shows, and --select of its code. `anygame explain-code CODE` tells more of a code.

with --play N, N games are played at random, and the states near the start are searched:
what goes wrong is shown with the shortest line of play found, as commands of the REPL.

with --json, one object; play is a line of play, joint moves in the order of the roles;
mend is there where `anygame mend` can do it, with the edits:
  {"files", "errors", "warnings", "infos", "diagnostics": [{"file", "line", "column",
   "end_line", "end_column", "code", "severity", "message", "notes": [{"message", "file",
   "line", "column"}], "hint", "play": [[MOVE]], "mend": {"command", "edits":
   [{"line", "column", "end_line", "end_column", "text"}]}}]}

exit status:
  0    no errors
  1    errors
  2    something could not be read
  130  ended by Ctrl-C, with what was found so far
"""


@command_options
class Options(JsonOption, CaseOption):
    """What ``anygame check`` is asked."""

    files: list[str] = argument("FILE", count="+", help="rule sheets or folders, - for standard input")
    info: bool = flag("--info", help="show infos too")
    strict: bool = flag("--strict", help="take warnings for errors")
    select: list[str] = several("--select", metavar="CODE", help="show only these codes; commas or repeated")
    ignore: list[str] = several("--ignore", metavar="CODE", help="leave these codes out; commas or repeated")
    json: bool = flag("--json", help="print JSON", group="form")
    sarif: bool = flag("--sarif", help="print SARIF 2.1.0, for editors and CI", group="form")
    play: int = option("--play", read=natural, default=0, metavar="N", help="play N games at random too")
    seed: int = option("--seed", read=int, default=0, metavar="S", help="of these games (0)")
    steps: int = option(
        "--steps", read=natural, default=500, metavar="N", help="joint moves by which a game should end (500)"
    )


def run(options: Options) -> int:
    """Check rule sheets; return the exit status. Ctrl-C ends it, with what was found so far."""
    choice = _Choice.of(options)
    files, status = _files(options.files)
    reports: list[tuple[str, _Found]] = []
    checked = hidden = 0
    for file in files:
        examination = _Examination(options)
        try:
            examination.examine(file)
        except KeyboardInterrupt:
            complain(f"interrupted in {_name(file)}{examination.progress}: here is what was found so far")
            status = INTERRUPTED
        except RuleSheetError as error:
            if not error.diagnostics:
                complain(error)
                status = BAD_INPUT
                continue
            examination.found += [_Found(d) for d in error.diagnostics if isinstance(d, Diagnostic)]
        findings = sorted(examination.found, key=lambda finding: finding.diagnostic)
        checked += 1
        chosen = list(choice.of_findings(findings))
        hidden += len(findings) - len(chosen)
        reports += [(_name(file), finding) for finding in chosen]
        if not (options.json or options.sarif):
            _print(chosen)
        if status == INTERRUPTED:
            break
    counts = Counter(finding.diagnostic.severity for _, finding in reports)
    if options.json:
        print_json(_json(checked, counts, reports))
    elif options.sarif:
        results = [(file, finding.diagnostic, finding.remedy) for file, finding in reports]
        print_json(format_sarif(results))
    else:
        _summarise(checked, counts, hidden)
    return status or (ANSWER_IS_NO if counts[Severity.ERROR] else OK)


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
            status = BAD_INPUT
        files.update(dict.fromkeys(inside))
    return list(files), status


def _sheets_in(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())


def _name(file: str) -> str:
    return "<stdin>" if file == "-" else file


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


@dataclass
class _Examination:
    """Looks at one sheet; what was found stays found where that is interrupted.

    Attributes:
        options: what is asked.
        found: all that was found.
        progress: how far playing has come, for people.
    """

    options: Options
    found: list[_Found] = field(default_factory=list)
    progress: str = ""

    def examine(self, file: str) -> None:
        """Examine a sheet: its text, its rules, and then play."""
        options = self.options
        reading = read_sheet(sheet_source(file), case_sensitive=options.case_sensitive)
        program = reading.program
        diagnostics = dict.fromkeys(reading.diagnostics)
        if program.rules:
            diagnostics.update(dict.fromkeys(check_program(program, complete=reading.complete)))
            diagnostics.update(dict.fromkeys(check_rules(program)))
        remedies = remedies_for(program, diagnostics) if reading.complete else {}
        self.found += [_Found(diagnostic, None, remedies.get(diagnostic)) for diagnostic in diagnostics]
        if options.play and not any(d.severity is Severity.ERROR for d in diagnostics):
            game = Game(program, case_sensitive=options.case_sensitive)
            self._play(PlayCheck(game, Bounds(options.play, options.seed, options.steps)))

    def _play(self, check: PlayCheck) -> None:
        """Play, with progress on a terminal."""
        with progress_bar(*counting_columns()) as bar:
            try:
                if bar is None:
                    check.run()
                else:
                    task = bar.add_task("playing", total=check.bounds.playouts)

                    def tell(states: int, playouts: int) -> None:
                        bar.update(task, completed=playouts, description=f"playing: {states:,} states")

                    check.run(tell)
            finally:
                self.progress = f" after {check.played} of {check.bounds.playouts} playouts"
                self.found += [_Found(each.diagnostic, each.line) for each in check.findings()]


@dataclass(frozen=True, slots=True)
class _Choice:
    """Which diagnostics are shown."""

    selected: frozenset[str]
    ignored: frozenset[str]
    infos: bool
    strict: bool

    @classmethod
    def of(cls, options: Options) -> _Choice:
        """Return what the options ask for. Raises QueryError for an unknown code."""
        return cls(known_codes(options.select), known_codes(options.ignore), options.info, options.strict)

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
        **_position(diagnostic.span, with_end=True),
        "code": diagnostic.code,
        "severity": str(diagnostic.severity),
        "message": diagnostic.message,
        "notes": [
            {
                "message": note.message.strip(),
                "file": note.span.source.name if note.span else None,
                **_position(note.span),
            }
            for note in diagnostic.notes
        ],
        "hint": diagnostic.hint,
        **({"mend": finding.remedy.as_json()} if finding.remedy else {}),
        **({} if line is None else {"play": [[str(move) for move in joint] for joint in line]}),
    }


def _position(span: Span | None, *, with_end: bool = False) -> dict[str, int | None]:
    line, column = span.source.position(span.start) if span else (None, None)
    found = {"line": line, "column": column}
    if with_end:
        end_line, end_column = span.source.position(span.end) if span else (None, None)
        found |= {"end_line": end_line, "end_column": end_column}
    return found


COMMAND = Command(Options, run, _DETAILS)
