"""The machine over the compiled game: fast for every game that has a network.

What the network does not know, such as explanations, percepts, and states that no play leads to, the reasoner
answers.
"""

from __future__ import annotations

from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from anygame.errors import IllegalMoveError
from anygame.game.machine import Outcome
from anygame.game.simulation import Tally
from anygame.language.terms import Constant
from anygame.network.compiled import compile_game
from anygame.network.description import describe, picture, text
from anygame.network.grounding.grounder import GroundingLimits
from anygame.network.kernels.emit import emit
from anygame.network.lanes import DOUBLED, MISSING, IllegalChoiceError, Lanes
from anygame.network.simulator import Simulator
from anygame.network.single import Single
from anygame.network.stuck import StuckError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from random import Random

    from numpy.typing import ArrayLike, NDArray

    from anygame.datalog.steps import Frame
    from anygame.game.machine import Position
    from anygame.game.machines.reasoner import ReasonerMachine
    from anygame.language.derivations import Derivation, Failure
    from anygame.language.rules import Atom
    from anygame.language.terms import Term, Variable
    from anygame.network.compiled import CompiledGame

__all__ = ["NetworkMachine", "Seen", "compile_machine"]

_SHOWN: Final = 8


def compile_machine(
    reasoner: ReasonerMachine,
    limits: Mapping[str, float],
    progress: Callable[[int, int], None] | None = None,
) -> NetworkMachine:
    """Compile a game.

    Args:
        reasoner: the machine that knows its rules.
        limits: bounds by name, as of ``GroundingLimits``.
        progress: called now and then with the numbers of instances and atoms found so far.

    Raises:
        LimitError: a bound was reached.
    """
    compiled = compile_game(reasoner.another(), GroundingLimits(**limits), progress)  # type: ignore[arg-type]
    machine = NetworkMachine(reasoner, compiled)
    machine.is_kept = machine.simulator.compile()
    return machine


class Seen:
    """A position the network knows, with what has been computed about it so far."""

    __slots__ = ("frame", "legal", "position", "terminal")

    def __init__(self, position: bytes) -> None:
        self.position = position
        self.legal: list[list[int]] | None = None
        self.terminal = False
        self.frame: Frame | None = None


class NetworkMachine:
    """Answers from the network. See ``anygame.game.machine.Machine`` for the contract.

    A position is a byte per fluent; where some fact is no fluent of the network it is a position of
    the reasoner, which then answers. Threads may share a machine: it answers one question at a time.

    Attributes:
        roles: in the order of the sheet.
        reasoner: what answers the other questions.
        compiled: the network, and its names.
        setup_seconds: how long it took to make it.
        is_kept: whether its machine code was found, not made.
    """

    def __init__(self, reasoner: ReasonerMachine, compiled: CompiledGame) -> None:
        self.roles = reasoner.roles
        self.reasoner = reasoner
        self.compiled = compiled
        self.setup_seconds = 0.0
        self.is_kept = False
        self.program = emit(compiled.network)
        self._asking = RLock()
        self._fluents = np.empty(len(compiled.fluents), object)
        self._fluents[:] = compiled.fluents
        self._places = {fact: place for place, fact in enumerate(compiled.fluents)}
        self._actions = [{move: place for place, move in enumerate(moves)} for moves in compiled.actions]
        self._role_places = {role: place for place, role in enumerate(self.roles)}

    @cached_property
    def _single(self) -> Single:
        return Single(self.program)

    @cached_property
    def simulator(self) -> Simulator:
        """What plays random matches."""
        return Simulator(self.program)

    def lanes(self, count: int, seed: int) -> Lanes:
        """Return games side by side."""
        return Lanes(self.program, count, seed)

    # -- positions ---------------------------------------------------------------------------------

    def initial(self) -> Position:
        """Return the initial position."""
        return self._single.initial

    def knows(self, facts: Iterable[Term]) -> bool:
        """Return whether all of some facts are fluents of the network."""
        return all(fact in self._places for fact in facts)

    def is_known(self, position: Position) -> bool:
        """Return whether the network, not the reasoner, holds a position."""
        return isinstance(position, bytes)

    def position(self, facts: Iterable[Term]) -> Position:
        """Return the position of some ground facts."""
        facts = list(facts)
        if not self.knows(facts):
            position = self.reasoner.position(facts)
            # What is not known may have been another way to write it.
            facts = list(self.reasoner.facts(position))
            if not self.knows(facts):
                return position
        return self.bits(facts).tobytes()

    def bits(self, facts: Iterable[Term]) -> NDArray[np.bool_]:
        """Return bool [fluents] of facts that are known."""
        bits = np.zeros(len(self._fluents), np.bool_)
        bits[[self._places[fact] for fact in facts]] = True
        return bits

    def facts_of(self, bits: NDArray[np.bool_]) -> frozenset[Term]:
        """Return the facts of bool [fluents]."""
        return frozenset(self._fluents[bits].tolist())

    def facts(self, position: Position) -> frozenset[Term]:
        """Return the facts of a position."""
        if not isinstance(position, bytes):
            return self.reasoner.facts(position)
        return self.facts_of(np.frombuffer(position, np.bool_))

    def view(self, position: Position) -> Seen | Frame:
        """Return a view of the position."""
        return Seen(position) if isinstance(position, bytes) else self.reasoner.view(position)

    def _frame(self, view: Seen | Frame) -> Frame:
        """Return what the reasoner sees."""
        if not isinstance(view, Seen):
            return view
        frame = view.frame
        if frame is None:
            facts = self.facts(view.position)
            frame = view.frame = self.reasoner.view(self.reasoner.position(facts))
        return frame

    # -- what the network answers ------------------------------------------------------------------

    def _look(self, view: Seen) -> list[list[int]]:
        """Evaluate what depends on the state, and return the places of the legal moves of each role."""
        legal = view.legal
        if legal is None:
            with self._asking:
                legal = self._single.legal(view.position)
                view.terminal = self._single.terminal(view.position)
            view.legal = legal
        return legal

    def legal(self, view: Seen | Frame) -> tuple[tuple[Term, ...], ...]:
        """Return the legal moves per role, sorted by text."""
        if not isinstance(view, Seen):
            return self.reasoner.legal(view)
        found = zip(self.compiled.actions, self._look(view), strict=True)
        return tuple([tuple([moves[place] for place in places]) for moves, places in found])

    def is_terminal(self, view: Seen | Frame) -> bool:
        """Return whether the position is terminal."""
        if not isinstance(view, Seen):
            return self.reasoner.is_terminal(view)
        self._look(view)
        return view.terminal

    def goals(self, view: Seen | Frame, role: Term) -> list[Term]:
        """Return every goal value of a role, sorted by text."""
        if not isinstance(view, Seen):
            return self.reasoner.goals(view, role)
        place = self._role_places.get(role)
        if place is None:
            return []
        with self._asking:
            value = self._single.goals(view.position)[place]
        if value == DOUBLED:
            return self.reasoner.goals(self._frame(view), role)
        return [] if value == MISSING else [Constant(str(value))]

    def next(self, view: Seen | Frame, joint: Sequence[Term]) -> Position:
        """Return the position after a legal joint move."""
        if not isinstance(view, Seen):
            return self.position(self.reasoner.facts(self.reasoner.next(view, joint)))
        places = [of[move] for of, move in zip(self._actions, joint, strict=True)]
        with self._asking:
            return self._single.next(view.position, places)

    def play_out(self, position: Position, random: Random, limit: int) -> Outcome:
        """Play uniformly random moves to the end, or until there were so many."""
        if not isinstance(position, bytes):
            return self.reasoner.play_out(position, random, limit)
        played: list[tuple[Term, ...]] = []
        options = [0] * len(self.roles)
        while True:
            view = Seen(position)
            legal = self._look(view)
            if view.terminal or len(played) >= limit:
                goals = tuple([tuple(self.goals(view, role)) for role in self.roles])
                return Outcome(tuple(played), goals, tuple(options), view.terminal)
            joint = []
            for role, places in enumerate(legal):
                count = len(places)
                options[role] += count
                if not count:
                    raise self._stuck(role, self.facts(position))
                joint.append(places[random.randrange(count) if count > 1 else 0])
            played.append(
                tuple([moves[place] for moves, place in zip(self.compiled.actions, joint, strict=True)])
            )
            with self._asking:
                position = self._single.next(position, joint)

    def _stuck(self, role: int, facts: Iterable[Term]) -> IllegalMoveError:
        name = self.roles[role]
        shown = " ".join(sorted(map(str, facts)))
        return IllegalMoveError(
            f"{name} has no legal move in a state that is not terminal: ({shown})", str(name)
        )

    def simulate(
        self,
        playouts: int,
        seed: int,
        threads: int,
        position: bytes,
        limit: int,
        progress: Callable[[int], None] | None,
    ) -> Tally:
        """Play random matches from a position that the network knows.

        Raises:
            IllegalMoveError: a role has no legal move.
        """
        start = np.frombuffer(position, np.bool_)
        try:
            counts = self.simulator.run(playouts, seed, threads, start, limit, progress, True)
        except StuckError as error:
            raise self._stuck(error.stuck.role, self.facts_of(error.stuck.state)) from None
        return Tally(
            counts.playouts,
            counts.states,
            counts.goals,
            counts.missing,
            counts.double,
            counts.lengths,
            counts.options,
            counts.cut,
            counts.interrupted,
            counts.seconds,
        )

    # -- games side by side ------------------------------------------------------------------------

    def step_lanes(self, lanes: Lanes, choices: Sequence[ArrayLike]) -> None:
        """Move in all lanes that go on; see ``Batch.step``."""
        for role, chosen in zip(self.roles, choices, strict=True):
            array = np.asarray(chosen)
            if array.shape != (lanes.count,) or not np.issubdtype(array.dtype, np.integer):
                raise ValueError(
                    f"the moves of {role} should be {lanes.count} integers, one per lane, not an array of "
                    f"{array.dtype} of shape {array.shape}"
                )
        try:
            lanes.step(choices)
        except IllegalChoiceError as error:
            raise self._illegal(lanes, error) from None

    def _illegal(self, lanes: Lanes, error: IllegalChoiceError) -> IllegalMoveError:
        role, moves = self.roles[error.role], self.compiled.actions[error.role]
        known = 0 <= error.action < len(moves)
        move = str(moves[error.action]) if known else ""
        with self._asking:
            legal = self._single.legal(lanes.get(error.lane).tobytes())[error.role]
        some = ", ".join(f"{place} {moves[place]}" for place in legal[:_SHOWN])
        more = ", ..." if len(legal) > _SHOWN else ""
        what = f"{error.action}, {move}," if known else f"{error.action} (of {len(moves)} moves)"
        return IllegalMoveError(
            f"lane {error.lane}: {what} is not legal for {role}; legal: {some or 'nothing'}{more}",
            str(role),
            move,
            [str(moves[place]) for place in legal[:_SHOWN]],
        )

    def step_lanes_at_random(self, lanes: Lanes) -> list[NDArray[np.int32]]:
        """Move at random in all lanes that go on; see ``Batch.step_random``."""
        return lanes.step_random()

    def reset_lanes(self, lanes: Lanes, chosen: ArrayLike | None) -> None:
        """Put lanes back; see ``Batch.reset``."""
        if chosen is None:
            lanes.reset()
            return
        array = np.asarray(chosen)
        if array.dtype == np.bool_:
            mask = array
        else:
            numbers = array.astype(np.int64) if array.size else np.zeros(0, np.int64)
            wrong = numbers[(numbers < 0) | (numbers >= lanes.count)]
            if wrong.size or (array.size and not np.issubdtype(array.dtype, np.integer)):
                given = wrong.flat[0] if wrong.size else array.dtype
                raise IndexError(f"expected numbers of lanes from 0 to {lanes.count - 1}, got {given}")
            mask = np.zeros(lanes.count, np.bool_)
            mask[numbers] = True
        lanes.reset(mask)

    def set_lane(self, lanes: Lanes, lane: int, position: bytes) -> None:
        """Put a lane into a position that the network knows."""
        lanes.set(lane, np.frombuffer(position, np.bool_))

    def numbers(self, goals: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return goals as floats; not a number where there is none, or several."""
        return np.where((goals == MISSING) | (goals == DOUBLED), np.nan, goals)

    # -- what it is like ---------------------------------------------------------------------------

    def describe_network(self) -> dict[str, Any]:
        """Return figures as plain data."""
        return describe(self.compiled, self.simulator.describe())

    def explain_network(self) -> str:
        """Return figures as text."""
        return text(self.describe_network())

    def draw_network(self) -> str:
        """Return a picture in Graphviz's language. Raises LimitError where it would be too large."""
        return picture(self.compiled)

    # -- what the reasoner answers -----------------------------------------------------------------

    def percepts(self, view: Seen | Frame, joint: Sequence[Term]) -> dict[Term, tuple[Term, ...]]:
        """Return what each role sees of a joint move."""
        return self.reasoner.percepts(self._frame(view), joint)

    def query(
        self, view: Seen | Frame, atom: Atom, joint: Sequence[Term] | None
    ) -> Iterator[Mapping[Variable, Term]]:
        """Yield the bindings under which an atom holds, sorted by the text of the atom's arguments."""
        return self.reasoner.query(self._frame(view), atom, joint)

    def explain(self, view: Seen | Frame, atom: Atom, joint: Sequence[Term] | None) -> Derivation | None:
        """Return a derivation of a ground atom, None where it does not hold."""
        return self.reasoner.explain(self._frame(view), atom, joint)

    def explain_failure(self, view: Seen | Frame, atom: Atom, joint: Sequence[Term] | None) -> Failure | None:
        """Return why nothing gives an atom, None where something does."""
        return self.reasoner.explain_failure(self._frame(view), atom, joint)
