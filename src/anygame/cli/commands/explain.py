"""The ``explain`` command: shows how the rules are evaluated and compiled."""

from __future__ import annotations

from typing import Final

from anygame.cli import inspection
from anygame.cli.options import Command, Status, choice, command_options, option
from anygame.cli.output import print_json
from anygame.cli.progress import compile_game
from anygame.cli.shared_options import JsonOption, SheetOptions, json_shape
from anygame.cli.sheets import read_game, write_text
from anygame.errors import AnygameError

_DETAILS: Final = f"""\
Without an option, the command prints a summary of the rules.

{json_shape('{"game", "summary" or "strata" or "plan" or "domains" or "network": ...}')}"""


@command_options
class _Options(JsonOption, SheetOptions):
    what: str = choice(
        {
            "strata": "print the strata: the order in which relations are computed",
            "plan": "print the joins that evaluate each rule",
            "domains": "print the possible values of each argument of each relation",
            "network": "compile the rules to a logic network, and print its size and structure",
        },
        default="summary",
    )
    dot: str | None = option(
        "--dot",
        "OUT",
        "with --network: write a small network to this file as a Graphviz graph; - for standard output",
    )


def _explain(options: _Options) -> int:
    game = read_game(options.file, options)
    if options.what == "network":
        compile_game(game)
    if options.dot is not None:
        if options.what != "network":
            raise AnygameError("--dot draws the network: it needs --network")
        drawn = game.backends.needed_network().picture()
        if options.dot == "-":
            print(drawn, end="")
        else:
            write_text(options.dot, drawn)
    elif options.json:
        print_json({"game": game.name, options.what: inspection.describe(game, options.what)})
    else:
        print(inspection.explain(game, options.what).rstrip())
    return Status.OK


COMMANDS: Final = {"explain": Command(_Options, _explain, _DETAILS)}
