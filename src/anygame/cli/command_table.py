"""All commands with one line of help each, known without importing any of them."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anygame.cli.options import Command


#: Summaries of all commands, in the order of the help.
COMMANDS: Final = {
    "games": "list the games that come with the package",
    "play": "play a game against players, or with other people",
    "repl": "open a prompt on a game: play moves, ask about states",
    "state": "print the facts of a state",
    "draw": "draw the boards of a state, on the terminal or as SVG",
    "legal": "print the legal moves",
    "goals": "print the goal of every role",
    "query": "print the instances of a pattern that hold",
    "playout": "play a few random games, and print statistics",
    "simulate": "play random games by the million, and print statistics",
    "analyse": "search a state, and print the values of its moves",
    "solve": "compute the exact value of a game with few enough states",
    "train": "learn a model of a sheet by self-play, for stronger searches",
    "models": "list the models that were trained on this machine",
    "prove": "prove or refute properties of a game over all matches",
    "equal": "prove that two rule sheets are the same game, or show where they differ",
    "perft": "count the sequences of joint moves of a given length",
    "quiz": "generate questions about rule sheets, with verified answers, to test programs",
    "grade": "grade replies to a quiz",
    "explain": "print how the rules are read: strata, joins, domains, network",
    "check": "report errors and suspicious rules in rule sheets",
    "explain-code": "explain the code of a diagnostic",
    "format": "format rule sheets",
    "translate": "write a rule sheet in KIF or infix",
    "export": "write a game for other programs: Gambit, model checkers and answer set solvers",
    "mend": "apply all safe fixes to a rule sheet",
    "match": "play matches between players",
    "replay": "step through a match record and check it",
    "tournament": "play a tournament between players, and print ratings",
    "web": "serve games to browsers: play, watch, ask why",
    "language-server": "serve an editor (LSP): diagnostics, fixes, meanings of names",
    "serve-tools": "serve language models and other programs (MCP): tools to write, check and play rules",
    "player": "serve a player over the network, for GGP game managers",
    "completion": "print a script that lets a shell complete command lines",
}

#: The modules of `anygame.cli.commands` whose names differ from those of their commands.
_MODULES: Final = {
    **dict.fromkeys(("state", "legal", "goals", "query"), "position"),
    **dict.fromkeys(("repl", "play"), "prompts"),
    **dict.fromkeys(("games", "explain-code"), "listing"),
    **dict.fromkeys(("format", "translate", "mend"), "rewriting"),
    **dict.fromkeys(("prove", "equal"), "proving"),
    **dict.fromkeys(("analyse", "solve"), "searching"),
    **dict.fromkeys(("train", "models"), "training"),
    **dict.fromkeys(("quiz", "grade"), "quizzes"),
    **dict.fromkeys(("language-server", "serve-tools"), "serving"),
    "playout": "simulate",
}


def load_command(name: str) -> Command[Any]:
    """Import the module of a command with its dependencies, and return the command."""
    module = import_module(f"anygame.cli.commands.{_MODULES.get(name, name)}")
    command: Command[Any] = module.COMMANDS[name]
    return command


def full_parser() -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """Return the parser of the command line, and those of its commands by name; imports all commands."""
    parser = argparse.ArgumentParser(prog="anygame")
    parser.add_argument("--version", action="version", help="print the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command = load_command(name)
        command.declare(commands.add_parser(name, help=summary, **command.settings(summary)))
    return parser, commands.choices
