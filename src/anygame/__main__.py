"""``python -m anygame`` is the ``anygame`` command, which begins here."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Run the command line; return the exit status."""
    # Ctrl-C ends a process that does nothing yet but load, without a word. Who ignores it goes on with that.
    is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heard:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from anygame.cli.main import main as run

    if is_heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return run()


if __name__ == "__main__":
    sys.exit(main())
