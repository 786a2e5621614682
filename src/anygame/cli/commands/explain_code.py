"""The ``explain-code`` command: what a code of a diagnostic means."""

from __future__ import annotations

from anygame.cli.diagnostic_codes import known_code
from anygame.cli.options import Command, Status, argument, command_options
from anygame.doctor import CODES


@command_options
class Options:
    """What ``anygame explain-code`` is asked."""

    code: str | None = argument("CODE", nargs="?", help="without it, all codes are listed")


def run(options: Options) -> int:
    """Print what a code means, or all codes."""
    if options.code is None:
        width = max(map(len, CODES))
        for code in sorted(CODES):
            print(f"{code:{width}}  {CODES[code].title}")
        return Status.OK
    print(CODES[known_code(options.code)].text)
    return Status.OK


COMMAND = Command(Options, run, "It says what the rule is, why GDL has it, and gives examples.\n")
