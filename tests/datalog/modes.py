"""Ways of computing that a game would have to be large to see, forced on small programs.

The names of the constants are those of the modules; where one has gone, the tests that rely on it fail.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final
from unittest.mock import patch

from anygame.analysis import domains
from anygame.datalog import compiler, demand, flatten, generate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

__all__ = ["MODES", "mode"]

_NOTHING: Final = ((0, 0), (0, 0), (0, 0))
_DEMAND: Final[list[tuple[ModuleType, str, object]]] = [
    (compiler, "_SUSPICIOUS", (0.0, 0.0, 0.0)),
    (compiler, "_BUDGET", _NOTHING),
]

MODES: Final[dict[str, list[tuple[ModuleType, str, object]]]] = {
    "demanded": _DEMAND,
    "demanded_shallow": [*_DEMAND, (demand, "_DEEPEST", 1), (compiler, "_MANY_KEYS", 1)],
    "demanded_once_grown": [(generate, "_MANY", 0)],
    "counted": [(generate, "_COUNTED", 0.0)],
    "arguments_whole": [(flatten, "_MOST_VARIANTS", 1)],
    "arguments_half_split": [(flatten, "_MOST_VARIANTS", 3)],
    "few_copies": [(flatten, "_MOST_COPIES", 40)],
    "few_columns": [(flatten, "_MOST_COLUMNS", 40)],
    "few_places": [(domains, "_MOST_PLACES", 30)],
    "few_steps": [(domains, "_MOST_STEPS", 5)],
    "places_not_told_apart": [(domains, "_MOST_PLACES", 0)],
    "copies_refused": [(flatten, "_MOST_COPIES", 1)],
}


@contextmanager
def mode(name: str) -> Iterator[None]:
    """Force a way of computing on games that are loaded and asked meanwhile."""
    with ExitStack() as stack:
        for module, constant, value in MODES[name]:
            stack.enter_context(patch.object(module, constant, value))
        yield
