"""Compare this package's answers about the states of recorded traces with the recorded answers.

    python tools/check_corpus.py FOLDER
    python tools/check_corpus.py FOLDER chess checkers --states 20 --known differences.txt

FOLDER contains ``rules/NAME.kif`` and ``traces/NAME.jsonl.gz`` (or ``.jsonl``). The first line of a trace has
``roles`` and ``init``. Each further line is a state: ``facts`` (without ``true``), ``terminal``, ``legal``
(role to moves), ``goals`` (per role; null if the rules give no goal or several), ``moves`` (the joint move,
in the order of the roles; null at the end of a playout). If a line has moves, the tool compares the next
state with the facts of the next line.

A file of known differences has a line ``NAME KIND`` for each difference. KIND is load, roles, init, terminal,
legal, goals or next; a ``#`` begins a comment. The tool prints known differences, but does not count them.
Exit status: 0 if all sheets agree, 1 if a sheet does not agree, 2 if there is nothing to check.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import anygame
from anygame.errors import AnygameError, GoalError
from anygame.language.parser import parse_term

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame import Game, State

_KINDS: Final = ("load", "roles", "init", "terminal", "legal", "goals", "next")
_ENDINGS: Final = (".jsonl.gz", ".jsonl")
_BAD_INPUT: Final = 2


@dataclass
class Report:
    """The results for one sheet.

    Attributes:
        sheet: the name of the sheet.
        states: number of checked states.
        worst: maximum time in seconds for the answers about one state.
        differences: number of differences of each kind.
        first: the first difference, as text.
    """

    sheet: str
    states: int = 0
    worst: float = 0.0
    differences: Counter[str] = field(default_factory=Counter)
    first: str = ""

    def differ(self, kind: str, where: str, expected: object, found: object) -> None:
        """Record a difference."""
        self.differences[kind] += 1
        self.first = self.first or f"{kind} {where}: recorded {expected}, found {found}"


def check(rules: Path, trace: Path, limit: int | None = None) -> Report:
    """Check the recorded answers of one sheet.

    Args:
        rules: the sheet.
        trace: the file with the recorded answers.
        limit: maximum number of states to check; all states by default.
    """
    report = Report(rules.stem)
    lines = _records(trace)
    try:
        game = anygame.load(rules, lenient=True)
        _check_start(game, next(lines), report)
    except AnygameError as error:
        report.differ("load", "of the sheet", "answers", str(error).splitlines()[0])
        return report
    reached: State | None = None
    for line in lines:
        if reached is not None:
            _compare(report, "next", _where(line), _terms(game, line["facts"]), set(map(str, reached.facts)))
        if limit is not None and report.states >= limit:
            break
        begin = perf_counter()
        reached = _check_state(game, line, report)
        report.worst = max(report.worst, perf_counter() - begin)
        report.states += 1
    return report


def _records(trace: Path) -> Iterator[dict[str, Any]]:
    open_trace = gzip.open if trace.suffix == ".gz" else open
    with open_trace(trace, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def _check_start(game: Game, record: dict[str, Any], report: Report) -> None:
    roles = list(map(str, game.roles))
    if roles != record["roles"]:
        report.differ("roles", "in their order", record["roles"], roles)
    start = set(map(str, game.initial_state().facts))
    _compare(report, "init", "at the start", _terms(game, record["init"]), start)


def _check_state(game: Game, line: dict[str, Any], report: Report) -> State | None:
    """Compare all answers about one state; return the state after the joint move."""
    where = _where(line)
    kind = "terminal"
    try:
        state = game.state(line["facts"])
        if state.is_terminal != line["terminal"]:
            report.differ(kind, where, line["terminal"], state.is_terminal)
        kind = "legal"
        for role, moves in line["legal"].items():
            recorded = {str(parse_term(move)) for move in moves}
            _compare(report, kind, f"{where} for {role}", recorded, set(map(str, state.legal_moves(role))))
        kind = "goals"
        goals = [_goal(state, role) for role in game.roles]
        if goals != line["goals"]:
            report.differ(kind, where, line["goals"], goals)
        kind = "next"
        return state.next(line["moves"]) if line["moves"] else None
    except AnygameError as error:
        report.differ(kind, where, "an answer", str(error).splitlines()[0])
        return None


def _goal(state: State, role: str) -> int | None:
    try:
        return state.goal(role)
    except GoalError:
        return None


def _terms(game: Game, facts: Iterable[str]) -> set[str]:
    """Return recorded facts in the notation of this package."""
    return set(map(str, game.state(facts).facts))


def _where(line: dict[str, Any]) -> str:
    return f"in playout {line.get('playout', '?')}, step {line.get('step', '?')}"


def _compare(report: Report, kind: str, where: str, expected: set[str], found: set[str]) -> None:
    if expected != found:
        more, less = sorted(expected - found), sorted(found - expected)
        report.differ(kind, where, _some(more) or "nothing more", _some(less) or "nothing more")


def _some(texts: Sequence[str]) -> str:
    return ", ".join(texts[:3]) + (f" and {len(texts) - 3} others" if len(texts) > 3 else "")


def read_known(path: Path) -> set[tuple[str, str]]:
    """Read a file of known differences; return the sheet and the kind of each difference."""
    known = set()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) != 2 or words[1] not in _KINDS:
            raise ValueError(
                f"line {number}: expected NAME and one of {', '.join(_KINDS)}, found {line.strip()!r}"
            )
        known.add((words[0], words[1]))
    return known


def pairs(folder: Path, names: Sequence[str]) -> Iterator[tuple[Path, Path | None]]:
    """Yield the named sheets of a folder, by default all sheets, each with its trace."""
    for rules in sorted((folder / "rules").glob("*.kif")):
        if not names or rules.stem in names:
            traces = [folder / "traces" / f"{rules.stem}{ending}" for ending in _ENDINGS]
            yield rules, next((trace for trace in traces if trace.is_file()), None)


def _line(report: Report, known: set[tuple[str, str]]) -> tuple[str, bool]:
    """Return a report as text, and whether it has only known differences."""
    counts = f"{report.sheet:<32} {report.states:>6} states  worst {report.worst:8.4f} s  "
    new = [kind for kind in report.differences if (report.sheet, kind) not in known]
    gone = [kind for sheet, kind in sorted(known) if sheet == report.sheet and kind not in report.differences]
    if new:
        differences = ", ".join(f"{kind} {count}" for kind, count in report.differences.items())
        return f"{counts}DIFFERS: {differences}; first: {report.first}", False
    words = ["agrees" if not report.differences else f"differs as known: {', '.join(report.differences)}"]
    return counts + "; ".join(words + [f"known to differ in {kind}, but does not" for kind in gone]), True


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Compare answers about the states of recorded traces with the recorded answers.",
        epilog="The docstring of this file describes the format of the traces.",
    )
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="has rules/*.kif and traces/*.jsonl.gz")
    parser.add_argument("names", metavar="NAME", nargs="*", help="only these sheets")
    parser.add_argument("--states", type=int, metavar="N", help="maximum number of states per sheet")
    parser.add_argument("--known", type=Path, metavar="FILE", help="file of known differences")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the sheets that the arguments name; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        known = read_known(options.known) if options.known else set()
    except (OSError, ValueError) as error:
        print(f"check_corpus: cannot read {options.known}: {error}", file=sys.stderr)
        return _BAD_INPUT
    found = list(pairs(options.folder, options.names))
    absent = sorted(set(options.names) - {rules.stem for rules, _ in found})
    if absent or not found:
        what = f"{', '.join(absent)} among them" if absent else "sheets"
        print(f"check_corpus: {options.folder / 'rules'} has no {what}", file=sys.stderr)
        return _BAD_INPUT
    return _check_all(found, known, options.states)


def _check_all(
    found: Sequence[tuple[Path, Path | None]], known: set[tuple[str, str]], limit: int | None
) -> int:
    agreed = differing = states = 0
    for rules, trace in found:
        if trace is None:
            print(f"{rules.stem:<32} no trace")
            continue
        try:
            report = check(rules, trace, limit)
        except (OSError, EOFError, ValueError, KeyError, TypeError, StopIteration) as error:
            print(f"{rules.stem:<32} its trace cannot be read: {type(error).__name__} {error}")
            differing += 1
            continue
        text, agrees = _line(report, known)
        print(text, flush=True)
        agreed += agrees
        differing += not agrees
        states += report.states
    print(f"{agreed} sheets agree, {differing} do not; {states} states checked")
    return int(differing > 0)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
