"""The machine that evaluates the network of a compiled game.

This machine represents every position that a match can reach; the reasoner represents all other positions.
The reasoner also answers queries and explains facts. If a sheet is too large for a network with percepts, the
reasoner computes the percepts.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from math import nan
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from anygame.cards.array import CardArray as CardArray
from anygame.cards.card import Card, card
from anygame.cards.lanes import WarpLanes
from anygame.cards.simulator import WarpSimulator
from anygame.errors import IllegalMoveError, LimitError, PositionError
from anygame.game.outcomes import Outcome, Stuck
from anygame.game.roles import Role, illegal_number
from anygame.language.diagnostics import shown
from anygame.language.terms import Constant
from anygame.network.block import StuckError
from anygame.network.compiled import compile_game
from anygame.network.description import describe, picture, text
from anygame.network.grounding.grounder import GroundingLimits
from anygame.network.kernels.kernel import build_kernel
from anygame.network.lanes import DOUBLE, MISSING, IllegalChoiceError, Lanes
from anygame.network.simulator import Simulator
from anygame.network.single import Single

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from random import Random

    from numpy.typing import ArrayLike, NDArray

    from anygame.datalog.derivations import Derivation, Failure
    from anygame.datalog.schema import Frame
    from anygame.game.machines.reasoner import ReasonerMachine
    from anygame.language.rules import Atom
    from anygame.language.terms import Term, Variable
    from anygame.network.block import DeadEnd
    from anygame.network.compiled import CompiledGame
    from anygame.network.kernels.kernel import Kernel
    from anygame.playouts import PlayoutRequest, Tally


def compile_machine(
    reasoner: ReasonerMachine, limits: Mapping[str, float], progress: Callable[[int, int], None] | None = None
) -> NetworkMachine:
    """Compile a game; ``limits`` maps names of fields of ``GroundingLimits`` to values.

    Raises LimitError at a bound, and CompilationError after an internal error.
    """
    bounds = GroundingLimits(**limits)  # type: ignore[arg-type]
    compiled = compile_game(reasoner.another(bounds), bounds, progress)
    machine = NetworkMachine(reasoner, compiled)
    machine.is_cached = machine.kernel.library.cached
    return machine


class NetworkView:
    """A position, with a cache of the answers about it."""

    __slots__ = ("frame", "legal", "position", "terminal")

    def __init__(self, position: bytes) -> None:
        self.position = position
        self.legal: list[list[int]] | None = None
        self.terminal = False
        self.frame: Frame | None = None


class NetworkMachine:
    """A `Machine` that evaluates the network of a game.

    A position has a byte for each fluent. Thread-safe: the machine answers one question at a time.

    Attributes:
        compiled: the network, and the terms of its inputs and outputs.
        kernel: the machine code of the network.
        is_cached: whether the machine code came from the cache of compiled code.
    """

    name = "network"

    def __init__(self, reasoner: ReasonerMachine, compiled: CompiledGame) -> None:
        self.roles = reasoner.roles
        self.compiled = compiled
        self.is_cached = False
        self._reasoner = reasoner
        self.kernel = build_kernel(compiled.network)
        self._asking = RLock()
        self._cards: dict[int, WarpSimulator] = {}
        self._percepts = [np.empty(len(terms), object) for terms in compiled.percepts]
        for named, terms in zip(self._percepts, compiled.percepts, strict=True):
            named[:] = terms
        self._terms = np.empty(len(compiled.fluents), object)
        self._terms[:] = compiled.fluents
        self._fluents = {fact: index for index, fact in enumerate(compiled.fluents)}
        self._actions = [{move: index for index, move in enumerate(moves)} for moves in compiled.actions]
        self._role_index = {role: index for index, role in enumerate(self.roles)}

    @cached_property
    def _single(self) -> Single:
        return Single(self.kernel)

    def check_percepts(self, name: str) -> None:
        """Raise a LimitError if the game was too large for a network with percepts."""
        if len(self.compiled.percepts) != len(self.roles):
            raise LimitError(f"{name} is too large for a network that computes percepts", "percepts")

    @cached_property
    def percept_kernel(self) -> Kernel | None:
        """The kernel of the network with percepts; None if there are no percepts."""
        network = self.compiled.percept_network
        return None if network is None else build_kernel(network)

    @cached_property
    def _single_with_percepts(self) -> Single | None:
        return None if self.percept_kernel is None else Single(self.percept_kernel)

    def finish(self) -> None:
        """If a loop evaluates the gates until straight-line code is compiled, wait for this code."""
        for kernel in (self.kernel, self.percept_kernel):
            if kernel is not None:
                kernel.finish()

    @cached_property
    def simulator(self) -> Simulator:
        """The simulator of random matches."""
        return Simulator(self.kernel)

    def _on_card(self, number: int) -> WarpSimulator:
        with self._asking:
            if number not in self._cards:
                self._cards[number] = WarpSimulator(self.compiled.network, card(number))
            return self._cards[number]

    def lanes_on_card(self, count: int, seed: int, number: int) -> GameCardLanes:
        """Return simultaneous matches on a graphics card."""
        return GameCardLanes(self.compiled, card(number), count, seed)

    def lanes(self, count: int, seed: int) -> GameLanes:
        """Return simultaneous matches, with percepts if the rules hide information."""
        return GameLanes(self.percept_kernel or self.kernel, count, seed, self.compiled)

    # -- positions ---------------------------------------------------------------------------------

    def initial(self) -> bytes:
        return self._single.initial

    def position(self, facts: Iterable[Term]) -> bytes | None:
        """Return the position with the given facts; None if a fact or a pair of facts is true in no match."""
        facts = list(facts)
        if not self._knows(facts):
            # The spelling of the facts may differ from that of the rules.
            facts = list(self._reasoner.facts(self._reasoner.position(facts)))
            if not self._knows(facts):
                return None
        numbers = [self._fluents[fact] for fact in facts]
        if self.compiled.exclusions and self.compiled.exclusions.pair_among(numbers):
            return None
        bits = np.zeros(len(self._fluents), np.bool_)
        bits[numbers] = True
        return bits.tobytes()

    def obstacle(self, facts: Iterable[Term]) -> str:
        """Return the text of the fact, or pair of facts, because of which `position` returns None."""
        facts = sorted(facts, key=str)
        unknown = [fact for fact in facts if self.position([fact]) is None]
        if unknown:
            more = f", or with {len(unknown) - 1} more of these facts" if len(unknown) > 1 else ""
            return f"the fact {shown(str(unknown[0]))}{more}"
        canonical = self._reasoner.facts(self._reasoner.position(facts))
        pair = self.compiled.exclusions.pair_among(self._fluents[fact] for fact in canonical)
        assert pair is not None, "these facts have a position"
        one, other = (shown(str(self.compiled.fluents[number])) for number in pair)
        return f"the facts {one} and {other} together"

    def _knows(self, facts: Iterable[Term]) -> bool:
        return all(fact in self._fluents for fact in facts)

    def facts(self, position: bytes) -> frozenset[Term]:
        return self._facts_of(np.frombuffer(position, np.bool_))

    def _facts_of(self, bits: NDArray[np.bool_]) -> frozenset[Term]:
        return frozenset(self._terms[bits].tolist())

    def view(self, position: bytes) -> NetworkView:
        return NetworkView(position)

    def derived(self, view: NetworkView) -> int:
        return 0

    # -- answers of the network --------------------------------------------------------------------

    def _look(self, view: NetworkView) -> list[list[int]]:
        """Return the indices of the legal moves of each role; evaluate the position on the first call."""
        if view.legal is None:
            legal, view.terminal = self.options(view.position)
            view.legal = legal
        return view.legal

    def legal(self, view: NetworkView) -> tuple[tuple[Term, ...], ...]:
        by_role = zip(self.compiled.actions, self._look(view), strict=True)
        return tuple([tuple([moves[index] for index in legal]) for moves, legal in by_role])

    def is_terminal(self, view: NetworkView) -> bool:
        self._look(view)
        return view.terminal

    def goals(self, view: NetworkView, role: Term) -> list[Term]:
        index = self._role_index.get(role)
        if index is None:
            return []
        with self._asking:
            value = self._single.goals(view.position)[index]
        if value == DOUBLE:
            return self._reasoner.goals(self._frame(view), role)
        return [] if value == MISSING else [Constant(str(value))]

    def next(self, view: NetworkView, joint: Sequence[Term]) -> bytes:
        return self.after(view.position, self._numbers(joint))

    def _numbers(self, joint: Sequence[Term]) -> list[int]:
        return [numbers[move] for numbers, move in zip(self._actions, joint, strict=True)]

    def percepts(self, view: NetworkView, joint: Sequence[Term]) -> dict[Term, tuple[Term, ...]]:
        if self._single_with_percepts is None:
            return self._reasoner.percepts(self._frame(view), joint)
        seen = self.percept_numbers(view.position, self._numbers(joint))
        named = zip(self.roles, self._percepts, seen, strict=True)
        return {role: tuple(terms[bits].tolist()) for role, terms, bits in named}

    # -- moves as numbers --------------------------------------------------------------------------

    def options(self, position: bytes) -> tuple[list[list[int]], bool]:
        """Return the numbers of each role's legal moves, and whether the position is terminal."""
        with self._asking:
            return self._single.legal(position), self._single.terminal(position)

    def after(self, position: bytes, joint: Sequence[int]) -> bytes:
        """Return the position after a joint move, given as the numbers of legal moves."""
        with self._asking:
            return self._single.next(position, joint)

    def goal_values(self, position: bytes) -> list[float]:
        """Return the goal of each role; nan for a role with no goal, or with several goals."""
        with self._asking:
            goals = self._single.goals(position)
        return [nan if goal in (MISSING, DOUBLE) else float(goal) for goal in goals]

    def percept_numbers(self, position: bytes, joint: Sequence[int]) -> list[NDArray[np.bool_]]:
        """Return each role's percepts of a joint move, given as numbers: bool [percepts] per role."""
        single = self._single_with_percepts
        if single is None:
            return [np.zeros(0, np.bool_) for _ in self.roles]
        unseen = bytes(single.network.fluents - single.network.facts)
        with self._asking:
            after = np.frombuffer(single.next(position + unseen, joint), np.bool_)
        ends = np.cumsum([single.network.facts, *map(len, self._percepts)])
        return [after[first:end] for first, end in pairwise(ends.tolist())]

    # -- random play -------------------------------------------------------------------------------

    def play_out(self, position: bytes, random: Random, limit: int) -> Outcome:
        played: list[tuple[int, ...]] = []
        options = [0] * len(self.roles)
        while True:
            view = NetworkView(position)
            legal = self._look(view)
            if view.terminal or len(played) >= limit:
                return self._outcome(view, played, options)
            if not all(legal):
                stuck = self._stuck(legal.index([]), self.facts(position), played)
                return self._outcome(view, played, options, stuck)
            joint = []
            for role, moves in enumerate(legal):
                count = len(moves)
                options[role] += count
                joint.append(moves[random.randrange(count) if count > 1 else 0])
            played.append(tuple(joint))
            position = self.after(position, joint)

    def _outcome(
        self,
        view: NetworkView,
        played: Sequence[tuple[int, ...]],
        options: list[int],
        stuck: Stuck | None = None,
    ) -> Outcome:
        goals = tuple([tuple(self.goals(view, role)) for role in self.roles])
        return Outcome(self._moves(played), goals, tuple(options), view.terminal and stuck is None, stuck)

    def _moves(self, played: Iterable[Sequence[int]]) -> tuple[tuple[Term, ...], ...]:
        by_role = self.compiled.actions
        return tuple(
            [tuple([moves[index] for moves, index in zip(by_role, joint, strict=True)]) for joint in played]
        )

    def _stuck(self, role: int, facts: frozenset[Term], played: Iterable[Sequence[int]]) -> Stuck:
        return Stuck(Role(self.roles[role]), facts, self._moves(played))

    def blocks(self, playouts: int) -> int:
        return self.simulator.blocks(playouts)

    def simulate(self, position: bytes, request: PlayoutRequest) -> Tally[Stuck]:
        """Play random matches, 512 at a time in each thread, or 2,048 in each warp of a graphics card."""
        simulator = self.simulator if request.card is None else self._on_card(request.card)
        try:
            tally = simulator.run(request, np.frombuffer(position, np.bool_))
        except StuckError as error:
            raise self._named(error.stuck).error() from None
        stuck = None if tally.first_stuck is None else self._named(tally.first_stuck)
        return replace(tally, first_stuck=stuck)  # type: ignore[return-value, arg-type]

    def _named(self, stuck: DeadEnd) -> Stuck:
        return self._stuck(stuck.role, self._facts_of(stuck.state), stuck.moves)

    # -- statistics --------------------------------------------------------------------------------

    def describe(self) -> dict[str, Any]:
        """Return statistics of the network as plain data."""
        return describe(self.compiled, self.kernel.describe())

    def figures(self) -> str:
        """Return statistics of the network as text."""
        return text(self.describe())

    def picture(self) -> str:
        """Return the network in Graphviz's language; raises LimitError if the picture is too large."""
        return picture(self.compiled)

    # -- answers of the reasoner -------------------------------------------------------------------

    def _frame(self, view: NetworkView) -> Frame:
        if view.frame is None:
            position = self._reasoner.position(self.facts(view.position))
            view.frame = self._reasoner.view(position)
        return view.frame

    def query(
        self, view: NetworkView, atom: Atom, joint: Sequence[Term] | None
    ) -> Iterator[Mapping[Variable, Term]]:
        return self._reasoner.query(self._frame(view), atom, joint)

    def explain(self, view: NetworkView, atom: Atom, joint: Sequence[Term] | None) -> Derivation | Failure:
        return self._reasoner.explain(self._frame(view), atom, joint)


class GameLanes(Lanes):
    """The lanes of a ``Batch``; methods take indices of roles, and raise errors that name roles and moves."""

    def __init__(self, kernel: Kernel, count: int, seed: int, compiled: CompiledGame) -> None:
        self._compiled = compiled
        super().__init__(kernel, count, seed)

    def percepts_of(self, role: int) -> NDArray[np.bool_]:
        """Return the percepts of a role from the last joint move; see ``Batch.percepts``."""
        if not self.network.percepts:
            return np.zeros((self.count, 0), np.bool_)
        return self.percepts()[role]

    def step(self, choices: Sequence[ArrayLike], mask: ArrayLike | None = None) -> None:
        """Make a joint move in every lane; see ``Batch.step``."""
        for role, chosen in zip(self._compiled.roles, choices, strict=True):
            array = np.asarray(chosen)
            if array.shape != (self.count,) or not np.issubdtype(array.dtype, np.integer):
                raise ValueError(
                    f"the moves of {role} should be {self.count} integers, one per lane, not an array "
                    f"of {array.dtype} of shape {array.shape}"
                )
        try:
            super().step(choices, None if mask is None else self._mask(mask))
        except IllegalChoiceError as error:
            legal = self.legal_by_role()[error.role][error.lane]
            raise _illegal(self._compiled, error, legal) from None

    def reset(self, mask: ArrayLike | None = None) -> None:
        """Reset lanes; see ``Batch.reset``."""
        super().reset(None if mask is None else self._mask(mask))

    def _mask(self, chosen: ArrayLike) -> NDArray[np.bool_]:
        """Convert numbers of lanes, or a mask of lanes, to a mask: bool [lanes]."""
        array, count = np.asarray(chosen), self.count
        if array.dtype == np.bool_:
            return array
        numbers = array.astype(np.int64) if array.size else np.zeros(0, np.int64)
        wrong = numbers[(numbers < 0) | (numbers >= count)]
        if wrong.size or (array.size and not np.issubdtype(array.dtype, np.integer)):
            given = wrong.flat[0] if wrong.size else array.dtype
            raise IndexError(f"expected numbers of lanes from 0 to {count - 1}, got {given}")
        mask = np.zeros(count, np.bool_)
        mask[numbers] = True
        return mask

    def set_observation(self, states: ArrayLike) -> None:
        """Set the states of all lanes: bool [lanes, fluents]; see ``Batch.set_observation``."""
        array = np.asarray(states)
        expected = (self.count, len(self._compiled.fluents))
        if array.shape != expected or not (
            array.dtype == np.bool_ or (np.isin(array, (0, 1)).all() and array.dtype.kind in "iuf")
        ):
            raise ValueError(
                f"expected an observation of truth values [{expected[0]} lanes, {expected[1]} fluents], "
                f"found an array of {array.dtype} of shape {array.shape}"
            )
        pair = self._compiled.exclusions.pair_in(array)
        if pair is not None:
            lane, one, other = pair
            fluents = self._compiled.fluents
            raise PositionError(f"lane {lane}: no match makes both {fluents[one]} and {fluents[other]} true")
        self.load(array)

    def position(self, lane: int) -> bytes:
        """Return the position of a lane."""
        return self.get(lane).tobytes()

    def set_position(self, lane: int, position: bytes) -> None:
        """Set the position of a lane."""
        self.set(lane, np.frombuffer(position, np.bool_))


class GameCardLanes(WarpLanes):
    """The lanes of a ``CardBatch``, with errors that name roles and moves."""

    def __init__(self, compiled: CompiledGame, card: Card, count: int, seed: int) -> None:
        super().__init__(compiled.network, card, count, seed)
        self._compiled = compiled

    def step(self, choices: Sequence[ArrayLike]) -> None:
        """Make a joint move in every lane; see ``CardBatch.step``."""
        try:
            super().step(choices)
        except IllegalChoiceError as error:
            legal = self.legal(error.role).numpy()[error.lane]
            raise _illegal(self._compiled, error, legal) from None


def _illegal(compiled: CompiledGame, error: IllegalChoiceError, legal: NDArray[np.bool_]) -> IllegalMoveError:
    """Return the error for an illegal action in a lane, given the legal actions: bool [actions]."""
    role, moves = str(compiled.roles[error.role]), compiled.actions[error.role]
    numbers = np.flatnonzero(legal).tolist()
    return illegal_number(role, error.action, moves, numbers, f"lane {error.lane}: ")
