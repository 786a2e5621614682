"""What arguments are compared by, and how many must agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.language.rules import READ_AS

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Other rules that agree on which argument belongs to which: one could be the slip itself.
MOST_OFTEN: Final = 2
#: Predicates of fluents and of moves; what is written is named as it is read.
STATE: Final = {**READ_AS, "true": "true", "does": "does"}


def is_usual_number(word: str, others: Iterable[str]) -> bool:
    """Return whether a number is none that stands out among others: the least and the greatest enclose it.

    That a row 7 is given once, and a digit 7 often, tells nothing of a puzzle with nine of each.
    """
    numbers = [int(other) for other in others if other.isdecimal() and other != word]
    return word.isdecimal() and len(numbers) > 1 and min(numbers) < int(word) < max(numbers)
