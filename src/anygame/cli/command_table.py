"""All commands with one line of help each, known without importing any of them."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anygame.cli.options import Command


#: What each command does, in the order in which help lists them.
COMMANDS: Final = {
    "games": "list the games that come with the package",
    "play": "play against players, or against each other",
    "repl": "play a game, question its states",
    "state": "print the facts of a state",
    "draw": "draw the boards of a state, also as SVG",
    "legal": "print the legal moves",
    "goals": "print the goal of every role",
    "query": "print all instances of a pattern that hold",
    "playout": "play games at random, print what they have in common",
    "simulate": "play games at random by the million, print what they have in common",
    "analyse": "search a state: what its moves are worth, as far as that is known",
    "solve": "find the exact value of a game whose states can be counted",
    "train": "learn a model of a sheet by self-play, which searches use if it helps",
    "models": "list the models that were trained on this machine",
    "prove": "prove or refute what is true of a game in every match",
    "equal": "compare two rule sheets: whether they are the same game",
    "perft": "count the sequences of joint moves of a length",
    "quiz": "ask questions about rule sheets, with certain answers, for programs that read rules",
    "grade": "grade replies to a quiz",
    "explain": "print how the rules are understood",
    "check": "report what is wrong or odd in rule sheets",
    "explain-code": "explain a code of a diagnostic",
    "format": "lay rule sheets out",
    "translate": "write a rule sheet in KIF or infix",
    "export": "write a game for other programs: Gambit, model checkers and answer set solvers",
    "mend": "mend what can be mended without knowing the game",
    "match": "play matches between players",
    "replay": "step through a match record, check it",
    "tournament": "let players meet each other",
    "web": "show games in the browser: play, watch, ask why",
    "language-server": "answer editors: diagnostics, mends, what names mean",
    "serve-tools": "answer programs, such as language models: write, check and play rules by tools",
    "player": "play for managers over the network",
    "completion": "print a script with which a shell completes command lines",
}

#: The modules of `anygame.cli.commands` whose names differ from those of their commands.
_MODULES: Final = {
    **dict.fromkeys(("state", "legal", "goals", "query"), "position"),
    **dict.fromkeys(("repl", "play"), "prompts"),
    **dict.fromkeys(("games", "explain-code"), "listing"),
    **dict.fromkeys(("format", "translate", "mend"), "rewriting"),
    **dict.fromkeys(("prove", "equal"), "proving"),
    **dict.fromkeys(("train", "models"), "training"),
    **dict.fromkeys(("quiz", "grade"), "quizzes"),
    **dict.fromkeys(("language-server", "serve-tools"), "serving"),
    "playout": "simulate",
}


def load_command(name: str) -> Command[Any]:
    """Import the module of a command, and with it what the command needs."""
    module = import_module(f"anygame.cli.commands.{_MODULES.get(name, name)}")
    command: Command[Any] = module.COMMANDS[name]
    return command


def full_parser() -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """Return the parser of the command line, and those of its commands by name; each is imported for that."""
    parser = argparse.ArgumentParser(prog="anygame")
    parser.add_argument("--version", action="version", help="print the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command = load_command(name)
        command.declare(commands.add_parser(name, help=summary, **command.settings(summary)))
    return parser, commands.choices
