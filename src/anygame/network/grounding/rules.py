"""Rules to be instantiated, with literals sorted by kind.

The body of a rule has three kinds of literals. *Positives* and *negatives* depend on state or moves, and
become inputs of the rule's instances. *Guards* are positive literals that only restrict the values of
variables. Most guards are static; a copied literal that binds variables of a split-off part can be dynamic.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from anygame.datalog.relations import (
    Alternatives,
    FlatAtom,
    IsConstant,
    Negated,
    Relation,
    Unequal,
    variables_in,
)
from anygame.language.terms import Compound, Term, Variable, variables_of
from anygame.language.unification import apply

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from anygame.datalog.relations import Condition, FlatRule


@dataclass(frozen=True, slots=True)
class Composed:
    """A variable (``whole``) that names a compound value: a functor with its arguments (``parts``)."""

    whole: Variable
    functor: tuple[str, int]
    parts: tuple[Term, ...]

    def __str__(self) -> str:
        return f"{self.whole} = ({self.functor[0]} {' '.join(map(str, self.parts))})"


Test = Unequal | IsConstant | Alternatives | Negated | FlatAtom

#: Maximum number of rules that a pass makes from one rule, since more rules need more joins. For public
#: sheets, a maximum of 24 gives the same networks.
MOST_COPIES: Final = 32


@dataclass(frozen=True, slots=True)
class GroundRule:
    """A rule to be instantiated."""

    head: FlatAtom
    positives: tuple[FlatAtom, ...] = ()
    negatives: tuple[FlatAtom, ...] = ()
    guards: tuple[FlatAtom, ...] = ()
    tests: tuple[Test, ...] = ()
    composed: tuple[Composed, ...] = ()

    @property
    def atoms(self) -> tuple[FlatAtom, ...]:
        """All literals, including guards."""
        return (*self.positives, *self.negatives, *self.guards)

    def with_atoms(self, rewrite: Callable[[FlatAtom], FlatAtom]) -> GroundRule:
        """Return the rule with every atom rewritten, including the head."""
        positives, negatives = tuple(map(rewrite, self.positives)), tuple(map(rewrite, self.negatives))
        guards = tuple(map(rewrite, self.guards))
        return GroundRule(rewrite(self.head), positives, negatives, guards, self.tests, self.composed)

    def __str__(self) -> str:
        body = [*map(str, self.positives), *(f"not {atom}" for atom in self.negatives)]
        body += [*(f"[{guard}]" for guard in self.guards), *map(str, self.composed), *map(str, self.tests)]
        return f"{self.head} :- {', '.join(body)}" if body else str(self.head)


def classified(rule: FlatRule, is_static: Callable[[Relation], bool]) -> GroundRule:
    """Return a rule of the reasoner with its literals sorted by kind; disjunctions become tests."""
    return with_conditions(GroundRule(rule.head), (*rule.literals, *rule.conditions), is_static)


def with_conditions(
    rule: GroundRule, conditions: Iterable[Test], is_static: Callable[[Relation], bool]
) -> GroundRule:
    """Return a rule with additional conditions, which are sorted by kind."""
    positives, negatives = list(rule.positives), list(rule.negatives)
    guards, tests = list(rule.guards), list(rule.tests)
    for condition in conditions:
        if isinstance(condition, FlatAtom):
            (guards if is_static(condition.relation) else positives).append(condition)
        elif isinstance(condition, Negated) and not is_static(condition.atom.relation):
            negatives.append(condition.atom)
        else:
            tests.append(condition)
    body = (tuple(positives), tuple(negatives), tuple(guards), tuple(tests))
    return GroundRule(rule.head, *body, rule.composed)


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """A literal, guard or test of a rule, with its variables."""

    kind: Literal["positives", "negatives", "guards", "tests"]
    what: FlatAtom | Test
    variables: frozenset[Variable]

    @classmethod
    def of(cls, kind: Literal["positives", "negatives", "guards"], atom: FlatAtom) -> Item:
        """Return an atom as an item."""
        return cls(kind, atom, frozenset(variables_of_atom(atom)))

    @property
    def is_dynamic(self) -> bool:
        """Whether the item depends on state or moves."""
        return self.kind in ("positives", "negatives")


def items_of(rule: GroundRule) -> list[Item]:
    """Return the body of a rule as items."""
    items = [Item.of("positives", atom) for atom in rule.positives]
    items += [Item.of("negatives", atom) for atom in rule.negatives]
    items += [Item.of("guards", atom) for atom in rule.guards]
    return items + [Item("tests", test, frozenset(variables_in((test,)))) for test in rule.tests]


def connected(items: Sequence[Item], head: frozenset[Variable]) -> list[list[Item]]:
    """Group items that share variables outside the head; omit items without such variables."""
    groups: list[tuple[frozenset[Variable], list[int]]] = []
    for number, item in enumerate(items):
        joined, members = item.variables - head, [number]
        if not joined:
            continue
        apart = []
        for group in groups:
            if group[0] & joined:
                joined |= group[0]
                members += group[1]
            else:
                apart.append(group)
        groups = [*apart, (joined, members)]
    numbers = sorted(sorted(members) for _, members in groups)
    return [[items[number] for number in members] for members in numbers]


def rule_of(head: FlatAtom, items: Iterable[Item]) -> GroundRule:
    """Build a rule from items; the inverse of ``items_of``."""
    body: dict[str, list[FlatAtom | Test]] = {}
    for item in items:
        body.setdefault(item.kind, []).append(item.what)
    return GroundRule(head, **{kind: tuple(atoms) for kind, atoms in body.items()})  # type: ignore[arg-type]


def own_relation(number: int, width: int) -> Relation:
    """Return a new relation, with a name that cannot occur in a sheet."""
    return Relation(f" part {number}", (None,) * width)


def is_own(relation: Relation) -> bool:
    """Whether a relation was made by ``own_relation``."""
    return relation.predicate.startswith(" ")


def variables_of_atom(atom: FlatAtom) -> Iterator[Variable]:
    """Yield the variables of an atom, with repetitions."""
    for term in atom.columns:
        if isinstance(term, Variable):
            yield term
        elif not term.is_ground:
            yield from variables_of(term)


def variables_of_rule(rule: GroundRule) -> set[Variable]:
    """Return the variables of a rule."""
    variables = {variable for atom in (rule.head, *rule.atoms) for variable in variables_of_atom(atom)}
    variables |= variables_in(rule.tests)
    nested = (term for item in rule.composed for term in (item.whole, *item.parts))
    return variables.union(*map(variables_of, nested))


def variables_of_items(items: Iterable[Item]) -> frozenset[Variable]:
    """Return the variables of some items."""
    return frozenset[Variable]().union(*(item.variables for item in items))


def sorted_by_name(variables: Iterable[Variable]) -> tuple[Variable, ...]:
    """Return variables sorted by name, each once."""
    return tuple(sorted(set(variables), key=lambda variable: variable.name))


def binding_literals(literals: Sequence[FlatAtom], wanted: Iterable[Variable]) -> list[FlatAtom]:
    """Return literals that bind the wanted variables; a greedy choice, the most useful literal first."""
    chosen: list[FlatAtom] = []
    missing = set(wanted)
    candidates = [(atom, set(variables_of_atom(atom))) for atom in literals]
    while missing and candidates:
        worth = [(len(missing & variables), -len(variables)) for _, variables in candidates]
        best = max(range(len(candidates)), key=worth.__getitem__)
        if not worth[best][0]:
            break
        chosen.append(candidates[best][0])
        missing -= candidates[best][1]
    return chosen


def named_by_place(
    atoms: Iterable[FlatAtom], name: str, but: Container[Variable] = ()
) -> dict[Variable, Term]:
    """Return canonical names for the variables of some atoms, in order of occurrence.

    In the template ``name``, ``{}`` becomes a number. Variables in ``but`` keep their names.
    """
    names: dict[Variable, Term] = {}
    for atom in atoms:
        for variable in variables_of_atom(atom):
            if variable not in names and variable not in but:
                names[variable] = Variable(name.format(len(names)))
    return names


def renamed_apart(rule: GroundRule, number: int) -> GroundRule:
    """Return a rule with fresh variables. Each call needs a unique number."""
    return substituted(rule, {v: Variable(f"{v.name} {number}") for v in variables_of_rule(rule)})


class NotAVariableError(ValueError):
    """Substitution replaces a variable by another term in a condition that only supports variables."""


def substituted(rule: GroundRule, bindings: Mapping[Variable, Term]) -> GroundRule:
    """Return a rule with variables replaced. Raises NotAVariableError like ``substituted_test``."""
    composed = []
    for item in rule.composed:
        whole = apply(item.whole, bindings)
        if not isinstance(whole, Variable):
            raise NotAVariableError
        parts = tuple([apply(part, bindings) for part in item.parts])
        composed.append(replace(item, whole=whole, parts=parts))
    tests = tuple([substituted_test(test, bindings) for test in rule.tests])
    changed = rule.with_atoms(lambda atom: substituted_atom(atom, bindings))
    return replace(changed, tests=tests, composed=tuple(composed))


def substituted_atom(atom: FlatAtom, bindings: Mapping[Variable, Term]) -> FlatAtom:
    """Return an atom with variables replaced, or the same object if nothing changes."""
    if bindings.keys().isdisjoint(atom.columns) and Compound not in map(type, atom.columns):
        return atom
    columns = [
        apply(term, bindings) if term in bindings or isinstance(term, Compound) else term
        for term in atom.columns
    ]
    return FlatAtom(atom.relation, tuple(columns))


def substituted_test(test: Condition, bindings: Mapping[Variable, Term]) -> Condition:
    """Return a test with variables replaced.

    Raises NotAVariableError if a constant or compound replaces a variable in a test for constants.
    """
    if isinstance(test, FlatAtom):
        return substituted_atom(test, bindings)
    if isinstance(test, Negated):
        return Negated(substituted_atom(test.atom, bindings))
    if isinstance(test, Unequal):
        return replace(test, left=apply(test.left, bindings), right=apply(test.right, bindings))
    if isinstance(test, IsConstant):
        term = apply(test.variable, bindings)
        if not isinstance(term, Variable):
            raise NotAVariableError
        return IsConstant(term)
    choices = [tuple([substituted_test(part, bindings) for part in choice]) for choice in test.choices]
    return Alternatives(tuple(choices))
