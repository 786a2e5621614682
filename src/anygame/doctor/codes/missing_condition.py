"""A condition that a rule has for all numbers, or for all roles, but one."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, Check, Code
from anygame.doctor.sheet import asked_of
from anygame.language.diagnostics import Note, Severity, shown
from anygame.language.rules import Literal, atoms_in
from anygame.language.terms import Constant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Atom, Rule
    from anygame.language.terms import Term

#: Numbers that a row has, and rules that have them all; roles of which one alone is left out.
_FEWEST_NUMBERS: Final = 3
_FEWEST_RULES: Final = 2
_FEWEST_ROLES: Final = 3

_ROWS: Final = """\
(<= (other ?p) (true (cell 3 1 ?p)) (true (cell 2 2 ?p)) (true (cell 1 3 ?p)))
(<= (row ?y ?p) (true (cell 1 ?y ?p)) (true (cell 2 ?y ?p)) (true (cell 3 ?y ?p)))
(<= (diagonal ?p) (true (cell 1 1 ?p)) (true (cell 2 2 ?p)) (true (cell 3 3 ?p)))
"""

_CODE: Final = Code(
    "missing-condition",
    Severity.WARNING,
    "a condition that a rule has for all numbers, or all roles, but one",
    demand="What a rule asks of each number that others ask of, or of each role, it asks of all.",
    why="Who writes the same condition again and again leaves one out by mistake.",
    source=PRACTICE,
    bad=f"{_ROWS}(<= (column ?x ?p) (true (cell ?x 1 ?p)) (true (cell ?x 3 ?p)))",
    good=f"{_ROWS}(<= (column ?x ?p) (true (cell ?x 1 ?p)) (true (cell ?x 2 ?p)) (true (cell ?x 3 ?p)))",
)

#: What is asked, and the place of an argument.
_Place = tuple[object, int]


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report the one rule that asks of one number less than others, or of all roles but one."""
    told: set[int] = set()
    for found, rule in (*_of_numbers(sheet), *_of_roles(sheet)):
        if id(rule) not in told:
            told.add(id(rule))
            yield found


def _of_numbers(sheet: Sheet) -> Iterator[tuple[Diagnostic, Rule]]:
    rows: dict[_Place, list[tuple[frozenset[int], Rule]]] = defaultdict(list)
    for rule in sheet.program.rules:
        for place, atoms in _asked(rule).items():
            asked = [int(str(term)) for term, _ in atoms if str(term).isdecimal()]
            if len(asked) > 1:
                rows[place].append((frozenset(asked), rule))
    for group in rows.values():
        often = Counter(numbers for numbers, _ in group)
        for numbers, rule in group:
            full = [each for each in often if numbers < each and len(each) == len(numbers) + 1]
            full = [each for each in full if often[each] >= _FEWEST_RULES and len(each) >= _FEWEST_NUMBERS]
            if often[numbers] == 1 and len(full) == 1:
                (number,) = full[0] - numbers
                other = next(other for each, other in group if each == full[0])
                named = ", ".join(map(str, sorted(numbers)))
                message = f"this rule asks of {named}, where other rules ask of {number}, too"
                note = Note("as here", other.span)
                yield _CODE.found(message, rule.span, note, hint=f"the same condition for {number}"), rule


def _of_roles(sheet: Sheet) -> Iterator[tuple[Diagnostic, Rule]]:
    roles = {role for role in sheet.roles if str(role) != "random"}
    lacking: dict[tuple[_Place, str], list[tuple[Rule, Term, Atom]]] = defaultdict(list)
    for rule in sheet.program.rules if len(roles) >= _FEWEST_ROLES else ():
        for place, atoms in _asked(rule).items():
            left = roles - {term for term, _ in atoms}
            if len(atoms) == len(roles) - 1 and len(left) == 1:
                lacking[place, rule.head.predicate].append((rule, left.pop(), atoms[0][1]))
    for (rule, role, atom), *more in lacking.values():
        if not more and role not in rule.head.arguments:
            message = f"this rule asks of all roles but {role}, as in {shown(str(atom))}"
            yield _CODE.found(message, rule.span, hint=f"the same condition for {role}"), rule


def _asked(rule: Rule) -> dict[_Place, list[tuple[Term, Atom]]]:
    """Return the constants that literals of a body have at a place, where several differ."""
    found: dict[_Place, list[tuple[Term, Atom]]] = defaultdict(list)
    literals = [formula.atom for formula in rule.body if isinstance(formula, Literal)]
    negative = [atom for atom, positive in atoms_in(rule.body) if not positive]
    for is_asked, atoms in ((True, literals), (False, negative)):
        for atom in atoms:
            what, terms = asked_of(atom)
            for number, term in enumerate(terms):
                if isinstance(term, Constant):
                    found[(what, is_asked), number].append((term, atom))
    return found


CHECKS: Final = (Check((_CODE,), _check),)
