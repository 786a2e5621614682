"""Cached machine code of whole games, damaged piece by piece: answers stay, and code is made anew."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

import anygame
from anygame.native import cache as files

if TYPE_CHECKING:
    from collections.abc import Callable

_GAMES: Final = Path(__file__).parents[2] / "gdl"
_NAMES: Final = ("tic_tac_toe", "rock_paper_scissors")
#: Places of a file that are looked at besides its head: a prime number of steps, so that all bits of a byte
#: and all parts of an instruction have their turn.
_PLACES: Final = 509

posix = pytest.mark.skipif(sys.platform == "win32", reason="links need rights there that few have")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of cached code that has that of two games."""
    monkeypatch.setenv("ANYGAME_CACHE", str(tmp_path / "cache"))
    for name in _NAMES:
        _play(name)
    assert len(_files(tmp_path / "cache")) >= len(_NAMES)
    return tmp_path / "cache"


def _play(name: str) -> tuple[object, bool]:
    """Play a game as a new process would; return what came out, and whether its code was found."""
    game = anygame.load(_GAMES / f"{name}.kif", machine="network")
    assert game.compile()
    result = game.simulate(300, seed=7)
    assert result.machine == "network"
    return (result.states, result.lengths, dict(result.goal_counts)), game.has_cached_code


def _files(cache: Path) -> list[Path]:
    return sorted(path for path in cache.iterdir() if path.suffix == ".code")


def test_no_bit_can_change_unseen(cache: Path) -> None:
    for path in _files(cache):
        content = path.read_bytes()
        places = {*range(files._HEAD + 1), *range(0, len(content), max(1, len(content) // _PLACES))}
        looked_at = seen = 0
        for place in sorted(places & set(range(len(content)))):
            damaged = bytearray(content)
            damaged[place] ^= 1 << place % 8
            path.write_bytes(damaged)
            looked_at += 1
            seen += files.read_cached(path) is None
        assert seen == looked_at > files._HEAD
        path.write_bytes(content)
        assert files.read_cached(path) == content[files._HEAD :]


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 16
    path.write_bytes(content)


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _empty(path: Path) -> None:
    os.truncate(path, 0)


def _lengthen(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def _fold(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _link(path: Path) -> None:
    elsewhere = path.with_suffix(".elsewhere")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


@pytest.mark.parametrize("damage", [_flip, _cut, _empty, _lengthen, _fold, pytest.param(_link, marks=posix)])
def test_a_game_with_damaged_code_is_compiled_again(cache: Path, damage: Callable[[Path], None]) -> None:
    known = {name: _play(name) for name in _NAMES}
    assert all(found for _, found in known.values())
    for path in _files(cache):
        damage(path)
    for name in _NAMES:
        assert _play(name) == (known[name][0], False)
    assert {name: _play(name) for name in _NAMES} == known


def test_code_under_the_names_of_other_games_is_not_used(cache: Path) -> None:
    known = {name: _play(name) for name in _NAMES}
    paths = _files(cache)
    contents = [path.read_bytes() for path in paths]
    for path, content in zip(paths, [*contents[1:], contents[0]], strict=True):
        path.write_bytes(content)
    for name in _NAMES:
        assert _play(name) == (known[name][0], False)
    assert {name: _play(name) for name in _NAMES} == known
