"""What stands in the README is what type checkers of its readers see."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.cli.transcripts import ROOT
from tests.tools.chapters import README

if TYPE_CHECKING:
    from pathlib import Path

_PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def _faults(program: str, folder: Path) -> str:
    """Return what mypy, as strict as can be, says of a program."""
    path = folder / "program.py"
    path.write_text(program, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.slow
def test_the_lines_of_the_readme_pass_strict_type_checks(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    lines = "".join(_PYTHON.findall(README.read_text(encoding="utf-8")))
    assert "mean_goals" in lines
    assert _faults(lines, tmp_path) == ""
    assert "has no attribute" in _faults(f"{lines}\nresult.no_such_thing\n", tmp_path)
