"""The memory of a tree."""

from __future__ import annotations

import errno
import re
import sys
from pathlib import Path

import pytest

from anygame.search.tree.store import make_store

_MAPPINGS = Path("/proc/self/smaps")


def _flags_at(address: int) -> list[str]:
    """Return the flags of the mapping in which an address lies."""
    inside = False
    for line in _MAPPINGS.read_text().splitlines():
        if found := re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line):
            inside = int(found[1], 16) <= address < int(found[2], 16)
        elif inside and line.startswith("VmFlags:"):
            return line.split()[1:]
    return []


@pytest.mark.skipif(not _MAPPINGS.exists(), reason="only Linux tells how memory is mapped")
@pytest.mark.skipif(
    not Path("/sys/kernel/mm/transparent_hugepage").exists(), reason="this kernel has no huge pages"
)
def test_memory_has_pages_of_the_usual_size() -> None:
    store = make_store(words=3, roles=2, memory=256 << 20)
    for array in store.states, store.tries, store.child, store.slots:
        flags = _flags_at(array.ctypes.data)
        assert "nh" in flags, flags
        assert not array.any()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere memory comes from numpy")
def test_memory_begins_with_a_cache_line() -> None:
    store = make_store(words=1, roles=3, memory=16 << 20)
    assert store.sums.ctypes.data % 64 == 0
    assert store.action.ctypes.data % 64 == 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere memory comes from numpy")
def test_missing_memory_raises_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr("mmap.mmap", refuse)
    with pytest.raises(MemoryError, match=r"[\d,]+ bytes for the search tree: .*Cannot allocate memory"):
        make_store(words=1, roles=2, memory=16 << 20)


def test_residues_share_memory_with_an_unused_bound() -> None:
    store = make_store(words=1, roles=2, memory=16 << 20)
    assert store.residue.ctypes.data == store.option_low.ctypes.data
    assert store.residue.strides == store.option_low.strides == (32,)
