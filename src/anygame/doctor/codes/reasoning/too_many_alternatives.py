"""The disjunctions of a rule multiply beyond the limit."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "too-many-alternatives",
    Severity.ERROR,
    "the disjunctions of a rule multiply beyond the limit",
    demand="The disjunctions of one rule stand for at most 4,096 rules, those of a sheet for some 20,000.",
    why="A disjunction that binds variables is multiplied out with all others of its body.",
    source="none of GDL's rules: a bound of this program, since rule sheets come from strangers",
    bad="(<= (p ?a)" + " (or (q ?a) (r ?a))" * 13 + ")",
    good="(<= (p ?a) (either ?a))\n(<= (either ?a) (or (q ?a) (r ?a)))",
)
