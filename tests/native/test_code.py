"""Machine code is cached between processes, and what was cached is never trusted blindly."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from anygame.native import cache as files
from anygame.native import code as native
from anygame.native.cache import cache_folder
from anygame.native.code import compile_library, find_library
from anygame.network.kernels.function import ONES, ZERO, FunctionBuilder
from anygame.network.kernels.target import PROCESSOR

if TYPE_CHECKING:
    from anygame.native.code import Library

posix = pytest.mark.skipif(sys.platform == "win32", reason="owners and modes of files are those of POSIX")
_SIGNATURE = {"answer": (ctypes.c_int64,)}


def code(answer: int) -> str:
    return f"define i64 @answer() {{\n  ret i64 {answer}\n}}\n"


def build(answer: int, cache: Path) -> Library:
    library = compile_library(code(answer), _SIGNATURE, cache)
    assert library["answer"]() == answer
    return library


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def cached_files(cache: Path) -> list[Path]:
    return sorted(path for path in cache.iterdir() if path.suffix == ".code")


def test_code_is_found_again(cache: Path) -> None:
    assert not build(1, cache).cached
    assert build(1, cache).cached
    assert not build(2, cache).cached
    assert len(cached_files(cache)) == 2
    assert len(list(cache.iterdir())) == 2  # nothing half written is left behind


def test_code_that_several_games_call_is_compiled_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    make = native.make_image

    def noted(code: str, key: str = "", cache: Path | None = None) -> bytes:
        made.append(code)
        return make(code, key, cache)

    monkeypatch.setattr(native, "make_image", noted)
    twice = "define i64 @twice(i64 %x) {\n  %y = add i64 %x, %x\n  ret i64 %y\n}\n"
    for number in (4, 5, 5):
        call = f"  %y = call i64 @twice(i64 {number})\n  ret i64 %y\n"
        own = f"declare i64 @twice(i64)\ndefine i64 @answer() {{\n{call}}}\n"
        library = compile_library(own, _SIGNATURE, cache, shared=[twice])
        assert library["answer"]() == 2 * number
    assert [code == twice for code in made] == [False, True, False]
    native._shared_image.cache_clear()  # as in another process
    assert compile_library(own, _SIGNATURE, cache, shared=[twice]).cached
    assert len(made) == 3
    assert not compile_library(own, _SIGNATURE, cache.parent / "other", shared=[twice], keep=False).cached
    assert len(cached_files(cache.parent / "other")) == 1


def test_another_processor_gets_other_code(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(1, cache)
    llvm, target = native._llvm()
    monkeypatch.setattr(native, "_llvm", lambda: (llvm, target + "other"))
    assert not build(1, cache).cached


@pytest.mark.parametrize("damage", ["short", "empty", "flipped", "foreign"])
def test_damaged_cached_code_is_compiled_again(cache: Path, damage: str) -> None:
    build(7, cache)
    (path,) = cached_files(cache)
    content = path.read_bytes()
    flipped = content[:-100] + bytes([content[-100] ^ 1]) + content[-99:]
    damaged = {"short": content[:-1], "empty": b"", "flipped": flipped, "foreign": b"x" * 500}
    path.write_bytes(damaged[damage])
    assert not build(7, cache).cached
    assert build(7, cache).cached


@posix
@pytest.mark.parametrize("shared", ["file", "folder"])
def test_code_that_other_users_can_write_is_not_loaded(cache: Path, shared: str) -> None:
    build(7, cache)
    (path,) = cached_files(cache)
    (path if shared == "file" else cache).chmod(0o777)
    assert not build(7, cache).cached
    (path if shared == "file" else cache).chmod(0o700)


def test_a_file_under_the_key_of_another_is_not_loaded(cache: Path) -> None:
    build(1, cache)
    (first,) = cached_files(cache)
    build(2, cache)
    (second,) = set(cached_files(cache)) - {first}
    one, other = first.read_bytes(), second.read_bytes()
    first.write_bytes(other)
    second.write_bytes(one)
    for answer in (1, 2):
        assert find_library(code(answer), _SIGNATURE, cache) is None
        assert not build(answer, cache).cached
        assert build(answer, cache).cached


def test_an_empty_image_is_not_loaded(cache: Path) -> None:
    build(7, cache)
    (path,) = cached_files(cache)
    path.write_bytes(files._MAGIC + files._digest(path, b""))
    assert not build(7, cache).cached
    assert build(7, cache).cached


@posix
@pytest.mark.parametrize("thing", ["link", "loop", "device", "pipe", "folder", "sparse"])
def test_pipes_and_folders_in_the_cache_are_not_read(cache: Path, tmp_path: Path, thing: str) -> None:
    build(7, cache)
    (path,) = cached_files(cache)
    path.rename(tmp_path / "elsewhere")
    if thing == "pipe":
        os.mkfifo(path, 0o600)
    elif thing == "folder":
        path.mkdir(0o700)
    elif thing == "sparse":
        with path.open("wb") as file:
            file.truncate(20 << 30)
        path.chmod(0o600)
    else:
        targets = {"link": tmp_path / "elsewhere", "loop": path, "device": Path("/dev/zero")}
        path.symlink_to(targets[thing])
    assert find_library(code(7), _SIGNATURE, cache) is None
    assert not build(7, cache).cached
    assert build(7, cache).cached  # it has been replaced


@posix
def test_a_folder_with_something_in_it_is_left_alone(cache: Path) -> None:
    build(7, cache)
    (path,) = cached_files(cache)
    path.unlink()
    (path / "mine").mkdir(parents=True)
    assert not build(7, cache).cached
    assert not build(7, cache).cached
    assert (path / "mine").is_dir()
    assert [entry for entry in cache.iterdir() if entry != path] == []


def test_a_cache_that_cannot_be_is_no_harm(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not build(3, tmp_path / "file").cached
    assert not build(3, tmp_path / "file" / "below").cached


def test_the_cache_is_bounded(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(0, cache)
    (first,) = cached_files(cache)
    monkeypatch.setattr(files, "CACHE_BYTES", 3 * first.stat().st_size + 100)
    for answer in range(1, 4):
        os.utime(first, (answer, answer))  # long ago
        build(answer, cache)
    assert len(cached_files(cache)) == 3
    assert not first.exists()
    assert build(3, cache).cached


def test_the_cache_folder_depends_on_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANYGAME_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.setenv("ANYGAME_CACHE", "")
    assert cache_folder() is None
    monkeypatch.delenv("ANYGAME_CACHE")
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert cache_folder() == tmp_path / "local" / "anygame"
    monkeypatch.delenv("LOCALAPPDATA")
    assert cache_folder() is None
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "anygame"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() is None
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "anygame"


def test_nothing_is_cached_where_that_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYGAME_CACHE", "")
    for _ in range(2):
        assert not compile_library(code(5), _SIGNATURE).cached


def test_the_compiler_is_imported_when_it_is_needed() -> None:
    """Making a simulator is free of it; the first playout is not."""
    script = (
        "import sys, tests.network.networks as n\n"
        "from anygame.network.kernels.kernel import build_kernel\n"
        "from anygame.network.simulator import Simulator\n"
        "simulator = Simulator(build_kernel(n.countdown(2, 2)))\n"
        "assert 'llvmlite' not in sys.modules\n"
        "from anygame.playouts import PlayoutRequest\n"
        "simulator.run(PlayoutRequest(1))\n"
        "assert 'llvmlite' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).parents[2])


def test_constants_are_folded() -> None:
    code = FunctionBuilder("folded", PROCESSOR)
    a, b = code.load(1), code.load(2)
    before = code.text()
    assert code.and_(a, ZERO) == code.and_(ZERO, a) == code.xor(a, a) == code.not_(ONES) == ZERO
    assert code.or_(a, ONES) == code.not_(ZERO) == code.all([]) == ONES
    assert code.and_(a, ONES) == code.or_(a, ZERO) == code.xor(ZERO, a) == code.and_(a, a) == a
    assert code.any([]) == code.load(0) == ZERO
    assert code.mux(b, a, a) == a
    assert code.majority(a, ZERO, ZERO) == ZERO
    assert code.text() == before
    assert code.not_(code.not_(a)) == a
    assert code.xor(a, ONES) == code.not_(a)
