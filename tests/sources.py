"""What the modules of the package say, as trees."""

from __future__ import annotations

import ast
import gc
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@cache
def parsed(path: Path) -> ast.Module:
    """Parse a module, with no collection of garbage meanwhile.

    A collection may run code of others in the middle, and let another thread parse something: Python 3.11
    then mixes up how deep the two are, and says "AST constructor recursion depth mismatch".
    """
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    finally:
        gc.enable()
