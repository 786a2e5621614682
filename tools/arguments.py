"""What the tools read from their command lines."""

from __future__ import annotations

import argparse
from contextlib import suppress

__all__ = ["some_seconds"]


def some_seconds(text: str) -> float:
    """Return a number of seconds above 0."""
    with suppress(ValueError):
        if 0 < float(text) < 100_000:
            return float(text)
    raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, found {text}")
