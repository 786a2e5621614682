"""What every code of a diagnostic means: the rule, why there is one, its source, examples."""

from __future__ import annotations

from typing import Final

from anygame.analysis.doctor.explanations import checks, naming, play, reading, sentences
from anygame.analysis.doctor.explanations.entry import Explanation

__all__ = ["EXPLANATIONS", "Explanation"]

#: Every explanation by its code.
EXPLANATIONS: Final[dict[str, Explanation]] = {
    entry.code: entry for module in (reading, sentences, checks, naming, play) for entry in module.ENTRIES
}
