"""A list stands where a name belongs."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import GDL, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "list-as-name",
    Severity.ERROR,
    "a list stands where a name belongs",
    demand="The first thing in a list is a name, not another list.",
    why=(
        "GDL has names of relations and functions only; two parentheses in a row are most often one too many."
    ),
    source=GDL,
    bad="(init ((cell 1 b)))",
    good="(init (cell 1 b))",
)
