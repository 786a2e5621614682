"""The equations of a rule make terms beyond the limit."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "terms-too-large",
    Severity.ERROR,
    "the equations of a rule make terms beyond the limit",
    demand="The equations of a sheet add at most 1,000,000 characters to its rules, and nest terms at most "
    "200 deep.",
    why=(
        "(not (distinct ?x (f ?y ?y))) says what ?x is; a row of such equations doubles the term with each."
    ),
    source="none of GDL's rules: a bound of this program, since rule sheets come from strangers",
    bad="(<= (p ?n20) (q ?n0)"
    + "".join(f" (not (distinct ?n{n + 1} (f ?n{n} ?n{n})))" for n in range(20))
    + ")",
    good="(<= (p (f ?n ?n)) (q ?n))",
)
