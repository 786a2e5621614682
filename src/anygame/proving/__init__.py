"""Proofs that a property of a game holds in every match, and matches that refute a property."""

from __future__ import annotations

from anygame.proving.proving import each_verdict, equal, prove
from anygame.proving.verdict import SURVEYS, Verdict, Verdicts

__all__ = ["SURVEYS", "Verdict", "Verdicts", "each_verdict", "equal", "prove"]

#: The modules whose marked functions become native code; see :mod:`anygame.native.library`.
NATIVE_MODULES = ("anygame.proving.propagation",)
