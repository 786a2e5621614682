"""Proofs: what is true of a game in every match is proved, or refuted by a match."""

from __future__ import annotations

from anygame.proving.proving import each_verdict, equal, prove
from anygame.proving.verdict import SURVEYS, Verdict, Verdicts

__all__ = ["SURVEYS", "Verdict", "Verdicts", "each_verdict", "equal", "prove"]

#: The modules whose marked functions become native code; see :mod:`anygame.native.library`.
NATIVE_MODULES = ("anygame.proving.propagation",)
