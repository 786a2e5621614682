"""OpenSpiel, where it is installed: the only module that imports it."""

from __future__ import annotations

from typing import Any, Final

try:
    import pyspiel
except ImportError:
    pyspiel = None

__all__ = ["GameBase", "StateBase", "pyspiel"]

#: What games and states inherit from; without the library nobody can make one.
GameBase: Final[Any] = object if pyspiel is None else pyspiel.Game
StateBase: Final[Any] = object if pyspiel is None else pyspiel.State
