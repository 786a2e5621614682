"""Argument types that the tools share."""

from __future__ import annotations

import argparse
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def some_seconds(text: str) -> float:
    """Return a number of seconds above 0."""
    with suppress(ValueError):
        if 0 < float(text) < 100_000:
            return float(text)
    raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, found {text}")


def some_count(text: str) -> int:
    """Return a whole number from 1 to 10000."""
    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= 10_000):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to 10000, found {text}")
    return int(text)


def sheet_paths(paths: Sequence[Path], tool: str) -> list[Path]:
    """Return the sheets among some paths, and all sheets in the folders among the paths.

    Raises:
        SystemExit: a path does not exist, or a folder contains no sheet.
    """
    found = []
    for path in paths:
        if path.is_dir():
            inside = sorted(path.glob("*.kif"))
            if not inside:
                raise SystemExit(f"{tool}: there are no sheets (*.kif) in the folder {path}")
            found += inside
        elif path.is_file():
            found.append(path)
        else:
            raise SystemExit(f"{tool}: there is no file or folder {path}")
    return list(dict.fromkeys(found))
