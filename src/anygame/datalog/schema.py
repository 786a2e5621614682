"""The schema of a program: relations with slots and levels, and rules in components.

A component is a strongly connected component of the dependency graph: rules that must be computed together.
Each component comes after all components that it reads, so negation is stratified (Apt, Blair and Walker
1988).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from sys import intern
from typing import TYPE_CHECKING, Any, Final

from anygame.analysis.dependencies import components
from anygame.analysis.groups import grouped
from anygame.datalog.relations import FlatRule, Relation, Row, terms_of
from anygame.language.diagnostics import Diagnostic, Note, Severity, raise_if_errors
from anygame.language.rules import Atom
from anygame.language.terms import Compound, Term, are_ground
from anygame.language.unification import may_agree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from anygame.analysis.dependencies import RuleGroup
    from anygame.datalog.relations import TermTable

#: Levels of relations: constant, dependent on the state, and dependent on the joint move.
STATIC, STATE, ACTION = 0, 1, 2
#: The known rows of relations in one state, or in one state with one joint move, by slot. A frame also
#: contains indexes, tables, and markers of components that have run, by their names in generated code.
Frame = dict[int | str, Any]
#: Key of an optional list in a frame, to which recursive components append the new rows of each round.
TRACE: Final = "trace"
_DEPENDENCIES: Final = {STATE: "the state (`true`)", ACTION: "the moves (`does`)"}
#: For each allowed level of a relation, the advice for a rule that exceeds this level.
_INSTEAD: Final = {
    STATE: "record the move in a fluent with a `next` rule, and read that fluent with `true`",
    STATIC: "read only relations that never change, such as facts and `init`",
}
#: Relations that are never computed on demand.
_WHOLE: Final = {"role", "init", "base", "input", "legal", "next", "terminal", "goal", "sees", "percept"}


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """Access to a relation by some of its columns: a hash index, or an on-demand table.

    Only ``Schema.index`` creates indexes, so equal indexes are identical.
    """

    relation: Relation
    slot: int
    #: The columns of a key, ascending.
    keys: tuple[int, ...]
    #: The columns that a look-up returns. If there are none, the index only tests whether a key exists.
    outputs: tuple[int, ...]
    #: Suffix of the names of this index in generated code, such as ``3_by_0_to_1_2``.
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Component:
    """Rules that are computed together."""

    #: Position in the order of computation.
    number: int
    rules: tuple[FlatRule, ...]
    relations: tuple[Relation, ...]
    #: The relations that the rules read or derive.
    reads: tuple[Relation, ...]
    #: Whether a rule reads a relation that the component derives.
    recursive: bool
    #: Maximum number of negations on a path to the inputs of the component.
    stratum: int
    #: The highest level of the relations: ``STATIC``, ``STATE`` or ``ACTION``.
    level: int
    #: Whether the relations can be computed on demand, for questions with finite answers.
    tableable: bool
    #: Whether the rules could ask for ever larger terms if they were evaluated on demand.
    asks_for_larger_terms: bool
    #: Key in a frame that shows that the component has run.
    marker: str

    @property
    def is_static(self) -> bool:
        """Whether the component depends on neither state nor moves."""
        return self.level == STATIC

    @property
    def builds_terms(self) -> bool:
        """Whether the component builds terms from its own rows and could therefore run forever."""
        own = frozenset(self.relations)
        return self.recursive and any(
            isinstance(column, Compound) and not column.is_ground
            for rule in self.rules
            if any(atom.relation in own for atom in rule.literals)
            for column in rule.head.columns
        )


class Schema:
    """Relations, facts and components of a program.

    Args:
        inputs: relations whose rows the caller provides, with their level (``STATE`` or ``ACTION``).

    Attributes:
        slots: a number for each relation in a rule or an input.
        facts: the rows of all ground facts, by relation.
        components: the components, in the order of computation.
        cycles: the cycles through a negation; if there are any, the program is not stratified.
        functors: a number for each functor of a non-ground compound term in the rules.
    """

    def __init__(self, rules: Sequence[FlatRule], terms: TermTable, inputs: Mapping[Relation, int]) -> None:
        self.terms = terms
        self._inputs = inputs
        self.slots: dict[Relation, int] = {}
        self.facts: dict[Relation, set[Row]] = {}
        proper = []
        for relation in inputs:
            self._add_slot(relation)
        for rule in rules:
            for read in rule.reads:
                self._add_slot(read.relation)
            head = rule.head
            if rule.literals or rule.conditions or not are_ground(head.columns):
                self._add_slot(head.relation)
                proper.append(rule)
                continue
            rows = self.facts.get(head.relation)
            if rows is None:
                self._add_slot(head.relation)
                rows = self.facts[head.relation] = set()
            rows.add(terms.row(head.columns))
        self._relations = list(self.slots)
        self.functors = {functor: number for number, functor in enumerate(_functors(proper))}
        groups, self.cycles = components(
            proper, lambda rule: rule.head.relation, lambda rule: rule.reads, _may_feed
        )
        self._levels = _levels(groups, inputs)
        counts = Counter(head for group in groups for head in {rule.head.relation for rule in group.rules})
        self.components = tuple(self._component(number, group, counts) for number, group in enumerate(groups))
        self._makers = grouped(
            (relation, component) for component in self.components for relation in component.relations
        )
        # Caches.
        self._sequences: dict[tuple[Relation, ...], list[Component]] = {}
        self._indexes: dict[tuple[Relation, tuple[int, ...], tuple[int, ...]], Index] = {}

    def _add_slot(self, relation: Relation) -> None:
        self.slots.setdefault(relation, len(self.slots) + 1)

    def _component(self, number: int, group: RuleGroup[FlatRule], counts: Counter[Relation]) -> Component:
        """Return a group as a component; ``counts`` is the number of groups that derive each relation."""
        relations = tuple(dict.fromkeys(rule.head.relation for rule in group.rules))
        reads = dict.fromkeys(read.relation for rule in group.rules for read in rule.reads)
        return Component(
            number=number,
            rules=group.rules,
            relations=relations,
            reads=tuple(reads | dict.fromkeys(relations)),
            recursive=group.recursive,
            stratum=group.level,
            level=max([self.level(relation) for relation in relations], default=STATIC),
            tableable=all(
                counts[relation] == 1 and relation.width > 0 and relation.predicate not in _WHOLE
                for relation in relations
            ),
            asks_for_larger_terms=any(
                isinstance(term, Compound) and not term.is_ground
                for rule in group.rules
                for read in rule.reads
                if read.relation in relations
                for term in read.atom.columns
            ),
            marker=intern(f"done{number}"),
        )

    def relation(self, slot: int) -> Relation:
        """Return the relation of a slot."""
        return self._relations[slot - 1]

    def level(self, relation: Relation) -> int:
        """Return the level of a relation: ``STATIC``, ``STATE`` or ``ACTION``."""
        return self._levels.get(relation, STATIC)

    def is_static(self, relation: Relation) -> bool:
        """Whether a relation depends on neither state nor moves."""
        return self.level(relation) == STATIC

    def is_move(self, relation: Relation) -> bool:
        """Whether the caller provides the rows of a relation with each joint move."""
        return self._inputs.get(relation) == ACTION

    def index(self, relation: Relation, keys: Iterable[int], outputs: Iterable[int]) -> Index:
        """Return the index of a relation by the given columns."""
        key = (relation, tuple(keys), tuple(outputs))
        index = self._indexes.get(key)
        if index is None:
            slot = self.slots[relation]
            parts = [str(slot)]
            parts += ["by", *map(str, key[1])] if key[1] else []
            parts += ["to", *map(str, key[2])] if key[2] else []
            index = self._indexes.setdefault(key, Index(relation, slot, key[1], key[2], "_".join(parts)))
        return index

    def makers(self, relation: Relation) -> Sequence[Component]:
        """Return the components that derive a relation, in the order of computation."""
        return self._makers.get(relation, ())

    def sequence(self, relations: Iterable[Relation]) -> list[Component]:
        """Return the non-static components that compute the given relations and their inputs, in order."""
        key = tuple(relations)
        components = self._sequences.get(key)
        if components is None:
            needed: dict[int, Component] = {}
            pending = list(key)
            seen = set(pending)
            while pending:
                for component in self.makers(pending.pop()):
                    if not component.is_static and component.number not in needed:
                        needed[component.number] = component
                        pending += [relation for relation in component.reads if relation not in seen]
                        seen.update(component.reads)
            components = self._sequences[key] = [needed[number] for number in sorted(needed)]
        return components

    def rules_of_name(self, name: str) -> list[FlatRule]:
        """Return the rules of all flat relations with a title such as ``cell/3``."""
        return [
            rule
            for component in self.components
            for rule in component.rules
            if rule.head.relation.title == name
        ]


def _levels(groups: Sequence[RuleGroup[FlatRule]], inputs: Mapping[Relation, int]) -> dict[Relation, int]:
    levels = dict(inputs)
    changed = True
    while changed:
        changed = False
        for part in groups:
            level = max(
                (levels.get(read.relation, STATIC) for rule in part.rules for read in rule.reads),
                default=STATIC,
            )
            for rule in part.rules:
                if levels.get(rule.head.relation, STATIC) < level:
                    levels[rule.head.relation] = level
                    changed = True
    return levels


def _functors(rules: Iterable[FlatRule]) -> Iterator[tuple[str, int]]:
    """Yield the functor of each non-ground compound term, without duplicates."""
    seen = set()
    for rule in rules:
        pending: list[Term] = list(terms_of(rule))
        while pending:
            term = pending.pop()
            if isinstance(term, Compound) and not term.is_ground:
                functor = (term.functor, len(term.arguments))
                if functor not in seen:
                    seen.add(functor)
                    yield functor
                pending += term.arguments


def _may_feed(feeder: FlatRule, reader: FlatRule, index: int) -> bool:
    atom = reader.reads[index].atom
    return feeder.head.relation == atom.relation and may_agree(feeder.head.columns, atom.columns)


def check_strata(schema: Schema) -> None:
    """Raise RuleSheetError if a relation depends on its own negation."""
    diagnostics: dict[tuple[int, ...], Diagnostic] = {}
    for cycle in schema.cycles:
        rules = list(dict.fromkeys(rule.origin for rule in cycle.rules))
        reader, index = cycle.negations[0]
        atom = reader.reads[index].atom
        negated = Atom(atom.relation.predicate, atom.relation.arguments(atom.columns))
        diagnostic = Diagnostic(
            "unstratified",
            Severity.ERROR,
            f"this rule needs (not {negated}), which depends on the rule itself",
            reader.origin.span,
            tuple(Note("the cycle passes here", rule.span) for rule in rules if rule is not reader.origin),
            hint="a relation must not depend on its own negation; break the cycle",
        )
        diagnostics.setdefault(tuple(map(id, rules)), diagnostic)
    raise_if_errors(diagnostics.values())


def check_levels(schema: Schema, rules: Iterable[FlatRule]) -> None:
    """Raise RuleSheetError if a keyword such as ``init`` or ``legal`` has a forbidden dependency."""
    diagnostics = []
    allowed = dict.fromkeys(["role", "init", "base", "input"], STATIC)
    allowed |= dict.fromkeys(["legal", "terminal", "goal"], STATE)
    for rule in rules:
        predicate = rule.head.relation.predicate
        for read in rule.reads:
            level, most = schema.level(read.relation), allowed.get(predicate, ACTION)
            if level > most:
                code = "static-relation" if most == STATIC else "action-dependent"
                message = f"`{predicate}` must not depend on {_DEPENDENCIES[level]}, but this rule reads "
                message += f"`{read.relation.predicate}`"
                if read.relation.predicate not in ("true", "does"):
                    message += ", which does"
                span = rule.origin.span
                diagnostics.append(Diagnostic(code, Severity.ERROR, message, span, hint=_INSTEAD[most]))
    raise_if_errors(dict.fromkeys(diagnostics))
