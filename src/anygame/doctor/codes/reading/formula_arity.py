"""`not`, `and`, `distinct` or `<=` with a wrong number of parts."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import GDL, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "formula-arity",
    Severity.ERROR,
    "`not`, `and`, `distinct` or `<=` with a wrong number of parts",
    demand="`not` takes one formula, `distinct` two terms, `<=` a head.",
    why="With other numbers they mean nothing. (not a b) is most often meant as two negations.",
    source=GDL,
    bad="(<= terminal (not (true a) (true b)))",
    good="(<= terminal (not (true a)) (not (true b)))",
)
