"""Exact solutions: the value of a state, and tables of the values of all states (tablebases)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import PositionError, TableError
from anygame.game.encoding import rules_digest
from anygame.language.diagnostics import counted
from anygame.language.parser import parse_term
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

FORMAT: Final = "anygame table 2"
#: Maximum size of a file in bytes: 2**31 states of several thousand fluents.
_LARGEST: Final = 1 << 40
#: Number of states that are added to the set in one call.
_CHUNK: Final = 1 << 18
#: Maximum number of joint moves of best play that a notebook shows.
_MOST_STEPS: Final = 100
#: Distance to the end if best play never ends, or if the distance is unknown.
NO_END: Final = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Solution:
    """The exact value of a state, or the results of an incomplete attempt.

    Attributes:
        method: the kind of value: ``best goal`` (one role, no chance), ``expectation`` (one role and chance),
            ``minimax`` (two roles with opposed goals that take turns), ``expected minimax`` (the same with
            chance), ``maximin of mixed strategies`` (two roles with opposed goals that move at the same
            time), ``maximin`` (the goal that each of two roles can guarantee, proven by a search if there are
            too many states); or ``none``.
        solved: whether the value is known.
        goals: the value of each role under best play; None for ``random`` and for unknown values.
        bounds: the bounds of the value of each role; None if no bounds are known.
        reason: why the value is unknown; empty if it is known.
        states: number of distinct states found.
        expanded: number of states that the exploration expanded.
        edges: number of joint moves from the expanded states.
        depth: the greatest distance up to which all states were expanded; -1 if no state was expanded.
        line: joint moves of best play. The line stops at the end of the match, at a random move, or at a
            mixed strategy. The winner prefers a short match, the loser a long match. A ``maximin`` line keeps
            the value, but can stop before the end of the match, and need not be the shortest. If a game for
            one role is not solved, ``line`` is the best line found.
        seconds: duration of the computation, without the compilation of the game.
        bytes: peak memory of the data that grow with the number of states.
        table: the values of all states; None if they were not requested or not computed.
        leaves: number of states evaluated by the search for a proof.
        missing: for each role except ``random``, the number of final states without a goal for the role: the
            rules give the role no goal, several goals, or a goal that is not an integer; or some role has no
            move. A final state without a goal has an unknown value from 0 to 100. The test whether the goals
            of two roles are opposed ignores final states without a goal.
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
    """The values of all states that are reachable from the solved state.

    ``anygame.solve(game, table=True)`` computes a table. ``load_table`` reads a table from a file.

    Attributes:
        game: the game.
        method: how the values were computed; see ``Solution``.
        fluents: the facts that the bits of a packed state stand for.
        states: all states, packed.
        kinds: uint8, uint16 or uint32 [states]; for each state, the index of a row of ``bounds``.
        bounds: float [rows, roles, 2]; the distinct pairs of lower and upper bounds; nan for unknown bounds.
        distances: uint32 [states]; number of joint moves of best play to the end; NO_END if best play never
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
        """For each role: the mean of the lowest and the highest lower bound."""
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
            None if the table lacks the state, because the state is not reachable from the solved state.

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
            raise PositionError(f"expected a state of {self.game.name}, found a state of {state.game.name}")
        bits = [self._bits.get(fact, -1) for fact in state.facts]
        if -1 in bits:
            return None
        number = int(self.states.find(_packed([bits], self.states.words))[0])
        return None if number < 0 else number

    # -- moves -------------------------------------------------------------------------------------

    def moves(self, state: State) -> dict[str, dict[Term, Bounds]]:
        """Return the bounds of the value of each move, for the role that chooses.

        If ``random`` moves at the same time, the bounds are means over the moves of ``random``. The result is
        empty for final states, for states outside the table, and if two roles choose at the same time.
        """
        valued = self._moves(state)
        return {} if valued is None else {valued[0]: {move: bounds for move, bounds, _ in valued[1]}}

    def best_moves(self, state: State) -> dict[str, tuple[Term, ...]]:
        """Return the moves with the greatest value for the role that chooses, in order of preference.

        The function compares lower bounds first, then upper bounds. The winner prefers a short match, the
        loser a long match. The result is empty in the same cases as the result of ``moves``.
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
        """Return the role that chooses, and for each of its moves the bounds and the greatest distance."""
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
        """Return an analysis of a state with the values of the table as proven values."""
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
    """Return a role's value and its bounds as strings. A known value needs no bounds."""
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
    """Return all facts of the states, sorted as strings, and the states with a bit for each fact."""
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
    """Return packed states, uint64 [states, words], given the bits that are set."""
    import numpy as np

    bits = np.zeros((len(states), 64 * words), np.bool_)
    for row, fluents in zip(bits, states, strict=True):
        row[fluents] = True
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64)


def _whole(value: float) -> float:
    """Return a value, as an int if it is integral."""
    return int(value) if value.is_integer() else value


def save_table(table: Table, path: str | Path) -> None:
    """Write a table of exact values to a file atomically.

    Raises:
        TableError: the file cannot be written, or it exists and is not a table.
    """
    from anygame.search.array_file import read_header, write_arrays

    path = Path(path)
    if path.exists():
        try:
            read_header(path, FORMAT, TableError)
        except TableError as error:
            raise TableError(f"{path} exists and is not a table of values; choose another name") from error
    header = {
        "format": FORMAT,
        "game": table.game.name,
        "rules": rules_digest(table.game),
        "method": table.method,
        "fluents": list(map(str, table.fluents)),
    }
    arrays = {"states": table.states.at(slice(None)), "bounds": table.bounds, "kinds": table.kinds}
    if table.distances is not None:
        arrays["distances"] = table.distances
    write_arrays(path, header, arrays, TableError)


def load_table(path: str | Path, game: Game) -> Table:
    """Read a table of exact values from a file.

    Args:
        path: path of the file.
        game: the game of the table.

    Raises:
        TableError: the file cannot be read, is not a table, is damaged, or was made for other rules.
    """
    from anygame.search.array_file import read_arrays

    header, arrays = read_arrays(Path(path), FORMAT, TableError, _LARGEST)
    if header.get("rules") != rules_digest(game):
        name = str(header.get("game"))[:200]
        raise TableError(f"{path} has values for the rules of {name!r}; the rules of {game.name} differ")
    try:
        return _table(header, arrays, game)
    except (KeyError, TypeError, ValueError) as error:
        raise TableError(f"{path} is damaged: {error}") from error


def _table(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], game: Game) -> Table:
    """Return the table of a file; raise KeyError, TypeError or ValueError if the file is damaged."""
    import numpy as np

    from anygame.search.lanes import words_for
    from anygame.search.state_set import StateSet

    fluents = tuple([parse_term(text, case_sensitive=game.case_sensitive) for text in header["fluents"]])
    rows, bounds, kinds = arrays["states"], arrays["bounds"], arrays["kinds"]
    distances, count, words = arrays.get("distances"), len(rows), words_for(len(fluents))
    expected = [
        (rows, (count, words), np.uint64),
        (bounds, (len(bounds), len(game.roles), 2), np.float64),
        (kinds, (count,), np.min_scalar_type(max(0, len(bounds) - 1))),
        *([] if distances is None else [(distances, (count,), np.uint32)]),
    ]
    if any(array.shape != shape or array.dtype != kind for array, shape, kind in expected):
        raise ValueError("the arrays do not match the header")
    states = StateSet(words)
    for first in range(0, count, _CHUNK):
        states.add(rows[first : first + _CHUNK])
    if len(states) != count or not count or kinds.max() >= len(bounds):
        raise ValueError("the states or values are invalid")
    if not isinstance(header["method"], str):
        raise TypeError("the method in the header is not a string")
    return Table(game, header["method"], fluents, states, kinds, bounds, distances)
