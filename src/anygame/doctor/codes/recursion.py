"""Relations that depend on themselves."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.analysis.dependencies import components
from anygame.doctor.code import CODES, check
from anygame.language.diagnostics import Note
from anygame.language.rules import Literal, atoms_in
from anygame.language.terms import Compound, Variable, variables_of
from anygame.language.unification import may_agree

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from anygame.analysis.dependencies import RuleGroup
    from anygame.analysis.normal import NormalRule
    from anygame.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Atom
    from anygame.language.terms import Term

    #: An argument of a relation: the relation, and the index of the argument.
    Place = tuple[Key, int]


@check("growing-recursion", "recursion-restriction")
def _growing_recursion(sheet: Sheet) -> Iterator[Diagnostic]:
    for component in _groups_by_name(sheet):
        if component.recursive:
            inside = {rule.head.key for rule in component.rules}
            builds = any(
                isinstance(term, Compound) for rule in component.rules for term in rule.head.arguments
            )
            given = _given(sheet) if builds else set()
            for part in component.rules:
                yield from _of_rule(part, inside, given)


def _given(sheet: Sheet) -> set[Place]:
    """Return each argument of a relation that is bound in all rules that read the relation.

    A rule binds the variables in bound arguments of its head, and in literals that are not recursive.
    """
    rules = [part for part in sheet.normal if part.body]
    recursive = {rule.head.key for group in _groups_by_name(sheet) if group.recursive for rule in group.rules}
    reads = [(part, atom) for part in rules for atom, _ in atoms_in(part.body)]
    asked = {atom.key for part, atom in reads if part.head.key != atom.key}
    given = {(key, number) for key in asked for number in range(key[1])}
    while True:
        lost: set[Place] = set()
        for part, atom in reads:
            terms = [one for n, one in enumerate(part.head.arguments) if (part.head.key, n) in given]
            others = [other for other, _ in atoms_in(part.body) if other.key not in recursive]
            terms += chain(*(other.arguments for other in others))
            bound = {variable for term in terms for variable in variables_of(term)}
            places = enumerate(atom.arguments)
            lost |= {(atom.key, n) for n, term in places if not bound.issuperset(variables_of(term))}
        if lost.isdisjoint(given):
            return given
        given -= lost


def _of_rule(part: NormalRule, inside: Container[Key], given: Container[Place]) -> Iterator[Diagnostic]:
    literals = [item.atom for item in part.body if isinstance(item, Literal)]
    recursive = [atom for atom in literals if atom.key in inside]
    bound = {v for atom in literals if atom.key not in inside for v in atom.variables()}
    for atom in recursive:
        if _goes_down(part.head, atom, given):
            continue
        for number, term in enumerate(part.head.arguments):
            variable = _growing(term, atom, bound)
            if variable is not None:
                yield CODES["growing-recursion"].found(
                    f"each round of this recursion wraps {variable} in a larger term, {term}, perhaps "
                    "without end",
                    part.head.node.argument(number).span
                    if part.head.node and part.head.node.children
                    else part.origin.span,
                    Note(f"this literal binds {variable}", atom.span),
                    hint=f"bind {variable} with a literal from outside the recursion",
                )
                return
    for atom in recursive:
        for number, term in enumerate(atom.arguments):
            if term.is_ground or term in part.head.arguments or set(variables_of(term)) <= bound:
                continue
            node = atom.node
            yield CODES["recursion-restriction"].found(
                f"in a recursion, GDL requires that {term} occurs unchanged in the head, or that a literal "
                "from outside the recursion binds it",
                node.argument(number).span if node and node.children else part.origin.span,
                hint="anygame can play the sheet; other systems may reject it",
            )
            return


def _goes_down(head: Atom, atom: Atom, given: Container[Place]) -> bool:
    """Return whether a rule recurs on a part of a given term, such as the rest of a list."""
    places = enumerate(zip(head.arguments, atom.arguments, strict=True)) if head.key == atom.key else ()
    return any((head.key, number) in given and _is_inside(inner, whole) for number, (whole, inner) in places)


def _is_inside(term: Term, whole: Term) -> bool:
    parts = whole.arguments if isinstance(whole, Compound) else ()
    return any(term == part or _is_inside(term, part) for part in parts)


def _growing(term: Term, atom: Atom, bound: set[Variable]) -> Variable | None:
    """Return a variable nested deeper in an argument of a head than in the atom that binds the variable."""
    if not isinstance(term, Compound):
        return None
    above = _depths(atom.arguments)
    for variable, depth in _depths((term,)).items():
        if variable not in bound and variable in above and depth > above[variable]:
            return variable
    return None


def _depths(terms: tuple[Term, ...]) -> dict[Variable, int]:
    result: dict[Variable, int] = {}
    pending = [(term, 0) for term in terms]
    while pending:
        term, depth = pending.pop()
        if isinstance(term, Variable):
            result[term] = max(depth, result.get(term, 0))
        elif isinstance(term, Compound):
            pending += [(inner, depth + 1) for inner in term.arguments]
    return result


#: Maximum number of rules for a comparison of all pairs of rules.
_MOST_COMPARED: Final = 500


@check("negation-by-name", once=True)
def _negation_by_name(sheet: Sheet) -> Iterator[Diagnostic]:
    suspects = list(_negations_inside(sheet))
    parts = list(dict.fromkeys(part for group, _, _ in suspects for part in group.rules))
    if not parts or len(parts) > _MOST_COMPARED:
        return
    _, cycles = components(parts, lambda part: part.head.key, _reads_of, _may_feed)
    real = {id(rule.origin) for cycle in cycles for rule in cycle.rules}
    for _, reader, atom in suspects:
        if id(reader.origin) not in real:
            yield CODES["negation-by-name"].found(
                f"`{reader.head.predicate}` depends on the negation of `{atom.predicate}`, which depends on "
                f"`{reader.head.predicate}`, although no single rule depends on itself",
                atom.span or reader.origin.span,
                hint="anygame can play the sheet; systems that compare only names of relations reject it",
            )


def _negations_inside(sheet: Sheet) -> Iterator[tuple[RuleGroup[NormalRule], NormalRule, Atom]]:
    """Yield the negated atoms whose relations depend on the relation of the rule's head."""
    for group in _groups_by_name(sheet):
        inside = {rule.head.key for rule in group.rules}
        if group.recursive:
            for part in group.rules:
                for atom, positive in atoms_in(part.body):
                    if not positive and atom.key in inside:
                        yield group, part, atom


def _may_feed(feeder: NormalRule, reader: NormalRule, index: int) -> bool:
    atom = list(atoms_in(reader.body))[index][0]
    return may_agree(feeder.head.arguments, atom.arguments)


class _Read(NamedTuple):
    """A relation that a rule reads, with the attributes that `components` requires."""

    relation: Key
    positive: bool


def _reads_of(part: NormalRule) -> list[_Read]:
    return [_Read(atom.key, positive) for atom, positive in atoms_in(part.body)]


def _groups_by_name(sheet: Sheet) -> list[RuleGroup[NormalRule]]:
    """Return the groups of rules whose relations depend on each other, positively or negatively."""
    parts = [part for part in sheet.normal if part.body]
    reads = {id(part): [_Read(atom.key, True) for atom, _ in atoms_in(part.body)] for part in parts}
    groups, _ = components(parts, lambda part: part.head.key, lambda part: reads[id(part)], lambda *_: True)
    return groups
