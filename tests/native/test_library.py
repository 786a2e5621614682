"""Native code of a room: shipped with the package, else lowered; cached, and checked before it is loaded."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import anygame
from anygame.native import cache, library
from anygame.native.code import find_library
from anygame.native.marking import native_code
from anygame.search import Search

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def text() -> str:
    """What numba makes of the sources."""
    return library._shipped("search") or library._lowered("search")


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """An empty cache, and no code in this process; nothing came with the package."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("ANYGAME_CACHE", str(folder))
    monkeypatch.setattr(library, "text_of", lambda room: tmp_path / f"{room}.ll.gz")
    native_code.cache_clear()
    yield folder
    native_code.cache_clear()


def _counting(monkeypatch: pytest.MonkeyPatch, text: str) -> list[str]:
    """Have the text at hand in place of lowering, and count how often it is asked for."""
    asked: list[str] = []

    def lowered(_: str) -> str:
        asked.append("lowered")
        return text

    monkeypatch.setattr(library, "_lowered", lowered)
    return asked


def _works() -> bool:
    return len(native_code("search").functions) > 10 and native_code("search") is native_code("search")


@pytest.mark.slow
def test_code_is_cached(monkeypatch: pytest.MonkeyPatch, fresh: Path, text: str) -> None:
    asked = _counting(monkeypatch, text)
    for _ in range(2):
        assert _works()
        native_code.cache_clear()
    assert asked == ["lowered"]


def _flipped(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :]


@pytest.mark.slow
def test_damaged_code_is_compiled_again(monkeypatch: pytest.MonkeyPatch, fresh: Path, text: str) -> None:
    asked = _counting(monkeypatch, text)
    assert _works()
    (path,) = fresh.glob("*.code")
    whole = path.read_bytes()
    places = [*range(60), *range(60, len(whole), len(whole) // 200)]
    other = cache._MAGIC + cache._digest(path.with_stem("0" * 64), b"other") + b"other"
    for broken in [*(_flipped(whole, place) for place in places), whole[:-20], b"", other]:
        path.write_bytes(broken)
        assert find_library(f"search {library.digest_of('search')}", {}) is None
    native_code.cache_clear()
    assert _works()
    assert asked == ["lowered"] * 2
    assert path.read_bytes() == whole


@pytest.mark.slow
def test_the_code_of_a_game_in_its_place_is_not_run(
    monkeypatch: pytest.MonkeyPatch, fresh: Path, text: str
) -> None:
    asked = _counting(monkeypatch, text)
    assert _works()
    (path,) = fresh.glob("*.code")
    anygame.load("tic_tac_toe").simulate(600, seed=1)
    others = [each for each in fresh.glob("*.code") if each != path]
    assert others
    path.write_bytes(others[0].read_bytes())
    native_code.cache_clear()
    assert _works()
    assert asked == ["lowered"] * 2


@pytest.mark.slow
def test_a_package_brings_its_text(monkeypatch: pytest.MonkeyPatch, fresh: Path, text: str) -> None:
    asked = _counting(monkeypatch, text)
    library.ship("search")
    asked.clear()
    assert _works()
    assert not asked


def test_a_text_that_is_broken_or_of_other_sources_is_not_taken(
    monkeypatch: pytest.MonkeyPatch, fresh: Path, text: str
) -> None:
    _counting(monkeypatch, text)
    library.ship("search")
    whole = library.text_of("search").read_bytes()
    other = gzip.compress(gzip.decompress(whole).replace(b"; ", b"; 0", 1))
    for broken in [whole[:-10], *(_flipped(whole, place) for place in (3, 40, 9000)), b"no archive", other]:
        library.text_of("search").write_bytes(broken)
        assert library._shipped("search") is None
    library.text_of("search").write_bytes(whole)
    assert library._shipped("search") == text


@pytest.mark.slow
def test_shipped_code_that_llvm_cannot_read_is_generated_again(
    monkeypatch: pytest.MonkeyPatch, fresh: Path, text: str
) -> None:
    asked = _counting(monkeypatch, text)
    monkeypatch.setattr(library, "_shipped", lambda _: text.replace("define", "refine", 1))
    assert _works()
    assert asked == ["lowered"]


def test_the_text_suits_every_machine(text: str) -> None:
    assert "target " not in text
    assert "inttoptr (i64 1" not in text  # no address of the process that made it
    declared = set(re.findall(r'^declare .*@"?([\w.]+)', text, re.MULTILINE))
    assert {name for name in declared if not name.startswith("llvm.")} <= {"sqrt", "sqrtf"}


def test_numba_is_not_imported_by_those_who_search() -> None:
    program = (
        "import sys, anygame\n"
        "from anygame.search import Search\n"
        "Search(anygame.load('tic_tac_toe'), seed=1).run(iterations=500)\n"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_search_that_cannot_be_compiled_warns_and_continues(
    monkeypatch: pytest.MonkeyPatch, fresh: Path
) -> None:
    def lowered(_: str) -> str:
        raise RuntimeError("the search cannot be compiled: no numba")

    monkeypatch.setattr(library, "_lowered", lowered)
    game = anygame.load("tic_tac_toe")
    search = Search(game, seed=1)
    with pytest.warns(anygame.FallbackWarning, match=r"tic_tac_toe: the search is slow: .* no numba"):
        found = search.run(iterations=50)
    assert found.engine == "states"
    assert "no numba" in str(search.fallback)
    assert found.to_json()["fallback"] == str(search.fallback)


def test_errors_say_why_there_is_no_native_code(monkeypatch: pytest.MonkeyPatch, fresh: Path) -> None:
    def lowered(_: str) -> str:
        raise RuntimeError("the search cannot be compiled: no numba")

    monkeypatch.setattr(library, "_lowered", lowered)
    with pytest.raises(anygame.CompilationError, match=r"no numba; .* pip install 'anygame\[lower\]'"):
        anygame.solve(anygame.load("copolymer"), seconds=60)


@pytest.mark.parametrize("program", ["import sys; sys.exit(3)", "raise ImportError('no numba here')"])
def test_errors_of_the_lowering_process_are_reported(
    monkeypatch: pytest.MonkeyPatch, fresh: Path, tmp_path: Path, program: str
) -> None:
    real = subprocess.run

    def run(command: list[str], **rest: Any) -> Any:
        return real([command[0], "-c", program], **rest)

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(
        anygame.CompilationError, match=r"cannot be compiled: (status 3|ImportError: no numba)"
    ):
        library._lowered("search")
