"""The ``translate`` command: writes a rule sheet in KIF or infix."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from anygame.cli.options import Command, Status, argument, command_options, flag, option
from anygame.cli.output import print_lines
from anygame.cli.proofs import PROVE_HELP, SameGameOptions, same_game
from anygame.cli.shared_options import LENIENT_HELP
from anygame.cli.sheets import print_sheet, replace_sheet, sheet_source
from anygame.errors import RuleSheetError
from anygame.language.forms import COMMENT_MARKS, form_of
from anygame.language.parser import parse_program
from anygame.language.source import Source
from anygame.sheets.layout import format_sheet

if TYPE_CHECKING:
    from typing import Literal

_DETAILS: Final = f"""\
Infix sheets look like this: legal(R,mark(X,Y)) :- true(cell(X,Y,b)) & ~closed(X)
Comments start with %, variables with a capital letter; other names that are not
lower-case stand in quotes: 'King', '+'. All commands read both forms: *.kif is KIF,
*.hrf is infix, and of other files the first item decides.

{PROVE_HELP}
That is told on standard error.
"""


@command_options
class _Options(SameGameOptions):
    file: str = argument("FILE", help="the rule sheet, - for standard input")
    to: Literal["kif", "infix"] = option(
        "--to", choices=("kif", "infix"), required=True, help="the form wanted"
    )
    lenient: bool = flag("--lenient", help=LENIENT_HELP)
    output: str | None = option(
        "-o", "--output", metavar="OUT", help="the file to write, instead of standard output"
    )


def run(options: _Options) -> int:
    """Write a sheet in another form; return the exit status."""
    source = sheet_source(options.file)
    text = format_sheet(_written_out(source) if options.lenient else source, options.to)
    suffix = ".hrf" if options.to == "infix" else ".kif"
    if options.output is None:
        print_sheet(text)
    else:
        named = form_of(Source(options.output, COMMENT_MARKS[options.to]))
        if named != options.to:
            raise RuleSheetError(f"{options.output} is a name of {named} sheets; call it something{suffix}")
        replace_sheet(options.output, text)
    if options.prove:
        made = Source(f"{source.name}{suffix}", text)
        lines, is_same = same_game(source, made, options.seconds, lenient=options.lenient)
        print_lines(lines, sys.stderr)
        return Status.OK if is_same else Status.ANSWER_IS_NO
    return Status.OK


def _written_out(source: Source) -> Source:
    """Return a sheet in which what GDL leaves unbound is written out; in KIF, if there is any."""
    from anygame.sheets.lenient import read_leniently

    plain, mends = read_leniently(parse_program(source, open_facts=True))
    return plain if mends else source


COMMAND = Command(_Options, run, _DETAILS)
