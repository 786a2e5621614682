from __future__ import annotations

import re

import pytest
from tests.cli.transcripts import ROOT, run
from tests.tools.chapters import sheets
from tests.tools.walks import WALKS, passed

from anygame.datalog.reasoner import Reasoner
from anygame.language.parser import parse_program
from anygame.network.compiled import compile_game
from anygame.network.kernels.kernel import build_kernel

_TEXT = (ROOT / "docs" / "develop" / "architecture.md").read_text(encoding="utf-8")
_FILE = re.compile(r"^\| `([\w/]+\.py)` \|", re.MULTILINE)


def _told(walk: str) -> list[str]:
    """Return the files of a walk, as the chapter has them."""
    found = re.search(rf"^### `{walk}`.*?(?=^##)", _TEXT, re.MULTILINE | re.DOTALL)
    assert found, f"there is no walk of {walk}"
    return _FILE.findall(found[0])


@pytest.mark.slow
@pytest.mark.parametrize("walk", WALKS)
def test_walks_pass_the_files_in_their_order(walk: str) -> None:
    files = passed(walk)
    told = _told(walk)
    assert len(told) >= 3
    assert [path for path in told if path not in files] == [], files
    # What threads do side by side has no order.
    for thread in set(files.values()):
        of_thread = [path for path in files if files[path] == thread and path in told]
        assert of_thread == [path for path in told if path in of_thread], files


def test_every_stage_has_its_line() -> None:
    folders = {path.parent.name for path in (ROOT / "src" / "anygame").glob("*/__init__.py")}
    assert set(re.findall(r"^\| `src/anygame/(\w+)/`", _TEXT, re.MULTILINE)) == folders


def _shown(language: str) -> str:
    """Return the only block of code in a language."""
    (code,) = re.findall(rf"^```{language}\n(.*?)^```$", _TEXT, re.MULTILINE | re.DOTALL)
    return str(code)


def test_the_code_that_is_shown_is_written() -> None:
    sheet = sheets(_TEXT)["lamps.kif"]
    plan, status = run(["explain", "-", "--plan"], sheet)
    assert status == 0
    assert _shown("py") in plan
    kernel = build_kernel(compile_game(Reasoner(parse_program(sheet))).network)
    written = kernel.code.splitlines()
    assert [line for line in _shown("llvm").splitlines() if line not in written] == []
