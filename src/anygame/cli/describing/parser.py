"""A parser of the whole command line, for what describes it: nothing is parsed with it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from anygame.cli.command_table import COMMANDS, load_command

if TYPE_CHECKING:
    from collections.abc import Mapping


def full_parser() -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """Return the parser of the command line, and those of its commands by name; each is imported for that."""
    parser = argparse.ArgumentParser(prog="anygame")
    parser.add_argument("--version", action="version", help="print the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command = load_command(name)
        command.declare(commands.add_parser(name, help=summary, **command.settings(summary)))
    return parser, commands.choices
