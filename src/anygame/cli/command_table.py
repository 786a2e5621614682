"""Names and one-line summaries of all commands, available without importing the commands."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anygame.cli.options import Command


#: Summary of each command, in the order of `anygame --help`.
COMMANDS: Final = {
    "games": "list the games that come with the package",
    "play": "play a game against the computer or other people",
    "repl": "open an interactive prompt for a game: make moves, ask about states",
    "state": "print the facts of a state",
    "draw": "draw the boards of a state, on the terminal or as SVG",
    "legal": "print the legal moves of a state",
    "goals": "print the goal of every role in a state",
    "query": "print the instances of a pattern that hold in a state",
    "playout": "play a few random games, and print statistics",
    "simulate": "play millions of random games, and print statistics",
    "analyse": "search a state, and print the values of its moves",
    "solve": "compute the exact value of a state, if the game is small enough",
    "train": "train a model of a game by self-play, for stronger searches",
    "models": "list the models that were trained on this machine",
    "prove": "prove or refute properties of a game over all matches",
    "equal": "prove that two rule sheets define the same game, or show where they differ",
    "perft": "count the sequences of joint moves of a given length",
    "quiz": "generate questions about rule sheets with verified answers, to test language models",
    "grade": "grade replies to a quiz",
    "explain": "show how the rules are evaluated: strata, joins, domains, compiled network",
    "check": "find errors and suspicious rules in rule sheets",
    "explain-code": "explain the code of an error or warning",
    "format": "format rule sheets",
    "translate": "convert a rule sheet to KIF or infix notation",
    "export": "export a game to Gambit, a model checker or an answer set solver",
    "mend": "apply all safe fixes to a rule sheet",
    "match": "run matches between players",
    "replay": "step through a match record and check it",
    "tournament": "run a tournament between players, and print ratings",
    "web": "serve games to browsers: play, watch matches, ask questions",
    "language-server": "run a language server (LSP): diagnostics, fixes and definitions in an editor",
    "serve-tools": "run a tool server (MCP) for language models and other programs",
    "player": "play the matches of game managers on the network (GGP protocol)",
    "completion": "print a shell script for tab completion of commands",
}

#: For each command that is not named like its module: the name of the module in `anygame.cli.commands`.
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
    """Import the module of a command, and return the command."""
    module = import_module(f"anygame.cli.commands.{_MODULES.get(name, name)}")
    command: Command[Any] = module.COMMANDS[name]
    return command


def full_parser() -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """Import all commands; return the parser of the command line, and a parser for each command."""
    parser = argparse.ArgumentParser(prog="anygame")
    parser.add_argument("--version", action="version", help="print the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command = load_command(name)
        command.declare(commands.add_parser(name, help=summary, **command.settings(summary)))
    return parser, commands.choices
