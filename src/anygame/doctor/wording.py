"""How relations, fluents and moves are called in messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.language.diagnostics import shown

if TYPE_CHECKING:
    from anygame.doctor.sheet import Key


def named(key: Key) -> str:
    """Return a name with the number of its arguments."""
    name, arity = key
    if not arity:
        return shown(name)
    return f"{shown(name)} with {arity} argument{'s' * (arity > 1)}"


def pattern(key: Key) -> str:
    """Return a name as a term with its arguments left out."""
    return f"({shown(key[0])} ...)" if key[1] else shown(key[0])
