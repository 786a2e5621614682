"""Why something holds in a state, or does not: derivations and failures as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from anygame.errors import QueryError

if TYPE_CHECKING:
    from anygame.game.state import State

__all__ = ["why"]

#: Lines of an explanation that are shown: several screens.
_MOST_LINES: Final = 400


def why(state: State, atom: str) -> dict[str, Any]:
    """Return why an atom holds in a state, or why it does not.

    Raises:
        QueryError: it cannot be asked.
        TermSyntaxError: it cannot be read.
    """
    holds = next(iter(state.query(atom)), None) is not None
    found = state.explain(atom) if holds else None
    try:
        text = str(found if found is not None else state.explain_failure(atom))
    except QueryError as error:
        text = str(error)
    lines = text.splitlines()
    shown = "\n".join(lines[:_MOST_LINES])
    if len(lines) > _MOST_LINES:
        shown += f"\n... and {len(lines) - _MOST_LINES} more lines"
    return {"atom": atom, "holds": holds, "text": shown}
