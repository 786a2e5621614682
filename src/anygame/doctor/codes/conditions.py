"""Conditions of a rule: form, order, and missing links in a chain of numbered variables."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from anygame.analysis.normal import binds
from anygame.doctor.code import check, codes_of
from anygame.doctor.sheet import span_of
from anygame.language.diagnostics import Note, shown
from anygame.language.rules import And, Distinct, Literal, Not, Or
from anygame.language.unification import unify

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Atom, Formula, Rule
    from anygame.language.terms import Variable

_CODES: Final = codes_of(__name__)


#: Relations that systems evaluate separately; some systems cannot look them up in a body.
_NOT_READ: Final = frozenset(("init", "next", "base", "input"))

_KEYWORD_IN_BODY: Final = _CODES["keyword-in-body"]


@check(_KEYWORD_IN_BODY, needs_all=False)
def _keyword_in_body(sheet: Sheet) -> Iterator[Diagnostic]:
    for atoms in sheet.reads.values():
        for atom in atoms if atoms[0].predicate in _NOT_READ else ():
            yield _KEYWORD_IN_BODY.found(
                f"`{atom.predicate}` belongs in heads; other systems do not find it in a body",
                atom.span,
                hint="a relation of your own that both rules read",
            )


_NEGATED_FORMULA: Final = _CODES["negated-formula"]


@check(_NEGATED_FORMULA, needs_all=False)
def _negated_formula(sheet: Sheet) -> Iterator[Diagnostic]:
    words = {Or: "or", And: "and", Not: "not", Distinct: "distinct"}
    for inner, rule in sheet.formulas:
        if isinstance(inner, Not) and not isinstance(inner.formula, Literal):
            word = words.get(type(inner.formula), "formula")
            hint = "negate each sentence alone, or give the formula a relation of its own"
            yield _NEGATED_FORMULA.found(
                f"GDL has `not` in front of a sentence only, found `{word}`; other systems read it "
                "differently",
                span_of(inner, rule),
                hint="write the same variable twice" if word == "distinct" else hint,
            )


_NESTED_OR: Final = _CODES["nested-or"]


@check(_NESTED_OR, needs_all=False)
def _nested_or(sheet: Sheet) -> Iterator[Diagnostic]:
    for inner, rule in sheet.formulas:
        for part in inner.formulas if isinstance(inner, Or) else ():
            if isinstance(part, Or):
                message = "a disjunction that is an alternative of another one"
                hint = "list its alternatives in the outer `or`"
                yield _NESTED_OR.found(message, span_of(part, rule), hint=hint)


_LITERAL_ORDER: Final = _CODES["literal-order"]


@check(_LITERAL_ORDER, needs_all=False)
def _literal_order(sheet: Sheet) -> Iterator[Diagnostic]:
    for rule in sheet.program.rules:
        binders = _binders(rule)
        for number, formula in enumerate(rule.body):
            if isinstance(formula, Not | Distinct):
                late = {v: binders[v] for v in formula.variables() if binders.get(v, -1) > number}
                if late:
                    variable, place = max(late.items(), key=lambda item: item[1])
                    word = "not" if isinstance(formula, Not) else "distinct"
                    yield _LITERAL_ORDER.found(
                        f"this `{word}` comes before the literal that binds {variable}; some systems read "
                        "from left to right",
                        span_of(formula, rule),
                        Note("bound here", span_of(rule.body[place], rule)),
                        hint=f"move the `{word}` after it",
                    )


def _binders(rule: Rule) -> dict[Variable, int]:
    """Return for each variable the number of the first formula of the body that binds it."""
    first: dict[Variable, int] = {}
    for number, formula in enumerate(rule.body):
        for variable in binds(formula):
            first.setdefault(variable, number)
    return first


_IDLE_DISTINCT: Final = _CODES["idle-distinct"]


@check(_IDLE_DISTINCT, needs_all=False)
def _idle_distinct(sheet: Sheet) -> Iterator[Diagnostic]:
    for inner, rule in sheet.formulas:
        if isinstance(inner, Distinct) and unify(inner.left, inner.right, {}) is None:
            message = f"{inner.left} and {inner.right} are always distinct"
            hint = "leave it out, or compare a variable"
            yield _IDLE_DISTINCT.found(message, span_of(inner, rule), hint=hint)


#: Maximum number of rules with repeated conditions; a sheet with more was written by a program.
_MOST_RULES: Final = 2

_REPEATED_LITERAL: Final = _CODES["repeated-literal"]


@check(_REPEATED_LITERAL, needs_all=False)
def _repeated_literal(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report repeated conditions, if few rules have any."""
    found = [(rule, *pair) for rule in sheet.program.rules for pair in _repeated(rule)]
    if len({id(rule) for rule, _, _ in found}) <= _MOST_RULES:
        for rule, first, again in found:
            message = f"{shown(str(again))} is repeated in this rule"
            note = Note("here, too", span_of(first, rule))
            yield _REPEATED_LITERAL.found(
                message, span_of(again, rule), note, hint="change it, or leave it out"
            )


def _repeated(rule: Rule) -> Iterator[tuple[Formula, Formula]]:
    known: dict[Formula, Formula] = {}
    for formula in rule.body:
        if formula in known:
            yield known[formula], formula
        known.setdefault(formula, formula)


#: Minimum number of existing links of a chain.
_FEWEST: Final = 2
_OF_STATE: Final = frozenset((("true", 1), ("does", 2)))
_NUMBERED: Final = re.compile(r"(.*\D)(\d{1,6})")
_NUMBER: Final = re.compile(r"(\?[^\s()]*\D)(\d{1,6})(?=[\s)])")

_MISSING_LINK: Final = _CODES["missing-link"]
#: A literal without the numbers of its variables, and the names of these variables.
_Chain = tuple[object, tuple[str, ...]]


@check(_MISSING_LINK, needs_all=False)
def _missing_link(sheet: Sheet) -> Iterator[Diagnostic]:
    alone: dict[object, list[Diagnostic]] = defaultdict(list)
    for rule in sheet.program.rules:
        literals, numbers = _numbered(rule)
        for asked, found in _not_asked(rule, literals, numbers):
            alone[rule.head.key, asked].append(found)
        pairs = [each for each in literals if each.low is not None]
        joined = {(stem, each.low) for each in pairs for stem in each.stems}
        for (_, stems), links in _by_chain(pairs).items():
            wanted = {n for n in numbers[stems[0]] if all({n, n + 1} <= numbers[stem] for stem in stems)}
            missing = sorted(wanted - links.keys())
            if len(missing) == 1 and len(links) >= _FEWEST and not {(s, missing[0]) for s in stems} & joined:
                link = _moved(links, missing[0])
                both = f"{missing[0]} and {missing[0] + 1}"
                message = f"{both} are not joined by {link}, although the other numbers of this rule are"
                yield _MISSING_LINK.found(message, rule.span, hint=link)
    yield from (found for each in alone.values() if len(each) == 1 for found in each)


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A literal with numbered variables.

    Attributes:
        atom: the atom of the literal.
        stems: the names of these variables in order, without numbers.
        numbers: the numbers of these variables.
    """

    atom: Atom
    stems: tuple[str, ...]
    numbers: tuple[int, ...]

    @property
    def low(self) -> int | None:
        """The lower one of the two numbers, if they are consecutive."""
        found = sorted({*self.numbers})
        return found[0] if len(found) == 2 and found[1] == found[0] + 1 else None


def _numbered(rule: Rule) -> tuple[list[_Numbered], dict[str, set[int]]]:
    """Return the literals of a body with numbered variables, and all their numbers, by name."""
    literals = []
    numbers: dict[str, set[int]] = defaultdict(set)
    for formula in rule.body:
        found = [each for v in formula.variables() if (each := _NUMBERED.fullmatch(v.name))]
        for each in found:
            numbers[each[1]].add(int(each[2]))
        if found and isinstance(formula, Literal):
            stems, own = zip(*((each[1], int(each[2])) for each in found), strict=True)
            literals.append(_Numbered(formula.atom, stems, own))
    return literals, numbers


def _by_chain(literals: Iterable[_Numbered]) -> dict[_Chain, dict[int, Atom]]:
    """Return literals by their text without numbers, and by their lowest number; pairs in either order."""
    found: dict[_Chain, dict[int, Atom]] = defaultdict(dict)
    for each in literals:
        low = min(each.numbers)
        terms = [_renumbered(f"{term} ", "+", -low) for term in each.atom.arguments]
        said = " ".join([each.atom.predicate, *(sorted(terms) if len(terms) == 2 else terms)])
        found[said, tuple(sorted({*each.stems}))][low] = each.atom
    return found


def _renumbered(text: str, mark: str, step: int) -> str:
    """Return a text with the numbers of its variables raised, and a mark before each."""
    return _NUMBER.sub(lambda each: f"{each[1]}{mark}{int(each[2]) + step}", text)


def _moved(atoms: Mapping[int, Atom], number: int) -> str:
    """Return the first of some atoms, rewritten for another number."""
    near, atom = next(iter(atoms.items()))
    return shown(_renumbered(str(atom), "", number - near))


def _not_asked(
    rule: Rule, literals: Iterable[_Numbered], numbers: Mapping[str, set[int]]
) -> Iterator[tuple[object, Diagnostic]]:
    """Yield the condition that a rule has for all numbers of its variables but one."""
    of_one = (each for each in literals if each.atom.key in _OF_STATE and len({*each.numbers}) == 1)
    for (said, stems), atoms in _by_chain(of_one).items():
        missing = set.intersection(*(numbers[stem] for stem in stems)) - atoms.keys()
        if len(missing) == 1 and len(atoms) > _FEWEST:
            wanted = _moved(atoms, missing.pop())
            message = f"{wanted} is not a condition, although it is one for all other numbers of this rule"
            yield said, _MISSING_LINK.found(message, rule.span, hint=wanted)
