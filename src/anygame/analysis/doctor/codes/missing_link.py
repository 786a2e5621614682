"""A chain of numbered variables in which one link is missing."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from anygame.analysis.doctor.code import PRACTICE, Check, Code
from anygame.analysis.doctor.wording import named
from anygame.language.diagnostics import Severity
from anygame.language.rules import KEYWORDS, Literal
from anygame.language.terms import Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.analysis.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Atom, Rule
    from anygame.language.terms import Term

__all__ = ["CHECK"]

#: Links that are there: one alone is no chain.
_FEWEST: Final = 2
_NUMBERED: Final = re.compile(r"(.*\D)(\d{1,6})")

_CODE: Final = Code(
    "missing-link",
    Severity.WARNING,
    "a chain of numbered variables in which a link is missing",
    demand="Where a rule leads from ?x1 to ?x2, ?x3 and so on by one relation, no step is left out.",
    why="The rest of the chain may then be anywhere: four in a row is also three in a row and one far away.",
    source=PRACTICE,
    bad="(<= (row ?p) (at ?x1 ?p) (next_to ?x1 ?x2) (at ?x2 ?p) (next_to ?x2 ?x3) (at ?x3 ?p) (at ?x4 ?p))",
    good="(<= (row ?p) (at ?x1 ?p) (next_to ?x1 ?x2) (at ?x2 ?p) (next_to ?x2 ?x3) (at ?x3 ?p)\n"
    "    (next_to ?x3 ?x4) (at ?x4 ?p))",
)

#: A relation and the name of the variables that it joins, without their numbers.
_Chain = tuple["Key", str]


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report rules where all neighbours but two, by their numbers, are joined by a relation."""
    for rule in sheet.program.rules:
        numbers = _numbers(rule)
        for (key, stem), links in _links(rule).items():
            wanted = {number for number in numbers[stem] if number + 1 in numbers[stem]}
            missing = sorted(wanted - links.keys())
            if len(missing) == 1 and len(links) >= _FEWEST:
                (number,) = missing
                one, other = f"?{stem}{number}", f"?{stem}{number + 1}"
                message = f"{one} and {other} are not joined by {named(key)}, as the others in this rule are"
                yield _CODE.found(message, rule.span, hint=f"({key[0]} {one} {other})")


def _numbers(rule: Rule) -> dict[str, set[int]]:
    """Return the numbers of the variables in a body, by name."""
    found: dict[str, set[int]] = defaultdict(set)
    for formula in rule.body:
        for variable in formula.variables():
            if numbered := _NUMBERED.fullmatch(variable.name):
                found[numbered[1]].add(int(numbered[2]))
    return found


def _links(rule: Rule) -> dict[_Chain, dict[int, Atom]]:
    """Return the literals that join neighbours, by relation and name, and by the lower number."""
    found: dict[_Chain, dict[int, Atom]] = defaultdict(dict)
    for formula in rule.body:
        if isinstance(formula, Literal) and len(formula.atom.arguments) == 2:
            low, high = sorted(map(_numbered, formula.atom.arguments))
            if (
                low[0]
                and low[0] == high[0]
                and high[1] == low[1] + 1
                and formula.atom.predicate not in KEYWORDS
            ):
                found[formula.atom.key, low[0]][low[1]] = formula.atom
    return found


def _numbered(term: Term) -> tuple[str, int]:
    """Return name and number of a variable; an empty name for anything else."""
    numbered = _NUMBERED.fullmatch(term.name) if isinstance(term, Variable) else None
    return (numbered[1], int(numbered[2])) if numbered else ("", 0)


CHECK: Final = Check((_CODE,), _check, needs_all=False)
