"""The ``check`` command: reports errors and suspicious rules in rule sheets."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from anygame.answers.findings import SHAPE, Found
from anygame.boards import Piece
from anygame.cli.commands.listing import known_codes
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
from anygame.doctor import CODES
from anygame.doctor.examination import Examination, ExaminationSettings
from anygame.doctor.finding import Finding
from anygame.doctor.mending import UNSAFE_MENDS
from anygame.doctor.play.checking import BRIEF, Bounds, play_commands
from anygame.errors import RuleSheetError
from anygame.language.diagnostics import Diagnostic, Severity, counted, format_diagnostic, shown
from anygame.sheets.installed import SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.proving import Verdict

_DETAILS: Final = f"""\
If FILE is a folder, all rule sheets in it are checked. Likely causes are listed first. A
finding says how many other findings are its consequences; --all lists these consequences, too.
Findings about style are called infos; --info or --select shows them. `anygame explain-code CODE`
explains a code.

The check briefly plays up to 10 random games, and searches the states near the initial state.
--play N plays N games instead, and reports games that do not end. If a fault occurs in play,
the finding shows the shortest known moves that lead to it, as commands of `anygame repl`.

--prove decides findings about play: a role without a legal move, a missing goal, two goals of
a role, a match that does not end, or a rule that never fires. The check searches for a match
that shows the fault, and for a proof that no match shows it. Such a proof removes the finding.
--record writes the matches for `anygame replay` and `anygame web`. Proofs need the extra `prove`.

If a file cannot be read, the exit status is 2. If a sheet has an error, even one that only --all
shows, the exit status is 1.

With --json, one object is printed:
  {{"files", "errors", "warnings", "infos", "diagnostics": [{SHAPE}],
   "played", "proofs": [{{"file", ...}}]}}
  play lists joint moves, each with the moves in the order of the roles. mend lists edits if
  `anygame mend` can fix the finding. proof exists if --prove has a verdict about the finding.
  played is the number of random games. proofs lists verdicts in the form of `anygame prove`.
"""


@command_options
class _Options(JsonOption, ReadingOptions):
    files: list[str] = argument("FILE", nargs="+", help="rule sheets or folders; - for standard input")
    info: bool = flag("--info", "also show findings about style")
    strict: bool = flag("--strict", "treat warnings as errors")
    select: list[str] = several(
        "--select", "CODE", "show only findings with these codes, separated by commas"
    )
    ignore: list[str] = several("--ignore", "CODE", "hide findings with these codes, separated by commas")
    json: bool = flag("--json", "print JSON, in the form described below", group="form")
    sarif: bool = flag("--sarif", "print SARIF 2.1.0, for editors and CI", group="form")
    all: bool = flag("--all", "also show findings that are consequences of other findings")
    play: int | None = option(
        "--play", "N", "number of random games; 0 for none (default: up to 10, for a short time)", natural
    )
    lines: str | None = option(
        "--lines", "FILE", "file for the moves that lead to each fault, as commands for `anygame repl`"
    )
    seed: int = seed_option(0)
    prove: bool = flag("--prove", "prove or refute findings about play, such as a role without a legal move")
    seconds: float = option(
        "--seconds", "S", "with --prove: time limit for each proof, in seconds", seconds, default=10.0
    )
    record: str | None = option(
        "--record", "DIR", "with --prove: folder for match records; each match shows the fault of a finding"
    )
    steps: int = option(
        "--limit",
        "N",
        "report random games that do not end within N joint moves",
        joint_moves,
        default=500,
        former="--steps",
    )


def _check(options: _Options) -> int:
    selected, ignored = known_codes(options.select), known_codes(options.ignore)
    shows_infos = options.info or bool(selected)
    play: Bounds | None = replace(BRIEF, seed=options.seed)
    if options.play is not None:
        play = Bounds(options.play, options.seed, options.steps) if options.play else None
    prove = options.seconds if options.prove else None
    settings = ExaminationSettings(options.case_sensitive, options.lenient, play=play, prove=prove)
    files, status = _files(options.files)
    reports: list[tuple[str, Finding]] = []
    verdicts: list[tuple[str, Verdict]] = []
    checked = hidden = played = 0
    is_wrong = False
    for file in files:
        name = "<stdin>" if file == "-" else file
        findings: list[Finding] = []
        examination: Examination | None = None
        try:
            examination = Examination(sheet_source(file), settings)
            _run(examination)
        except KeyboardInterrupt:
            complain(f"interrupted in {name}{_progress(examination)}: these are the findings so far")
            status = Status.INTERRUPTED
        except RuleSheetError as error:
            if not error.diagnostics:
                complain(error)
                status = Status.BAD_INPUT
                continue
            findings = [Finding(each) for each in error.diagnostics if isinstance(each, Diagnostic)]
        findings += examination.findings if examination else []
        proved = examination.verdicts if examination else []
        verdicts += [(name, verdict) for verdict in proved]
        if options.record and examination and examination.sheet and proved:
            write_matches(options.record, examination.sheet.game, proved)
        checked += 1
        played += (examination and examination.played) or 0
        chosen = []
        for finding in findings:
            code, severity = finding.diagnostic.code, finding.diagnostic.severity
            if severity is Severity.INFO and not shows_infos:
                hidden += 1
            elif code not in ignored and code in (selected or CODES):
                if options.strict and severity is Severity.WARNING:
                    diagnostic = replace(finding.diagnostic, severity=Severity.ERROR)
                    finding = replace(finding, diagnostic=diagnostic)
                is_wrong |= finding.diagnostic.severity is Severity.ERROR
                if options.all or selected or not finding.diagnostic.follows:
                    chosen.append(finding)
        reports += [(name, finding) for finding in chosen]
        if not (options.json or options.sarif):
            _print(chosen)
            print_lines(f"{name}: {_summary_of(verdict)}" for verdict in proved)
        if status == Status.INTERRUPTED:
            break
    counts = Counter(finding.diagnostic.severity for _, finding in reports)
    if options.lines:
        _write_lines(options.lines, reports)
    if options.json:
        proofs = [{"file": file, **verdict.to_json()} for file, verdict in verdicts]
        answer: dict[str, Any] = {
            "files": checked,
            "errors": counts[Severity.ERROR],
            "warnings": counts[Severity.WARNING],
            "infos": counts[Severity.INFO],
            "diagnostics": [_found(file, finding).to_json() for file, finding in reports],
            "played": played,
        }
        print_json(answer | ({"proofs": proofs} if proofs else {}))
    elif options.sarif:
        print_json(format_sarif(reports))
    else:
        _summarise(checked, counts, hidden, played)
    return status or (Status.ANSWER_IS_NO if is_wrong else Status.OK)


def _files(names: Iterable[str]) -> tuple[list[str], int]:
    files: dict[str, None] = {}
    status = 0
    for name in names:
        try:
            is_folder = name not in ("", "-") and Path(name).is_dir()
        except (OSError, ValueError):
            is_folder = False
        paths = Path(name).rglob("*") if is_folder else ()
        sheets = [str(path) for path in paths if path.suffix in SUFFIXES and path.is_file()]
        inside = sorted(sheets) if is_folder else [name]
        if not inside:
            complain(f"there is no rule sheet ({', '.join(SUFFIXES)}) in {shown(name)}")
            status = Status.BAD_INPUT
        files.update(dict.fromkeys(inside))
    return list(files), status


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


_STYLES: Final = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}
#: First line of a diagnostic.
_HEAD: Final = re.compile(r"((?:\S+:\d+:\d+: )?)(error|warning|info)(\[[a-z-]+\])(: .*)", re.DOTALL)
#: Line of a diagnostic that underlines a place in the source line above.
_MARK: Final = re.compile(r"( +\| )( *\^~*)")
#: Note or hint of a diagnostic.
_REMARK: Final = re.compile(r"((?:\S+:\d+:\d+: )?)(note|  try)(: .*)", re.DOTALL)


def _print(findings: Iterable[Finding]) -> None:
    screen = Screen()
    for finding in findings:
        lines = format_diagnostic(_found("", finding).diagnostic).split("\n")
        screen.show([list(_pieces(line)) for line in lines])
        if finding.command:
            is_unsafe = UNSAFE_MENDS & {*(finding.kinds or ())}
            doubt = ", but only if the rule should hold for every value" if is_unsafe else ""
            screen.say(f"  mend: {finding.command}{doubt}")


def _pieces(line: str) -> Iterator[Piece]:
    if match := _HEAD.fullmatch(line):
        place, severity, code, message = match.groups()
        style = _STYLES[severity]
        yield from (Piece(place, "bold"), Piece(severity, style), Piece(code, style), Piece(message, "bold"))
    elif match := _MARK.fullmatch(line):
        yield from (Piece(match[1]), Piece(match[2], "bold green"))
    elif match := _REMARK.fullmatch(line):
        yield from (Piece(match[1]), Piece(match[2], "bold cyan" if match[2] == "note" else "green"))
        yield Piece(match[3])
    else:
        yield Piece(line)


def _found(file: str, finding: Finding) -> Found:
    return Found(file, finding, " (see `--all`)")


def _summary_of(verdict: Verdict) -> str:
    """Return a verdict as one line, without the refuting match, which the findings show."""
    notes = [verdict.note]
    if verdict.outcome == "open" and verdict.depth:
        notes.insert(0, f"no match of up to {counted(verdict.depth, 'move')} decides the claim")
    if verdict.outcome == "refuted":
        notes = [f"{len(verdict.found)} never" if verdict.found else ""]
    return f"{verdict.outcome}: " + "; ".join([verdict.claim, *filter(None, notes)])


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


COMMANDS: Final = {"check": Command(_Options, _check, _DETAILS)}
