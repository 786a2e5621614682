"""The entry point of the ``anygame`` command and of ``python -m anygame``."""

from __future__ import annotations

# Ctrl-C prints a traceback until `main` begins, and importing `signal` takes longer than `_signal`.
import _signal as signal  # type: ignore[import-not-found]
import os
import sys

_INTERRUPTED = 130


def main() -> int:
    """Run the command line; return the exit status.

    Ctrl-C raises KeyboardInterrupt only while a command runs. During imports and at the end, Ctrl-C ends the
    process at once. If the parent process made this process ignore Ctrl-C, the process still ignores it.
    """
    is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heard:
        signal.signal(signal.SIGINT, _exit)
    from anygame.cli.main import main as run

    try:
        if is_heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return run()
    except KeyboardInterrupt:
        return _INTERRUPTED
    finally:
        if is_heard:
            signal.signal(signal.SIGINT, _exit)


def _exit(*_: object) -> None:
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
