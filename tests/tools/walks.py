"""Which files of the package a call passes, in order: what the chapter on the architecture says is checked.

python -m tests.tools.walks
"""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from importlib import import_module
from inspect import CO_OPTIMIZED
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tests.protocol.loops import listening, run, say

import anygame
from anygame.players import LegalPlayer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import FrameType

_PACKAGE: Final = Path(anygame.__file__).parent
#: A game that nothing else loads, so that nothing of it is cached.
_SHEET: Final = """
(role left) (role right) (init (heap 3)) (succ 2 3) (succ 1 2) (succ 0 1)
(<= (legal ?r take) (role ?r)) (<= (legal ?r pass) (role ?r) (true (heap 2)))
(<= (next (heap ?n)) (does left take) (true (heap ?m)) (succ ?n ?m))
(<= (next (heap ?m)) (true (heap ?m)) (not (does left take)))
(<= terminal (true (heap 0))) (<= (goal ?r 50) (role ?r))
"""


@contextmanager
def _recorded(files: dict[str, int]) -> Iterator[None]:
    """Take down each file of the package when one of its functions is first entered, on any thread."""

    def enter(frame: FrameType, event: str, _: Any) -> None:
        # Modules and classes are executed when something is imported, which is no step of a call.
        if event == "call" and frame.f_code.co_flags & CO_OPTIMIZED:
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(_PACKAGE):
                files.setdefault(path.relative_to(_PACKAGE).as_posix(), threading.get_ident())

    threading.setprofile(enter)
    sys.setprofile(enter)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def _load(files: dict[str, int]) -> None:
    with _recorded(files):
        anygame.loads(_SHEET)


def _legal_moves(files: dict[str, int]) -> None:
    state = anygame.loads(_SHEET).initial_state()
    with _recorded(files):
        state.legal_moves("right")


def _simulate(files: dict[str, int]) -> None:
    # What is imported only now would call functions of its own.
    import_module("anygame.game.machines.network")
    game = anygame.loads(_SHEET)
    with _recorded(files):
        game.simulate(1000, seed=1)


def _start(files: dict[str, int]) -> None:
    async def exchange() -> None:
        # The server has threads from the beginning.
        with _recorded(files):
            async with listening(LegalPlayer) as (_, port):
                files.clear()
                assert await say(port, f"(START m left ({_SHEET}) 10 10)") == "ready"

    run(exchange)


#: By the call they begin with: the walks.
WALKS: Final[Mapping[str, Callable[[dict[str, int]], None]]] = {
    "load": _load,
    "legal_moves": _legal_moves,
    "simulate": _simulate,
    "START": _start,
}


def passed(walk: str) -> dict[str, int]:
    """Return the files of the package that a walk passes, as they are first entered, each with its thread."""
    files: dict[str, int] = {}
    WALKS[walk](files)
    return files


if __name__ == "__main__":
    for name in WALKS:
        print(name, *passed(name), sep="\n    ")
