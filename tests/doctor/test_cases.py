"""Golden cases: a sheet and all that ``anygame check --info --all`` tells of it.

``cases/CODE/in.kif`` has what CODE is about, ``cases/CODE-near/in.kif`` something like it that is in order;
numbers tell several of one code apart. A first line ``; options: ...`` adds options.

After a change that is meant, write the expected output anew, and read the difference::

    python tests/doctor/test_cases.py
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from anygame.doctor import CODES
from anygame.doctor.codes import READING

HERE = Path(__file__).parent
CASES = sorted(path.parent for path in HERE.glob("cases/*/in.kif"))
#: Too large or too slow for a case.
ELSEWHERE = {"dead-rule", "limit-reached", "play-cut"}


def output_of(case: Path) -> str:
    from tests.cli.transcripts import run

    first = (case / "in.kif").read_text(encoding="utf-8").partition("\n")[0]
    more = first.removeprefix("; options: ").split() if first.startswith("; options: ") else []
    ignored = [] if case.name.startswith("no-declarations") else ["--ignore", "no-declarations"]
    played = [] if "--play" in more else ["--play", "0"]
    output, status = run(["check", "in.kif", "--info", "--all", *played, *ignored, *more])
    return f"{output}[exit status {status}]\n"


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_findings_of_each_case_are_as_recorded(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(case)
    output = output_of(case)
    assert output == (case / "expected.txt").read_text(encoding="utf-8")
    code = re.sub(r"(-near|-\d+)+$", "", case.name)
    if case.name != "broken":
        assert (f"[{code}]:" in output) == ("-near" not in case.name)


def test_every_check_has_a_case_and_a_near_miss() -> None:
    codes = CODES.keys() - {code.name for code in READING}  # those have cases where reading is tested
    names = {case.name for case in CASES}
    assert codes - ELSEWHERE <= names
    assert {f"{code}-near" for code in codes - ELSEWHERE} <= names


def rewrite() -> None:
    for case in CASES:
        os.chdir(case)
        (case / "expected.txt").write_text(output_of(case), encoding="utf-8")


if __name__ == "__main__":
    import sys

    sys.path.insert(0, str(HERE.parents[1]))
    rewrite()
