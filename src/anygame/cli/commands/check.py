"""The ``check`` command: reports errors and oddities in rule sheets."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from anygame.answers.findings import SHAPE, Found
from anygame.cli.commands.listing import known_codes
from anygame.cli.diagnostic_colours import diagnostic_lines
from anygame.cli.options import (
    Command,
    Status,
    argument,
    command_options,
    flag,
    joint_moves,
    natural,
    option,
    seconds,
    several,
)
from anygame.cli.output import Screen, complain, print_json, print_lines
from anygame.cli.progress import progress
from anygame.cli.proofs import write_matches
from anygame.cli.sarif import format_sarif
from anygame.cli.shared_options import JsonOption, ReadingOptions, seed_option
from anygame.cli.sheets import sheet_source, write_text
from anygame.doctor.checked_sheet import ExaminationSettings
from anygame.doctor.examination import Examination
from anygame.doctor.finding import Finding
from anygame.doctor.mending import UNSAFE_MENDS
from anygame.doctor.play.checking import BRIEF, Bounds, play_commands
from anygame.errors import RuleSheetError
from anygame.language.diagnostics import Diagnostic, Severity, counted, shown
from anygame.sheets.installed import SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.language.source import Source
    from anygame.proving import Verdict

_DETAILS: Final = f"""\
Folders are searched for *.kif. Likely causes come first. A finding shows the number of its
consequences; --all lists them, too. Matters of style are infos; --info or --select shows
them. `anygame explain-code CODE` explains a code.

A few random games are played, up to 10 within a moment, and the states near the start are
searched. With --play N, N games are played, and games that do not end are reported. A fault
in play is shown with the shortest known line of play, as commands of the prompt.

--prove decides doubtful findings: a role may be left without a move, a goal may be missing
or given twice, a match may not end, a rule may never fire. Each is either confirmed by a
match, or proved impossible and withdrawn. --record writes these matches for
`anygame replay` and `anygame web`. Proofs need the extra `prove`.

with --json, one object; play is a line of play, as joint moves in the order of the roles;
mend exists if `anygame mend` can fix the finding, and has the edits:
  {{"files", "errors", "warnings", "infos", "diagnostics": [{SHAPE}],
   "played", "proofs": [{{"file", ...}}]}}
  played is the number of random games; proof exists if a verdict is about the finding; proofs
  are verdicts in the form of `anygame prove`

exit status:
  0    no errors
  1    errors, including those that only follow from others
  2    a file could not be read
  130  ended by Ctrl-C, with the findings so far
"""


@command_options
class _Options(JsonOption, ReadingOptions):
    files: list[str] = argument("FILE", nargs="+", help="rule sheets or folders; - for standard input")
    info: bool = flag("--info", "also show infos: matters of style")
    strict: bool = flag("--strict", "treat warnings as errors")
    select: list[str] = several("--select", "CODE", "show only these codes, separated by commas")
    ignore: list[str] = several("--ignore", "CODE", "hide these codes, separated by commas")
    json: bool = flag("--json", "print JSON; its form is described below", group="form")
    sarif: bool = flag("--sarif", "print SARIF 2.1.0, for editors and CI", group="form")
    all: bool = flag("--all", "also show findings that are consequences of other findings")
    play: int | None = option(
        "--play", "N", "play N random games; 0 for none (default: up to 10 within a moment)", natural
    )
    lines: str | None = option("--lines", "FILE", "write the complete lines of play to FILE")
    seed: int = seed_option(0)
    prove: bool = flag("--prove", "prove or refute doubtful findings")
    seconds: float = option("--seconds", "S", "time limit of each proof, in seconds", seconds, default=10.0)
    record: str | None = option("--record", "DIR", "folder for the refuting matches, as records")
    steps: int = option(
        "--limit",
        "N",
        "report random games that do not end within N joint moves",
        joint_moves,
        default=500,
        former="--steps",
    )


def run(options: _Options) -> int:
    """Check rule sheets; return the exit status. Ctrl-C ends the check and keeps the findings so far."""
    choice = _Choice.of(options)
    files, status = _files(options.files)
    reports: list[tuple[str, Finding]] = []
    verdicts: list[tuple[str, Verdict]] = []
    checked = hidden = played = 0
    is_wrong = False
    for file in files:
        findings: list[Finding] = []
        examination: Examination | None = None
        try:
            examination = _examination(options, sheet_source(file))
            _run(examination)
        except KeyboardInterrupt:
            complain(f"interrupted in {_name(file)}{_progress(examination)}: these are the findings so far")
            status = Status.INTERRUPTED
        except RuleSheetError as error:
            if not error.diagnostics:
                complain(error)
                status = Status.BAD_INPUT
                continue
            findings = [Finding(each) for each in error.diagnostics if isinstance(each, Diagnostic)]
        findings += examination.findings if examination else []
        proved = examination.verdicts if examination else []
        verdicts += [(_name(file), verdict) for verdict in proved]
        if options.record and examination and examination.sheet and proved:
            write_matches(options.record, examination.sheet.game, proved)
        checked += 1
        played += (examination and examination.played) or 0
        chosen = list(choice.of_findings(findings))
        hidden += sum(map(choice.hides, findings))
        every = replace(choice, echoes=True).of_findings(findings)
        is_wrong |= any(finding.diagnostic.severity is Severity.ERROR for finding in every)
        reports += [(_name(file), finding) for finding in chosen]
        if not (options.json or options.sarif):
            _print(chosen)
            print_lines(f"{_name(file)}: {line}" for verdict in proved for line in _verdict_lines(verdict))
        if status == Status.INTERRUPTED:
            break
    counts = Counter(finding.diagnostic.severity for _, finding in reports)
    if options.lines:
        _write_lines(options.lines, reports)
    if options.json:
        print_json(_json(checked, counts, reports) | {"played": played} | _proofs(verdicts))
    elif options.sarif:
        print_json(format_sarif(reports))
    else:
        _summarise(checked, counts, hidden, played)
    return status or (Status.ANSWER_IS_NO if is_wrong else Status.OK)


# -- examination ---------------------------------------------------------------------------------


def _files(names: Iterable[str]) -> tuple[list[str], int]:
    """Return the files to check, and the exit status: BAD_INPUT if one is missing."""
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
            status = Status.BAD_INPUT
        files.update(dict.fromkeys(inside))
    return list(files), status


def _sheets_in(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())


def _name(file: str) -> str:
    return "<stdin>" if file == "-" else file


def _examination(options: _Options, source: Source) -> Examination:
    play: Bounds | None = replace(BRIEF, seed=options.seed)
    if options.play is not None:
        play = Bounds(options.play, options.seed, options.steps) if options.play else None
    prove = options.seconds if options.prove else None
    return Examination(
        source, ExaminationSettings(options.case_sensitive, options.lenient, play=play, prove=prove)
    )


def _run(examination: Examination) -> None:
    bounds = examination.settings.play
    with progress("playing", bounds.playouts if bounds else None, counts=True) as show:
        examination.run(
            lambda states, playouts: show(completed=playouts, description=f"playing: {states:,} states"),
            lambda doing: show(description=f"proving: {doing}"),
        )


def _progress(examination: Examination | None) -> str:
    if examination is None or examination.played is None or examination.settings.play is None:
        return ""
    return f" after {examination.played:,} of {counted(examination.settings.play.playouts, 'playout')}"


@dataclass(frozen=True, slots=True)
class _Choice:
    selected: frozenset[str]
    ignored: frozenset[str]
    infos: bool
    echoes: bool
    strict: bool

    @classmethod
    def of(cls, options: _Options) -> _Choice:
        """Return the choice that the options make. Raises QueryError for an unknown code."""
        selected, ignored = known_codes(options.select), known_codes(options.ignore)
        return cls(selected, ignored, options.info, options.all, options.strict)

    def of_findings(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Yield the findings to show, with warnings as errors if ``strict``."""
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

    def hides(self, finding: Finding) -> bool:
        """Return whether a finding is an info that only an option shows."""
        return finding.diagnostic.severity is Severity.INFO and not (self.infos or self.selected)


# -- output ----------------------------------------------------------------------------------


def _print(findings: Iterable[Finding]) -> None:
    screen = Screen()
    for finding in findings:
        screen.show(diagnostic_lines(_found("", finding).diagnostic))
        if finding.command:
            doubt = ", only if every value is meant" if UNSAFE_MENDS & {*(finding.kinds or ())} else ""
            screen.say(f"  mend: {finding.command}{doubt}")


def _found(file: str, finding: Finding) -> Found:
    return Found(file, finding, " (see `--all`)")


def _verdict_lines(verdict: Verdict) -> Iterator[str]:
    """Yield a short form of a verdict, without its match, which the findings show."""
    notes = [verdict.note]
    if verdict.outcome == "open" and verdict.depth:
        notes.insert(0, f"no match of up to {counted(verdict.depth, 'move')} decides it")
    if verdict.outcome == "refuted":
        notes = [f"{len(verdict.found)} never" if verdict.found else ""]
    yield f"{verdict.outcome}: " + "; ".join([verdict.claim, *filter(None, notes)])


def _write_lines(file: str, reports: Iterable[tuple[str, Finding]]) -> None:
    parts = []
    for name, finding in reports:
        if finding.line:
            parts.append(f"# {name}: {finding.diagnostic.code}: {finding.diagnostic.message}")
            parts += play_commands(finding.line)
    write_text(file, "".join(f"{part}\n" for part in parts))


def _summarise(files: int, counts: Counter[Severity], hidden: int, played: int) -> None:
    screen = Screen()
    if not screen.is_terminal:
        return
    parts = [counted(counts[each], str(each)) for each in sorted(Severity, reverse=True) if counts[each]]
    summary = ", ".join(parts) or "nothing wrong"
    them = "them" if hidden > 1 else "it"
    more = f" ({counted(hidden, 'info')} not shown: --info shows {them})" if hidden else ""
    style = "red" if counts[Severity.ERROR] else "yellow" if counts[Severity.WARNING] else "green"
    games = f", {counted(played, 'random game')} played" if played else ""
    screen.say(f"{summary} in {counted(files, 'file') if files else 'no file'}{games}{more}", style)


def _json(files: int, counts: Counter[Severity], reports: Iterable[tuple[str, Finding]]) -> dict[str, Any]:
    return {
        "files": files,
        "errors": counts[Severity.ERROR],
        "warnings": counts[Severity.WARNING],
        "infos": counts[Severity.INFO],
        "diagnostics": [_found(file, finding).to_json() for file, finding in reports],
    }


def _proofs(verdicts: Iterable[tuple[str, Verdict]]) -> dict[str, Any]:
    proofs = [{"file": file, **verdict.to_json()} for file, verdict in verdicts]
    return {"proofs": proofs} if proofs else {}


COMMANDS: Final = {"check": Command(_Options, run, _DETAILS)}
