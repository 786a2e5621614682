"""A compiled game: its network, and the names of the network's inputs and outputs.

The passes of ``grounding.pipeline`` rewrite the rules, and the grounder instantiates them. Instances become
gates, and ``logic.rewrites`` simplify the circuit. The result is a propositional network (Schkufza, Love and
Genesereth 2008, "Propositional automata and cell automata: representational frameworks for discrete dynamic
systems").
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from anygame.errors import AnygameError, CompilationError, LimitError
from anygame.language.terms import collector_paused
from anygame.network.budget import Budget
from anygame.network.grounding.grounder import GroundingLimits, ground
from anygame.network.grounding.pipeline import OPTIONAL, OPTIONAL_IF_LARGE
from anygame.network.grounding.static import SEEN
from anygame.network.interface import Exclusions, Interface
from anygame.network.logic.assembly import assemble, build_circuit
from anygame.network.logic.atoms import FAILS, Atoms
from anygame.network.logic.rewrites import REWRITES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence, Sized

    from numpy.typing import ArrayLike, NDArray

    from anygame.datalog.reasoner import Reasoner
    from anygame.language.terms import Term
    from anygame.network.logic.circuit import Circuit
    from anygame.network.network import Network


@dataclass(frozen=True, eq=False)
class CompiledGame:
    """A network and the names of its inputs and outputs.

    Attributes:
        fluents: the term of each fluent, sorted by text.
        actions: per role the moves that can ever be legal, sorted by text.
        stages: the name of each stage of compilation, with the names and values of the stage's figures.
        passes: the name of each pass over the rules, with three figures: ``rewrote``, the number of rewritten
            rules; ``made``, the number of resulting rules; ``seconds``.
        percepts: per role the terms that it can ever see, sorted by text; an empty tuple if the sheet is too
            large for percepts.
        percept_network: the same game with percepts (GDL-II): its last fluents are the percepts of each role
            after the last joint move. None if no role ever sees anything.
        exclusions: groups of mutually exclusive fluents. The network is only valid for states in which at
            most one fluent of each group holds.
    """

    network: Network
    roles: tuple[Term, ...]
    fluents: tuple[Term, ...]
    actions: tuple[tuple[Term, ...], ...]
    stages: tuple[tuple[str, dict[str, float]], ...]
    passes: tuple[tuple[str, dict[str, float]], ...] = ()
    percepts: tuple[tuple[Term, ...], ...] = ()
    percept_network: Network | None = None
    exclusions: Exclusions = field(default_factory=Exclusions)


def compile_game(
    reasoner: Reasoner,
    limits: GroundingLimits | None = None,
    progress: Callable[[int, int], None] | None = None,
    without: Collection[str] = (),
) -> CompiledGame:
    """Compile a game.

    Args:
        reasoner: the rules.
        limits: limits of grounding.
        progress: called regularly with the numbers of instances and atoms so far.
        without: names of passes and rewrites to skip: passes of ``OPTIONAL`` and ``OPTIONAL_IF_LARGE`` in
            ``grounding.pipeline``, and rewrites of ``logic.rewrites.REWRITES``. They never change the game.

    Raises:
        LimitError: the game exceeds a limit; the reasoner can still play the game.
        CompilationError: an internal fault; the reasoner can still play the game.
        ValueError: a name in ``without`` is unknown, or compilation needs the named pass.
    """
    optional = [*OPTIONAL, *OPTIONAL_IF_LARGE, *(name for name, _ in REWRITES)]
    unknown = sorted(set(without).difference(optional))
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not an optional pass; expected one of {', '.join(optional)}")
    with collector_paused():
        try:
            return _compile_what_fits(reasoner, limits or GroundingLimits(), progress, without)
        except (AnygameError, MemoryError, RecursionError):
            raise
        except Exception as error:
            raise CompilationError.of(error) from error


def _compile_what_fits(
    reasoner: Reasoner,
    limits: GroundingLimits,
    progress: Callable[[int, int], None] | None,
    without: Collection[str],
) -> CompiledGame:
    began = monotonic()
    try:
        return _compile(reasoner, limits, progress, without, percepts=True)
    except LimitError as error:
        if error.limit in {"fluents", "questions"} or not any(
            rule.head.key == SEEN for rule in reasoner.rules
        ):
            raise
    # A second attempt compiles without percepts, and gets at least one third of the time limit.
    remaining = max(limits.seconds - (monotonic() - began), limits.seconds / 3)
    return _compile(reasoner, replace(limits, seconds=remaining), progress, without, percepts=False)


def _compile(
    reasoner: Reasoner,
    limits: GroundingLimits,
    progress: Callable[[int, int], None] | None,
    without: Collection[str],
    *,
    percepts: bool,
) -> CompiledGame:
    budget = Budget(limits.steps, limits.seconds)
    skipped = [name for name in without if name in {*OPTIONAL, *OPTIONAL_IF_LARGE}]
    grounding = ground(reasoner, limits, progress, skipped, percepts=percepts, budget=budget)
    began = monotonic()
    figures: dict[str, float] = {
        "atoms": sum(table.count for table in grounding.tables.values()),
        "instances": grounding.instances,
        "rounds": grounding.rounds,
        "seconds": grounding.seconds,
        "steps": budget.spent,
    }
    stages = [("grounding", figures)]
    atoms = Atoms(grounding)
    names = Interface(grounding, atoms)
    grounded = budget.spent
    circuit, percept_circuit = _circuits(atoms, names, budget)
    figures = _figures_of_circuit(circuit, began) | {"steps": budget.spent - grounded}
    stages.append(("gates", {**figures, "conjunctions": atoms.conjunctions, "literals": atoms.literals}))
    for name, rewrite in REWRITES:
        if name in without:
            continue
        began = monotonic()
        circuit = rewrite(circuit)
        percept_circuit = percept_circuit and rewrite(percept_circuit)
        stages.append((name, _figures_of_circuit(circuit, began)))
    return CompiledGame(
        _network(circuit, names),
        reasoner.roles,
        names.fluents,
        names.actions,
        tuple(stages),
        tuple(grounding.passes.items()),
        names.percepts if percepts else (),
        _with_percepts(_network(percept_circuit, names), names.percepts) if percept_circuit else None,
        names.exclusions,
    )


def _circuits(atoms: Atoms, names: Interface, budget: Budget) -> tuple[Circuit, Circuit | None]:
    """Return a circuit without percepts and, if there are percepts, a circuit with percepts."""
    inputs = [*names.fluent_atoms]
    choices: list[tuple[int, ...]] = []
    for of_role in names.action_atoms:
        first = 1 + len(inputs)
        choices.append(tuple(range(first, first + len(of_role))))
        inputs += of_role
    # Outputs without an atom have the number -1.
    literal_of = np.append(atoms.literal_of, FAILS).astype(np.int64)
    outputs = {name: literal_of[output_atoms] for name, output_atoms in names.outputs().items()}
    whole = build_circuit(atoms, inputs, outputs, choices, budget)
    circuit = replace(whole, outputs={name: of for name, of in whole.outputs.items() if name != "sees"})
    return circuit, whole if any(names.percepts) else None


def _network(circuit: Circuit, names: Interface) -> Network:
    """Return the network of a circuit; ``next`` lists the literals of fluents, then of percepts."""
    outputs = circuit.outputs
    goals = iter(outputs["goal"].tolist())
    return assemble(
        circuit,
        actions=tuple(map(len, names.action_atoms)),
        initial=names.initial,
        legal=outputs["legal"],
        terminal=int(outputs["terminal"][0]),
        goals=[[(value, next(goals)) for value, _ in role] for role in names.goals],
        next_state=np.concatenate([outputs[name] for name in ("next", "sees") if name in outputs]),
    )


def _with_percepts(network: Network, percepts: Sequence[Sized]) -> Network:
    """Return a network whose last fluents are the percepts of the last joint move (GDL-II).

    In the given network, ``next`` lists the literals of fluents, then of percepts. Kernels compute percepts
    like the next state, and keep them until the next move (Thielscher, "A General Game Description Language
    for Incomplete Information Games", AAAI 2010).
    """
    counts = tuple(map(len, percepts))
    added = sum(counts)

    def moved(literals: ArrayLike) -> NDArray[np.int32]:
        old = np.asarray(literals)
        return np.asarray(old + 2 * added * (old >= 2 * network.first_action), np.int32)

    return replace(
        network,
        fluents=network.fluents + added,
        inputs=moved(network.inputs),
        initial=np.concatenate([network.initial, np.zeros(added, np.bool_)]),
        legal=moved(network.legal),
        terminal=int(moved(network.terminal)),
        goals=tuple(tuple((value, int(moved(bit))) for value, bit in role) for role in network.goals),
        next=moved(network.next),
        percepts=counts,
    )


def _figures_of_circuit(circuit: Circuit, began: float) -> dict[str, float]:
    gates, inputs = circuit.size()
    return {"gates": gates, "inputs": inputs, "seconds": monotonic() - began}
