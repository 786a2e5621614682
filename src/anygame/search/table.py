"""Exact solutions: the value of a state, and tables of the values of all states (tablebases)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import isnan
from typing import TYPE_CHECKING, Final

from anygame.errors import PositionError
from anygame.language.diagnostics import counted
from anygame.markup import folded, html, meter, paragraph, table
from anygame.search.analysis import best_first
from anygame.search.goals import Bounds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.search.analysis import Analysis, MoveAnalysis
    from anygame.search.state_set import StateSet

#: Maximum number of joint moves of best play that a notebook shows.
_MOST_STEPS: Final = 100
#: Distance of a state from which best play never ends, or whose distance is unknown.
NO_END: Final = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Solution:
    """The exact value of a state, or the results of an incomplete attempt.

    Attributes:
        method: the kind of value: ``best goal`` (one role, no chance), ``expectation`` (one role and chance),
            ``minimax`` (two roles with opposed goals that take turns), ``expected minimax`` (the same with
            chance), ``maximin of mixed strategies`` (two such roles that move at the same time), ``maximin``
            (the goal that each of two roles can guarantee, proven by a search if there are too many states);
            or ``none``.
        solved: whether the value is known.
        goals: the value of each role under best play; None for ``random`` and where it is not known.
        bounds: the bounds of the value of each role; None where no bounds are known.
        reason: why the value is not known; empty where it is.
        states: number of different states found.
        expanded: number of states expanded by every joint move.
        edges: number of joint moves from the expanded states.
        depth: the greatest distance up to which all states were expanded; -1 if none was.
        line: joint moves of best play, in the order of the roles, up to the end, to a random move or to a
            mixed strategy. The winner takes the shortest way and the loser the longest. A ``maximin`` line
            keeps the value, but it can stop before the end of the match, and it need not be the shortest. If
            a game for one role is not solved, this is the best line found.
        seconds: time spent, without compilation.
        bytes: peak memory of the data that grow with the number of states.
        table: the values of all states, if they were requested and computed.
        leaves: number of positions evaluated by the search for a proof.
        missing: for each role except ``random``, the number of final states without a goal for the role. In
            these states, the rules give no goal, several goals, or a goal that is not an integer, or a role
            has no move. The value of such a state is unknown, between 0 and 100. These states do not decide
            whether the goals of two roles are opposed.
        interrupted: whether Ctrl-C ended the computation.
    """

    method: str
    solved: bool
    goals: Mapping[str, float | None]
    bounds: Mapping[str, Bounds | None]
    reason: str
    states: int
    expanded: int
    edges: int
    depth: int
    line: tuple[tuple[Term, ...], ...]
    seconds: float
    bytes: int
    table: Table | None = field(default=None, repr=False, compare=False)
    leaves: int = 0
    missing: Mapping[str, int] = field(default_factory=dict)
    interrupted: bool = False

    def _repr_html_(self) -> str:
        rows = [(role, *_as_text(value, self.bounds.get(role))) for role, value in self.goals.items()]
        states = counted(self.states, "state")
        summary = f"{self.method}, {states}" if self.solved else f"not solved: {self.reason}"
        steps = "".join([f"<li>{html(', '.join(map(str, joint)))}</li>" for joint in self.line[:_MOST_STEPS]])
        moves = counted(len(self.line), "joint move")
        line = folded(f"best play, {moves}", f"<ol>{steps}</ol>") if steps else ""
        return table(("role", "value", "between"), rows) + paragraph(summary) + line


@dataclass(frozen=True, eq=False)
class Table:
    """The values of all states that can follow the solved state.

    ``anygame.solve(game, table=True)`` computes a table. ``load_table`` reads one from a file.

    Attributes:
        game: the game.
        method: how the values were computed; see ``Solution``.
        fluents: the fact that each bit of a packed state represents.
        states: all states.
        kinds: for each state, the index of its row in ``bounds``: uint8, uint16 or uint32 [states].
        bounds: the distinct lower and upper bounds: float [rows, roles, 2]; nan for an unknown bound.
        distances: number of joint moves of best play to the end, uint32 [states]; NO_END if best play never
            ends. None for games with chance or with simultaneous moves.

    >>> import anygame
    >>> game = anygame.load("tic_tac_toe")
    >>> table = anygame.solve(game, table=True).table
    >>> state = game.initial_state().next(["(mark 1 1)", "noop"])
    >>> len(table), table.value(state), table.distance(state)
    (5478, {'x': Bounds(least=50, most=50), 'o': Bounds(least=50, most=50)}, 8)
    >>> table.best_moves(state)
    {'o': ((mark 2 2),)}
    """

    game: Game
    method: str
    fluents: tuple[Term, ...]
    states: StateSet
    kinds: NDArray[np.unsignedinteger]
    bounds: NDArray[np.float64]
    distances: NDArray[np.uint32] | None

    @cached_property
    def _bits(self) -> dict[Term, int]:
        return {fact: bit for bit, fact in enumerate(self.fluents)}

    @cached_property
    def _middle(self) -> NDArray[np.float64]:
        """The mean of the lowest and the highest lower bound of each role."""
        import numpy as np

        levels = self.bounds[:, :, 0]
        return np.asarray((np.fmin.reduce(levels) + np.fmax.reduce(levels)) / 2)

    # -- states ------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.states)

    def __contains__(self, state: State) -> bool:
        return self._number(state) is not None

    def value(self, state: State) -> Mapping[str, Bounds] | None:
        """Return the bounds of the value of a state, for each role with known bounds.

        Returns:
            None if the table does not contain the state: no play from the solved state leads to it.

        Raises:
            PositionError: the state belongs to another game.
        """
        number = self._number(state)
        return None if number is None else self._value(number)

    def distance(self, state: State) -> int | None:
        """Return the number of joint moves of best play to the end; None if it is unknown or infinite.

        A role that gets more than the mean of the lowest and the highest goal prefers a short match. The
        other roles prefer a long match.
        """
        number = self._number(state)
        if number is None or self.distances is None or self.distances[number] == NO_END:
            return None
        return int(self.distances[number])

    def _value(self, number: int) -> dict[str, Bounds]:
        pairs = self.bounds[self.kinds[number]].tolist()
        return {
            role: Bounds(_whole(least), _whole(most))
            for role, (least, most) in zip(self.game.roles, pairs, strict=True)
            if not isnan(least)
        }

    def _number(self, state: State) -> int | None:
        if state.game is not self.game and state.game != self.game:
            raise PositionError(f"expected a state of {self.game.name}, found one of {state.game.name}")
        bits = [self._bits.get(fact, -1) for fact in state.facts]
        if -1 in bits:
            return None
        number = int(self.states.find(_packed([bits], self.states.words))[0])
        return None if number < 0 else number

    # -- moves -------------------------------------------------------------------------------------

    def moves(self, state: State) -> dict[str, dict[Term, Bounds]]:
        """Return the bounds of the value of each move, for the role that chooses.

        If ``random`` moves at the same time, the bounds are means over its moves. The result is empty for
        final states, for states that the table does not contain, and if two roles choose at the same time.
        """
        valued = self._moves(state)
        return {} if valued is None else {valued[0]: {move: bounds for move, bounds, _ in valued[1]}}

    def best_moves(self, state: State) -> dict[str, tuple[Term, ...]]:
        """Return the moves of greatest value of the role that chooses, in order of preference.

        Lower bounds are compared first, then upper bounds. The winner prefers a short match, the loser a long
        match. The result is empty in the cases that ``moves`` names.
        """
        valued = self._moves(state)
        if valued is None:
            return {}
        role, moves = valued
        best = max(bounds for _, bounds, _ in moves)
        late = best.least < self._middle[self.game.role_index(role)]
        kept = [(distance, move) for move, bounds, distance in moves if bounds >= best]
        kept.sort(key=lambda pair: -pair[0] if late else pair[0])
        return {role: tuple([move for _, move in kept])}

    def _moves(self, state: State) -> tuple[Role, list[tuple[Term, Bounds, int]]] | None:
        """Return the role that chooses, and its moves with their bounds and greatest distances."""
        if state not in self or state.is_terminal or state.stuck_role is not None:
            return None
        legal = [state.legal_moves(role) for role in self.game.roles]
        roles = [role for role in self.game.roles if not role.is_random]
        several = [role for role in roles if len(legal[self.game.role_index(role)]) > 1]
        if len(several) > 1:
            return None
        role = several[0] if several else roles[0]
        place = self.game.role_index(role)
        valued = []
        for move in legal[place]:
            joints = product(*[[move] if n == place else moves for n, moves in enumerate(legal)])
            numbers = [self._number(state.next(joint)) for joint in joints]
            values = [self._value(n).get(role) for n in numbers if n is not None]
            bounds = [value for value in values if value is not None]
            if len(bounds) < len(numbers):
                return None
            least, most = (sum(ends) / len(bounds) for ends in zip(*bounds, strict=True))
            distances = [
                0 if self.distances is None else int(self.distances[n]) for n in numbers if n is not None
            ]
            valued.append((move, Bounds(_whole(least), _whole(most)), max(distances)))
        return role, valued

    # -- analyses ----------------------------------------------------------------------------------

    def annotate(self, analysis: Analysis, state: State) -> Analysis:
        """Return an analysis of a state in which the values of the table count as proven.

        Args:
            analysis: the analysis of the state by any search.
            state: the state.
        """
        value = self.value(state)
        if value is None:
            return analysis
        exact, best = self.moves(state), self.best_moves(state)
        moves = {
            role: _proven(searched, exact[role], best[role]) if role in exact else searched
            for role, searched in analysis.moves.items()
        }
        proven = {
            role: value[role].least if role in value and value[role].least == value[role].most else old
            for role, old in analysis.proven.items()
        }
        return replace(analysis, moves=moves, proven=proven)


def _as_text(value: float | None, bounds: Bounds | None) -> tuple[str, str]:
    """Return a value and its bounds as strings; both are empty for ``random``."""
    shown = "" if value is None else meter(value, f"{value:g}")
    return shown, "" if bounds is None or value is not None else f"{bounds.least:g} and {bounds.most:g}"


def _proven(
    moves: tuple[MoveAnalysis, ...], known: Mapping[Term, Bounds], best: Sequence[Term]
) -> tuple[MoveAnalysis, ...]:
    """Return moves with their exact values, in the order of ``best``."""
    order = {move: place for place, move in enumerate(best)}
    exact = [replace(move, bounds=known[move.move]) for move in moves]
    return tuple(sorted(best_first(exact), key=lambda move: order.get(move.move, len(order))))


def pack_states(states: Sequence[Iterable[Term]]) -> tuple[tuple[Term, ...], NDArray[np.uint64]]:
    """Return all facts of the states, sorted as strings, and the states with one bit a fact."""
    fluents = tuple(sorted({fact for facts in states for fact in facts}, key=str))
    bits = {fact: bit for bit, fact in enumerate(fluents)}
    words = max(1, -(-len(fluents) // 64))
    return fluents, _packed([[bits[fact] for fact in facts] for facts in states], words)


def numbered(
    columns: Sequence[NDArray[np.float64]],
) -> tuple[NDArray[np.float64], NDArray[np.unsignedinteger]]:
    """Return the distinct rows of the columns, float [rows, columns], and the row index of each state."""
    import numpy as np

    kinds = np.zeros(len(columns[0]), np.int64)
    different = np.zeros((1, 0))
    for column in columns:
        levels = np.unique(column)
        pairs = kinds * len(levels) + np.searchsorted(levels, column)
        met = np.unique(pairs)
        kinds = np.searchsorted(met, pairs)
        different = np.c_[different[met // len(levels)], levels[met % len(levels)]]
    return different, kinds.astype(np.min_scalar_type(len(different) - 1))


def _packed(states: Sequence[Sequence[int]], words: int) -> NDArray[np.uint64]:
    """Return packed states, uint64 [states, words], from the indices of the true fluents."""
    import numpy as np

    bits = np.zeros((len(states), 64 * words), np.bool_)
    for row, fluents in zip(bits, states, strict=True):
        row[fluents] = True
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64)


def _whole(value: float) -> float:
    """Return an integral value as an int, as the rules write goals."""
    return int(value) if value.is_integer() else value
