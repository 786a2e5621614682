"""The package as it is installed: its names, its version, its types."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import pytest

import anygame
from anygame import api, errors
from anygame.search.model import PACKAGED

ROOT = Path(__file__).parents[1]
SHEETS = sorted(path.stem for path in (ROOT / "gdl").glob("*.kif"))


def _as_people_sort(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def test_public_names_are_sorted_and_each_stands_once() -> None:
    assert anygame.__all__ == sorted(set(anygame.__all__), key=_as_people_sort)


def test_public_names_are_complete() -> None:
    found = {
        name
        for name, value in vars(api).items()
        if not name.startswith("_") and not isinstance(value, ModuleType) and name != "annotations"
    }
    assert found == set(anygame.__all__)
    assert found < set(dir(anygame))


def test_every_error_is_public_and_has_one_root() -> None:
    assert set(errors.__all__) <= set(anygame.__all__)
    for name in errors.__all__:
        error = getattr(anygame, name)
        assert issubclass(error, anygame.AnygameError)
        assert error.__name__ == name
        assert name in (errors.__doc__ or "")


@pytest.mark.parametrize("name", anygame.__all__)
def test_public_names_have_docstrings(name: str) -> None:
    assert getattr(anygame, name).__doc__


def test_an_unknown_name_raises_an_error_with_similar_names() -> None:
    command = [sys.executable, "-c", "import anygame; anygame.lod('pig')"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    said = done.stderr.splitlines()[-1]
    assert said.startswith("AttributeError: module 'anygame' has no attribute 'lod'. Did you mean")
    assert "load" in said


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


def test_games_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(anygame.games()) == SHEETS
    monkeypatch.chdir(tmp_path)
    game = anygame.load("tic_tac_toe")
    assert game.name == "tic_tac_toe"
    assert str(game) == str(anygame.load(ROOT / "gdl" / "tic_tac_toe.kif"))


def test_a_file_goes_before_a_game_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pig").write_text("(role mine)")
    assert anygame.load("pig").roles == ("mine",)


def test_a_name_that_is_neither_is_no_file() -> None:
    for name in ("no_such_game", "../gdl/pig", "pig.kif", "", "a\0b"):
        with pytest.raises(anygame.RuleSheetError, match="cannot read"):
            anygame.load(name)
    with pytest.raises(anygame.RuleSheetError, match=r"No such file or directory; did you mean copolymer\?"):
        anygame.load("copolimer")


@pytest.mark.slow
def test_a_source_distribution_has_all_that_a_checkout_has(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    command = [sys.executable, "setup.py", "--quiet", "egg_info", "--egg-base", str(tmp_path)]
    command += ["sdist", "--dist-dir", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, capture_output=True, timeout=300, check=True)
    with tarfile.open(tmp_path / f"anygame-{anygame.__version__}.tar.gz") as found:
        packed = {name.partition("/")[2] for name in found.getnames()}
    folders = ("docs", "gdl", "src", "tests", "tools")
    wanted = {path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()}
    left_out = re.compile(r"/(__pycache__|_site|\.cache|[^/]*\.egg-info)/|\.ll\.gz$")
    names = {path.relative_to(ROOT).as_posix() for path in wanted}
    assert {name for name in names if not left_out.search(f"/{name}")} <= packed
    assert {"CHANGELOG.md", "LICENSE", "Makefile", "README.md", "pyproject.toml", "setup.py"} <= packed
    assert not [name for name in packed if left_out.search(f"/{name}")]


def test_only_a_release_publishes_the_built_files() -> None:
    yaml = pytest.importorskip("yaml")
    text = (ROOT / ".github" / "workflows" / "publish.yml").read_text(encoding="utf-8")
    flow = yaml.load(text, yaml.BaseLoader)
    assert flow["on"] == {"release": {"types": ["published"]}}
    assert "make dist PYTHON=python" in [step.get("run") for step in flow["jobs"]["build"]["steps"]]
    publish = flow["jobs"]["publish"]
    assert publish["needs"] == "build"
    assert publish["permissions"] == {"id-token": "write"}
    assert "permissions" not in flow["jobs"]["build"]
    assert publish["steps"][-1] == {"uses": "pypa/gh-action-pypi-publish@release/v1"}
    assert not re.search(r"secrets|password|(?<!id-)token:", text)


@pytest.mark.slow
def test_an_installed_package_has_its_games_and_the_code_of_its_search(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    checkout, installed = tmp_path / "checkout", tmp_path / "installed"
    shutil.copytree(ROOT / "src" / "anygame", checkout / "src" / "anygame")
    shutil.copytree(ROOT / "gdl", checkout / "gdl")
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, checkout)
    # In builds of pip, what they require is found by this path alone, also by processes that they begin.
    required = tmp_path / "required"
    required.mkdir()
    # Paths that the environment of the build has already, as that of an editable install, are left out there.
    note = (
        "import os, sys\nwith open(os.environ['STARTED'], 'a') as file: print(sys.orig_argv, file=file)\n"
        "sys.path[:] = [path for path in sys.path if path not in os.environ['KNOWN'].split(':')]\n"
    )
    (required / "sitecustomize.py").write_text(note)
    started = tmp_path / "started.txt"
    build = [sys.executable, "setup.py", "--quiet", "build_py", "--build-lib", str(installed)]
    environment = os.environ | {
        "PYTHONPATH": str(required),
        "STARTED": str(started),
        "KNOWN": f"{installed}:{ROOT / 'src'}",
    }
    subprocess.run(build, cwd=checkout, env=environment, capture_output=True, timeout=600, check=True)
    assert "anygame.native.lowering" in started.read_text()
    shutil.rmtree(checkout)
    program = "from anygame.native import library; print(len(library._shipped('search')))"
    environment = os.environ | {"PYTHONPATH": str(installed)}
    told = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True)
    assert int(told.stdout) > 100_000
    assert sorted(path.stem for path in (installed / "anygame" / "gdl").iterdir()) == SHEETS
    models = installed.glob("anygame/search/models/*.npz")
    assert {path.name for path in models} == {path.name for path in PACKAGED.iterdir()}
    done = subprocess.run(
        [sys.executable, "-m", "anygame", "repl", "copolymer"],
        cwd=tmp_path,
        env=environment,
        input="roles\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.splitlines()[1] == "2  player2 (1 legal move)"


_INTERRUPTED = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, *_):
        if name == "anygame.cli.main":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
from anygame.__main__ import main
assert "numpy" not in sys.modules
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
def test_ctrl_c_ends_a_command_that_loads_without_a_word() -> None:
    done = subprocess.run([sys.executable, "-c", _INTERRUPTED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
