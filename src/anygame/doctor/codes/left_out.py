"""Conditions that a rule has for all numbers, roles or neighbours but one."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, Check, Code
from anygame.doctor.sheet import asked_of
from anygame.language.diagnostics import Note, Severity, shown
from anygame.language.rules import Literal, atoms_in
from anygame.language.terms import Constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Atom, Formula, Rule
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

_MISSING_CONDITION: Final = Code(
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


def _missing_condition(sheet: Sheet) -> Iterator[Diagnostic]:
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
                yield (
                    _MISSING_CONDITION.found(
                        message, rule.span, note, hint=f"the same condition for {number}"
                    ),
                    rule,
                )


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
            yield _MISSING_CONDITION.found(message, rule.span, hint=f"the same condition for {role}"), rule


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


#: Links that are there: one alone is no chain.
_FEWEST: Final = 2
_PAIR: Final = 2
_OF_STATE: Final = frozenset((("true", 1), ("does", 2)))
_NUMBERED: Final = re.compile(r"(.*\D)(\d{1,6})")
_NUMBER: Final = re.compile(r"(\?[^\s()]*\D)(\d{1,6})(?=[\s)])")

_MISSING_LINK: Final = Code(
    "missing-link",
    Severity.WARNING,
    "a chain of numbered variables in which a link is missing, or turned round",
    demand="Where a rule leads from ?x1 to ?x2, ?x3 and so on by one relation, no step is left out or goes "
    "back; and what it asks of each of them it asks of all.",
    why="The rest of the chain may then be anywhere: four in a row is also three in a row and one far away.",
    source=PRACTICE,
    bad="(<= (row ?p) (at ?x1 ?p) (next_to ?x1 ?x2) (at ?x2 ?p) (next_to ?x2 ?x3) (at ?x3 ?p) (at ?x4 ?p))",
    good="(<= (row ?p) (at ?x1 ?p) (next_to ?x1 ?x2) (at ?x2 ?p) (next_to ?x2 ?x3) (at ?x3 ?p)\n"
    "    (next_to ?x3 ?x4) (at ?x4 ?p))",
)
#: A literal without the numbers of its variables, and the names of these.
_Chain = tuple[object, tuple[str, ...]]


def _missing_link(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report rules where all neighbours but two, by their numbers, are joined by a relation."""
    alone: dict[object, list[Diagnostic]] = defaultdict(list)
    for rule in sheet.program.rules:
        yield from _turned(rule)
        for asked, found in _not_asked(rule):
            alone[rule.head.key, asked].append(found)
        numbers, joined = _numbers(rule), _joined(rule)
        for (_, stems), links in _links(rule).items():
            wanted = {n for n in numbers[stems[0]] if all({n, n + 1} <= numbers[stem] for stem in stems)}
            missing = sorted(wanted - links.keys())
            if len(missing) != 1 or len(links) < _FEWEST:
                continue
            if not any((stem, missing[0]) in joined for stem in stems):
                yield _found(rule, missing[0], links)

    yield from (found for each in alone.values() if len(each) == 1 for found in each)


def _turned(rule: Rule) -> Iterator[Diagnostic]:
    """Report the one link from a higher number to a lower one where all others go up, or the reverse."""
    links: dict[object, dict[bool, list[Literal]]] = defaultdict(lambda: defaultdict(list))
    for formula in rule.body:
        if isinstance(formula, Literal) and _neighbours(formula) is not None:
            numbers = [number for _, number in _numbered(formula)]
            stems = tuple(stem for stem, _ in _numbered(formula))
            if len(numbers) == _PAIR and len({*stems}) == 1:
                links[formula.atom.key, stems][numbers[0] < numbers[1]].append(formula)
    for by_way in links.values():
        for way, (*_, last) in by_way.items():
            others = by_way.get(not way, [])
            if len(by_way[way]) == 1 and len(others) >= _FEWEST and not _has_both(last, others):
                message = (
                    f"{shown(str(last.atom))} goes the other way round than the other links in this rule"
                )
                yield _MISSING_LINK.found(message, last.atom.span, Note("as here", others[0].atom.span))


def _has_both(link: Literal, others: Iterable[Literal]) -> bool:
    """Return whether a rule asks for a link in both directions."""
    return any({*link.variables()} == {*other.variables()} for other in others)


def _not_asked(rule: Rule) -> Iterator[tuple[object, Diagnostic]]:
    """Yield what is asked of all numbered things in a rule, as what stands in each cell, but for one."""
    numbers = _numbers(rule)
    asked: dict[_Chain, dict[int, Atom]] = defaultdict(dict)
    for formula in rule.body:
        found = {number for _, number in _numbered(formula)}
        if isinstance(formula, Literal) and formula.atom.key in _OF_STATE and len(found) == 1:
            number = found.pop()
            stems = tuple(sorted({stem for stem, _ in _numbered(formula)}))
            asked[_said(formula.atom, number), stems][number] = formula.atom
    for (said, stems), atoms in asked.items():
        missing = set.intersection(*(numbers[stem] for stem in stems)) - atoms.keys()
        if len(missing) == 1 and len(atoms) > _FEWEST:
            (number,) = missing
            near, atom = next(iter(atoms.items()))
            wanted = _moved(atom, number - near)
            message = f"{wanted} is not asked, as it is of the other numbers in this rule"
            yield said, _MISSING_LINK.found(message, rule.span, hint=wanted)


def _found(rule: Rule, number: int, links: dict[int, Atom]) -> Diagnostic:
    near, atom = next(iter(links.items()))
    link = _moved(atom, number - near)
    message = f"{number} and {number + 1} are not joined by {link}, as the other numbers in this rule are"
    return _MISSING_LINK.found(message, rule.span, hint=link)


def _moved(atom: Atom, step: int) -> str:
    """Return an atom with the numbers of its variables raised."""
    return shown(_NUMBER.sub(lambda each: f"{each[1]}{int(each[2]) + step}", str(atom)))


def _numbers(rule: Rule) -> dict[str, set[int]]:
    """Return the numbers of the variables in a body, by name."""
    found: dict[str, set[int]] = defaultdict(set)
    for formula in rule.body:
        for stem, number in _numbered(formula):
            found[stem].add(number)
    return found


def _links(rule: Rule) -> dict[_Chain, dict[int, Atom]]:
    """Return the literals that join neighbours, by what they say, and by the lower number."""
    found: dict[_Chain, dict[int, Atom]] = defaultdict(dict)
    for formula in rule.body:
        if isinstance(formula, Literal) and (pair := _neighbours(formula)) is not None:
            stems = tuple(sorted({stem for stem, _ in _numbered(formula)}))
            found[_said(formula.atom, pair), stems][pair] = formula.atom
    return found


def _said(atom: Atom, low: int) -> str:
    """Return an atom with its numbers counted from the lower one; a pair is the same either way round."""
    terms = [
        _NUMBER.sub(lambda each: f"{each[1]}+{int(each[2]) - low}", f"{term} ") for term in atom.arguments
    ]
    return " ".join([atom.predicate, *(sorted(terms) if len(terms) == 2 else terms)])


def _neighbours(formula: Formula) -> int | None:
    """Return the lower one of the two numbers of the variables of a formula, if they are neighbours."""
    numbers = sorted({number for _, number in _numbered(formula)})
    return numbers[0] if len(numbers) == 2 and numbers[1] == numbers[0] + 1 else None


def _joined(rule: Rule) -> set[tuple[str, int]]:
    """Return the neighbours that any relation joins: the name they share, and the lower number."""
    found: set[tuple[str, int]] = set()
    for formula in rule.body:
        low = _neighbours(formula) if isinstance(formula, Literal) else None
        if low is not None:
            found |= {(stem, low) for stem, _ in _numbered(formula)}
    return found


def _numbered(formula: Formula) -> Iterator[tuple[str, int]]:
    """Yield name and number of the variables of a formula that have a number."""
    for variable in formula.variables():
        if numbered := _NUMBERED.fullmatch(variable.name):
            yield numbered[1], int(numbered[2])


CHECKS: Final = (
    Check((_MISSING_CONDITION,), _missing_condition),
    Check((_MISSING_LINK,), _missing_link, needs_all=False),
)
