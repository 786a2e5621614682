"""The ``mend`` command: mends what can be mended without knowing the game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.cli.options import (
    Command,
    Status,
    argument,
    command_options,
    flag,
    several,
)
from anygame.cli.output import print_lines
from anygame.cli.proofs import PROVE_HELP, SameGameOptions, same_game
from anygame.cli.sheets import check_writable, print_changes, replace_sheet, sheet_source
from anygame.doctor.mending import EVERY_MEND, MENDS, mend_sheet
from anygame.errors import QueryError
from anygame.language.diagnostics import shown
from anygame.language.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterable

_DETAILS: Final = f"""\
what is mended, all but any by default, or what --select names:
  order        literals that bind a variable go before a not or distinct that needs it
  case         keywords are written in lower case
  parentheses  (f) becomes f
  role         (role ?r) is added where nothing says who may be meant in legal or goal
  negation     (not (p ?x)), where nothing else has ?x, denies a relation that says "for some ?x"
  distinct     (distinct ?x ?y), where nothing says what ?y is, always holds and is left out
  binding      role, base or input is added where nothing else can bind a variable
  any          the same for next, legal and goal, and only with --select any: it can change the game,
               since the rule then holds for every value, such as both roles in control
  domain       a relation of all that can stand there is added where even these cannot bind it
  base, input  are added where there are none: what the rules can make true and legal

What was mended is listed; without --write, with the changes.
{PROVE_HELP}
"""


@command_options
class _Options(SameGameOptions):
    file: str = argument("FILE", help="the rule sheet, - for standard input")
    write: bool = flag("--write", help="change the file")
    select: list[str] = several("--select", metavar="MENDS", help="only these; commas or repeated")


def run(options: _Options) -> int:
    """Mend a sheet; print what was mended, and without ``--write`` the changes; return the exit status."""
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
    if mended.mends and options.prove:
        lines, is_same = same_game(source, Source(source.name, mended.text), options.seconds)
        print_lines(lines)
        return Status.OK if is_same else Status.ANSWER_IS_NO
    return Status.OK


def _kinds(texts: Iterable[str]) -> list[str]:
    """Return the kinds of mends that are asked for; all by default. Raises QueryError for an unknown one."""
    asked = [kind.strip().lower() for text in texts for kind in text.split(",") if kind.strip()]
    for kind in asked:
        if kind not in EVERY_MEND:
            raise QueryError(f"there is no mend called {shown(kind)}; there are {', '.join(EVERY_MEND)}")
    return asked or list(MENDS)


COMMAND = Command(_Options, run, _DETAILS)
