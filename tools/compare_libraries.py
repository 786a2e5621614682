"""Random playouts of rule sheets and of the same games in OpenSpiel, PettingZoo, pgx and Ludax, on one core.

    python tools/compare_libraries.py
    python tools/compare_libraries.py --games tic_tac_toe --forms aec vector --libraries pettingzoo
    python tools/compare_libraries.py --games hex --hex-size 9 --sheets sheets/ --python other/bin/python

Each game of each library runs in a separate process, one after the other, pinned to the same core. C++ games
run through OpenSpiel's Python interface. JAX games run with each number of ``--lanes``, and the table shows
the best. ``sheet in open_spiel`` is the sheet through OpenSpiel's interface, and ``sheet in jax`` is the
sheet as a JAX environment. The number of states is the number of moves. Ended playouts are restarted.
``length`` is the mean number of moves; if lengths differ, so do the rules (board, swap, passes). The tool
names and skips missing libraries. ``--python`` names a Python interpreter that has the libraries.
``--into FILE`` replaces the text between two marks in a file by the table. ``--forms`` also measures sheets
as environments of other libraries; for their states, see ``library_playouts.py``.

``--sheets`` names sheets, or folders of sheets, to play instead of the sheets in gdl/. The tool recognises
their names: tic_tac_toe or ticTacToe, connect_four or connectFour, breakthrough, hex or hex_pie, reversi or
othello, pentago, kuhn_poker and the other games of hidden information. A game without a sheet is skipped.
The Hex board of pgx always has 11 by 11 cells.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.arguments import some_seconds
from tools.tables import aligned, as_markdown, number, put_into, seconds, spread, told

if TYPE_CHECKING:
    from collections.abc import Sequence

_TOOLS: Final = Path(__file__).parent
_SETUP_SECONDS: Final = 300
_INTERRUPTED: Final = 130
#: The columns of the table.
HEAD: Final = (
    *("game", "played by", "what", "version", "lanes", "set-up s", "states/s", "playouts/s", "±", "length"),
    *("x in states", "x in playouts"),
)
#: Name of sheets as OpenSpiel games, which are played one at a time.
SHEETS: Final = "sheet in open_spiel"
#: Name of sheets as JAX environments, which are played many at a time.
SHEETS_IN_JAX: Final = "sheet in jax"
_LIBRARIES: Final = ("open_spiel", SHEETS, "pettingzoo", "pgx", SHEETS_IN_JAX, "ludax")
_ONE_AT_A_TIME: Final = ("open_spiel", SHEETS, "pettingzoo")
#: Environments in which sheets are played; the environments of ``_IN_LANES`` have many lanes.
FORMS: Final = ("aec", "parallel", "gymnasium", "vector", "batch")
_IN_LANES: Final = ("vector", "batch")
#: For sheets as games of a library: the library with whose games they are compared.
_BESIDE: Final = {SHEETS: "open_spiel", SHEETS_IN_JAX: "pgx"}
#: Size of the Hex board in pgx; in pgx 2.6, other sizes fail.
_PGX_HEX: Final = 11
#: By game: the possible names of its sheet, and the name of the game in each library.
GAMES: Final[dict[str, tuple[tuple[str, ...], dict[str, str]]]] = {
    "tic_tac_toe": (
        ("tic_tac_toe", "ticTacToe"),
        {
            "open_spiel": "tic_tac_toe",
            "pettingzoo": "tictactoe_v3",
            "pgx": "tic_tac_toe",
            "ludax": "tic_tac_toe",
        },
    ),
    "connect_four": (
        ("connect_four", "connectFour"),
        {
            "open_spiel": "connect_four",
            "pettingzoo": "connect_four_v3",
            "pgx": "connect_four",
            "ludax": "connect_four",
        },
    ),
    "breakthrough": (("breakthrough",), {"open_spiel": "breakthrough"}),
    "hex": (("hex", "hex_pie", "hexPie"), {"open_spiel": "hex", "pgx": "hex", "ludax": "hex"}),
    "reversi": (
        ("reversi", "othello"),
        {"open_spiel": "othello", "pgx": "othello", "ludax": "reversi"},
    ),
    "pentago": (("pentago",), {"open_spiel": "pentago"}),
    "kuhn_poker": (("kuhn_poker",), {"open_spiel": "kuhn_poker"}),
    "leduc_poker": (("leduc_poker",), {"open_spiel": "leduc_poker"}),
    "liars_dice": (("liars_dice",), {"open_spiel": "liars_dice"}),
    "phantom_tic_tac_toe": (("phantom_tic_tac_toe",), {"open_spiel": "phantom_ttt"}),
    "dark_hex": (("dark_hex",), {"open_spiel": "dark_hex(num_rows=3,num_cols=3)"}),
}


@dataclass(frozen=True)
class Row:
    """The measurements of one game in one library.

    Attributes:
        game: see ``GAMES``.
        player: the library, ``anygame``, or ``anygame.envs`` for a sheet as an environment.
        what: the name of the game in the library, or the name of the sheet.
        lanes: number of simultaneous games; 0 if it cannot be chosen.
        setup: seconds of set-up.
        states: states per second, in each repeat.
        playouts: playouts per second, in each repeat.
        version: the version of the library.
        missing: whether the library or the sheet is missing.
        error: the reason for missing numbers; otherwise empty.
    """

    game: str
    player: str
    what: str
    lanes: int = 0
    setup: float = 0.0
    states: Sequence[float] = ()
    playouts: Sequence[float] = ()
    version: str = ""
    missing: bool = False
    error: str = ""


def find_sheet(game: str, sources: Sequence[Path]) -> Path | None:
    """Return the path of a game's sheet, given sheets and folders of sheets."""
    for name in GAMES[game][0]:
        for source in sources:
            path = source / f"{name}.kif" if source.is_dir() else source
            if path.stem == name and path.is_file():
                return path
    return None


def measure_sheet(game: str, path: Path, options: argparse.Namespace) -> Row:
    """Measure the compiled sheet of a game."""
    order = [sys.executable, str(_TOOLS / "measure_sheet.py"), str(path), "network", *_common(options)]
    order += ["--cores", str(options.core)] if options.core is not None else []
    found = _run(order, options)
    steps = found.get("setup", {})
    kept = {name: found[name] for name in ("states", "playouts", "error") if name in found}
    setup = sum(seconds for step, seconds in steps.items() if step not in ("imports", "waiting"))
    return Row(game, "anygame", path.stem, setup=setup, **kept)


def measure_form(game: str, path: Path, form: str, options: argparse.Namespace) -> Row:
    """Measure the sheet of a game as an environment."""
    lanes = options.form_lanes if form in _IN_LANES else 0
    order = _playouts(sys.executable, form, str(path), lanes, options)
    return Row(game, "anygame.envs", f"{path.stem} ({form})", lanes, **_run(order, options) | {"version": ""})


def measure_library(game: str, library: str, path: Path, options: argparse.Namespace) -> Row:
    """Measure a game of a library, or a sheet as a game of the library, with the best number of lanes."""
    if library in _BESIDE:
        return _measured(game, library, (str(path), path.stem, 0), options)
    name = GAMES[game][1][library]
    size = 0 if game != "hex" else _PGX_HEX if library == "pgx" else options.hex_size
    return _measured(game, library, (name, f"{name} {size}x{size}" if size else name, size), options)


def _measured(game: str, library: str, played: tuple[str, str, int], options: argparse.Namespace) -> Row:
    """Measure a game, given its name in the library, its name in the table, and the size of its board."""
    name, what, size = played
    rows = []
    for lanes in [0] if library in _ONE_AT_A_TIME else options.lanes:
        order = _playouts(options.python, library, name, lanes, options)
        rows.append(Row(game, library, what, lanes, **_run([*order, "--size", str(size)], options)))
        if rows[-1].missing:
            break
    return max(rows, key=lambda row: median(row.states) if row.states else 0.0)


def _playouts(python: str, library: str, name: str, lanes: int, options: argparse.Namespace) -> list[str]:
    """Return the command that measures a game of a library."""
    order = [python, str(_TOOLS / "library_playouts.py"), library, name, *_common(options)]
    order += ["--lanes", str(lanes)] if lanes else []
    return order + (["--core", str(options.core)] if options.core is not None else [])


def _common(options: argparse.Namespace) -> list[str]:
    return ["--seconds", str(options.seconds), "--repeats", str(options.repeats), "--seed", str(options.seed)]


def _run(order: Sequence[str], options: argparse.Namespace) -> dict[str, Any]:
    """Run a process that measures; return its output, or an error."""
    limit = options.limit or _SETUP_SECONDS + (options.repeats + 3) * 2 * options.seconds
    try:
        process = subprocess.Popen(order, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        return {"error": f"cannot run {order[0]}: {error.strerror}"}
    with process:
        try:
            output, told = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            return {"error": f"no result after {limit:g} s"}
        finally:
            process.kill()
    try:
        found: dict[str, Any] = json.loads(output.splitlines()[-1])
    except (ValueError, IndexError):
        last = (told.strip().splitlines() or [""])[-1]
        return {"error": f"the process that measured ended with status {process.returncode}: {last}"}
    return found


# -- showing ------------------------------------------------------------------------------------


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a table, then the skipped libraries and games, and the errors."""
    absent = {"not installed": {row.player for row in rows if row.missing and row.player != "anygame"}}
    absent["no sheet"] = {row.game for row in rows if row.missing and row.player == "anygame"}
    skipped = [f"skipped, {why}: {', '.join(sorted(names))}" for why, names in absent.items() if names]
    errors = [f"{row.game}, {row.player}: {row.error}" for row in rows if row.error and not row.missing]
    return "\n".join([*aligned(cells(rows)), *skipped, *errors])


def markdown(rows: Sequence[Row], repeats: int, length: float) -> str:
    """Return the table in Markdown, after a sentence about the measurement."""
    left_out = [HEAD.index(name) for name in ("±", "set-up s")]
    kept = [[cell for column, cell in enumerate(row) if column not in left_out] for row in cells(rows)]
    return "\n".join([told(repeats, length), "", *as_markdown(kept)])


def cells(rows: Sequence[Row]) -> list[list[str]]:
    """Return the head and the cells of the table; the last two columns are relative speeds of the sheet."""
    own = {row.game: row for row in rows if row.player == "anygame" and row.states}
    shown = [list(HEAD)]
    for row in rows:
        if row.error:
            continue
        played, made = median(row.playouts), median(row.states)
        other = own.get(row.game) if row.player != "anygame" else None
        shown.append(
            [
                row.game,
                row.player,
                row.what,
                row.version,
                f"{row.lanes or ''}",
                seconds(row.setup),
                number(made),
                number(played),
                spread(row.states),
                f"{made / played:.1f}" if played else "",
                number(median(other.states) / made) if other and made else "",
                number(median(other.playouts) / played) if other and played else "",
            ]
        )
    return shown


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Compare random playouts of sheets with random playouts of game libraries, on one core.",
        epilog="In another environment: pip install open-spiel pettingzoo[classic] pgx ludax",
    )
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES), help="games (all)")
    parser.add_argument(
        "--libraries", nargs="*", choices=_LIBRARIES, default=_LIBRARIES, help="libraries (all)"
    )
    parser.add_argument(
        "--forms", nargs="*", choices=FORMS, default=[], help="environments to measure (none)"
    )
    parser.add_argument(
        "--form-lanes", type=_positive, default=512, metavar="N", help="lanes of vector and batch (512)"
    )
    parser.add_argument("--sheets", nargs="+", metavar="PATH", type=Path, help="sheets or folders (gdl)")
    parser.add_argument("--python", default=sys.executable, help="interpreter with the libraries (this one)")
    parser.add_argument("--hex-size", type=_positive, default=9, metavar="N", help="in the libraries (9)")
    parser.add_argument("--lanes", type=_positive, nargs="+", default=[1024, 4096], help="in JAX (1024 4096)")
    parser.add_argument(
        "--seconds", type=some_seconds, default=2.0, metavar="S", help="seconds per repeat (2)"
    )
    parser.add_argument("--repeats", type=_positive, default=5, metavar="N", help="number of repeats (5)")
    parser.add_argument("--limit", type=some_seconds, metavar="S", help="timeout of a game in a library")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random moves (1)")
    parser.add_argument("--core", type=int, metavar="N", help="the core to use (the last)")
    parser.add_argument("--into", metavar="FILE", type=Path, help="write the table between marks in FILE")
    parser.add_argument("--json", metavar="OUT", type=Path, help="write all numbers to a file")
    return parser


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= 1_000_000):
        raise argparse.ArgumentTypeError(f"expected a whole number above 0, found {text}")
    return int(text)


def compare(options: argparse.Namespace, rows: list[Row]) -> None:
    """Measure the chosen games, and append each result to the rows."""
    sources = options.sheets or [_TOOLS.parent / "gdl"]
    missing: set[str] = set()
    for game in options.games:
        path = find_sheet(game, sources)
        if path is None:
            rows.append(Row(game, "anygame", "", missing=True, error="there is no sheet"))
            continue
        _progress(f"{game}: {path.name}")
        rows.append(measure_sheet(game, path, options))
        for form in options.forms:
            _progress(f"{game}: {form}")
            rows.append(measure_form(game, path, form, options))
        for library in options.libraries:
            if _BESIDE.get(library, library) in GAMES[game][1] and library not in missing:
                _progress(f"{game}: {library}")
                rows.append(measure_library(game, library, path, options))
                if rows[-1].missing:
                    missing.add(library)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the chosen games and libraries; return the exit status."""
    options = _parser().parse_args(arguments)
    if options.core is None and hasattr(os, "sched_getaffinity"):
        options.core = max(os.sched_getaffinity(0))
    rows: list[Row] = []
    status = 0
    try:
        compare(options, rows)
    except KeyboardInterrupt:
        status = _INTERRUPTED
    finally:
        _progress("")
    if rows:
        print(table(rows))
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    if options.into and not status:
        try:
            put_into(options.into, markdown(rows, options.repeats, options.seconds), "compare_libraries")
        except (OSError, ValueError) as error:
            raise SystemExit(f"compare_libraries: cannot write into {options.into}: {error}") from error
    return status or int(any(row.error and not row.missing for row in rows))


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
