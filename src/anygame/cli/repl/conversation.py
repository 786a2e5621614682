"""Input for a `Shell`, typed by a person at a terminal or read from a script."""

from __future__ import annotations

import sys
from contextlib import suppress
from io import TextIOWrapper
from itertools import count
from typing import TYPE_CHECKING, Final

from anygame.cli.output import complain
from anygame.errors import AnygameError

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.cli.output import Screen
    from anygame.cli.repl.shell import Shell

_EXTRA: Final = "for completion, history and colours: pip install 'anygame[terminal]'"
#: Maximum number of characters of a line, far more than joint moves and questions have.
_LONGEST_LINE: Final = 2**20


def is_conversation(screen: Screen) -> bool:
    """Return whether both standard input and the screen are terminals."""
    return screen.is_terminal and sys.stdin.isatty()


def run_script(shell: Shell, *, echo: bool) -> int:
    """Execute the lines of standard input, report failures, and return the number of failed lines."""
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    failed = 0
    for number in count(1):
        line = sys.stdin.readline(_LONGEST_LINE + 1)
        if not line:
            break
        if len(line) > _LONGEST_LINE:
            raise AnygameError(
                f"line {number} of the script has more than {_LONGEST_LINE:,} characters, which is the limit"
            )
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


def converse(shell: Shell) -> None:
    """Execute the lines that a person types until `quit` or Ctrl-D. Ctrl-C ends only the running command."""
    screen = shell.screen
    ask, hint = _asker(shell)
    shell.greet(hint)
    while True:
        try:
            if not shell.execute(ask()):
                return
        except AnygameError as error:
            screen.say(error, "red")
        except KeyboardInterrupt:
            screen.say("interrupted; Ctrl-D or `quit` leaves the prompt", "red")
        except EOFError:
            screen.say()
            return


def _asker(shell: Shell) -> tuple[Callable[[], str], str]:
    try:
        from anygame.cli.repl.prompt import Prompt
    except ImportError:
        with suppress(ImportError):
            import readline  # noqa: F401

        return lambda: input(shell.prompt), f"\n({_EXTRA})"
    return Prompt(shell).ask, " Tab completes."
