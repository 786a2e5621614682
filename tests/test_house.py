"""How large the house is, and where the test of each of its modules stands."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

import pytest

import anygame

_SOURCES: Final = Path(anygame.__file__).parent
_TESTS: Final = Path(__file__).parent
#: Lines of src. It is lowered with each cut, and raised only with a reason in the commit.
_MOST_LINES: Final = 85716
_ROW: Final = re.compile(r"^\| (`[^|]+`) \| ([^|]+) \|$", re.MULTILINE)
_NAMED: Final = re.compile(r"`([^`]+)`")

_MODULES: Final = sorted(path.relative_to(_SOURCES).as_posix() for path in _SOURCES.rglob("*.py"))
_TABLE: Final = {
    pattern: _NAMED.findall(tests)
    for patterns, tests in _ROW.findall((_TESTS / "README.md").read_text(encoding="utf-8"))
    for pattern in _NAMED.findall(patterns)
}


def test_the_house_does_not_grow() -> None:
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in _SOURCES.rglob("*.py"))
    assert lines <= _MOST_LINES, "cut as much as is added, or raise the number and say why"
    assert lines > _MOST_LINES - 1000, "lower the number, so that what was cut stays cut"


def test_every_module_has_a_test_by_its_name_or_in_the_table() -> None:
    by_name = {path.stem.removeprefix("test_") for path in _TESTS.rglob("test_*.py")}
    left = [
        module
        for module in _MODULES
        if Path(module).stem not in by_name and not any(_covers(pattern, module) for pattern in _TABLE)
    ]
    assert left == []


@pytest.mark.parametrize("pattern", _TABLE)
def test_the_table_names_existing_files(pattern: str) -> None:
    assert any(_covers(pattern, module) for module in _MODULES)
    for test in _TABLE[pattern]:
        assert (_TESTS / test).is_file() or test.startswith("anygame "), test


def _covers(pattern: str, module: str) -> bool:
    folder = Path(pattern).parent.as_posix()
    return fnmatch(module, pattern) and (folder != "." or "/" not in module)
