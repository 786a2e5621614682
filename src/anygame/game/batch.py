"""Batches: many simultaneous matches of one game, on a processor or on a graphics card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from random import SystemRandom
from typing import TYPE_CHECKING, Any

from anygame.errors import IllegalMoveError, PositionError
from anygame.game.encoding import ActionSpace
from anygame.game.roles import in_order
from anygame.game.showing import planes_of
from anygame.game.state import State

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from anygame.game.game import Game
    from anygame.game.machines.network import CardArray, NetworkMachine
    from anygame.game.planes import Planes
    from anygame.language.terms import Term


@dataclass(frozen=True)
class Snapshot:
    """The saved states of a batch and of its random number generator; see ``Batch.snapshot``.

    Attributes:
        game: the game.
        states: the states of all lanes, as ``Batch.packed`` returns them.
        random_state: the state of the random number generator.
    """

    game: Game
    states: NDArray[np.uint64]
    random_state: NDArray[np.uint64]


def arrays_in_order(game: Game, moves: Mapping[Any, ArrayLike]) -> list[ArrayLike]:
    """Return the arrays of a mapping from roles to arrays, in the order of the roles."""
    if not isinstance(moves, Mapping):
        raise IllegalMoveError(
            f"expected a mapping from roles ({', '.join(game.roles)}) to arrays of moves, found "
            f"{type(moves).__name__}"
        )
    return in_order(moves, game.roles, game.role_index, "array")


class Batch:
    """Simultaneous matches of a game; each lane is an independent match.

    Moves are numbers: indices of ``game.actions(role)``. A lane is stuck if a role has no legal move in a
    nonterminal state. Ended and stuck lanes ignore moves; `reset` and `set_state` change such lanes.

    ``game.batch`` makes a batch. ``game.encoding`` has the names of all columns. If you save a model, save
    the encoding with it. Methods raise UnknownRoleError for a ``role`` that the game does not have.

    >>> import anygame
    >>> game = anygame.loads(
    ...     "(role me) (legal me 0) (legal me 1) (<= (next (chose ?x)) (does me ?x))"
    ...     "(<= terminal (true (chose ?x)))"
    ...     "(<= (goal me 0) (true (chose 0))) (<= (goal me 100) (true (chose 1)))"
    ... )
    >>> batch = game.batch(3, seed=7)
    >>> game.actions("me"), batch.legal_mask("me").tolist()
    ((0, 1), [[True, True], [True, True], [True, True]])
    >>> batch.step({"me": [0, 1, 1]})
    >>> batch.terminal.tolist(), batch.goals("me").tolist()
    ([True, True, True], [0.0, 100.0, 100.0])

    Attributes:
        game: the game.
        lanes: the number of lanes.
    """

    def __init__(self, game: Game, machine: NetworkMachine, lanes: int, seed: int | None) -> None:
        self.game = game
        self.lanes = lanes
        self._machine = machine
        self._lanes = machine.lanes(lanes, _seed_or_new(seed))

    def clone(self) -> Batch:
        """Return an independent copy, whose next random moves are the same as those of this batch."""
        batch = object.__new__(Batch)
        batch.__dict__.update(self.__dict__)
        batch._lanes = self._lanes.copy()
        return batch

    def __copy__(self) -> Batch:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, object]) -> Batch:
        return self.clone()

    def __repr__(self) -> str:
        return f"<Batch of {self.lanes} lanes of {self.game.name}>"

    # -- questions ---------------------------------------------------------------------------------

    @property
    def terminal(self) -> NDArray[np.bool_]:
        """Which lanes have ended: bool [lanes]."""
        return self._lanes.terminal

    @property
    def stuck(self) -> NDArray[np.bool_]:
        """Which lanes are stuck, because a role has no legal move in a nonterminal state: bool [lanes]."""
        return self._lanes.stuck

    def action_space(self, role: str | Term) -> ActionSpace:
        """Return the moves of a role, indexed by their numbers; a number is also a column of the masks."""
        return ActionSpace.of(self.game, role)

    def legal_mask(self, role: str | Term) -> NDArray[np.bool_]:
        """Return which moves of a role are legal: bool [lanes, actions], in the order of ``game.actions``."""
        return self._lanes.legal_by_role()[self.game.role_index(role)]

    def legal_masks(self) -> list[NDArray[np.bool_]]:
        """Return the ``legal_mask`` of every role. All masks together cost little more than one mask."""
        return self._lanes.legal_by_role()

    def goals(self, role: str | Term) -> NDArray[np.float64]:
        """Return the goals of a role, in nonterminal states too: float [lanes].

        In a lane in which the rules give no goal, or several goals, the goal is nan.
        """
        return self._lanes.goal_values()[self.game.role_index(role)]

    def observation(self) -> NDArray[np.bool_]:
        """Return the fluents that are true: bool [lanes, fluents], in the order of ``game.fluent_terms``."""
        return self._lanes.observation()

    def percepts(self, role: str | Term) -> NDArray[np.bool_]:
        """Return the percepts of a role from the last joint move (GDL-II): bool [lanes, percepts].

        The columns are in the order of ``game.percept_terms(role)``. A lane has no percepts if the lane did
        not take part in that move, or if its state was set after that move.

        Raises:
            LimitError: the game is too large for a network that computes percepts.
        """
        self._machine.check_percepts(self.game.name)
        return self._lanes.percepts_of(self.game.role_index(role))

    @cached_property
    def plane_layout(self) -> Planes:
        """The layout of ``planes``: names of the ``channels``, number of ``rows``, number of ``columns``."""
        return planes_of(self.game, self._machine.compiled.fluents)

    def planes(self) -> NDArray[np.bool_]:
        """Return the states as planes over the board: bool [lanes, channels, rows, columns].

        ``plane_layout`` names the channels. Each possible content of a square has a channel. Each fluent
        outside the board has a channel with the same value on all squares. A game without a board has one row
        and one column.
        """
        return self.plane_layout.of(self.observation())

    # -- moving ------------------------------------------------------------------------------------

    def step(self, moves: Mapping[Any, ArrayLike], lanes: ArrayLike | None = None) -> None:
        """Make a joint move in every lane that has not ended and is not stuck.

        Args:
            moves: for each role an integer array [lanes], indices of ``game.actions(role)``; ignored in lanes
                that have ended or are stuck.
            lanes: the lanes that move, as numbers or as a bool array [lanes]; all by default.

        Raises:
            IllegalMoveError: a move is not legal, or a role is missing; nothing has changed.
            IndexError: there is no lane of a given number; nothing has changed.
            ValueError: an array has the wrong shape or type.
        """
        self._lanes.step(arrays_in_order(self.game, moves), lanes)

    def step_random(self) -> dict[str, NDArray[np.int32]]:
        """Make a uniformly random joint move in every lane that has not ended and is not stuck.

        Returns:
            For each role the sampled moves: an int array [lanes], -1 in lanes that did not move.
        """
        return dict(zip(self.game.roles, self._lanes.step_random(), strict=True))

    # -- states ------------------------------------------------------------------------------------

    def reset(self, lanes: ArrayLike | None = None) -> None:
        """Reset lanes to the initial state.

        Args:
            lanes: numbers of lanes, or a bool array [lanes]; all by default.

        Raises:
            IndexError: there is no lane of a given number; nothing has changed.
        """
        self._lanes.reset(lanes)

    def state(self, lane: int) -> State:
        """Return the state of a lane.

        Raises:
            IndexError: the batch has no lane of this number.
        """
        return State(self.game, self._machine, self._lanes.position(lane))

    def packed(self) -> NDArray[np.uint64]:
        """Return all states with a bit for each fluent: uint64 [lanes, words].

        Fluent ``n`` of ``game.fluent_terms`` is bit ``n % 64`` of word ``n // 64``; unused bits are 0. The
        words of a lane can serve as a compact key of its state.
        """
        return self._lanes.packed()

    def set_packed(self, states: NDArray[np.uint64]) -> None:
        """Set the states of all lanes, in the form of ``packed``: uint64 [lanes, words].

        Raises:
            ValueError: the array has the wrong shape or type.
        """
        self._lanes.load_packed(states)

    def set_observation(self, states: ArrayLike) -> None:
        """Set the states of all lanes, in the form of ``observation``: bool, or 0 and 1, [lanes, fluents].

        Raises:
            PositionError: two facts of a lane cannot be true together; the error is also a ValueError.
            ValueError: the array has the wrong shape, or values other than 0 and 1.
        """
        self._lanes.set_observation(states)

    def snapshot(self) -> Snapshot:
        """Return the states of all lanes and of the random number generator, for ``restore``.

        A snapshot is picklable, and does not contain the percepts of the last joint move.
        """
        return Snapshot(self.game, self._lanes.packed(), self._lanes.random_state)

    def restore(self, snapshot: Snapshot) -> None:
        """Restore the states and the random number generator from a snapshot.

        Raises:
            PositionError: the snapshot belongs to another game, or has a different number of lanes.
            TypeError: the argument is not a snapshot.
        """
        if not isinstance(snapshot, Snapshot):
            raise TypeError(f"expected a snapshot, found {type(snapshot).__name__}")
        if snapshot.game != self.game:
            raise PositionError(f"expected a snapshot of {self.game.name}, not of {snapshot.game.name}")
        if len(snapshot.states) != self.lanes:
            raise PositionError(
                f"expected a snapshot of {self.lanes} lanes, found {len(snapshot.states)} lanes"
            )
        self._lanes.load_packed(snapshot.states)
        self._lanes.random_state = snapshot.random_state

    def set_state(self, lane: int, state: State | Iterable[str | Term]) -> None:
        """Set the state of a lane to a state of the game, or to the state in which the given facts are true.

        Raises:
            IndexError: the batch has no lane of this number.
            PositionError: no match has a state with this fact or this pair of facts; nothing has changed.
        """
        if not isinstance(state, State):
            state = self.game.state(state)
        elif state.game != self.game:
            raise PositionError(f"expected a state of {self.game.name}, found a state of {state.game.name}")
        position = state.position_in(self._machine)
        if position is None:
            raise PositionError(
                f"no match reaches a state with {self._machine.obstacle(state.facts)}; a batch can only "
                "represent facts in game.fluent_terms"
            )
        self._lanes.set_position(lane, position)


class CardBatch:
    """Simultaneous matches on a graphics card, with methods as in ``Batch``, and arrays on the card.

    Each move overwrites the arrays of the batch, so copy the arrays that you want to keep.
    ``torch.from_dlpack``, ``jax.dlpack.from_dlpack`` and ``cupy.from_dlpack`` read the arrays in place;
    ``array.numpy()`` copies an array. Moves and masks can be in main memory or on the card: PyTorch tensors,
    or any array with CUDA's array interface. Call ``game.card_batch`` to make a batch.

    Attributes:
        game: the game.
        lanes: the number of lanes.
    """

    def __init__(self, game: Game, machine: NetworkMachine, lanes: int, seed: int | None, card: int) -> None:
        self.game = game
        self.lanes = lanes
        self._machine = machine
        self._lanes = machine.lanes_on_card(lanes, _seed_or_new(seed), card)

    def __repr__(self) -> str:
        return f"<CardBatch of {self.lanes} lanes of {self.game.name} on {self._lanes.card.name}>"

    @property
    def terminal(self) -> CardArray:
        """Which lanes have ended: bool [lanes]."""
        return self._lanes.terminal

    @property
    def stuck(self) -> CardArray:
        """Which lanes are stuck, because a role has no legal move in a nonterminal state: bool [lanes]."""
        return self._lanes.stuck

    def action_space(self, role: str | Term) -> ActionSpace:
        """Return the moves of a role in the order of their numbers."""
        return ActionSpace.of(self.game, role)

    def legal_mask(self, role: str | Term) -> CardArray:
        """Return which moves of a role are legal: bool [lanes, actions], with contiguous columns."""
        return self._lanes.legal(self.game.role_index(role))

    def goals(self, role: str | Term) -> CardArray:
        """Return the goals of a role, rounded to float32 (exact up to 16,777,216); see ``Batch.goals``."""
        return self._lanes.goals(self.game.role_index(role))

    def observation(self) -> CardArray:
        """Return the fluents that are true: bool [lanes, fluents], with contiguous columns."""
        return self._lanes.observation()

    def step(self, moves: Mapping[Any, ArrayLike]) -> None:
        """Make a joint move in every lane, given as int32 or int64 [lanes] per role; see ``Batch.step``."""
        self._lanes.step(arrays_in_order(self.game, moves))

    def step_random(self) -> dict[str, CardArray]:
        """Make a random joint move in every lane; return the moves. See ``Batch.step_random``."""
        return dict(zip(self.game.roles, self._lanes.step_random(), strict=True))

    def reset(self, lanes: ArrayLike | None = None) -> None:
        """Reset lanes to the initial state.

        Args:
            lanes: a bool array [lanes], such as ``batch.terminal``; all by default.

        Raises:
            ValueError: the array has the wrong shape or type.
        """
        self._lanes.reset(lanes)


def _seed_or_new(seed: int | None) -> int:
    return SystemRandom().getrandbits(32) if seed is None else seed
