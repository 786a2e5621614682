"""The commands with all that can follow them, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from anygame.cli.command_table import COMMANDS, load_command
from anygame.cli.matches.seating import HUMAN
from anygame.players.loading import STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.cli.options import Command, Declared

#: Kinds of values: rule sheets and names of games, other files, folders; else a list of words.
SHEETS: Final = "sheets"
FILES: Final = "files"
FOLDERS: Final = "folders"
#: By what help calls a value; of others nothing is known, such as numbers.
_KINDS: Final = {
    **dict.fromkeys(("FILE", "SHEET"), SHEETS),
    **dict.fromkeys(("RECORD", "IMAGE", "KEY", "OUT", "PATH"), FILES),
    "DIR": FOLDERS,
}


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a command.

    Attributes:
        flags: how it is written.
        help: what it does.
        metavar: what its value is called; empty where it has none.
        kind: `SHEETS`, `FILES`, `FOLDERS`, or empty.
        words: what the value can be, if that is known.
    """

    flags: tuple[str, ...]
    help: str
    metavar: str = ""
    kind: str = ""
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommandWords:
    """A command with all that can follow it.

    Attributes:
        name: its name.
        summary: what it does, in a line.
        details: what its help says below the options.
        arguments: what stands without flags, in order.
        options: in the order of its help.
    """

    name: str
    summary: str
    details: str
    arguments: tuple[Option, ...]
    options: tuple[Option, ...]


def players() -> tuple[str, ...]:
    """Return what can be given as a player without an address or a file."""
    return (*STRATEGIES, HUMAN)


def described_commands() -> Iterator[CommandWords]:
    """Yield all commands in the order of the table; each is imported for that."""
    for name, summary in COMMANDS.items():
        command: Command[object] = load_command(name)
        found = [_option(each) for each in command.declared()]
        yield CommandWords(
            name,
            summary,
            command.details,
            tuple([each for each in found if not each.flags]),
            (
                Option(("-h", "--help"), "show help and exit"),
                *[each for each in found if each.flags],
            ),
        )


def _option(declared: Declared) -> Option:
    words = declared.choices
    if declared.metavar == "PLAYER":
        words = players()
    elif declared.metavar == "COMMAND":
        words = tuple(COMMANDS)
    return Option(declared.flags, declared.help, declared.metavar, _KINDS.get(declared.metavar, ""), words)
