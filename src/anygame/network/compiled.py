"""A game compiled: its network, and the names of the network's inputs and outputs."""

from __future__ import annotations

import gc
import re
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.datalog.relations import Relation
from anygame.errors import AnygameError, CompilationError, LimitError
from anygame.language.diagnostics import shown
from anygame.network.grounding.grounder import GroundingLimits, ground
from anygame.network.logic.atoms import Atoms
from anygame.network.logic.circuit import build_gates
from anygame.network.logic.levelling import lay_out
from anygame.network.logic.merging import FAILS, HOLDS
from anygame.network.logic.rewrites import REWRITES, Circuit
from anygame.network.network import FALSE, TRUE, Network

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from anygame.datalog.reasoner import Reasoner
    from anygame.language.terms import Term
    from anygame.network.grounding.grounder import Grounding

__all__ = ["CompiledGame", "compile_game"]


@dataclass(frozen=True, eq=False)
class CompiledGame:
    """A network and its names.

    Attributes:
        network: the logic.
        roles: in the order of the rules.
        fluents: the term of each fluent, sorted by text.
        actions: per role the moves that can ever be legal, sorted by text.
        stages: what it was made of: name of the step, then figures by name.
    """

    network: Network
    roles: tuple[Term, ...]
    fluents: tuple[Term, ...]
    actions: tuple[tuple[Term, ...], ...]
    stages: tuple[tuple[str, dict[str, float]], ...]


def compile_game(
    reasoner: Reasoner,
    limits: GroundingLimits | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> CompiledGame:
    """Compile a game.

    Args:
        reasoner: its rules.
        limits: bounds on instances, joins and time.
        progress: called now and then with instances and atoms found so far.

    Raises:
        LimitError: a bound was reached; the game can still be played by the reasoner.
        CompilationError: a fault of ours; so it can then.
    """
    with _without_collection():
        try:
            return _compile(reasoner, limits, progress)
        except AnygameError:
            raise
        except Exception as error:
            raise CompilationError(
                "compiling failed by a fault of anygame's own, not of the sheet: "
                f"{type(error).__name__}: {shown(str(error))}"
            ) from error


@contextmanager
def _without_collection() -> Iterator[None]:
    """Hold the collector of cycles back: it would look through millions of tuples that make none."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _compile(
    reasoner: Reasoner, limits: GroundingLimits | None, progress: Callable[[int, int], None] | None
) -> CompiledGame:
    limits = limits or GroundingLimits()
    deadline = monotonic() + limits.seconds
    grounding = ground(reasoner, limits, progress)
    began = monotonic()
    stages = [("grounding", _figures_of(grounding))]
    atoms = Atoms(grounding)
    names = _Names(grounding, atoms)
    inputs = {atom: 1 + place for place, atom in enumerate(names.fluent_atoms)}
    first = 1 + len(inputs)
    choices = []
    for role_atoms in names.action_atoms:
        inputs.update({atom: first + place for place, atom in enumerate(role_atoms)})
        choices.append(range(first, first + len(role_atoms)))
        first += len(role_atoms)
    become = {atom: int(atoms.literal_of[atom]) for atom in names.outputs() if atom is not None}
    wanted = sorted({literal >> 1 for literal in become.values() if literal >= 0})
    gates, literals = build_gates(atoms, inputs, first, choices, wanted, deadline)

    def literal(atom: int | None) -> int:
        found = FAILS if atom is None else become[atom]
        if found < 0:
            return TRUE if found == HOLDS else FALSE
        return literals[found >> 1] ^ (found & 1)

    circuit = Circuit(gates, names.named(literal))
    stages.append(("gates", _figures_of_circuit(circuit, began)))
    stages[-1][1].update(conjunctions=atoms.conjunctions, literals=atoms.literals)
    for name, rewrite in REWRITES:
        began = monotonic()
        circuit = rewrite(circuit)
        stages.append((name, _figures_of_circuit(circuit, began)))
    outputs = circuit.outputs
    network = lay_out(
        circuit.gates,
        actions=tuple(map(len, names.action_atoms)),
        initial=names.initial,
        legal=[outputs["legal", node] for node in range(1 + len(names.fluents), circuit.gates.inputs)],
        terminal=outputs["terminal", 0],
        goals=names.goal_literals(outputs),
        following=[outputs["next", place] for place in range(len(names.fluents))],
    )
    return CompiledGame(network, reasoner.roles, names.fluents, names.actions, tuple(stages))


def _figures_of_circuit(circuit: Circuit, began: float) -> dict[str, float]:
    gates, inputs = circuit.size()
    return {"gates": gates, "inputs": inputs, "seconds": monotonic() - began}


def _figures_of(grounding: Grounding) -> dict[str, float]:
    return {
        "atoms": sum(table.count for table in grounding.tables.values()),
        "instances": grounding.instances,
        "rounds": grounding.rounds,
        "seconds": grounding.seconds,
    }


#: Goals that fit the arrays in which they are counted.
_GOAL: Final = re.compile(r"[+-]?\d{1,9}", re.ASCII)


class _Names:
    """Which atoms are inputs and outputs, in the order of the network."""

    def __init__(self, grounding: Grounding, atoms: Atoms) -> None:
        reasoner = grounding.reasoner
        self._grounding = grounding
        self._atoms = atoms
        roles = {reasoner.values.number(role): place for place, role in enumerate(reasoner.roles)}
        fluents: list[tuple[str, Term, int, int | None, bool]] = []
        actions: list[list[tuple[str, Term, int, int | None]]] = [[] for _ in roles]
        for relation in atoms.fluents:
            terms = self._terms(relation, 0)
            starts = set(grounding.initial.get(relation, np.zeros(0, np.int64)).tolist())
            following = self._same_rows("next", relation)
            for row, (term, atom, after) in enumerate(
                zip(terms, atoms.of(relation).tolist(), following, strict=True)
            ):
                fluents.append((str(term), term, atom, after, row in starts))
        for relation in atoms.actions:
            terms = self._terms(relation, 1)
            legal = self._same_rows("legal", relation)
            players = grounding.tables[relation].column(0).tolist()
            for term, role, atom, allowed in zip(
                terms, players, atoms.of(relation).tolist(), legal, strict=True
            ):
                actions[roles[role]].append((str(term), term, atom, allowed))
        fluents.sort(key=lambda item: item[0])
        for moves in actions:
            moves.sort(key=lambda item: item[0])
        self.fluents = tuple(item[1] for item in fluents)
        self.fluent_atoms = [item[2] for item in fluents]
        self.following = [item[3] for item in fluents]
        self.initial = np.array([item[4] for item in fluents], np.bool_)
        self.actions = tuple(tuple(item[1] for item in moves) for moves in actions)
        self.action_atoms = [[item[2] for item in moves] for moves in actions]
        self.legal = [item[3] for moves in actions for item in moves]
        terminal = atoms.of(reasoner.layout.variants(("terminal", 0))[0]).tolist()
        self.terminal: int | None = terminal[0] if terminal else None
        self.goals = self._goals(roles)

    def outputs(self) -> list[int | None]:
        """Return every atom that is to be computed."""
        goals = [atom for role in self.goals for _, atom in role]
        return [*self.legal, self.terminal, *goals, *self.following]

    def named(self, literal: Callable[[int | None], int]) -> dict[tuple[str, int], int]:
        """Return the outputs by name: legal by the node of the action, next and goals by place."""
        first = 1 + len(self.fluents)
        found = {("legal", first + place): literal(atom) for place, atom in enumerate(self.legal)}
        found["terminal", 0] = literal(self.terminal)
        goals = [atom for role in self.goals for _, atom in role]
        found.update({("goal", place): literal(atom) for place, atom in enumerate(goals)})
        found.update({("next", place): literal(atom) for place, atom in enumerate(self.following)})
        return found

    def goal_literals(self, outputs: Mapping[tuple[str, int], int]) -> list[list[tuple[int, int]]]:
        """Return per role its goal values with their literals."""
        places = count()
        return [[(value, outputs["goal", next(places)]) for value, _ in role] for role in self.goals]

    def _terms(self, relation: Relation, argument: int) -> list[Term]:
        values = self._grounding.reasoner.values.terms
        rows = self._grounding.tables[relation].rows().tolist()
        return [relation.arguments(tuple([values[number] for number in row]))[argument] for row in rows]

    def _same_rows(self, predicate: str, relation: Relation) -> list[int | None]:
        """Return the atoms of another relation in the rows of a relation."""
        table = self._grounding.tables[relation]
        other = Relation(predicate, relation.shapes)
        source = self._grounding.tables.get(other)
        if source is None:
            return [None] * table.count
        numbers = source.find([table.column(n) for n in range(table.width)], table.count)
        atoms = self._atoms.of(other, numbers).tolist()
        return [None if number < 0 else atom for number, atom in zip(numbers.tolist(), atoms, strict=True)]

    def _goals(self, roles: dict[int, int]) -> list[list[tuple[int, int]]]:
        goals: list[list[tuple[int, int]]] = [[] for _ in roles]
        for relation in self._grounding.reasoner.layout.variants(("goal", 2)):
            if relation not in self._grounding.tables:
                continue
            values = self._terms(relation, 1)
            players = self._grounding.tables[relation].column(0).tolist()
            atoms = self._atoms.of(relation).tolist()
            for value, role, atom in zip(values, players, atoms, strict=True):
                if role not in roles:
                    continue
                if not _GOAL.fullmatch(str(value)):
                    raise LimitError(
                        f"the goal value {shown(str(value))} is no integer of up to nine digits",
                        limit="goals",
                        bound=9,
                    )
                goals[roles[role]].append((int(str(value)), atom))
        return [sorted(values) for values in goals]
