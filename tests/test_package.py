"""The package as it is installed: its names, its version, its types."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import pytest

import anygame
from anygame import errors

ROOT = Path(__file__).parents[1]


def _as_people_sort(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def test_public_names_are_sorted_and_each_stands_once() -> None:
    assert anygame.__all__ == sorted(set(anygame.__all__), key=_as_people_sort)


def test_public_names_are_complete() -> None:
    found = {
        name
        for name, value in vars(anygame).items()
        if not name.startswith("_") and not isinstance(value, ModuleType) and name != "annotations"
    }
    assert found == set(anygame.__all__)


def test_every_error_is_public_and_has_one_root() -> None:
    assert set(errors.__all__) <= set(anygame.__all__)
    for name in errors.__all__:
        error = getattr(anygame, name)
        assert issubclass(error, anygame.AnygameError)
        assert error.__name__ == name
        assert name in (errors.__doc__ or "")


@pytest.mark.parametrize("name", anygame.__all__)
def test_public_names_say_what_they_are(name: str) -> None:
    assert getattr(anygame, name).__doc__


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert anygame.__version__ == project["version"] == version("anygame")


def _version() -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "anygame", "--version"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)


def test_the_command_tells_the_version() -> None:
    done = _version()
    assert (done.stdout + done.stderr).split() == ["anygame", anygame.__version__]


def test_the_version_goes_to_standard_output() -> None:
    assert _version().stdout.split() == ["anygame", anygame.__version__]


def test_the_package_is_typed() -> None:
    assert files("anygame").joinpath("py.typed").is_file()
    assert files("anygame").joinpath("language/grammar.lark").is_file()


def test_importing_brings_no_optional_package() -> None:
    code = "import sys, anygame; print(*sorted({'rich', 'prompt_toolkit', 'pytest'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == []
