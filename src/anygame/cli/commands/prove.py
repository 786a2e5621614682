"""The ``prove`` command: what is true of a game in every match, or a match in which it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.cli.options import Command, Status, command_options, flag, option, seconds, several
from anygame.cli.output import complain, print_json, print_lines
from anygame.cli.progress import compile_game
from anygame.cli.proofs import SHAPE, verdict_lines, with_progress, write_matches
from anygame.cli.shared_options import JsonOption, SheetOptions, json_shape
from anygame.cli.sheets import read_game
from anygame.language.diagnostics import counted
from anygame.proving import each_verdict

if TYPE_CHECKING:
    from anygame.proving import Verdict

_DETAILS: Final = f"""\
Properties that are built in: playable, ends, goals, turn-taking, zero-sum, winnable (of
each role; of one: 'winnable ROLE'), and what is looked for: constant-players, mutex
(fluents of which one holds), latched fluents, monotone goals, dead fluents and moves.
Others are formulas over the relations of the sheet, such as
  (always (implies terminal (exists (?r) (goal ?r 100))))
with always, never, reachable and until.

`proved` means that a checker has followed the proof. `refuted` comes with a match that
the rules themselves allow. Moves of `random` count as any other moves. The exit status
is 0 where all is proved, else 1. Proofs need the extra `prove`. Records that --record
writes are stepped through by `anygame replay` and `anygame web`. Where a game cannot be compiled,
the reasoner visits its states: less is decided, and the verdict says so.

{json_shape('{"game", "interrupted", "verdicts": [VERDICT]}; a VERDICT is' + chr(10) + "  " + SHAPE)}"""


@command_options
class _Options(JsonOption, SheetOptions):
    properties: list[str] = several(
        "--property",
        metavar="NAME",
        help="a property or a formula; may be repeated (all that are built in)",
    )
    seconds: float = option(
        "--seconds", type=seconds, default=60.0, metavar="S", help="how long each may take (60)"
    )
    all: bool = flag("--all", help="show all that was found, and the invariants")
    record: str | None = option(
        "--record", metavar="DIR", help="write the matches as records into DIR, to be stepped through"
    )


def run(options: _Options) -> int:
    """Print a verdict for each property; Ctrl-C ends it, with those that are known."""
    game = read_game(options.file, options)
    compile_game(game)
    found: list[Verdict] = []
    interrupted = False
    try:
        for verdict in with_progress(
            lambda report: each_verdict(game, options.properties, seconds=options.seconds, report=report)
        ):
            found.append(verdict)
            if not options.json:
                print_lines(verdict_lines(verdict, everything=options.all))
    except KeyboardInterrupt:
        interrupted = True
    if options.json:
        verdicts = [verdict.to_json() for verdict in found]
        print_json({"game": game.name, "interrupted": interrupted, "verdicts": verdicts})
    if options.record is not None:
        write_matches(options.record, game, found)
    if interrupted:
        complain(f"interrupted: {counted(len(found), 'verdict')} so far")
        return Status.INTERRUPTED
    return Status.OK if all(found) else Status.ANSWER_IS_NO


COMMAND = Command(_Options, run, _DETAILS)
