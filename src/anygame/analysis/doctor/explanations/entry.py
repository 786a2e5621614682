"""What an explanation of a code consists of, and the sources that explanations name."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import Final

from anygame.language.diagnostics import CODES

__all__ = ["GDL", "GDL2", "KIF", "LIMITS", "PLAY", "PRACTICE", "STRATA", "VALIDATOR", "Explanation"]

GDL: Final = (
    "Love, Hinrichs, Haley, Schkufza, Genesereth: General Game Playing: Game Description Language "
    "Specification (Stanford, 2008)"
)
GDL2: Final = (
    "Thielscher: A General Game Description Language for Incomplete Information Games (AAAI 2010); "
    "Schiffel and Thielscher (JAIR 49, 2014)"
)
KIF: Final = "Genesereth, Fikes: Knowledge Interchange Format, Version 3.0 (Stanford, 1992)"
STRATA: Final = (
    "Apt, Blair, Walker: Towards a Theory of Declarative Knowledge (1988), taken up by the GDL specification"
)
VALIDATOR: Final = "practice: the checks of the gdl-validation library and of GGP-Base's StaticValidator"
PLAY: Final = (
    "the GDL specification's demands on well-formed games: they end, and until then every role can move; "
    "every role has one goal at the end"
)
PRACTICE: Final = "practice: faults that stand in published rule sheets"
LIMITS: Final = "none of GDL's rules: a bound of this program, since rule sheets come from strangers"
_WIDTH: Final = 88


@dataclass(frozen=True, slots=True)
class Explanation:
    """What there is to say of a code.

    Attributes:
        code: the code.
        rule: what is asked of a sheet.
        why: why GDL, or a reader, asks it.
        source: where that is written.
        bad: rules that break it; empty where an example would be too large.
        good: the same, mended.
    """

    code: str
    rule: str
    why: str
    source: str
    bad: str = ""
    good: str = ""

    @property
    def text(self) -> str:
        """All of it, for people."""
        said = (f"{self.code}: {CODES[self.code]}", self.rule, self.why, f"Source: {self.source}.")
        parts = [fill(text, _WIDTH, break_on_hyphens=False) for text in said]
        for title, example in (("Bad", self.bad), ("Good", self.good)):
            if example:
                lines = "\n".join(f"  {line}" for line in example.splitlines())
                parts.append(f"{title}:\n{lines}")
        return "\n\n".join(parts)
