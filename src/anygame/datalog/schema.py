"""The program as the engine sees it: relations with slots and levels, and rules in components.

A component is a strongly connected component of the dependency graph: rules that must be computed together.
Each component comes after all that it reads, so negation is stratified (Apt, Blair and Walker 1988). The
schema is immutable. ``check_levels`` and ``check_strata`` reject programs whose levels or strata have no
meaning.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from sys import intern
from typing import TYPE_CHECKING, Any, Final

from anygame.analysis.dependencies import components
from anygame.datalog.relations import FlatRule, Relation, Row, terms_of
from anygame.language.diagnostics import Diagnostic, Note, Severity, raise_if_errors
from anygame.language.rules import Atom
from anygame.language.terms import Compound, Term, are_ground
from anygame.language.unification import may_agree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from anygame.analysis.dependencies import RuleGroup
    from anygame.datalog.relations import TermTable

#: Levels: a relation depends on nothing, the state, or the joint move as well.
STATIC, STATE, ACTION = 0, 1, 2
#: The rows known in one state (or one state and one joint move), by slot. Also, by their names in generated
#: code, indexes, tables and markers of components that have run.
Frame = dict[int | str, Any]
#: Key of the list in which recursive components record their rounds, if it is in the frame.
TRACE: Final = "trace"
_DEPENDENCIES: Final = {STATE: "the state (`true`)", ACTION: "the moves (`does`)"}
#: Advice by the allowed and the actual level.
_INSTEAD: Final = {
    (STATE, ACTION): "keep what was done in a fluent, by a `next`, and ask for that with `true`",
    (STATIC, STATE): "ask only for relations that never change, such as facts and `init`",
    (STATIC, ACTION): "ask only for relations that never change, such as facts and `init`",
}
#: Relations that are always computed as a whole.
_WHOLE: Final = {"role", "init", "base", "input", "legal", "next", "terminal", "goal", "sees", "percept"}


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """Access to a relation by some columns: a hash index, or a table of answers on demand.

    Made by ``Schema.index``, so that equal ones are identical.

    Attributes:
        keys: the columns of a key, ascending.
        outputs: the columns of a result; if empty, only the presence of a key is tested.
        name: suffix of the names of this index in generated code: ``3_by_0_to_1_2``.
    """

    relation: Relation
    slot: int
    keys: tuple[int, ...]
    outputs: tuple[int, ...]
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Component:
    """Rules that are computed together.

    Attributes:
        number: position in the order of computation.
        reads: the relations that its rules read or derive.
        recursive: whether a rule reads a relation that the component derives.
        stratum: maximal number of negations on a path downwards.
        level: ``STATIC``, ``STATE`` or ``ACTION``.
        tableable: whether its relations can be computed on demand, at least for questions with finite
            answers.
        asks_for_larger_terms: whether its rules, on demand, might ask themselves for ever larger terms.
        marker: key that marks in a frame that the component has run.
    """

    number: int
    rules: tuple[FlatRule, ...]
    relations: tuple[Relation, ...]
    reads: tuple[Relation, ...]
    recursive: bool
    stratum: int
    level: int
    tableable: bool
    asks_for_larger_terms: bool
    marker: str

    @property
    def is_static(self) -> bool:
        """Whether the component depends on neither state nor moves."""
        return self.level == STATIC

    @property
    def builds_terms(self) -> bool:
        """Whether it builds terms from its own rows, so that it may not terminate."""
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
        inputs: relations given from outside, with their level (``STATE`` or ``ACTION``).

    Attributes:
        slots: the number of each relation in a rule or input.
        facts: rows that hold without any rule.
        components: in the order of computation.
        cycles: cycles through a negation; if there are any, nothing may be evaluated.
        functors: a number for each functor of a term with variables in the rules.
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
        found, self.cycles = components(
            proper, lambda rule: rule.head.relation, lambda rule: rule.reads, _may_feed
        )
        self._levels = _levels(found, inputs)
        heads = [tuple(dict.fromkeys(rule.head.relation for rule in part.rules)) for part in found]
        numbers: dict[Relation, list[int]] = defaultdict(list)
        for number, relations in enumerate(heads):
            for relation in relations:
                numbers[relation].append(number)
        self.components = tuple(
            self._component(number, part, relations, numbers)
            for number, (part, relations) in enumerate(zip(found, heads, strict=True))
        )
        self._makers = {
            relation: tuple([self.components[number] for number in made])
            for relation, made in numbers.items()
        }
        # Caches.
        self._sequences: dict[tuple[Relation, ...], list[Component]] = {}
        self._indexes: dict[tuple[Relation, tuple[int, ...], tuple[int, ...]], Index] = {}

    def _add_slot(self, relation: Relation) -> None:
        self.slots.setdefault(relation, len(self.slots) + 1)

    def _component(
        self,
        number: int,
        part: RuleGroup[FlatRule],
        relations: tuple[Relation, ...],
        numbers: Mapping[Relation, Sequence[int]],
    ) -> Component:
        reads = dict.fromkeys(read.relation for rule in part.rules for read in rule.reads)
        return Component(
            number=number,
            rules=part.rules,
            relations=relations,
            reads=tuple(reads | dict.fromkeys(relations)),
            recursive=part.recursive,
            stratum=part.level,
            level=max([self.level(relation) for relation in relations], default=STATIC),
            tableable=all(
                len(numbers[relation]) == 1 and relation.width > 0 and relation.predicate not in _WHOLE
                for relation in relations
            ),
            asks_for_larger_terms=_asks_for_larger_terms(part.rules, relations),
            marker=intern(f"done{number}"),
        )

    # -- relations ---------------------------------------------------------------------------------

    def relation(self, slot: int) -> Relation:
        """Return the relation of a slot."""
        return self._relations[slot - 1]

    def level(self, relation: Relation) -> int:
        """Return whether a relation depends on nothing (STATIC), the state, or the joint move (ACTION)."""
        return self._levels.get(relation, STATIC)

    def is_static(self, relation: Relation) -> bool:
        """Whether a relation depends on neither state nor moves."""
        return self.level(relation) == STATIC

    def is_move(self, relation: Relation) -> bool:
        """Whether a relation is given from outside with each joint move."""
        return self._inputs.get(relation) == ACTION

    def index(self, relation: Relation, keys: Iterable[int], outputs: Iterable[int]) -> Index:
        """Return the index of a relation by some columns."""
        key = (relation, tuple(keys), tuple(outputs))
        index = self._indexes.get(key)
        if index is None:
            slot = self.slots[relation]
            parts = [str(slot)]
            parts += ["by", *map(str, key[1])] if key[1] else []
            parts += ["to", *map(str, key[2])] if key[2] else []
            index = self._indexes.setdefault(key, Index(relation, slot, key[1], key[2], "_".join(parts)))
        return index

    # -- components --------------------------------------------------------------------------------

    def makers(self, relation: Relation) -> tuple[Component, ...]:
        """Return the components that derive a relation, in the order of computation."""
        return self._makers.get(relation, ())

    def sequence(self, relations: Iterable[Relation]) -> list[Component]:
        """Return the components that compute some relations, in order, without static ones."""
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
        """Return the rules that derive relations with a name, given as name/arity."""
        return [
            rule
            for relation, made in self._makers.items()
            if relation.title == name
            for component in made
            for rule in component.rules
            if rule.head.relation == relation
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
    """Yield the functors of all terms with variables, each once."""
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


def _asks_for_larger_terms(rules: Iterable[FlatRule], own: Sequence[Relation]) -> bool:
    """Whether recursive rules, on demand, might ask for ever larger terms."""
    return any(
        isinstance(term, Compound) and not term.is_ground
        for rule in rules
        for read in rule.reads
        if read.relation in own
        for term in read.atom.columns
    )


def _may_feed(feeder: FlatRule, reader: FlatRule, index: int) -> bool:
    atom = reader.reads[index].atom
    return feeder.head.relation == atom.relation and may_agree(feeder.head.columns, atom.columns)


def check_strata(schema: Schema) -> None:
    """Raise RuleSheetError where rules depend on each other through a negation."""
    diagnostics = []
    seen = set()
    for cycle in schema.cycles:
        rules = list(dict.fromkeys(rule.origin for rule in cycle.rules))
        key = tuple(map(id, rules))
        if key in seen:
            continue
        seen.add(key)
        reader, index = cycle.negations[0]
        atom = reader.reads[index].atom
        source = Atom(atom.relation.predicate, atom.relation.arguments(atom.columns))
        diagnostics.append(
            Diagnostic(
                "unstratified",
                Severity.ERROR,
                f"this rule needs (not {source}), which depends on the rule itself",
                reader.origin.span,
                tuple(
                    Note("the cycle passes here", rule.span) for rule in rules if rule is not reader.origin
                ),
                hint="a relation may not be defined through its own negation; break the cycle",
            )
        )
    raise_if_errors(diagnostics)


def check_levels(schema: Schema, rules: Iterable[FlatRule]) -> None:
    """Raise RuleSheetError where what holds once, or in each state, depends on the state or the moves."""
    diagnostics = []
    allowed = dict.fromkeys(["role", "init", "base", "input"], STATIC)
    allowed |= dict.fromkeys(["legal", "terminal", "goal"], STATE)
    for rule in rules:
        predicate = rule.head.relation.predicate
        for read in rule.reads:
            level = schema.level(read.relation)
            if level > allowed.get(predicate, ACTION):
                diagnostics.append(
                    Diagnostic(
                        "static-relation" if allowed[predicate] == STATIC else "action-dependent",
                        Severity.ERROR,
                        f"`{predicate}` may not depend on {_DEPENDENCIES[level]}, but this rule reads "
                        f"{_reading(read.relation.predicate)}",
                        rule.origin.span,
                        hint=_INSTEAD[allowed[predicate], level],
                    )
                )
    raise_if_errors(dict.fromkeys(diagnostics))


def _reading(predicate: str) -> str:
    """Return in words what a rule reads: the moves or the state, or relations that depend on them."""
    return f"`{predicate}`" if predicate in ("true", "does") else f"`{predicate}`, which does"
