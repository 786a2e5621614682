"""Compiling the search leaves the process as it is."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

#: As colorama is, as far as numba looks at it.
_COLORAMA = """
import sys
__version__ = "0.4.6"
class Fore: BLACK = RED = GREEN = YELLOW = BLUE = MAGENTA = CYAN = WHITE = ""
class Style: BRIGHT = RESET_ALL = ""
_first = None
def init(*arguments, **named):
    global _first
    _first = _first or sys.stdout
reinit = init
def deinit():
    sys.stdout = _first
"""
_PROGRAM = """
import io, sys
import anygame.search.tree.compiling
from numba.core.errors import termcolor
termcolor().errmsg("once")
sys.stdout, real = io.StringIO(), sys.stdout
redirected = sys.stdout
termcolor().errmsg("a failed attempt")
assert sys.stdout is redirected
"""


def test_messages_of_the_compiler_do_not_exchange_streams(tmp_path: Path) -> None:
    (tmp_path / "colorama.py").write_text(_COLORAMA)
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    subprocess.run([sys.executable, "-c", _PROGRAM], check=True, env=os.environ | {"PYTHONPATH": path})
