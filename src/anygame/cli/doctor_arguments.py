"""The arguments of ``check`` and ``explain-code``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from anygame.cli.sharing import add_case, add_command

if TYPE_CHECKING:
    from typing import Any

    Commands = argparse._SubParsersAction[Any]

__all__ = ["add_doctor"]

_CHECK: Final = """\
Folders are searched for *.kif. What is style rather than a fault is an info, which
--info shows, and --select of its code. `anygame explain-code CODE` tells more of a code.

with --play N, N games are played at random, and the states near the start are searched:
what goes wrong is shown with the shortest line of play found, as commands of the REPL.

with --json, one object; play is a line of play, joint moves in the order of the roles;
mend is there where `anygame mend` can do it, with the edits:
  {"files", "errors", "warnings", "infos", "diagnostics": [{"file", "line", "column",
   "end_line", "end_column", "code", "severity", "message", "notes": [{"message", "file",
   "line", "column"}], "hint", "play": [[MOVE]], "mend": {"command", "edits":
   [{"line", "column", "end_line", "end_column", "text"}]}}]}

exit status:
  0    no errors
  1    errors
  2    something could not be read
"""


def add_doctor(commands: Commands) -> None:
    """Add the two commands."""
    summary = "tell what is wrong or odd in rule sheets"
    added = add_command(commands, "check", "doctor:check", summary, _CHECK)
    added.add_argument(
        "files", metavar="FILE", nargs="+", help="rule sheets or folders, - for standard input"
    )
    added.add_argument("--info", action="store_true", help="show infos too")
    added.add_argument("--strict", action="store_true", help="take warnings for errors")
    for name, meaning in (("select", "show only these codes"), ("ignore", "leave these codes out")):
        added.add_argument(
            f"--{name}", metavar="CODE", action="append", default=[], help=f"{meaning}; commas or repeated"
        )
    form = added.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--sarif", action="store_true", help="print SARIF 2.1.0, for editors and CI")
    added.add_argument("--play", type=_natural, default=0, metavar="N", help="play N games at random too")
    added.add_argument("--seed", type=int, default=0, metavar="S", help="of these games (0)")
    added.add_argument(
        "--steps",
        type=_natural,
        default=500,
        metavar="N",
        help="joint moves by which a game should end (500)",
    )
    add_case(added)
    _add_explain_code(commands)


def _add_explain_code(commands: Commands) -> None:
    summary = "tell what a code of a diagnostic means"
    added = commands.add_parser(
        "explain-code",
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}: what the rule is, why GDL has it, examples.",
        allow_abbrev=False,
    )
    added.set_defaults(command="doctor:explain_code")
    added.add_argument("code", metavar="CODE", nargs="?", help="without it, all codes are listed")


def _natural(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 9:
        raise argparse.ArgumentTypeError(f"expected a whole number from 0, found {text!r}")
    return int(text)
