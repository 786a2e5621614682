"""The native search tree: arrays instead of objects, and leaves evaluated hundreds at a time in lanes."""

from __future__ import annotations

import os
import sys

# Where colorama is installed, numba colours its messages, those of failed attempts too that nobody sees: it
# exchanges `sys.stdout` meanwhile, in whatever thread it compiles. It looks for this when it is imported.
if "numba" not in sys.modules:
    os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
