"""anygame: load, play, question and simulate any game written in the Game Description Language.

>>> import anygame
>>> game = anygame.loads('''
...   (role x) (role o)
...   (init (control x))
...   (<= (legal ?r (say ?w)) (true (control ?r)) (word ?w))
...   (<= (legal ?r noop) (role ?r) (not (true (control ?r))))
...   (word yes) (word no)
...   (<= (next (said ?w)) (does ?r (say ?w)))
...   (<= terminal (true (said ?w)))''')
>>> state = game.initial_state()
>>> state.legal_moves("x")
((say no), (say yes))
>>> state = state.next({"x": "(say yes)", "o": "noop"})
>>> state
<State of <text>, terminal: (said yes)>
"""

from __future__ import annotations

import sys

# Every command imports this module first, and importing `typing` would slow its start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from anygame.api import *  # noqa: F403
    from anygame.api import __all__ as __all__
else:

    def __getattr__(name: str) -> object:
        """Import `anygame.api` on first use, because most commands do not need it."""
        if name != "api" and (name == "__all__" or not name.startswith("__")):
            from importlib import import_module

            offered = vars(import_module("anygame.api"))
            for names in (globals(), offered):
                if name in names:
                    return names[name]
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message, name=name, obj=sys.modules[__name__])

    def __dir__() -> list[str]:
        return [*globals(), *__getattr__("__all__")]


__version__ = "0.1.0"
