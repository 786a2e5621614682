"""Functions that all games share: a machine compiles each of them once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.network.kernels.target import Target


class SharedFunctions(dict[str, str]):
    """Definitions of functions that do not depend on the game, by name, as LLVM's text form.

    They become part of a game's module, or modules of their own that it is linked with: then a machine
    compiles each of them once for all games.
    """

    def need(self, name: str, write: Callable[[str], str]) -> str:
        """Write a function given its name, unless it is there; return the name."""
        if name not in self:
            self[name] = write(name)
        return name

    @property
    def text(self) -> str:
        """All definitions, for the module that calls them; inlined ones are not compiled separately."""
        return re.sub("define (internal )?", "define internal ", "".join(self.values()))

    @property
    def declarations(self) -> str:
        """Declarations for other modules."""
        return "".join(map(_declaration, self.values()))

    def modules(self, target: Target) -> list[str]:
        """Return a module of each, with declarations of what it calls."""
        return [
            "".join([target.preamble, *map(_declaration, self._called_by(name)), text])
            for name, text in self.items()
        ]

    def _called_by(self, name: str) -> list[str]:
        return [text for other, text in self.items() if other != name and f"@{other}(" in self[name]]


def _declaration(definition: str) -> str:
    begin = definition.index("define ") + len("define ")
    return f"declare {definition[begin : definition.index(')', begin) + 1]}\n"
