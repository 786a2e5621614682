"""The ``repl`` command: reads lines from a terminal or a script, and lets a `Shell` execute them."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anygame.cli.machines import game_of
from anygame.cli.output import Screen, complain
from anygame.cli.session import Session
from anygame.cli.shell import Shell
from anygame.errors import AnygameError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

__all__ = ["repl"]

_OK: Final = 0
_EXTRA: Final = "for completion, history and colours: pip install 'anygame[terminal]'"


def repl(options: Namespace) -> int:
    """Play a game: with a prompt on a terminal, else as a script of commands."""
    if options.file == "-":
        raise AnygameError("the REPL reads commands from standard input; give the rule sheet as a file")
    game = game_of(options)
    screen = Screen()
    shell = Shell(Session(game, options.seed), screen)
    if sys.stdin.isatty() and screen.is_terminal:
        _converse(shell, screen)
    else:
        _run_script(shell, echo=options.echo)
    return _OK


def _run_script(shell: Shell, *, echo: bool) -> None:
    """Execute the lines of standard input; what fails is reported with its line, and the next one follows."""
    sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
    for number, line in enumerate(sys.stdin, start=1):
        if echo:
            print(f"> {line.rstrip()}")
        try:
            if not shell.execute(line):
                return
        except AnygameError as error:
            if echo:
                print(f"error: {error}")
            else:
                complain(f"line {number}: {error}")


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
        from anygame.cli.prompt import Prompt
    except ImportError:
        with suppress(ImportError):
            import readline  # noqa: F401

        return lambda: input(shell.prompt), f"\n({_EXTRA})"
    return Prompt(shell).ask, " Tab completes."
