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
Without an option, a summary of the rules is printed.

{json_shape('{"game", "summary" or "strata" or "plan" or "domains" or "network": ...}')}"""


@command_options
class _Options(JsonOption, SheetOptions):
    what: str = choice(
        {
            "strata": "print the strata: the order in which relations are computed",
            "plan": "print the plan: the joins of each rule",
            "domains": "print the possible values of each argument",
            "network": "compile the rules, and print figures of the network",
        },
        default="summary",
    )
    dot: str | None = option(
        "--dot",
        "OUT",
        "with --network, write a small network to this file for Graphviz; - for standard output",
    )


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
        raise AnygameError("--dot draws the network: it needs --network")
    drawn = game.backends.needed_network().picture()
    if options.dot == "-":
        print(drawn, end="")
    else:
        write_text(options.dot, drawn)
    return Status.OK


COMMANDS: Final = {"explain": Command(_Options, run, _DETAILS)}
