"""Interrupts: a request to end is as good as Ctrl-C, so that players are always told."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ending_gently"]


@contextmanager
def ending_gently() -> Iterator[None]:
    """Take SIGTERM, as `kill` and service managers send it, for Ctrl-C."""
    if current_thread() is not main_thread():
        yield
        return
    former = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)
