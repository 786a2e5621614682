"""The arguments of ``format``, ``translate`` and ``mend``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.cli.sharing import add_command

if TYPE_CHECKING:
    import argparse
    from typing import Any

    Commands = argparse._SubParsersAction[Any]

__all__ = ["add_rewriting"]

_FORMAT: Final = """\
Facts stand on one line, rules with each formula of the body on a line of its own;
comments stay where they are, and of blank lines between items one. The result is read
again and has the same rules, or nothing is changed.

exit status:
  0    done; with --check: all files are laid out like this
  1    with --check: some are not; their names are printed
  2    something could not be read
"""

_TRANSLATE: Final = """\
Infix sheets look like this: legal(R,mark(X,Y)) :- true(cell(X,Y,b)) & ~closed(X)
Comments start with %, variables with a capital letter; other names that are not
lower-case stand in quotes: 'King', '+'. All commands read both forms: *.kif is KIF,
*.hrf is infix, and of other files the first item tells.
"""

_MEND: Final = """\
what is mended, or only some of it with --select:
  order        literals that bind a variable go before a not or distinct that needs it
  case         keywords are written in lower case
  parentheses  (f) becomes f
  role         (role ?r) is added where nothing says who may be meant in legal or goal
  base, input  are added where there are none: what the rules can make true and legal

What was mended is listed; without --write, with the changes.
"""


def add_rewriting(commands: Commands) -> None:
    """Add the three commands."""
    added = add_command(commands, "format", "rewriting:format_files", "lay rule sheets out", _FORMAT)
    added.add_argument("files", metavar="FILE", nargs="+", help="rule sheets, - for standard input")
    what = added.add_mutually_exclusive_group()
    what.add_argument("--write", action="store_true", help="change the files, print nothing")
    what.add_argument("--check", action="store_true", help="only print the names of files that would change")
    added.add_argument("--diff", action="store_true", help="print the changes")

    added = add_command(
        commands, "translate", "rewriting:translate_file", "write a rule sheet in KIF or infix", _TRANSLATE
    )
    added.add_argument("file", metavar="FILE", help="the rule sheet, - for standard input")
    added.add_argument("--to", choices=("kif", "infix"), required=True, help="the form wanted")
    added.add_argument("-o", "--output", metavar="OUT", help="the file to write, instead of standard output")

    added = add_command(
        commands, "mend", "rewriting:mend_file", "mend what can be mended without knowing the game", _MEND
    )
    added.add_argument("file", metavar="FILE", help="the rule sheet, - for standard input")
    added.add_argument("--write", action="store_true", help="change the file")
    added.add_argument(
        "--select",
        metavar="MENDS",
        action="append",
        default=[],
        help="only these; commas or repeated",
    )
