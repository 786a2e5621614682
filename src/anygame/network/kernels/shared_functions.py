"""Functions that all games share, so that each of them is compiled once on a machine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.network.kernels.target import Target


class SharedFunctions(dict[str, str]):
    """Definitions of functions that do not depend on the game, by name, in LLVM's text form.

    They become part of a game's module, or separate modules that are linked with it. Separate modules are
    compiled once on a machine for all games.
    """

    def need(self, name: str, write: Callable[[str], str]) -> str:
        """Define a function by ``write(name)``, unless it is already defined; return the name."""
        if name not in self:
            self[name] = write(name)
        return name

    @property
    def text(self) -> str:
        """All definitions, for the module that calls them. Inlined functions are not compiled separately."""
        return re.sub("define (internal )?", "define internal ", "".join(self.values()))

    @property
    def declarations(self) -> str:
        """Declarations for other modules."""
        return "".join(map(_declaration, self.values()))

    def modules(self, target: Target) -> list[str]:
        """Return a module for each function, with declarations of the functions that it calls."""
        modules = []
        for name, text in self.items():
            called = [self[other] for other in self if other != name and f"@{other}(" in text]
            modules.append("".join([target.preamble, *map(_declaration, called), text]))
        return modules


def _declaration(definition: str) -> str:
    begin = definition.index("define ") + len("define ")
    return f"declare {definition[begin : definition.index(')', begin) + 1]}\n"
