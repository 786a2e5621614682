"""The ``anygame`` command: runs what the arguments ask for, and says what becomes of errors.

Exit status: 0 done; 1 ``query`` found nothing; 2 bad input, with the reason on standard error; 130 ended by
Ctrl-C; 141 nobody reads the output any more.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, Final

from anygame.cli.arguments import parser
from anygame.cli.machines import notices
from anygame.cli.output import complain
from anygame.errors import AnygameError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence

__all__ = ["main"]

_BAD_INPUT: Final = 2
_INTERRUPTED: Final = 130
_BROKEN_PIPE: Final = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status.

    Args:
        arguments: those after the program's name; by default those of the process.
    """
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    options = parser().parse_args(arguments)
    try:
        with notices():
            status = _command(options.command)(options)
        sys.stdout.flush()
    except AnygameError as error:
        complain(error)
        return _BAD_INPUT
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # The interpreter flushes standard output once more at its end, and that must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    return status


def _command(name: str) -> Callable[[Namespace], int]:
    """Import a command only now, so that ``--help`` and ``--version`` wait for nothing."""
    module, _, function = name.partition(":")
    command: Callable[[Namespace], int] = getattr(import_module(f"anygame.cli.{module}"), function)
    return command
