"""The commands that list games and diagnostics: ``games`` and ``explain-code``."""

from __future__ import annotations

from difflib import get_close_matches
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from anygame.cli.options import Command, argument, command_options
from anygame.cli.output import Screen, print_json, print_lines, table_lines
from anygame.cli.shared_options import JsonOption
from anygame.doctor import ALIASES, CODES
from anygame.errors import QueryError
from anygame.game import load
from anygame.language.diagnostics import did_you_mean, shown
from anygame.sheets.installed import describe_sheet, games, open_sheet, summary_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# -- games ---------------------------------------------------------------------------------------------

#: Minimum width of the column of summaries, in characters.
_NARROWEST: Final = 30
_GAMES_DETAILS: Final = """\
A command that takes a FILE also accepts one of these names, if no file has this name:
  anygame repl copolymer

With --json, one object is printed:
  {"games": [{"name", "title", "roles": [ROLE], "description"}]}
"""


@command_options
class _GamesOptions(JsonOption):
    pass


def _games(options: _GamesOptions) -> None:
    listed: list[dict[str, Any]] = []
    for name in games():
        title, description = describe_sheet(open_sheet(name).text)
        roles = [*map(str, load(name).roles)]
        listed.append({"name": name, "title": title, "roles": roles, "description": description})
    if options.json:
        print_json({"games": listed})
    else:
        rows = [(one["name"], ", ".join(one["roles"]), summary_of(one["description"])) for one in listed]
        screen = Screen()
        print_lines(table_lines([*_wrapped(rows, screen.width)] if screen.is_terminal else rows, "<<<"))


def _wrapped(rows: Sequence[tuple[str, str, str]], width: int) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of a table that fits into ``width`` characters. A long summary takes several rows."""
    left = max(width - sum(2 + max(len(row[column]) for row in rows) for column in (0, 1)), _NARROWEST)
    for name, roles, summary in rows:
        first, *others = wrap(summary, left) or [""]
        yield name, roles, first
        yield from (("", "", line) for line in others)


# -- explain-code --------------------------------------------------------------------------------------


def known_code(text: str) -> str:
    """Return the canonical spelling of a code or alias. Raises QueryError if there is no such code."""
    plain = text.strip().lower()
    plain = ALIASES.get(plain, plain)
    if plain in CODES:
        return plain
    begun = [code for code in CODES if plain and code.startswith(plain)]
    near = begun[:3] or get_close_matches(plain, CODES, n=3)
    advice = did_you_mean(near, "`anygame explain-code` lists all codes")
    raise QueryError(f"there is no code {shown(text)}{advice}")


def known_codes(texts: Iterable[str]) -> frozenset[str]:
    """Return the codes in comma-separated lists. Raises QueryError for an unknown code."""
    return frozenset(known_code(code) for text in texts for code in text.split(",") if code.strip())


@command_options
class _ExplainCodeOptions:
    code: str | None = argument("CODE", nargs="?", help="code of a diagnostic (default: list all codes)")


def _explain_code(options: _ExplainCodeOptions) -> None:
    if options.code is None:
        print_lines(table_lines([(code, CODES[code].title) for code in sorted(CODES)], "<<"))
    else:
        print(CODES[known_code(options.code)].text)


_EXPLAIN_CODE_DETAILS: Final = "The explanation gives the rule, its reason, a bad and a good example.\n"

COMMANDS: Final = {
    "games": Command(_GamesOptions, _games, _GAMES_DETAILS),
    "explain-code": Command(_ExplainCodeOptions, _explain_code, _EXPLAIN_CODE_DETAILS),
}
