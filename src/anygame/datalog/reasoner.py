"""The reasoner: answers questions about the states of a game from its rules.

This module connects the stages: it flattens the rules, orders them in a schema, and evaluates them in an
engine. The module also handles the keywords of GDL: it provides the rows of ``true`` and ``does``, and reads
``init``, ``legal``, ``next``, ``terminal``, ``goal`` and ``sees``.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from anygame.analysis.domains import Domains
from anygame.analysis.safety import normal_rules
from anygame.datalog.engine import Engine
from anygame.datalog.flatten import flatten
from anygame.datalog.relations import TermTable
from anygame.datalog.schema import ACTION, STATE, STATIC, Schema, check_levels, check_strata
from anygame.datalog.strategy import DEFAULT
from anygame.errors import LimitError, PositionError
from anygame.language.diagnostics import shown
from anygame.language.limits import Limits
from anygame.language.rules import Atom, atoms_of
from anygame.language.terms import Compound, Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame.analysis.domains import Top
    from anygame.datalog.relations import Relation, Row
    from anygame.datalog.schema import Component, Frame
    from anygame.datalog.strategy import Strategy
    from anygame.language.rules import Program
    from anygame.language.terms import Term

#: The rows of each flat relation of ``true``, always in the same order.
Fluents = tuple["frozenset[Row] | set[Row]", ...]
#: The slot of a flat ``does`` relation, and a row of this relation.
Move = tuple[int, "Row"]


class Reasoner:
    """Computes what holds in the states of a game.

    Raises:
        RuleSheetError: the rules are unsafe or unstratified, or static relations depend on the state.
        LimitError: flattening takes too many copies of rules.
    """

    def __init__(self, program: Program, limits: Limits | None = None, strategy: Strategy = DEFAULT) -> None:
        self.program = program
        self.limits = limits or Limits()
        self.strategy = strategy
        self.rules = normal_rules(program)
        self.terms = TermTable(
            depth=self.limits.depth,
            terms=self.limits.terms,
            long=strategy.long_term,
            longest=strategy.longest_term,
        )
        self.layout, self.flat_rules = flatten(self.rules, strategy)
        layout = self.layout
        self._fluents = layout.variants(("true", 1))
        self._does = layout.variants(("does", 2))
        self.schema = Schema(
            self.flat_rules,
            self.terms,
            dict.fromkeys(self._fluents, STATE) | dict.fromkeys(self._does, ACTION),
        )
        check_strata(self.schema)
        check_levels(self.schema, self.flat_rules)
        self.engine = Engine(self.schema, self.limits, strategy)
        slots = self.schema.slots
        role_facts = [rule for rule in self.rules if rule.head.key == ("role", 1) and not rule.body]
        self.roles: tuple[Term, ...] = tuple(dict.fromkeys(rule.head.arguments[0] for rule in role_facts))
        self._true_slots = [slots[relation] for relation in self._fluents]
        self._next = [replace(relation, predicate="next") for relation in self._fluents]
        # The layout can contain shapes of moves that no rule derives.
        legal = [relation for relation in layout.variants(("legal", 2)) if relation in slots]
        self._legal_slots = [
            (slots[relation], slots[replace(relation, predicate="does")], relation) for relation in legal
        ]
        self._does_slots = [slots[relation] for relation in self._does]
        self._terminal = layout.variants(("terminal", 0))[0]
        self._goals = layout.variants(("goal", 2))
        self._sees = layout.variants(("sees", 2))
        sequence = self.schema.sequence
        self._for_legal = sequence(legal)
        self._for_terminal = sequence([self._terminal])
        self._for_goals = sequence(self._goals)
        self._for_sees = sequence(self._sees)
        for_next = sequence(self._next)
        self._for_next_by_state = [component for component in for_next if component.level == STATE]
        self._for_next_by_moves = [component for component in for_next if component.level == ACTION]

    def initial(self) -> Fluents:
        """Return the initial state."""
        return tuple(
            frozenset(self.engine.rows(self.engine.static, replace(relation, predicate="init")))
            for relation in self._fluents
        )

    def fluents(self, facts: Iterable[Term]) -> tuple[Fluents, frozenset[Term]]:
        """Return the state of the given facts, and the facts that no rule can read."""
        rows: dict[Relation, set[Row]] = {relation: set() for relation in self._fluents}
        unreadable = set()
        for fact in facts:
            if not fact.is_ground:
                raise PositionError(f"a position must not contain variables, but contains {fact}")
            flat = self.layout.flat_atom(Atom("true", (fact,)))
            if flat is None or flat.relation not in rows:
                unreadable.add(fact)
            else:
                rows[flat.relation].add(self.terms.row(flat.columns))
        return tuple(map(frozenset, rows.values())), frozenset(unreadable)

    def facts(self, fluents: Fluents) -> Iterator[Term]:
        """Yield the facts of a state."""
        for relation, rows in zip(self._fluents, fluents, strict=True):
            for row in rows:
                yield self.arguments(relation, row)[0]

    def frame(self, fluents: Fluents) -> Frame:
        """Return a frame that contains only the facts of a state."""
        return dict(zip(self._true_slots, fluents, strict=True))

    def legal(self, frame: Frame) -> dict[int, list[Move]]:
        """Return the legal moves of each role, by the number of the role; the order of moves is not fixed."""
        self.engine.evaluate(frame, self._for_legal)
        moves: dict[int, list[Move]] = {self.terms.number(role): [] for role in self.roles}
        for slot, does, relation in self._legal_slots:
            rows = frame.get(slot)
            for row in self.engine.rows(frame, relation) if rows is None else rows:
                of_role = moves.get(row[0])
                if of_role is not None:
                    of_role.append((does, row))
        return moves

    def terminal(self, frame: Frame) -> bool:
        """Return whether the state is terminal."""
        self.engine.evaluate(frame, self._for_terminal)
        return bool(self.engine.rows(frame, self._terminal))

    def goals(self, frame: Frame) -> dict[int, list[Term]]:
        """Return all goal values that the rules derive, by the number of the role."""
        self.engine.evaluate(frame, self._for_goals)
        return self._by_role(frame, self._goals)

    def _by_role(self, frame: Frame, relations: Iterable[Relation]) -> dict[int, list[Term]]:
        """Return the second arguments of the rows, by the number of the role, which is the first argument."""
        by_role: dict[int, list[Term]] = {}
        for relation in relations:
            for row in self.engine.rows(frame, relation):
                by_role.setdefault(row[0], []).append(self.arguments(relation, row)[1])
        return by_role

    def action_frame(self, frame: Frame, joint: Sequence[Move]) -> Frame:
        """Return a copy of a frame that also contains a joint move."""
        extended = dict(frame)
        for slot in self._does_slots:
            extended[slot] = set()
        for slot, row in joint:
            extended[slot].add(row)
        return extended

    def next(self, frame: Frame, joint: Sequence[Move]) -> Fluents:
        """Return the state after a joint move; ``frame`` keeps the rows that do not depend on moves."""
        engine = self.engine
        engine.evaluate(frame, self._for_next_by_state)
        extended = self.action_frame(frame, joint)
        engine.evaluate(extended, self._for_next_by_moves)
        return tuple([engine.rows(extended, relation) for relation in self._next])  # type: ignore[misc]

    def percepts(self, frame: Frame, joint: Sequence[Move]) -> dict[int, list[Term]]:
        """Return the percepts after a joint move, by the number of the role."""
        extended = self.action_frame(frame, joint)
        self.engine.evaluate(extended, self._for_sees)
        return self._by_role(extended, self._sees)

    def arguments(self, relation: Relation, row: Row) -> tuple[Term, ...]:
        """Return the arguments that a row represents."""
        terms = self.terms.terms
        columns = tuple([terms[number] for number in relation.unpacked(row)])
        return relation.arguments(columns)

    def move(self, role: Term, move: Term) -> Move | None:
        """Return the slot and row of a move; None if no rule can read the move."""
        flat = self.layout.flat_atom(Atom("does", (role, move)))
        if flat is None or flat.relation not in self._does:
            return None
        return self.schema.slots[flat.relation], self.terms.row(flat.columns)

    def move_term(self, move: Move) -> Term:
        """Return the term of a move."""
        relation = next(r for r in self._does if self.schema.slots[r] == move[0])
        return self.arguments(relation, move[1])[1]

    def describe_strata(self) -> list[dict[str, Any]]:
        """Return the components in the order of computation, as plain data."""
        words = {STATIC: "once", STATE: "per state", ACTION: "per joint move"}
        return [
            {
                "number": component.number,
                "stratum": component.stratum,
                "computed": words[component.level],
                "recursive": component.recursive,
                "relations": [str(relation) for relation in component.relations],
                "rules": [str(rule) for rule in component.rules],
            }
            for component in self.schema.components
        ]

    def describe_plan(self) -> list[dict[str, Any]]:
        """Return the generated code of each component, as plain data; empty if the code was never needed."""
        return [
            {
                "number": component.number,
                "relations": [str(relation) for relation in component.relations],
                "on_demand": any(self.engine.is_on_demand(relation) for relation in component.relations),
                "source": self.engine.text(component),
            }
            for component in self.schema.components
        ]

    def domains(self) -> dict[tuple[str, int], tuple[tuple[Term, ...], ...]]:
        """Return the possible values of each argument of each relation in the rules, sorted by text."""
        domains = Domains(self.rules, declared=True)
        return {
            (name, arity): tuple([_sorted_tops(domains.tops(name, arity, n)) for n in range(arity)])
            for name, arity in self.layout.keys()  # noqa: SIM118
        }

    def domains_below(
        self, predicate: str, arity: int
    ) -> dict[tuple[str, int], tuple[tuple[Term, ...], ...]]:
        """Return the possible functors of the last argument of a relation, with their possible arguments."""
        domains = Domains(self.rules, declared=True)
        path = (predicate, arity, arity - 1)
        domains_of: dict[tuple[str, int], tuple[tuple[Term, ...], ...]] = {}
        for top in domains.tops(predicate, arity, arity - 1):
            if isinstance(top, tuple):
                domains_of[top] = tuple([_sorted_tops(domains.below(path, top, n)) for n in range(top[1])])
            else:
                domains_of[top.name, 0] = ()
        return dict(sorted(domains_of.items()))

    @cached_property
    def known_relations(self) -> frozenset[tuple[str, int]]:
        """Name and arity of each relation in the rules, including rules that can never fire."""
        return frozenset(atom.key for rule in self.program.rules for atom in atoms_of(rule))

    def depends_on_moves(self, key: tuple[str, int]) -> bool:
        """Whether a relation can only be queried with a joint move."""
        return any(self.schema.level(relation) == ACTION for relation in self.layout.variants(key))

    def makers(self, atom: Atom) -> Sequence[Component]:
        """Return the components that derive the relation of an atom; empty if none of these is recursive."""
        relation = self.layout.relation(atom)
        makers = self.schema.makers(relation) if relation is not None else ()
        return makers if any(component.recursive for component in makers) else ()

    def rounds(self, frame: Frame, component: Component) -> dict[Atom, int]:
        """Run a component again; return the number of the round that derives each fact."""
        rounds: dict[Atom, int] = {}
        for number, new_rows in enumerate(self.engine.trace(frame, component)):
            for slot, rows in new_rows.items():
                relation = self.schema.relation(slot)
                for row in rows:
                    rounds.setdefault(Atom(relation.predicate, self.arguments(relation, row)), number)
        return rounds

    def size(self, frame: Frame, key: tuple[str, int]) -> int:
        """Return the number of facts of a relation; a large number if the relation is on demand."""
        total = 0
        for relation in self.layout.variants(key):
            self.engine.evaluate(frame, self.schema.sequence([relation]))
            is_on_demand = self.engine.is_on_demand(relation)
            total += 10**9 if is_on_demand else len(self.engine.rows(frame, relation))
        return total

    def matching(self, frame: Frame, atom: Atom) -> Iterator[tuple[Term, ...]]:
        """Yield the arguments of all facts that match an atom with variables, in no fixed order.

        The reasoner ignores each argument that is a compound term with variables. So the caller must match
        the results.
        """
        matches = (
            row
            for relation in self.layout.variants(atom.key)
            if all(map(_has_shape, atom.arguments, relation.shapes))
            for row in self._matching(frame, relation, atom)
        )
        first = next(matches, None)
        if first is not None:
            rows = chain([first], matches)
            yield from _bounded(rows, atom, self.strategy.answer_characters) if self.terms.has_long else rows

    def _matching(self, frame: Frame, relation: Relation, atom: Atom) -> Iterator[tuple[Term, ...]]:
        self.engine.evaluate(frame, self.schema.sequence([relation]))
        asked: list[Term | None] = []
        for term, shape in zip(atom.arguments, relation.shapes, strict=True):
            if isinstance(shape, tuple):
                asked += term.arguments if isinstance(term, Compound) else [None] * shape[1]
            else:
                asked.append(term)
        given = {n: term for n, term in enumerate(asked) if term is not None and term.is_ground}
        # A question to an on-demand relation can contain a term that is not in the table yet.
        if self.schema.is_static(relation):
            self.engine.static_rows(relation)
        number = self.terms.number if self.engine.is_on_demand(relation) else self.terms.find
        values = {n: number(term) for n, term in given.items()}
        if None in values.values():
            return
        free = tuple(n for n in range(relation.width) if n not in given)
        for row in self._rows_with(frame, relation, values, free):
            columns = given | {n: self.terms.terms[value] for n, value in zip(free, row, strict=True)}
            yield relation.arguments(tuple([columns[n] for n in range(relation.width)]))

    def _rows_with(
        self, frame: Frame, relation: Relation, values: dict[int, int | None], free: tuple[int, ...]
    ) -> Iterator[tuple[int, ...]]:
        engine = self.engine
        if values and engine.is_on_demand(relation):
            given: Any = tuple(values.values())
            for row in engine.ask(relation, tuple(values), given, frame):
                yield (row,) if len(free) == 1 else row
            return
        rows = engine.rows(frame, relation)
        if not free:
            whole = tuple(values.values())
            if (whole[0] if len(whole) == 1 else whole) in rows:
                yield ()
            return
        for row in rows:
            whole_row = relation.unpacked(row)
            if all(whole_row[n] == value for n, value in values.items()):
                yield tuple([whole_row[n] for n in free])


def _bounded(rows: Iterable[tuple[Term, ...]], atom: Atom, most: int) -> Iterator[tuple[Term, ...]]:
    """Yield rows, but raise LimitError if their total text is too long: rows can share a large term."""
    room = most
    for row in rows:
        room -= sum([len(str(term)) for term in row])
        if room < 0:
            raise LimitError(
                f"the answers to {shown(str(atom))} take more than {most:,} characters",
                limit="text",
                bound=most,
            )
        yield row


def _has_shape(term: Term, shape: Top | None) -> bool:
    """Whether a term can have a shape after its variables are bound."""
    if shape is None or isinstance(term, Variable):
        return True
    if isinstance(term, Compound):
        return (term.functor, len(term.arguments)) == shape
    return not isinstance(shape, tuple)


def _sorted_tops(tops: Iterable[Top]) -> tuple[Term, ...]:
    terms: list[Term] = [
        Compound(top[0], (Constant(str(top[1])),)) if isinstance(top, tuple) else top for top in tops
    ]
    return tuple(sorted(terms, key=str))
