"""The ``anygame`` program: runs a command, and turns errors into messages and exit statuses."""

from __future__ import annotations

import codecs
import os
import sys
from argparse import RawDescriptionHelpFormatter
from contextlib import suppress
from difflib import get_close_matches
from io import TextIOWrapper
from typing import TYPE_CHECKING, Final

from anygame.cli.command_table import COMMANDS, load_command
from anygame.cli.options import Parser, Status
from anygame.cli.output import complain, fallback_notices
from anygame.errors import AnygameError, RuleSheetError
from anygame.language.diagnostics import Diagnostic, Severity, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Text printed if the program is called without arguments.
_INTRODUCTION: Final = """\
anygame plays any game written in the Game Description Language (GDL). To begin:

  anygame games                      list the installed games
  anygame play tic_tac_toe           play against the computer
  anygame copolymer                  open a prompt on a game: play moves, ask what is true, and why
  anygame match connect_four --players mcts greedy
                                     watch a match between two players
  anygame check my_game.kif          find errors in your own rule sheet

usage: anygame COMMAND ...; `anygame --help` lists the commands, `anygame COMMAND --help` explains one.
"""

_EPILOG: Final = """\
examples:
  anygame repl copolymer
  anygame legal my_game.kif player1
  anygame state copolymer --board --after "(move a 1)" --after swap
  anygame query copolymer "(legal ?role (move ?row ?n))"
  anygame playout copolymer --playouts 100 --seed 1 --json
  anygame simulate copolymer --playouts 1e6

`anygame FILE` opens the prompt of `anygame repl FILE`.

exit status:
  0    success
  1    negative answer: `query` found nothing, `check` or `replay` found errors, a property was
       not proved, a match was aborted, or a line of a script failed
  2    bad input; the message on standard error says what is wrong
  130  interrupted by Ctrl-C; the results so far are printed
  143  terminated by SIGTERM
Servers (web, player, serve-tools) return 0 after Ctrl-C or SIGTERM.
"""

#: ASCII replacements for the characters of trees and tables.
_PLAIN: Final = {"├": "+", "└": "`", "│": "|", "─": "-", "±": "+-"}
#: Codes of the errors in sheets that `--lenient` allows.
_UNBOUND: Final = frozenset(("unsafe-variable", "variable-in-fact"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, by default the arguments of this process, and return the exit status."""
    _open_streams()
    try:
        return _run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        return Status.INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return Status.BROKEN_PIPE
    except OSError as error:
        # Input files cause AnygameErrors, so this error concerns the output. Usually the disk is full.
        _drop_output()
        complain(f"cannot continue: {error.strerror or error}")
        return Status.BAD_INPUT


def _run(arguments: Sequence[str]) -> int:
    name, *rest = _with_command(arguments)
    options = None
    try:
        command = load_command(name)
        options = command.parse(name, COMMANDS[name], rest)
        with fallback_notices():
            status = command.run(options) or Status.OK
    except AnygameError as error:
        complain(error)
        if getattr(options, "lenient", None) is False and _only_unbound_variables(error):
            complain("note: Prolog-style sheets leave variables unbound; try --lenient")
        return Status.BAD_INPUT
    sys.stdout.flush()
    return status


def _only_unbound_variables(error: AnygameError) -> bool:
    diagnostics = error.diagnostics if isinstance(error, RuleSheetError) else ()
    codes = {
        each.code for each in diagnostics if isinstance(each, Diagnostic) and each.severity is Severity.ERROR
    }
    return bool(codes) and codes <= _UNBOUND


def _open_streams() -> None:
    """Open the null device in place of closed streams, and let streams replace unencodable characters."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    codecs.register_error("anygame.plain", _in_ascii)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="anygame.plain")


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    marks = (_PLAIN.get(mark, mark) for mark in error.object[error.start : error.end])
    return "".join(marks).encode("ascii", "backslashreplace").decode(), error.end


def _drop_output() -> None:
    """Discard further output, so that the interpreter can flush standard output at exit without an error."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _with_command(arguments: Sequence[str]) -> Sequence[str]:
    """Return the arguments, with ``repl`` in front if the first argument is a game or sheet."""
    if not arguments:
        print(_INTRODUCTION, end="")
        sys.exit(Status.BAD_INPUT)
    if arguments[0] in COMMANDS:
        return arguments
    if not _is_sheet(arguments[0]):
        _refuse(arguments[0])
    return ["repl", *arguments]


def _is_sheet(name: str) -> bool:
    """Return whether a word is the name of a game or file, or looks like the path of a rule sheet."""
    if name.startswith("-"):
        return False
    from anygame.sheets.installed import SUFFIXES, find_installed

    if "/" in name or name.endswith(SUFFIXES):
        return True
    return find_installed(name) is not None or os.path.isfile(name)


def _refuse(name: str) -> None:
    if name == "--version":
        from importlib.metadata import version

        print(f"anygame {version('anygame')}")
        sys.exit()
    parser = _parser()
    if name and not name.startswith("-"):
        from anygame.sheets.installed import games

        near = get_close_matches(name.lower(), [*COMMANDS, *games()], n=3)
        parser.error(f"there is no command {name[:40]!r}{did_you_mean(near)}")
    parser.parse_args([name])
    parser.error("expected a command; `anygame --help` lists the commands")


def _parser() -> Parser:
    parser = Parser(
        prog="anygame",
        description="Play, question and simulate any game written in the Game Description Language (GDL).",
        epilog=_EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", help="print the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, summary in COMMANDS.items():
        commands.add_parser(name, help=summary)
    return parser
