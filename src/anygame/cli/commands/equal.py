"""The ``equal`` command: whether two rule sheets are the same game."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from anygame.cli.options import Command, Status, argument, command_options, natural, option, seconds
from anygame.cli.output import print_json, print_lines
from anygame.cli.proofs import SHAPE, compared, verdict_lines, write_matches
from anygame.cli.shared_options import JsonOption, ReadingOptions, json_shape
from anygame.cli.sheets import read_game
from anygame.files import file_faults

_DETAILS: Final = f"""\
Both are played at once, roles and moves matched by name. The games are the same where
ends, legal moves and goals agree in every state that can be reached, and what roles see
of each joint move; else a shortest match is printed after which they do not.

--map FILE says what roles, moves and percepts of A are in B, as pairs of terms, with
variables:
  (mark ?x ?y)  (place ?y ?x)

The exit status is 0 where they are the same, else 1. Proofs need the extra `prove`.

{json_shape(SHAPE)}"""


@command_options
class _Options(JsonOption, ReadingOptions):
    first: str = argument("A", help="a rule sheet, or a game of `anygame games`")
    second: str = argument("B", help="the other one")
    map: str | None = option("--map", metavar="FILE", help="what roles and moves of A are in B")
    up_to: int | None = option(
        "--depth",
        former="--up-to",
        type=natural,
        metavar="N",
        help="compare matches of so many joint moves alone",
    )
    seconds: float = option(
        "--seconds", type=seconds, default=60.0, metavar="S", help="how long it may take (60)"
    )
    record: str | None = option(
        "--record", metavar="DIR", help="write the match as a record of A into DIR, to be stepped through"
    )


def run(options: _Options) -> int:
    """Print whether they are the same, or how they can be told apart."""
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


COMMAND = Command(_Options, run, _DETAILS)
