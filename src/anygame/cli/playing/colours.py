"""The colour of a role: that of its name, the one that the state says is its, or one of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.boards import COLOURS
from anygame.language.terms import Compound

if TYPE_CHECKING:
    from anygame.game.roles import Role
    from anygame.game.state import State

#: How terminals show colours that would not be seen, or that they have no name for.
_SHOWN: Final = {"black": "bold", "white": "bold", "red": "bright_red", "blue": "bright_blue"}
_KNOWN: Final = frozenset({"red", "green", "blue", "yellow", "cyan", "magenta", "black", "white"})
#: For roles without a colour, by their place.
_OTHERS: Final = ("bright_cyan", "bright_yellow", "bright_magenta", "bright_green")


def role_style(role: Role, state: State) -> str:
    """Return the style of rich in which a role is shown."""
    word = str(role).lower()
    if word not in COLOURS:
        named = {
            str(other).lower()
            for fact in state.facts
            if isinstance(fact, Compound) and len(fact.arguments) == 2 and role.term in fact.arguments
            for other in fact.arguments
        } & set(COLOURS)
        word = min(named, default="")
    if word in _KNOWN:
        return f"bold {_SHOWN.get(word, word)}".replace("bold bold", "bold")
    return f"bold {_OTHERS[state.game.role_index(role) % len(_OTHERS)]}"
