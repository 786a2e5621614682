"""What native code can do beyond Python: call a game's machine code, and ask for memory ahead.

Python refuses the former, and does nothing for the latter.
"""

from __future__ import annotations

from typing import Any


def call(function: int, rows: int, data: int) -> None:
    """Call ``void f(ptr rows, ptr data)``, all three given as addresses."""
    raise TypeError("native code alone calls an address")


def call_refusing(function: int, rows: int, data: int) -> bool:
    """Call ``i1 f(ptr rows, ptr data)``, all three given as addresses."""
    raise TypeError("native code alone calls an address")


def prefetch(array: Any, index: int) -> None:
    """Ask for the cache line of an element of an array, or of the first one of a row, without waiting.

    What is not in the caches may take as long to come as hundreds of steps.
    """
