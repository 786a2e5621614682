"""The ``repl`` command: a game at the prompt, its states questioned."""

from __future__ import annotations

from typing import Final

from anygame.cli.options import Command, Status, argument, command_options, flag, option, whole
from anygame.cli.output import Screen
from anygame.cli.positions import load_game
from anygame.cli.repl.conversation import converse, is_conversation, run_script
from anygame.cli.repl.session import Session
from anygame.cli.repl.shell import Shell
from anygame.cli.shared_options import MachineOption
from anygame.errors import AnygameError
from anygame.search import load_table

_DETAILS: Final = """\
Commands are read from standard input. On a terminal they are edited and completed
(if the extra is installed: pip install 'anygame[terminal]'). Otherwise there is no
prompt, and a command that fails does not stop the next one.
`help` lists the commands.

exit status:
  0    done
  1    not on a terminal: a command failed; standard error says which, and why
  2    there is no such game
"""


@command_options
class _Options(MachineOption):
    file: str = argument("FILE", help="the rule sheet, or a game of `anygame games`")
    seed: int | None = option("--seed", type=whole, metavar="S", help="for moves played at random")
    table: str | None = option(
        "--table", metavar="FILE", help="exact values for `analyse` and `hint`, of `anygame solve --table`"
    )
    echo: bool = flag("--echo", help="repeat the commands in the output, after `> `")


def run(options: _Options) -> int:
    """Play a game: with a prompt on a terminal, else as a script of commands."""
    if options.file == "-":
        raise AnygameError("the REPL reads commands from standard input; give the rule sheet as a file")
    game = load_game(options)
    screen = Screen()
    values = None if options.table is None else load_table(options.table, game)
    shell = Shell(Session(game, options.seed), screen, values)
    if is_conversation(screen):
        converse(shell)
        return Status.OK
    return Status.ANSWER_IS_NO if run_script(shell, echo=options.echo) else Status.OK


COMMAND = Command(_Options, run, _DETAILS)
