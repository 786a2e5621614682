"""Compiling the search leaves the process as it is, and what was compiled is found again."""

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


_DOUBLING = """
from anygame.search.tree.compiling import compiled
@compiled
def double(number):
    return 2 * number
print(double(21), sum(double.stats.cache_hits.values()))
"""


def _doubled(folder: Path) -> list[str]:
    environment = os.environ | {"ANYGAME_CACHE": str(folder)}
    command = [sys.executable, "-c", _DOUBLING]
    return subprocess.run(command, check=True, env=environment, capture_output=True, text=True).stdout.split()


def test_code_is_found_again_and_made_anew_where_it_cannot_be_read(tmp_path: Path) -> None:
    assert _doubled(tmp_path) == ["42", "0"]
    assert _doubled(tmp_path) == ["42", "1"]
    for path in tmp_path.rglob("*.nbi"):
        path.write_bytes(path.read_bytes()[:-20])
    assert _doubled(tmp_path) == ["42", "0"]
    assert _doubled(tmp_path) == ["42", "1"]


def test_code_of_the_last_versions_alone_is_kept(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    kept = tmp_path / "search"
    kept.mkdir(mode=0o700)
    for number in range(6):
        (kept / f"version{number}").mkdir()
        (kept / f"version{number}" / "code.nbc").write_bytes(b"code")
        os.utime(kept / f"version{number}", (number, number))
    assert _doubled(tmp_path) == ["42", "0"]
    others = {path.name for path in kept.iterdir() if path.name.startswith("version")}
    assert others == {"version3", "version4", "version5"}
