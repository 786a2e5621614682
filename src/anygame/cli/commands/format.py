"""The ``format`` command: lays rule sheets out."""

from __future__ import annotations

import sys
from typing import Final

from anygame.cli.options import Command, Status, argument, command_options, flag
from anygame.cli.output import complain, print_lines
from anygame.cli.proofs import PROVE_HELP, SameGameOptions, same_game
from anygame.cli.sheets import check_writable, print_changes, print_sheet, replace_sheet, sheet_source
from anygame.errors import RuleSheetError
from anygame.language.source import Source
from anygame.sheets.layout import format_sheet

_DETAILS: Final = f"""\
Facts stand on one line, rules with each formula of the body on a line of its own;
comments stay where they are, and of blank lines between items one. The result is read
again and has the same rules, or nothing is changed.

{PROVE_HELP}
That is told on standard error.

exit status:
  0    done; with --check: all files are laid out like this
  1    with --check: some are not; their names are printed
       with --prove: some are not proved to be the same game
  2    something could not be read
"""


@command_options
class _Options(SameGameOptions):
    files: list[str] = argument("FILE", nargs="+", help="rule sheets, - for standard input")
    write: bool = flag("--write", group="what", help="change the files, print nothing")
    check: bool = flag("--check", group="what", help="only print the names of files that would change")
    diff: bool = flag("--diff", help="print the changes")


def run(options: _Options) -> int:
    """Lay files out; return the exit status. A file that cannot be read does not stop the others."""
    if options.write:
        for name in options.files:
            check_writable(name)
    status = Status.OK
    for name in options.files:
        try:
            status = max(status, _format_file(name, options))
        except RuleSheetError as error:
            complain(error)
            status = Status.BAD_INPUT
    return status


def _format_file(name: str, options: _Options) -> Status:
    """Lay one file out; return the exit status that this asks for."""
    source = sheet_source(name)
    text = format_sheet(source)
    changed = text != source.text
    if changed and options.check:
        print(source.name)
    if changed and options.diff:
        print_changes(source, text)
    if changed and options.write:
        replace_sheet(name, text)
    if not (options.check or options.diff or options.write):
        print_sheet(text)
    is_same = True
    if options.prove:
        lines, is_same = same_game(source, Source(source.name, text), options.seconds)
        print_lines(lines, sys.stderr)
    return Status.ANSWER_IS_NO if (changed and options.check) or not is_same else Status.OK


COMMAND = Command(_Options, run, _DETAILS)
