"""The ``repl`` command: a game at the prompt. Reads lines from a terminal or a script for a `Shell`."""

from __future__ import annotations

import sys
from contextlib import suppress
from io import TextIOWrapper
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anygame.cli.exit_status import ANSWER_IS_NO, OK
from anygame.cli.options import Command, argument, command_options, flag, option
from anygame.cli.output import Screen, complain
from anygame.cli.positions import load_game
from anygame.cli.repl.session import Session
from anygame.cli.repl.shell import Shell
from anygame.cli.shared_options import MachineOption
from anygame.errors import AnygameError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["COMMAND"]

_EXTRA: Final = "for completion, history and colours: pip install 'anygame[terminal]'"


#: More than any joint move or question needs.
_LONGEST_LINE: Final = 2**20
_DETAILS: Final = """\
Commands are read from standard input. On a terminal they are edited and completed
(if the extra is installed: pip install 'anygame[terminal]'). Otherwise there is no
prompt, and a command that fails does not stop the next one.
`help` lists the commands.

exit status:
  0    done
  1    not on a terminal: a command failed; standard error tells which, and why
  2    there is no such game
"""


@command_options
class Options(MachineOption):
    """What ``anygame repl`` is asked."""

    file: str = argument("FILE", help="the rule sheet, or a game of `anygame games`")
    seed: int | None = option("--seed", read=int, metavar="S", help="for moves played at random")
    echo: bool = flag("--echo", help="repeat the commands in the output, after `> `")


def run(options: Options) -> int:
    """Play a game: with a prompt on a terminal, else as a script of commands."""
    if options.file == "-":
        raise AnygameError("the REPL reads commands from standard input; give the rule sheet as a file")
    game = load_game(options)
    screen = Screen()
    shell = Shell(Session(game, options.seed), screen)
    if sys.stdin.isatty() and screen.is_terminal:
        _converse(shell, screen)
        return OK
    return ANSWER_IS_NO if _run_script(shell, echo=options.echo) else OK


def _run_script(shell: Shell, *, echo: bool) -> int:
    """Execute the lines of standard input; return how many failed.

    What fails is reported with its line, and the next one follows.
    """
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    failed = 0
    for number in count(1):
        line = sys.stdin.readline(_LONGEST_LINE + 1)
        if not line:
            break
        if len(line) > _LONGEST_LINE:
            raise AnygameError(f"line {number} has more than {_LONGEST_LINE:,} characters: that is no script")
        if echo:
            print(f"> {line.rstrip()}")
        try:
            if not shell.execute(line):
                break
        except AnygameError as error:
            failed += 1
            if echo:
                print(f"error: {error}")
            else:
                complain(f"line {number}: {error}")
    return failed


def _converse(shell: Shell, screen: Screen) -> None:
    """Talk with a person until `quit` or Ctrl-D; Ctrl-C ends what is under way, not the session."""
    ask, hint = _asker(shell)
    game = shell.session.game
    screen.say(f"{Path(game.name).name}: {', '.join(game.roles)}", "bold")
    screen.say("`help` lists the commands, `quit` ends." + hint)
    warnings = len(game.program.warnings)
    if warnings:
        screen.say(f"The rule sheet has {warnings} oddities: see `warnings`.")
    with suppress(KeyboardInterrupt):
        shell.execute("board")
    screen.say(shell.status(), "bold")
    while True:
        try:
            if not shell.execute(ask()):
                return
        except AnygameError as error:
            screen.say(error, "red")
        except KeyboardInterrupt:
            screen.say("interrupted; Ctrl-D or `quit` ends", "red")
        except EOFError:
            screen.say()
            return


def _asker(shell: Shell) -> tuple[Callable[[], str], str]:
    """Return what asks for the next line, and what to tell about it."""
    try:
        from anygame.cli.repl.prompt import Prompt
    except ImportError:
        with suppress(ImportError):
            import readline  # noqa: F401

        return lambda: input(shell.prompt), f"\n({_EXTRA})"
    return Prompt(shell).ask, " Tab completes."


COMMAND = Command(Options, run, _DETAILS)
