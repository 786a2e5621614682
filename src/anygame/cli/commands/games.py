"""The ``games`` command: the games that come with the package."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from anygame.cli.options import Command, Status, command_options
from anygame.cli.output import Screen, print_json, print_lines, table_lines
from anygame.cli.shared_options import JsonOption
from anygame.game import load
from anygame.sheets.installed import describe_sheet, games, open_sheet, summary_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Letters of a line of a summary, however narrow the terminal is.
_NARROWEST: Final = 30
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
        rows = [(one["name"], ", ".join(one["roles"]), summary_of(one["description"])) for one in found]
        screen = Screen()
        print_lines(table_lines([*_wrapped(rows, screen.width)] if screen.is_terminal else rows, "<<<"))
    return Status.OK


def _wrapped(rows: Sequence[tuple[str, str, str]], width: int) -> Iterator[tuple[str, str, str]]:
    """Yield rows for a terminal: a summary that is wider than what is left has several."""
    left = max(width - sum(2 + max(len(row[column]) for row in rows) for column in (0, 1)), _NARROWEST)
    for name, roles, summary in rows:
        first, *others = wrap(summary, left) or [""]
        yield name, roles, first
        yield from (("", "", line) for line in others)


COMMAND = Command(_Options, run, _DETAILS)
