"""Measure the recall of the rule doctor: how often its first diagnostic names the cause of a seeded fault.

    python -m tests.doctor.score gdl FOLDER [--full] [--kinds "drop true,stray text"] [--misses] [--seed N]

Makes mutants of each sheet (`tests/doctor/mutants.py`). Mutants with the same answers in random playouts
are set aside; the others are checked as ``anygame check`` does by default. The first diagnostic is at the
cause if it is in the rule with the fault or, if something is missing, if it names that. Diagnostics of the
original sheet are ignored and counted.

A folder means forty of its sheets, evenly spread; with ``--full`` all of them, with three mutants per kind
and sheet.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import sys
import tempfile
from collections import Counter, defaultdict
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, Final

from tests.doctor.mutants import KINDS, Mutant, mutants
from tools.arguments import sheet_paths

from anygame.cli.main import main as anygame_main
from anygame.errors import AnygameError
from anygame.game.game import Game
from anygame.language.parser import parse_program
from anygame.language.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.game.state import State

_MOST_OF_A_FOLDER: Final = 40
#: What nobody means to write, whether or not it changes anything.
_NEVER_MEANT: Final = frozenset(("stray text", "wrong arrow"))
#: Playouts that are compared, and joint moves of each: most faults show in the first.
_PLAYOUTS: Final = 6
_STEPS: Final = 60
#: Seconds for the comparison of a mutant; a slow sheet is compared less.
_COMPARING: Final = 2.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of checking a mutant.

    Attributes:
        sheet: the name of the sheet it was made from.
        mutant: the mutant.
        hit: whether the first diagnostic is at the cause.
        first: the first diagnostic, as JSON has it; None where there is none.
        seconds: how long the check took.
    """

    sheet: str
    mutant: Mutant
    hit: bool
    first: dict[str, Any] | None
    seconds: float


def diagnostics_of(text: str, folder: Path) -> list[dict[str, Any]]:
    """Return what ``anygame check`` tells about a text by default."""
    path = folder / "sheet.kif"
    path.write_text(text, encoding="utf-8")
    output = io.StringIO()
    with redirect_stdout(output), redirect_stderr(io.StringIO()):
        anygame_main(["check", "--json", str(path)])
    found: list[dict[str, Any]] = json.loads(output.getvalue())["diagnostics"]
    return found


def is_at_cause(mutant: Mutant, diagnostic: dict[str, Any]) -> bool:
    """Return whether a diagnostic stands at the cause, or names what is missing."""
    if mutant.names:
        words = set(re.findall(r"[^\s()`,:;.]+", f"{diagnostic['message']} {diagnostic['hint']}"))
        return bool(words & mutant.names)
    if diagnostic["line"] is None:
        return False
    source = Source("mutant", mutant.text)
    offset = source.line_bounds(diagnostic["line"])[0] + diagnostic["column"] - 1
    return bool(mutant.start <= offset < mutant.end)


# -- the meaning --------------------------------------------------------------------------------------


def means_the_same(original: Game, text: str) -> bool:
    """Return whether a mutant answers as the original does, in the states of a few random playouts."""
    try:
        mutant = Game(parse_program(text))
        if list(map(str, mutant.roles)) != list(map(str, original.roles)):
            return False
        until = monotonic() + _COMPARING
        return all(_same_playout(original, mutant, Random(seed), until) for seed in range(_PLAYOUTS))
    except AnygameError:
        return False


def _same_playout(original: Game, mutant: Game, random: Random, until: float) -> bool:
    state, other = original.initial_state(), mutant.initial_state()
    for _ in range(_STEPS):
        shown = _answers(state)
        if shown != _answers(other):
            return False
        moves = [list(state.legal_moves(role)) for role in original.roles]
        if state.is_terminal or not all(moves) or monotonic() > until:
            break
        joint = [str(random.choice(sorted(legal))) for legal in moves]
        state, other = state.next(joint), other.next(joint)
    return True


def _answers(state: State) -> tuple[object, ...]:
    roles = state.game.roles
    legal = [] if state.is_terminal else [sorted(map(str, state.legal_moves(role))) for role in roles]
    return (
        sorted(map(str, state.facts)), state.is_terminal, legal,
        [_goal(state, str(role)) for role in roles] if state.is_terminal else None,
    )  # fmt: skip


def _goal(state: State, role: str) -> object:
    try:
        return state.goal(role)
    except AnygameError:
        return "none"


# -- all of it ----------------------------------------------------------------------------------------


def verdicts(path: Path, kinds: Sequence[str], count: int, folder: Path, seed: int = 0) -> Iterator[Verdict]:
    """Check the mutants of a sheet that mean something else; another seed draws others."""
    source = Source(path.name, path.read_text(encoding="utf-8"))
    original = Game(parse_program(source))
    own_faults = {_what(each) for each in diagnostics_of(source.text, folder)}
    for kind in kinds:
        random = Random(f"{path.name} {kind} {seed}" if seed else f"{path.name} {kind}")
        for mutant in mutants(source, kind, random, count):
            if kind not in _NEVER_MEANT and means_the_same(original, mutant.text):
                continue
            begin = perf_counter()
            found = diagnostics_of(mutant.text, folder)
            seconds = perf_counter() - begin
            first = next((each for each in found if _what(each) not in own_faults), None)
            yield Verdict(path.stem, mutant, first is not None and is_at_cause(mutant, first), first, seconds)


def _what(diagnostic: dict[str, Any]) -> tuple[str, str]:
    """Return what is told, without the numbers: a fault more changes what is counted."""
    return diagnostic["code"], re.sub(r"\d+", "", diagnostic["message"])


def chosen(paths: Sequence[Path], full: bool) -> list[Path]:
    """Return the sheets that are meant: of a folder forty, evenly spread, unless all are wanted."""
    found = []
    for path in paths:
        sheets = sheet_paths([path], "score")
        wanted = len(sheets) if full else min(_MOST_OF_A_FOLDER, len(sheets))
        found += [sheets[number * len(sheets) // wanted] for number in range(wanted)]
    return found


def table(found: Sequence[Verdict]) -> str:
    """Return a table in Markdown: by kind, the mutants and the share at the cause."""
    by_kind = defaultdict(list)
    for verdict in found:
        by_kind[verdict.mutant.kind].append(verdict)
    rows = [(kind, by_kind[kind]) for kind in KINDS if kind in by_kind]
    lines = ["| mistake | mutants | at the cause | nothing told |", "| --- | ---: | ---: | ---: |"]
    for kind, group in [*rows, ("all", list(found))]:
        hits = sum(each.hit for each in group)
        silent = sum(each.first is None for each in group)
        lines.append(f"| {kind} | {len(group)} | {100 * hits / max(1, len(group)):.0f} % | {silent} |")
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure how often the rule doctor names the cause first.")
    parser.add_argument(
        "sheets", metavar="SHEET", nargs="+", type=Path, help="rule sheets, or folders of them"
    )
    parser.add_argument("--full", action="store_true", help="all sheets of folders, three mutants a kind")
    parser.add_argument(
        "--kinds", default=",".join(KINDS), help="only these kinds of mistakes; commas between"
    )
    parser.add_argument(
        "--misses", action="store_true", help="print what is told first where it is not the cause"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="draw other mistakes (0)")
    parser.add_argument("--plain", action="store_true", help="leave out the untouched sheets")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the arguments name; return the exit status."""
    options = _parser().parse_args(arguments)
    kinds = [kind.strip() for kind in options.kinds.split(",")]
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        print(f"score: there is no kind {unknown[0]!r}; there are {', '.join(KINDS)}", file=sys.stderr)
        return 2
    paths = chosen(options.sheets, options.full)
    found: list[Verdict] = []
    told: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            if not options.plain:
                told.update(each["code"] for each in diagnostics_of(path.read_text("utf-8"), Path(folder)))
            for verdict in verdicts(path, kinds, 3 if options.full else 1, Path(folder), options.seed):
                found.append(verdict)
                if options.misses and not verdict.hit:
                    _print_miss(verdict)
    print(table(found))
    slowest = max((each.seconds for each in found), default=0.0)
    print(f"\n{len(paths)} sheets; the slowest check took {slowest:.1f} s")
    if not options.plain:
        print(f"told of the untouched sheets: {dict(sorted(told.items())) or 'nothing'}")
    return 0


def _print_miss(verdict: Verdict) -> None:
    mutant, first = verdict.mutant, verdict.first
    said = "nothing" if first is None else f"{first['line']}: [{first['code']}] {first['message']}"
    line = mutant.text[: mutant.start].count("\n") + 1
    print(f"{verdict.sheet}:{line} {mutant.kind}: {' '.join(mutant.change.split())}\n    {said}", flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
