"""The commands that prove: ``prove`` for properties of a game, ``equal`` for two sheets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from anygame.answers.proof import SHAPE, verdict_lines
from anygame.cli.options import (
    Command,
    Status,
    argument,
    command_options,
    flag,
    natural,
    option,
    seconds,
    several,
)
from anygame.cli.output import complain, print_json, print_lines
from anygame.cli.progress import compile_game, progress
from anygame.cli.proofs import compared, write_matches
from anygame.cli.shared_options import SHEET_HELP, JsonOption, ReadingOptions, SheetOptions, json_shape
from anygame.cli.sheets import read_game
from anygame.files import file_faults
from anygame.language.diagnostics import counted
from anygame.proving import each_verdict

if TYPE_CHECKING:
    from anygame.proving import Verdict

# -- prove ---------------------------------------------------------------------------------------------

_PROVE_DETAILS: Final = f"""\
The built-in properties to prove are playable, ends, goals, turn-taking, zero-sum, and winnable
(for each role, or with 'winnable ROLE' for one role). The built-in properties to search for
are constant-players, mutex (groups of fluents; in each group, at most one holds at a time),
latched fluents, monotone goals, dead fluents and dead moves. A property can also be a formula
with always, never, reachable and until over the relations of the sheet, such as
  (always (implies terminal (exists (?r) (goal ?r 100))))

The verdict `proved` means that an independent checker has accepted the proof. The verdict
`refuted` comes with a match as a counterexample, which the reasoner has replayed. Moves of
`random` are treated like all other moves. If a game cannot be compiled, all verdicts are
`open`, and say why. `anygame replay` and `anygame web` show the matches of --record. The exit
status is 1 unless all properties are proved. Proofs need the extra `prove`.

{json_shape('{"game", "interrupted", "verdicts": [VERDICT]}; a VERDICT is' + chr(10) + "  " + SHAPE)}"""


@command_options
class _ProveOptions(JsonOption, SheetOptions):
    properties: list[str] = several(
        "--property", "NAME", "built-in property or formula to prove (default: all built-in ones)"
    )
    seconds: float = option(
        "--seconds", "S", "time limit for each property, in seconds", seconds, default=60.0
    )
    all: bool = flag("--all", "list all facts and invariants of each verdict (default: the first six facts)")
    record: str | None = option("--record", "DIR", "folder for match records of the counterexamples")


def _prove(options: _ProveOptions) -> int:
    game = read_game(options.file, options)
    compile_game(game)
    decided: list[Verdict] = []
    interrupted = False
    try:
        verdicts = each_verdict(
            game, options.properties, seconds=options.seconds, report=lambda doing: show(description=doing)
        )
        while True:
            with progress("proving") as show:
                verdict = next(verdicts, None)
            if verdict is None:
                break
            decided.append(verdict)
            if not options.json:
                print_lines(verdict_lines(verdict, everything=options.all))
    except KeyboardInterrupt:
        interrupted = True
    if options.json:
        shown = [verdict.to_json() for verdict in decided]
        print_json({"game": game.name, "interrupted": interrupted, "verdicts": shown})
    if options.record is not None:
        write_matches(options.record, game, decided)
    if interrupted:
        complain(f"interrupted: {counted(len(decided), 'verdict')} so far")
        return Status.INTERRUPTED
    return Status.OK if all(decided) else Status.ANSWER_IS_NO


# -- equal ---------------------------------------------------------------------------------------------

_EQUAL_DETAILS: Final = f"""\
The two games are the same if they agree in every reachable state: on whether the match is over,
on legal moves, on goals, and on the percepts of each joint move. Roles and moves are matched by
name. If the games differ, a shortest match that shows a difference is printed.

If A and B use different names, --map reads pairs of terms from a file. Each pair is a role, move or
percept of A and the corresponding term of B. The terms can have variables:
  (mark ?x ?y)  (place ?y ?x)

The exit status is 1 unless the games are proved to be the same. Proofs need the extra `prove`.

{json_shape(SHAPE)}"""


@command_options
class _EqualOptions(JsonOption, ReadingOptions):
    first: str = argument("A", help=SHEET_HELP)
    second: str = argument("B", help="rule sheet, or name of an installed game, to compare with A")
    map: str | None = option(
        "--map", "FILE", "file of pairs: a role, move or percept of A, and the corresponding term of B"
    )
    up_to: int | None = option(
        "--depth",
        "N",
        "compare only matches of up to N joint moves (default: all matches)",
        natural,
        former="--up-to",
    )
    seconds: float = option("--seconds", "S", "time limit of the proof, in seconds", seconds, default=60.0)
    record: str | None = option(
        "--record", "DIR", "folder for the record of a match that shows a difference, by the rules of A"
    )


def _equal(options: _EqualOptions) -> int:
    first, second = (read_game(name, options) for name in (options.first, options.second))
    moves = ""
    if options.map is not None:
        with file_faults("read", options.map):
            moves = Path(options.map).read_text(encoding="utf-8")
    verdict = compared(first, second, moves=moves, up_to=options.up_to, seconds=options.seconds)
    if options.record is not None:
        write_matches(options.record, first, [verdict])
    if options.json:
        print_json(verdict.to_json())
    else:
        print_lines(verdict_lines(verdict))
    return Status.OK if verdict else Status.ANSWER_IS_NO


COMMANDS: Final = {
    "prove": Command(_ProveOptions, _prove, _PROVE_DETAILS),
    "equal": Command(_EqualOptions, _equal, _EQUAL_DETAILS),
}
