"""What is shown of a command that takes minutes: one line, and all of it where it fails."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest
from tests.cli.transcripts import ROOT

from tools import in_one_line

if TYPE_CHECKING:
    from collections.abc import Sequence


def _printing(lines: Sequence[str], status: int) -> list[str]:
    return [sys.executable, "-c", f"import sys; print(*{list(lines)!r}, sep='\\n'); sys.exit({status})"]


def test_elsewhere_than_on_a_terminal_only_failures_are_shown(capfd: pytest.CaptureFixture[str]) -> None:
    assert in_one_line.run(_printing(["one", "two"], 0)) == 0
    assert capfd.readouterr() == ("", "")
    assert in_one_line.run(_printing(["one", "two"], 3)) == 3
    assert capfd.readouterr() == ("", "one\ntwo\n")


# A library that another test imported may have threads, which the child never needs.
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
def test_on_a_terminal_a_line_is_rewritten_and_cut() -> None:
    pexpect = pytest.importorskip("pexpect")
    command = [str(ROOT / "tools" / "in_one_line.py"), *_printing(["one", "x" * 100], 0)]
    around = {name: value for name, value in os.environ.items() if name not in {"LINES", "COLUMNS"}}
    with pexpect.spawn(sys.executable, command, env=around, dimensions=(24, 40), encoding="utf-8") as child:
        told = child.read()
        child.wait()
    assert child.exitstatus == 0
    assert told == "".join(f"\r\033[K{line}" for line in ("one", "x" * 39, ""))
