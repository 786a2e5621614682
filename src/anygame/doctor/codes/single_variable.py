"""A variable used once in its rule."""

from __future__ import annotations

from collections import Counter, defaultdict
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import GDL, Check, Code
from anygame.language.diagnostics import Severity, shown
from anygame.language.rules import atoms_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Name, Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Rule

_NEARNESS: Final = 0.8

_CODE: Final = Code(
    "single-variable",
    Severity.INFO,
    "a variable used once in its rule",
    demand="A variable stands in its rule twice at least, or its name starts with an underscore.",
    why="A variable joins things; one that stands alone is often a misspelt one. Where any value will do, "
    "?_name says so.",
    source=GDL + "; the convention of Prolog",
    bad="(<= (p ?row) (q ?row ?col))",
    good="(<= (p ?row) (q ?row ?_col))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report variables that join nothing, unless their names start with an underscore."""
    by_rule: dict[int, list[Name]] = defaultdict(list)
    for name in sheet.names:
        if name.kind == "variable" and name.rule.body:
            by_rule[id(name.rule)].append(name)
    for names in by_rule.values():
        counts = Counter(name.text for name in names)
        joined = _in_positive_atoms(names[0].rule)
        for name in names:
            if counts[name.text] == 1 and name.text[0] != "_" and name.text in joined:
                others = [text for text in counts if text != name.text]
                near = get_close_matches(name.text, others, n=1, cutoff=_NEARNESS)
                yield _CODE.found(
                    f"?{shown(name.text)} stands nowhere else in this rule",
                    name.span,
                    hint=f"?{shown(near[0])}" if near else f"?_{shown(name.text)}, if any value will do",
                )


def _in_positive_atoms(rule: Rule) -> set[str]:
    """Return the names of the variables that a body could bind; the others are unsafe, which is worse."""
    atoms = [atom for atom, positive in atoms_in(rule.body) if positive]
    return {variable.name for atom in atoms for variable in atom.variables()}


CHECK: Final = Check((_CODE,), _check, needs_all=False)
