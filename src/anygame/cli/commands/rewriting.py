"""The commands that rewrite sheets: ``format``, ``translate`` and ``mend``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from anygame.cli.options import Command, Status, argument, command_options, flag, option, several
from anygame.cli.output import complain
from anygame.cli.proofs import PROVE_HELP, SameGameOptions, same_game
from anygame.cli.shared_options import LENIENT_HELP
from anygame.cli.sheets import check_writable, print_changes, print_sheet, replace_sheet, sheet_source
from anygame.doctor.mending import EVERY_MEND, MENDS, mend_sheet
from anygame.errors import QueryError, RuleSheetError
from anygame.language.diagnostics import shown
from anygame.language.forms import COMMENT_MARKS, form_of
from anygame.language.parser import parse_program
from anygame.language.source import Source
from anygame.sheets.layout import format_sheet

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

# -- format --------------------------------------------------------------------------------------------

_FORMAT_DETAILS: Final = f"""\
A fact takes one line. In a rule, each literal of the body has its own line. Comments stay in
place, and at most one blank line separates items. The formatted sheet is parsed again, and the
file is changed only if its rules are the same as before.

{PROVE_HELP}
The result of the proof is printed on standard error.

With --check, the exit status is 1 if a file is not formatted.
"""


@command_options
class _FormatOptions(SameGameOptions):
    files: list[str] = argument("FILE", nargs="+", help="rule sheets; - for standard input")
    write: bool = flag("--write", "overwrite the files, and print nothing", group="what")
    check: bool = flag("--check", "print only the names of the files that are not formatted", group="what")
    diff: bool = flag("--diff", "print the changes in the format of `diff -u`")


def _format(options: _FormatOptions) -> int:
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


def _format_file(name: str, options: _FormatOptions) -> Status:
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
    made = Source(source.name, text)
    is_same = not options.prove or same_game(source, made, options.seconds, stream=sys.stderr)
    return Status.ANSWER_IS_NO if (changed and options.check) or not is_same else Status.OK


# -- translate -----------------------------------------------------------------------------------------

_TRANSLATE_DETAILS: Final = f"""\
Infix sheets look like this: legal(R,mark(X,Y)) :- true(cell(X,Y,b)) & ~closed(X)
Comments start with %. Variables start with a capital letter. Names that do not start with a
lower-case letter are quoted: 'King', '+'. All commands read both notations: *.kif files are in
KIF, and *.hrf files are in infix. In other files, the first item determines the notation.

{PROVE_HELP}
The result of the proof is printed on standard error.
"""


@command_options
class _TranslateOptions(SameGameOptions):
    file: str = argument("FILE", help="rule sheet; - for standard input")
    to: Literal["kif", "infix"] = option(
        "--to", None, "notation of the result", choices=("kif", "infix"), required=True
    )
    lenient: bool = flag("--lenient", LENIENT_HELP)
    output: str | None = option("-o --output", "OUT", "file to write (default: standard output)")


def _translate(options: _TranslateOptions) -> int:
    source = sheet_source(options.file)
    text = format_sheet(_written_out(source) if options.lenient else source, options.to)
    suffix = ".hrf" if options.to == "infix" else ".kif"
    if options.output is None:
        print_sheet(text)
    else:
        named = form_of(Source(options.output, COMMENT_MARKS[options.to]))
        if named != options.to:
            raise RuleSheetError(
                f"{options.output} is a name for {named} sheets; use a name that ends in {suffix}"
            )
        replace_sheet(options.output, text)
    made = Source(f"{source.name}{suffix}", text)
    is_same = not options.prove or same_game(
        source, made, options.seconds, lenient=options.lenient, stream=sys.stderr
    )
    return Status.OK if is_same else Status.ANSWER_IS_NO


def _written_out(source: Source) -> Source:
    """Return a sheet in KIF after the fixes of lenient reading; the sheet itself if it needs no fixes."""
    from anygame.sheets.lenient import read_leniently

    plain, mends = read_leniently(parse_program(source, open_facts=True))
    return plain if mends else source


# -- mend ----------------------------------------------------------------------------------------------

_MEND_DETAILS: Final = f"""\
Kinds of fixes, which are called mends (all except `any` are applied by default):
  order        move a literal that binds a variable before the `not` or `distinct` that reads it
  case         write keywords in lower case
  parentheses  replace (f) by f
  role         add (role ?r) if no literal limits the role in `legal` or `goal`
  negation     if ?x occurs only in (not (p ?x)), negate a new relation instead, which holds if
               p holds for some ?x
  distinct     remove (distinct ?x ?y) if no literal binds ?y: then the literal always holds
  binding      add a role, base or input literal if no other literal can bind a variable
  any          like `binding`, in rules for next, legal and goal; only with --select any, since
               it can change the game: the rule then holds for every value of the variable
  domain       bind a variable by a new relation of all its possible values, as a last resort
  base, input  add missing `base` and `input` relations for all possible fluents and moves

Each mend is listed. Without --write, the changes are printed, too.
{PROVE_HELP}
"""


@command_options
class _MendOptions(SameGameOptions):
    file: str = argument("FILE", help="rule sheet; - for standard input")
    write: bool = flag("--write", "overwrite the file (default: print the changes)")
    select: list[str] = several("--select", "MENDS", "apply only these kinds of mends, separated by commas")


def _mend(options: _MendOptions) -> int:
    if options.write:
        check_writable(options.file)
    kinds = _kinds(options.select)
    source = sheet_source(options.file)
    mended = mend_sheet(source, kinds)
    for mend in mended.mends:
        where = mend.span.place if mend.span else source.name
        print(f"{where}: mended[{mend.kind}]: {shown(mend.message, 200)}")
    for note in mended.notes:
        print(f"{source.name}: {note}")
    if not mended.mends:
        print(f"{source.name}: there is nothing to mend")
    elif options.write:
        replace_sheet(options.file, mended.text)
    else:
        print_changes(source, mended.text)
    made = Source(source.name, mended.text)
    is_same = not (mended.mends and options.prove) or same_game(source, made, options.seconds)
    return Status.OK if is_same else Status.ANSWER_IS_NO


def _kinds(texts: Iterable[str]) -> list[str]:
    asked = [kind.strip().lower() for text in texts for kind in text.split(",") if kind.strip()]
    for kind in asked:
        if kind not in EVERY_MEND:
            raise QueryError(f"there is no kind of mend {shown(kind)}; the kinds are {', '.join(EVERY_MEND)}")
    return asked or list(MENDS)


COMMANDS: Final = {
    "format": Command(_FormatOptions, _format, _FORMAT_DETAILS),
    "translate": Command(_TranslateOptions, _translate, _TRANSLATE_DETAILS),
    "mend": Command(_MendOptions, _mend, _MEND_DETAILS),
}
