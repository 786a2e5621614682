"""Knowledge of a role: the facts of a state that follow from the role's moves and percepts; and open facts.

The network of the game is unrolled: each joint move has its own copy of the gates, which compute the fluents
of the next state. The role knows the initial state. After each joint move, the role knows its own move, its
percepts, and its legal moves. Known values propagate through the gates in both directions, as in unit
propagation (Davis, Logemann and Loveland, "A machine program for theorem-proving", 1962). A conjunction with
a false input is false. A true conjunction has true inputs. If all inputs of a false conjunction except one
are true, the last input is false. Every other role makes exactly one of its legal moves.

The module never reads the true state, so no hidden fact can leak. Known facts hold in every match with the
same observations. The converse can fail: a fact stays open if only a case distinction proves the fact.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from anygame.errors import LimitError
from anygame.network.network import gates_by_level
from anygame.network.ragged import places
from anygame.search.hidden.observing import TurnReader
from anygame.search.lanes import packed_state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import RoleView, State
    from anygame.language.terms import Term
    from anygame.network.network import Network
    from anygame.search.hidden.observing import Turn

    #: int8: 1 for true, -1 for false, 0 for open.
    Values = NDArray[np.int8]

#: Maximum number of gates of the unrolled network. Propagation through so many gates takes half a second.
_MOST_GATES: Final = 4_000_000
#: Maximum number of propagation steps per joint move of the match, on average.
_MOST_VISITS: Final = 12


class Known(NamedTuple):
    """The knowledge of a role about a state."""

    facts: frozenset[Term]  # facts that hold in all states that agree with the moves and percepts of the role
    open: frozenset[Term]  # facts that propagation has neither proven nor refuted


class Knowledge:
    """Derives the knowledge of one role about a match.

    >>> import anygame
    >>> from anygame.game.state import RoleView
    >>> from anygame.language.parser import parse_term
    >>> game = anygame.load("kuhn_poker")
    >>> states = [game.initial_state()]
    >>> deals = [["noop", "noop", "(deal king)"], ["noop", "noop", "(deal queen)"]]
    >>> for deal in deals:
    ...     states.append(states[-1].next(deal))
    >>> joints = [[parse_term(move) for move in deal] for deal in deals]
    >>> known = Knowledge(game, "player2").of(RoleView.of(game.roles[1], states, joints))
    >>> [str(fact) for fact in sorted(known.facts) if "card" in str(fact)]
    ['(card player2 queen)']
    >>> [str(fact) for fact in sorted(known.open)]
    ['(card player1 jack)', '(card player1 king)']

    Raises:
        LimitError: the game has no network that computes percepts.
    """

    def __init__(self, game: Game, role: str | Role) -> None:
        machine = game.backends.needed_network()
        machine.check_percepts(game.name)
        compiled = machine.compiled
        network = compiled.percept_network or compiled.network
        self._game = game
        self._role = game.role_index(role)
        self._network = network
        self._terms = compiled.fluents
        self._reader = TurnReader(compiled.actions[self._role], compiled.percepts[self._role])
        self._propagation = _Propagation(network, self._role)
        self._groups = compiled.exclusions.groups
        self._view: RoleView | None = None
        self._turns: list[Values] = []

    def of(self, view: RoleView) -> Known:
        """Return the knowledge of the role after its last observation.

        Raises:
            LimitError: the game or the match is too large, or no match has these observations.
        """
        if (1 + len(view.observations)) * self._network.gates > _MOST_GATES:
            raise LimitError(
                f"{self._game.name} is too large to compute what a role knows: {self._network.gates:,} gates "
                f"in {1 + len(view.observations):,} states; the limit is {_MOST_GATES:,} gates in all",
                limit="gates",
                bound=_MOST_GATES,
            )
        former = self._view
        if former is None or not view.continues(former):
            self._turns = [self._first(view.start)]
        new_observations = view.observations[len(self._turns) - 1 :]
        turns = [turn for turn in map(self._reader.read, new_observations) if turn is not None]
        if len(turns) < len(new_observations):
            raise LimitError(f"no match of {self._game.name} has these observations", limit="observations")
        self._view = None  # If Ctrl-C interrupts the update, the next call recomputes all turns.
        for turn in turns:
            self._add(turn)
        self._settle(len(self._turns) - 1 - len(turns))
        self._view = view
        facts = self._turns[-1][1 : 1 + self._network.facts]
        return Known(
            frozenset(self._terms[number] for number in np.flatnonzero(facts == 1)),
            frozenset(self._terms[number] for number in np.flatnonzero(facts == 0)),
        )

    def _first(self, start: State) -> Values:
        values = np.zeros(self._network.nodes, np.int8)
        values[0] = -1
        bits = np.unpackbits(packed_state(self._game, start).view(np.uint8), bitorder="little")
        facts = self._network.facts
        values[1 : 1 + facts] = 2 * bits[:facts].astype(np.int8) - 1
        values[1 + facts : self._network.first_action] = -1
        return values

    def _add(self, turn: Turn) -> None:
        network, propagation = self._network, self._propagation
        before, after = self._turns[-1], np.zeros(network.nodes, np.int8)
        after[0] = -1
        _write(before, np.array([network.terminal], np.int32), np.array([-1], np.int8))
        if turn.own is not None:
            before[propagation.actions[self._role]] = -1
            before[propagation.actions[self._role].start + turn.own] = 1
        if len(turn.seen):
            after[propagation.seen] = 2 * turn.seen.astype(np.int8) - 1
        if turn.legal is not None:
            _write(after, propagation.legal_of(self._role), 2 * turn.legal.astype(np.int8) - 1)
        self._turns.append(after)

    def _settle(self, first: int) -> None:
        """Propagate the values of a turn, and of all later turns, to all turns, until nothing changes."""
        waiting = set(range(first, len(self._turns)))
        for _ in range(_MOST_VISITS * len(self._turns)):
            if not waiting:
                break
            number = min(waiting)
            waiting.discard(number)
            waiting |= set(self._visit(number))

    def _visit(self, number: int) -> Iterator[int]:
        """Propagate the values of a turn within the turn and to its neighbours; yield the changed turns."""
        turns, fluents = self._turns, slice(1, self._network.first_action)
        is_last = number == len(turns) - 1
        self._set_excluded(turns[number])
        self._propagation.within(turns[number], moves=not is_last)
        for before in range(max(number - 1, 0), number if is_last else number + 1):
            later, earlier = _tie(turns[before], self._network.next, turns[before + 1][fluents])
            if later:
                yield before + 1
            if earlier:
                yield before

    def _set_excluded(self, values: Values) -> None:
        """Refute all facts that exclude a known fact."""
        facts = values[1 : 1 + self._network.facts]
        for groups in self._groups:
            decided = groups[(facts == 1) & (groups >= 0)]
            facts[np.isin(groups, decided) & (facts == 0)] = -1


class _Level(NamedTuple):
    """Gates that do not read each other."""

    gates: NDArray[np.int64]  # the node of each gate
    nodes: NDArray[np.int64]  # the node of each input; the inputs of a gate are consecutive
    signs: Values  # for each input: -1 if it is inverted, else 1
    firsts: NDArray[np.int64]  # for each gate: the index of its first input
    owners: NDArray[np.int64]  # for each input: the index in ``gates`` of the gate that reads the input


class _Propagation:
    """Propagates values through the gates and choices of one turn.

    Attributes:
        actions: for each role: the nodes of its actions.
        seen: the nodes of the role's percepts.
    """

    def __init__(self, network: Network, role: int) -> None:
        ends = np.cumsum([network.first_action, *network.actions]).tolist()
        self.actions = [slice(first, end) for first, end in pairwise(ends)]
        first_seen = 1 + network.facts + sum(network.percepts[:role])
        self.seen = slice(first_seen, first_seen + (network.percepts[role] if network.percepts else 0))
        self._legal = network.legal
        self._first_action = network.first_action
        self._levels = [_level(network, gates) for gates in gates_by_level(network)]

    def legal_of(self, role: int) -> NDArray[np.int32]:
        """Return, for each action of a role, the literal that holds if the action is legal."""
        actions = self.actions[role]
        return self._legal[actions.start - self._first_action : actions.stop - self._first_action]

    def within(self, values: Values, *, moves: bool) -> None:
        """Propagate values until nothing changes."""
        before = -1
        while (count := int(np.count_nonzero(values))) != before:
            before = count
            for level in self._levels:
                _upwards(values, level)
            for level in reversed(self._levels):
                _downwards(values, level)
            for role in range(len(self.actions) if moves else 0):
                self._choose_one(values, role)

    def _choose_one(self, values: Values, role: int) -> None:
        """Propagate that a role makes exactly one legal move."""
        made, literals = values[self.actions[role]], self.legal_of(role)
        made[_read(values, literals) == -1] = -1
        if np.any(made == 1):
            made[made == 0] = -1
        elif np.count_nonzero(made == 0) == 1:
            made[made == 0] = 1
        _write(values, literals[made == 1], np.ones(np.count_nonzero(made == 1), np.int8))


def _level(network: Network, gates: NDArray[np.int64]) -> _Level:
    starts = network.starts.astype(np.int64)
    lengths = starts[gates + 1] - starts[gates]
    literals = network.inputs[places(starts[gates], lengths)].astype(np.int64)
    return _Level(
        network.first_gate + gates,
        literals >> 1,
        _signs(literals),
        np.cumsum(lengths) - lengths,
        np.repeat(np.arange(len(gates)), lengths),
    )


def _upwards(values: Values, level: _Level) -> None:
    """Propagate from inputs to gates. In Kleene's three-valued logic, a conjunction is a minimum."""
    conjunctions = np.minimum.reduceat(values[level.nodes] * level.signs, level.firsts)
    open_ = values[level.gates] == 0
    values[level.gates[open_]] = conjunctions[open_]


def _downwards(values: Values, level: _Level) -> None:
    """Propagate from gates to inputs."""
    inputs = values[level.nodes] * level.signs
    gates = values[level.gates]
    is_open = inputs == 0
    alone = np.add.reduceat(is_open.astype(np.int64), level.firsts) == 1
    failing = (gates == -1) & alone & (np.minimum.reduceat(inputs, level.firsts) == 0)
    for wanted, value in ((gates == 1, 1), (failing, -1)):
        learned = is_open & wanted[level.owners]
        values[level.nodes[learned]] = level.signs[learned] * np.int8(value)


def _tie(before: Values, literals: NDArray[np.int32], after: Values) -> tuple[bool, bool]:
    """Propagate between literals and fluents that they set; return whether fluents and literals changed."""
    next_values = _read(before, literals)
    later, earlier = (after == 0) & (next_values != 0), (next_values == 0) & (after != 0)
    after[later] = next_values[later]
    _write(before, literals[earlier], after[earlier])
    return bool(later.any()), bool(earlier.any())


def _read(values: Values, literals: NDArray[np.int32]) -> Values:
    read: Values = values[literals >> 1] * _signs(literals)
    return read


def _write(values: Values, literals: NDArray[np.int32], wanted: Values) -> None:
    values[literals >> 1] = wanted * _signs(literals)


def _signs(literals: NDArray[np.signedinteger]) -> Values:
    return (1 - 2 * (literals & 1)).astype(np.int8)
