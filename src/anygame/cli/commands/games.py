"""The ``games`` command: the games that come with the package."""

from __future__ import annotations

from typing import Any, Final

from anygame.cli.options import Command, Status, command_options
from anygame.cli.output import print_json, print_lines, table_lines
from anygame.cli.shared_options import JsonOption
from anygame.game import load
from anygame.language.installed import describe_sheet, games, open_sheet

#: Letters of a summary from which something can be learned.
_TELLING: Final = 20
_DETAILS: Final = """\
Commands that take FILE take these names too, where there is no such file:
  anygame repl copolymer

with --json, one object:
  {"games": [{"name", "title", "roles": [ROLE], "description"}]}
"""


@command_options
class _Options(JsonOption):
    """What ``anygame games`` is asked."""


def run(options: _Options) -> int:
    """Print name, roles and description of every game."""
    found: list[dict[str, Any]] = []
    for name in games():
        title, description = describe_sheet(open_sheet(name).text)
        roles = [*map(str, load(name).roles)]
        found.append({"name": name, "title": title, "roles": roles, "description": description})
    if options.json:
        print_json({"games": found})
    else:
        rows = [(one["name"], ", ".join(one["roles"]), _summary(one["description"])) for one in found]
        print_lines(table_lines(rows, "<<<"))
    return Status.OK


def _summary(text: str) -> str:
    """Return the first sentences of a description, one if it says enough ("A puzzle for one" does not)."""
    summary = ""
    for sentence in text.split(". "):
        summary = f"{summary}. {sentence}" if summary else sentence
        if len(summary) >= _TELLING:
            break
    return summary.rstrip(".")


COMMAND = Command(_Options, run, _DETAILS)
