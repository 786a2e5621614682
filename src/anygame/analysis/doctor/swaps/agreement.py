"""What arguments are compared by, and how many must agree."""

from __future__ import annotations

from typing import Final

from anygame.language.rules import READ_AS

__all__ = ["MOST_OFTEN", "STATE"]

#: Other rules that agree on which argument belongs to which: one could be the slip itself.
MOST_OFTEN: Final = 2
#: Predicates of fluents and of moves; what is written is named as it is read.
STATE: Final = {**READ_AS, "true": "true", "does": "does"}
