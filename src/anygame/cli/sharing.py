"""What the arguments of all commands have in common."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    Commands = argparse._SubParsersAction[Any]

__all__ = ["add_case", "add_command"]


def add_command(
    commands: Commands, name: str, command: str, summary: str, more: str
) -> argparse.ArgumentParser:
    """Add a command.

    Args:
        commands: where to.
        name: as it is typed.
        command: the function that carries it out, ``module:function``.
        summary: one line for the list of commands.
        more: what its own help says below the arguments.
    """
    added: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=more,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    added.set_defaults(command=command)
    return added


def add_case(added: argparse.ArgumentParser) -> None:
    """Let a command take names that differ by case for the same."""
    added.add_argument(
        "--case-insensitive",
        dest="case_sensitive",
        action="store_false",
        help="read names without regard to capitals",
    )
