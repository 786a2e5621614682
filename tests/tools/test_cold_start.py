from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from tools.cold_start import alternate, import_times, main, seconds

SHEET = Path(__file__).parents[2] / "gdl" / "tic_tac_toe.kif"


def test_prints_both_times_and_their_ratio(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(SHEET), "--runs", "1"]) == 0
    shown = capsys.readouterr().out
    base, first = (int(n) for n in re.findall(r"(\d+) ms", shown)[1:3])
    ratio = re.search(r"ratio +([\d.]+)\n$", shown)
    assert ratio
    assert float(ratio[1]) == pytest.approx(first / base, rel=0.05)


def test_waits_for_each_command() -> None:
    quick, slow = alternate(
        [[sys.executable, "-c", ""], [sys.executable, "-c", "import time; time.sleep(0.5)"]], 1
    )
    assert quick < slow
    assert slow >= 0.5


def test_a_failing_command_raises_an_error() -> None:
    with pytest.raises(SystemExit, match="no such thing"):
        seconds([sys.executable, "-c", "raise SystemExit('no such thing')"])


def test_imports_are_counted_by_package() -> None:
    found = {package: count for package, count, _ in import_times([sys.executable, "-c", "import json"])}
    assert 3 <= found["json"] <= 6
