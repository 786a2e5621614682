"""The command that runs another interpreter like this one."""

from __future__ import annotations

import json
import sys


def python_command(program: str, *arguments: str) -> list[str]:
    """Return the command that runs a program of Python; its first argument is ``sys.path`` as JSON.

    Raises:
        OSError: this is no interpreter that could be started again.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        raise OSError("there is no interpreter to start")
    return [sys.executable, "-c", program, json.dumps(sys.path), *arguments]
