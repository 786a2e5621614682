"""Libraries that are extras: what to say where one is missing."""

from __future__ import annotations

from anygame.errors import MissingExtraError


def missing(library: str, extra: str) -> MissingExtraError:
    """Return the error for a library that is not installed, which names the extra that has it.

    >>> str(missing("pettingzoo", "pettingzoo"))
    "this needs pettingzoo, which is not installed: pip install 'anygame[pettingzoo]'"
    """
    message = f"this needs {library}, which is not installed: pip install 'anygame[{extra}]'"
    return MissingExtraError(message, extra)
