"""Calling what the libraries test environments with: it prints, and warns of what is a matter of taste."""

from __future__ import annotations

import io
import warnings
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any

import pytest

import anygame

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


@contextmanager
def quietly() -> Iterator[None]:
    """Let a library print and warn: of names without numbers, spaces that are no boxes, and the like."""
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def quick_and_long(quick: Collection[str]) -> list[Any]:
    """Return the games that come with the package, all but some of them marked ``long``."""
    others = sorted(set(anygame.games()) - set(quick))
    return [*sorted(quick), *(pytest.param(name, marks=pytest.mark.long) for name in others)]
