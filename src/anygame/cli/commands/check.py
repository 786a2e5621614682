"""The ``check`` command: what is wrong or odd in rule sheets."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from anygame.cli.diagnostic_codes import known_codes
from anygame.cli.diagnostic_colours import diagnostic_lines
from anygame.cli.exit_status import ANSWER_IS_NO, BAD_INPUT, INTERRUPTED, OK
from anygame.cli.options import Command, argument, command_options, flag, natural, option, several, whole
from anygame.cli.output import Screen, complain, print_json
from anygame.cli.progress import counting_columns, progress_bar
from anygame.cli.sarif import format_sarif
from anygame.cli.shared_options import JsonOption, ReadingOptions
from anygame.cli.sheets import sheet_source
from anygame.doctor import causes_first, changes_of, check_program, read_sheet
from anygame.doctor.causes.repairs import name_the_cause
from anygame.doctor.mending.remedies import as_read_leniently, remedies_for
from anygame.doctor.play.checking import BRIEF, Bounds, PlayCheck, check_rules, play_commands
from anygame.errors import AnygameError, RuleSheetError
from anygame.game.loading import game_of, read_silently
from anygame.language.collector import collector_paused
from anygame.language.diagnostics import Diagnostic, Severity, shown
from anygame.language.installed import SUFFIXES
from anygame.language.writing import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.doctor import Reading
    from anygame.doctor.mending.remedies import Remedy
    from anygame.doctor.play.checking import Line
    from anygame.language.rules import Program
    from anygame.language.source import Source, Span

_DETAILS: Final = """\
Folders are searched for *.kif. What is likely to be the cause comes first; what only follows
from it is counted there, and --all shows it. What is style rather than a fault is an info,
which --info shows, and --select of its code. `anygame explain-code CODE` says more of a code.

Some games are played at random for half a second, and the states near the start searched.
With --play N, N games are played, however long it takes, and those that do not end are reported.
What goes wrong is shown with the shortest line of play found, as commands of the prompt.

with --json, one object; play is a line of play, joint moves in the order of the roles;
mend is there where `anygame mend` can do it, with the edits:
  {"files", "errors", "warnings", "infos", "diagnostics": [{"file", "line", "column",
   "end_line", "end_column", "code", "severity", "message", "notes": [{"message", "file",
   "line", "column"}], "hint", "play": [[MOVE]], "mend": {"command", "edits":
   [{"line", "column", "end_line", "end_column", "text"}]}}]}

exit status:
  0    no errors
  1    errors, be it that they only follow from something else
  2    something could not be read
  130  ended by Ctrl-C, with what was found so far
"""


@command_options
class Options(JsonOption, ReadingOptions):
    """What ``anygame check`` is asked."""

    files: list[str] = argument("FILE", count="+", help="rule sheets or folders, - for standard input")
    info: bool = flag("--info", help="show infos too")
    strict: bool = flag("--strict", help="take warnings for errors")
    select: list[str] = several("--select", metavar="CODE", help="show only these codes; commas or repeated")
    ignore: list[str] = several("--ignore", metavar="CODE", help="leave these codes out; commas or repeated")
    json: bool = flag("--json", help="print JSON", group="form")
    sarif: bool = flag("--sarif", help="print SARIF 2.1.0, for editors and CI", group="form")
    all: bool = flag("--all", help="show what only follows from something else, too")
    play: int | None = option(
        "--play", read=natural, metavar="N", help="play N games at random, 0 none (some, for half a second)"
    )
    lines: str | None = option("--lines", metavar="FILE", help="write the lines of play in full to FILE")
    seed: int = option("--seed", read=whole, default=0, metavar="S", help="of these games (0)")
    steps: int = option(
        "--steps", read=natural, default=500, metavar="N", help="joint moves by which a game should end (500)"
    )


def run(options: Options) -> int:
    """Check rule sheets; return the exit status. Ctrl-C ends it, with what was found so far."""
    choice = _Choice.of(options)
    files, status = _files(options.files)
    reports: list[tuple[str, _Found]] = []
    checked = hidden = 0
    is_wrong = False
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
        findings = examination.causes_first()
        checked += 1
        chosen = list(choice.of_findings(findings))
        hidden += sum(map(choice.hides, findings))
        every = replace(choice, echoes=True).of_findings(findings)
        is_wrong |= any(finding.diagnostic.severity is Severity.ERROR for finding in every)
        reports += [(_name(file), finding) for finding in chosen]
        if not (options.json or options.sarif):
            _print(chosen)
        if status == INTERRUPTED:
            break
    counts = Counter(finding.diagnostic.severity for _, finding in reports)
    if options.lines:
        _write_lines(options.lines, reports)
    if options.json:
        print_json(_json(checked, counts, reports))
    elif options.sarif:
        results = [(file, finding.diagnostic, finding.remedy) for file, finding in reports]
        print_json(format_sarif(results))
    else:
        _summarise(checked, counts, hidden)
    return status or (ANSWER_IS_NO if is_wrong else OK)


# -- what is examined ---------------------------------------------------------------------------------


def _files(names: Iterable[str]) -> tuple[list[str], int]:
    """Return the files that are meant, and the exit status of those that are missing."""
    files: dict[str, None] = {}
    status = 0
    for name in names:
        try:
            is_folder = name not in ("", "-") and Path(name).is_dir()
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
        source: the sheet.
        program: its rules, as far as they could be read.
        found: all that was found.
        progress: how far playing has come, for people.
    """

    options: Options
    source: Source | None = None
    program: Program | None = None
    found: list[_Found] = field(default_factory=list)
    progress: str = ""

    def examine(self, file: str) -> None:
        """Examine a sheet: its text, its rules, and then play."""
        options = self.options
        self.source = sheet_source(file)
        reading, diagnostics = self._read(self.source)
        program = self.program = reading.program
        remedies = remedies_for(program, diagnostics) if reading.complete else {}
        self.found += [_Found(diagnostic, None, remedies.get(diagnostic)) for diagnostic in diagnostics]
        if options.play != 0 and not any(d.severity is Severity.ERROR for d in diagnostics):
            self._play(self._play_check(program))
            if not any(d.severity > Severity.INFO for d in diagnostics):
                self._name_the_cause(program)

    def _name_the_cause(self, program: Program) -> None:
        """Look for the place of what only play shows, where the rules show nothing."""
        shown_by_play = [each.diagnostic for each in self.found if each.line is not None]
        causes = name_the_cause(program, shown_by_play, _faults)
        self.found = [
            replace(each, diagnostic=causes.get(each.diagnostic, each.diagnostic)) for each in self.found
        ]

    def _play_check(self, program: Program) -> PlayCheck:
        options = self.options
        game = game_of(program, case_sensitive=options.case_sensitive, lenient=options.lenient)
        if options.play is None:
            return PlayCheck(game, replace(BRIEF, seed=options.seed))
        return PlayCheck(game, Bounds(options.play, options.seed, options.steps))

    def _read(self, source: Source) -> tuple[Reading, dict[Diagnostic, None]]:
        """Return what came of reading a sheet, and all that is found without play."""
        with collector_paused():
            reading = read_sheet(source, case_sensitive=self.options.case_sensitive)
            diagnostics = dict.fromkeys(reading.diagnostics)
            if reading.program.rules:
                found = check_program(reading.program, complete=reading.complete)
                diagnostics.update(dict.fromkeys([*found, *check_rules(reading.program)]))
        if self.options.lenient and reading.complete:
            diagnostics = as_read_leniently(reading.program, diagnostics)
        return reading, diagnostics

    def causes_first(self) -> list[_Found]:
        """Return what was found, in the order in which it is shown."""
        known = {found.diagnostic: found for found in self.found}
        play = self._shown_by_play if any(each.line is not None for each in self.found) else None
        program = self.program
        suspect = partial(changes_of, program) if program else None
        order = causes_first(self.source, known, lambda source: self._read(source)[1], play, suspect)
        return [replace(known[found], diagnostic=told) for found, told in order]

    def _shown_by_play(self, source: Source) -> list[Diagnostic]:
        """Return what play shows of another sheet, of which nothing else is an error."""
        with read_silently():  # how the sheet itself is read has been told
            check = self._play_check(self._read(source)[0].program)
        check.run()
        return [each.diagnostic for each in check.findings()]

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


def _faults(program: Program) -> list[Diagnostic]:
    """Return what is found in rules without play."""
    return [*check_program(program), *check_rules(program)]


@dataclass(frozen=True, slots=True)
class _Choice:
    """Which diagnostics are shown."""

    selected: frozenset[str]
    ignored: frozenset[str]
    infos: bool
    echoes: bool
    strict: bool

    @classmethod
    def of(cls, options: Options) -> _Choice:
        """Return what the options ask for. Raises QueryError for an unknown code."""
        selected, ignored = known_codes(options.select), known_codes(options.ignore)
        return cls(selected, ignored, options.info, options.all, options.strict)

    def of_findings(self, findings: Iterable[_Found]) -> Iterator[_Found]:
        """Yield what is shown, warnings as errors if they count as such."""
        for finding in findings:
            diagnostic = finding.diagnostic
            if diagnostic.code in self.ignored or (self.selected and diagnostic.code not in self.selected):
                continue
            if diagnostic.severity is Severity.INFO and not (self.infos or self.selected):
                continue
            if diagnostic.follows and not (self.echoes or self.selected):
                continue
            if self.strict and diagnostic.severity is Severity.WARNING:
                finding = replace(finding, diagnostic=replace(diagnostic, severity=Severity.ERROR))
            yield finding

    def hides(self, finding: _Found) -> bool:
        """Return whether a finding is an info that only an option shows."""
        return finding.diagnostic.severity is Severity.INFO and not (self.infos or self.selected)


# -- what is printed ----------------------------------------------------------------------------------


def _print(findings: Iterable[_Found]) -> None:
    screen = Screen()
    for finding in findings:
        screen.show(diagnostic_lines(finding.diagnostic))
        if finding.remedy:
            screen.say(f"  mend: {finding.remedy.command}")


def _write_lines(file: str, reports: Iterable[tuple[str, _Found]]) -> None:
    """Write the lines of play in full, as commands of the prompt."""
    parts = []
    for name, finding in reports:
        if finding.line:
            parts.append(f"# {name}: {finding.diagnostic.code}: {finding.diagnostic.message}")
            parts += play_commands(finding.line)
    try:
        write_whole(Path(file), "".join(f"{part}\n" for part in parts))
    except (OSError, ValueError) as error:
        raise AnygameError(f"cannot write {file}: {getattr(error, 'strerror', None) or error}") from error


def _summarise(files: int, counts: Counter[Severity], hidden: int) -> None:
    """Print a last line for people."""
    screen = Screen()
    if not screen.is_terminal:
        return
    parts = [_count(counts[severity], str(severity)) for severity in sorted(Severity, reverse=True)]
    told = ", ".join(part for part in parts if part) or "nothing wrong"
    more = (
        f" ({_count(hidden, 'info')} not shown: --info shows {'them' if hidden > 1 else 'it'})"
        if hidden
        else ""
    )
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
