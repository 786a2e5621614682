"""The ``export`` command: writes a game for other programs."""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from anygame.cli.options import Command, Status, command_options, option, positive
from anygame.cli.positions import load_game
from anygame.cli.shared_options import MachineOption
from anygame.cli.sheets import print_sheet, replace_sheet
from anygame.envs.extensive import MOST_HISTORIES, gambit_text

if TYPE_CHECKING:
    from typing import Literal

_DETAILS: Final = """\
efg is the form of Gambit for games in extensive form, which OpenSpiel reads, too
(pyspiel.load_efg_game): a tree of all histories. Where a role has nothing to choose,
it makes no decision. Roles that move at once decide one after the other, without seeing
what the others have chosen; then `random` draws. Information sets are what a role has
done and seen where the sheet says what it `sees` (GDL-II), else all moves.
A payoff is the goal times --scale, plus --offset: for Kuhn poker in chips,
--scale 1/25 --offset=-2. Nothing is written where there are more histories than
--histories allows.
"""
#: More than anybody writes down.
_LONGEST_NUMBER: Final = 40


def _number(text: str) -> Fraction:
    """Read a number: 2, -0.5, 1/3."""
    try:
        # An exponent can name a number of a million digits.
        if len(text) > _LONGEST_NUMBER or "e" in text.lower():
            raise ValueError
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise argparse.ArgumentTypeError(
            f"expected a number such as 2, -0.5 or 1/3, found {text[:40]!r}"
        ) from None


@command_options
class _Options(MachineOption):
    to: Literal["efg"] = option("--to", choices=("efg",), required=True, help="the form wanted")
    output: str | None = option(
        "-o", "--output", metavar="OUT", help="the file to write, instead of standard output"
    )
    histories: int = option(
        "--histories",
        type=positive,
        default=MOST_HISTORIES,
        metavar="N",
        help=f"give up where there are more ({MOST_HISTORIES:,})",
    )
    scale: Fraction = option(
        "--scale", type=_number, default=Fraction(1), metavar="X", help="what a point of a goal is worth (1)"
    )
    offset: Fraction = option(
        "--offset", type=_number, default=Fraction(0), metavar="X", help="what is added to every payoff (0)"
    )


def run(options: _Options) -> int:
    """Write the tree of a game; return the exit status."""
    lines = gambit_text(
        load_game(options), scale=options.scale, offset=options.offset, limit=options.histories
    )
    text = "".join(f"{line}\n" for line in lines)
    if options.output is None:
        print_sheet(text)
    else:
        replace_sheet(options.output, text)
    return Status.OK


COMMAND = Command(_Options, run, _DETAILS)
