"""The ``explain`` command: prints how the rules are read and compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.cli import inspection
from anygame.cli.options import Command, Status, choice, command_options, option
from anygame.cli.output import print_json
from anygame.cli.progress import compile_game
from anygame.cli.shared_options import JsonOption, SheetOptions, json_shape
from anygame.cli.sheets import read_game, write_text
from anygame.errors import AnygameError

if TYPE_CHECKING:
    from anygame.game.game import Game

_DETAILS: Final = f"""\
Without an option: a summary of the rules in a few lines.

{json_shape('{"game", "summary" or "strata" or "plan" or "domains" or "network": ...}')}"""


@command_options
class _Options(JsonOption, SheetOptions):
    what: str = choice(
        {
            "strata": "print the order in which relations are computed",
            "plan": "print how the rules are joined",
            "domains": "print the values that each argument can have",
            "network": "print figures of the compiled network",
        },
        default="summary",
    )
    dot: str | None = option("--dot", "OUT", "with --network, write it for Graphviz, if it is small")


def run(options: _Options) -> int:
    """Print a summary, strata, the plan of joins, domains, or the network."""
    game = read_game(options.file, options)
    if options.what == "network":
        compile_game(game)
    if options.dot is not None:
        return _draw(game, options)
    if options.json:
        print_json({"game": game.name, options.what: inspection.describe(game, options.what)})
    else:
        print(inspection.explain(game, options.what).rstrip())
    return Status.OK


def _draw(game: Game, options: _Options) -> int:
    if options.what != "network" or options.dot is None:
        raise AnygameError("--dot draws the network: give --network too")
    drawn = game.backends.needed_network().picture()
    if options.dot == "-":
        print(drawn, end="")
    else:
        write_text(options.dot, drawn)
    return Status.OK


COMMANDS: Final = {"explain": Command(_Options, run, _DETAILS)}
