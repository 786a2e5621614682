"""Python's collector of garbage, kept out of the way while a large sheet is read or compiled."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def collector_paused() -> Iterator[None]:
    """Let the collector look for no cycles meanwhile.

    While a sheet becomes objects, or these become gates, it would go through all of them again and again, and
    nearly all of them stay: of a sheet of a million facts it takes as long as the reading.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
