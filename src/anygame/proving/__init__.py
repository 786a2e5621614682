"""Proofs: what is true of a game in every match is proved, or refuted by a match."""

from __future__ import annotations

from anygame.proving.equality import equal
from anygame.proving.proving import each_verdict, prove
from anygame.proving.survey import SURVEYS
from anygame.proving.verdict import Verdict, Verdicts

__all__ = ["SURVEYS", "Verdict", "Verdicts", "each_verdict", "equal", "prove"]
