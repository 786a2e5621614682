"""Analyses of states: the values of moves, and lines of best play."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import TYPE_CHECKING, Any, Final

from anygame.language.diagnostics import counted
from anygame.markup import Markup, code, meter, paragraph, table
from anygame.plotting import axes_or_new

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from matplotlib.axes import Axes

    from anygame.game.roles import Role
    from anygame.language.terms import Term
    from anygame.search.goals import Bounds

#: Joint moves. The moves of a joint move are in the order of the roles.
JointMoves = tuple[tuple["Term", ...], ...]

#: Default maximum number of moves of each role that a table shows.
_ROWS: Final = 10
#: Default maximum number of joint moves of a line of play that a table shows.
_STEPS: Final = 6
#: Minimum ratio of the best move's visits to the visits of the most visited move.
_ENOUGH_VISITS: Final = 1 / 20


@dataclass(frozen=True, slots=True)
class MoveAnalysis:
    """The analysis of one move of one role.

    Attributes:
        move: the move.
        visits: number of leaves evaluated below the move.
        goal: mean goal of the role at the leaves below the move; None without leaves.
        error: standard error of the mean goal; None if it is unknown.
        bounds: bounds of the value of the move for the role.
        line: known joint moves of best play, beginning with this move.
        estimate: minimax value of learned estimates, converted to a goal; None without estimates.
    """

    move: Term
    visits: int
    goal: float | None
    error: float | None
    bounds: Bounds
    line: JointMoves = ()
    estimate: float | None = None

    @property
    def proven(self) -> float | None:
        """The exact value of the move; None if it is unknown.

        >>> from anygame import Bounds
        >>> from anygame.language.terms import Constant
        >>> MoveAnalysis(Constant("go"), 9, 61.0, 2.5, Bounds(100, 100)).proven
        100
        """
        return self.bounds.least if self.bounds.least == self.bounds.most else None

    @property
    def worth(self) -> float | None:
        """The exact value of the move if known, else the mean goal."""
        return self.goal if self.proven is None else self.proven

    def with_line(self, line: JointMoves) -> MoveAnalysis:
        """Return the same analysis with a line of play."""
        return replace(self, line=line)

    def to_json(self) -> dict[str, Any]:
        """Return the analysis as a JSON object."""
        return {
            "move": str(self.move),
            "visits": self.visits,
            "goal": self.goal,
            "error": self.error,
            "proven": self.proven,
            "bounds": list(self.bounds),
            "line": [list(map(str, joint)) for joint in self.line],
        }


def best_first(
    moves: Iterable[MoveAnalysis], *, range_of_goals: float = 0, trust: float = 0
) -> tuple[MoveAnalysis, ...]:
    """Return the moves of a role, the best first.

    The order:

    1. moves that are proven best, in the given order;
    2. moves whose mean goal exceeds the greatest lower bound, the most visited first;
    3. the move with the greatest lower bound;
    4. moves whose mean goal is not greater than the greatest lower bound;
    5. moves that are proven worse.

    Args:
        moves: the moves.
        range_of_goals: the difference between the highest and the lowest goal. If the difference is not 0,
            the first move of group 2 has the highest lower confidence bound (the secure child of Chaslot and
            others 2008, "Progressive strategies for Monte-Carlo tree search").
        trust: weight of a move's estimate, from 0 to 1. The mean goal has the remaining weight.

    >>> from anygame import Bounds
    >>> from anygame.language.terms import Constant
    >>> found = [
    ...     MoveAnalysis(Constant(name), visits, None, None, Bounds(least, most))
    ...     for name, visits, least, most in [("a", 90, 0, 0), ("b", 20, 0, 100), ("c", 30, 50, 100)]
    ... ]
    >>> " ".join(str(each.move) for each in best_first(found))
    'c b a'
    >>> win = MoveAnalysis(Constant("d"), 1, None, None, Bounds(100, 100))
    >>> " ".join(str(each.move) for each in best_first([*found, win]))
    'd c b a'
    >>> fallen = MoveAnalysis(Constant("e"), 900, 45.0, 1.7, Bounds(0, 100))
    >>> risen = MoveAnalysis(Constant("f"), 800, 52.0, 1.8, Bounds(0, 100))
    >>> " ".join(str(each.move) for each in best_first([fallen, risen], range_of_goals=100))
    'f e'
    """
    analyses = list(moves)
    floor = max((each.bounds.least for each in analyses), default=0)
    ceiling = max((each.bounds.most for each in analyses), default=0)

    def rank(each: MoveAnalysis) -> tuple[int, int, float]:
        least, most = each.bounds
        if least >= ceiling:
            return 0, 0, 0.0
        goal = least if each.goal is None else each.goal
        hopes = goal > floor or least == floor < most
        group = 1 if hopes else 2 if least == floor else 3 if most >= floor else 4
        return group, -each.visits, -goal

    ordered = sorted(analyses, key=rank)
    hoped = [each for each in ordered if rank(each)[0] == 1]
    if range_of_goals and hoped:
        at = ordered.index(hoped[0])
        ordered.remove(first := _most_secure(hoped, range_of_goals, trust))
        ordered.insert(at, first)
    return tuple(ordered)


def _most_secure(moves: Sequence[MoveAnalysis], range_of_goals: float, trust: float) -> MoveAnalysis:
    """Return the move whose goal has the highest lower confidence bound.

    The bound is the mean minus twice the greatest possible standard error. The error of an estimate counts as
    0, since that error does not fall with the number of visits. The moves must be sorted by visits.
    """
    enough = max(1, _ENOUGH_VISITS * moves[0].visits)
    best, highest = moves[0], -inf
    for move in moves:
        if move.goal is not None and move.visits >= enough:
            mean = move.goal if move.estimate is None else move.goal + trust * (move.estimate - move.goal)
            bound = mean - (1 - trust) * range_of_goals / sqrt(move.visits)
            if bound > highest:
                best, highest = move, bound
    return best


@dataclass(frozen=True, slots=True, repr=False)
class Analysis:
    """The analysis of a state, shown as a table.

    Attributes:
        iterations: number of leaves evaluated in the run.
        seconds: duration of the run.
        nodes: number of states in the tree.
        depth: number of joint moves from the state to the deepest node.
        bytes: size of the tree in bytes.
        moves: for each role except ``random``, its legal moves, the best first.
        goals: for each role except ``random``, the mean goal at the leaves; None without leaves.
        proven: for each role except ``random``, the exact value; None if the value is unknown.
        engine: ``lanes``, ``states``, ``lines`` or ``beliefs``; see ``Search``.
        interrupted: whether Ctrl-C ended the run.
        fallback: why the engine is ``states`` and not ``lanes``; None otherwise.
        believed: the size of the belief as a string, if the engine is ``beliefs``; empty otherwise.
        reason: why values are unknown although the search visited all states; empty otherwise.

    >>> import anygame
    >>> from anygame import Bounds
    >>> from anygame.language.terms import Constant
    >>> role, = anygame.loads("(role me) (legal me go) (legal me stay)").roles
    >>> go = MoveAnalysis(Constant("go"), 880, 71.5, 1.25, Bounds(0, 100), ((Constant("go"),),))
    >>> stay = MoveAnalysis(Constant("stay"), 120, 12.0, 2.5, Bounds(0, 50))
    >>> found = Analysis(1000, 0.5, 260, 7, 1 << 20, {role: (go, stay)}, {role: 64.5}, {role: None}, "lanes")
    >>> str(found.best(role)), found.iterations_per_second
    ('go', 2000.0)
    >>> print(found)
    1,000 iterations in 0.50 s (2,000 a second), 260 nodes, 7 deep, 1.0 MiB, lanes
    me      visits   goal  error  proven  line
      go       880  71.50   1.25          go
      stay     120  12.00   2.50   0..50
    """

    iterations: int
    seconds: float
    nodes: int
    depth: int
    bytes: int
    moves: Mapping[Role, tuple[MoveAnalysis, ...]]
    goals: Mapping[Role, float | None]
    proven: Mapping[Role, float | None]
    engine: str
    interrupted: bool = False
    fallback: str | None = None
    believed: str = ""
    reason: str = ""

    @property
    def iterations_per_second(self) -> float:
        """The number of leaves evaluated a second."""
        return self.iterations / self.seconds if self.seconds else 0.0

    @property
    def is_solved(self) -> bool:
        """Whether the value of the state is proven for every role except ``random``."""
        return None not in self.proven.values()

    def best(self, role: str) -> Term:
        """Return the best move of a role.

        Raises:
            KeyError: the role has no move, is ``random``, or is not a role of the game.
        """
        moves = next((moves for other, moves in self.moves.items() if other == role), ())
        if not moves:
            raise KeyError(f"{role} has no move here")
        return moves[0].move

    def plot(self, ax: Axes | None = None, role: str | None = None) -> Axes:
        """Plot the mean goal of each move of a role with its standard error, the best move on top.

        Args:
            ax: axes to draw on; new axes by default.
            role: the role; by default the first role that has a choice.

        Raises:
            KeyError: the role has no move, is ``random``, or is not a role of the game.
            MissingExtraError: the extra ``plot`` is not installed.
        """
        shown = next(iter(self._shown_roles()), "") if role is None else role
        self.best(shown)
        moves = next(moves for other, moves in self.moves.items() if other == shown)[:_ROWS]
        ax = axes_or_new(ax)
        valued = [(place, each) for place, each in enumerate(moves) if each.worth is not None]
        ax.barh(
            [place for place, _ in valued],
            [each.worth or 0.0 for _, each in valued],
            xerr=[each.error or 0.0 for _, each in valued],
            color=["seagreen" if each.proven is not None else "lightsteelblue" for _, each in valued],
            capsize=3,
        )
        ax.set_yticks(range(len(moves)), [f"{each.move}, {counted(each.visits, 'visit')}" for each in moves])
        ax.set_ylim(len(moves) - 0.5, -0.5)
        ax.set_xlabel(f"goal of {shown}: proven (dark), or the mean and its standard error")
        return ax

    def to_json(self) -> dict[str, Any]:
        """Return the output of ``anygame analyse --json``, as dictionaries and lists."""
        return {
            "iterations": self.iterations,
            "seconds": self.seconds,
            "nodes": self.nodes,
            "depth": self.depth,
            "bytes": self.bytes,
            "engine": self.engine,
            "fallback": self.fallback,
            "solved": self.is_solved,
            "reason": self.reason,
            "goals": dict(self.goals),
            "proven": dict(self.proven),
            "moves": {role: [each.to_json() for each in moves] for role, moves in self.moves.items()},
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        tables = [_html_table(role, self.moves[role], self.proven[role]) for role in self._shown_roles()]
        return "".join(tables) + paragraph(
            "; not solved: ".join(filter(None, [self._summary(), self.reason]))
        )

    def _summary(self) -> str:
        return (
            f"{counted(self.iterations, 'iteration')} in {self.seconds:.2f} s "
            f"({self.iterations_per_second:,.0f} a second), {counted(self.nodes, 'node')}, "
            f"{self.depth} deep, {self.bytes / 2**20:,.1f} MiB, {self.engine}"
        )

    def _shown_roles(self) -> list[Role]:
        """Return the roles that have a choice; all roles if no role has a choice."""
        return [role for role, moves in self.moves.items() if len(moves) > 1] or list(self.moves)

    def lines(self, rows: int = _ROWS, steps: int = _STEPS) -> Iterator[str]:
        """Yield the lines of a table. If some role has a choice, the table omits the roles without a choice.

        Args:
            rows: maximum number of moves of a role.
            steps: maximum number of joint moves of a line.
        """
        yield self._summary()
        for role in self._shown_roles():
            yield from _table(role, self.moves[role], self.proven[role], rows, steps)
        if self.reason:
            yield f"not solved: {self.reason}"


def _table(
    role: Role, moves: tuple[MoveAnalysis, ...], proven: float | None, rows: int, steps: int
) -> Iterator[str]:
    heading = [role, "visits", "goal", "error", "proven", "line"]
    cells = [[f"  {each.move}", *_numbers(each), _line(each.line, steps)] for each in moves[:rows]]
    widths = [max(map(len, column)) for column in zip(heading, *cells, strict=True)]
    for name, *numbers, line in [heading, *cells]:
        padded = [number.rjust(width) for number, width in zip(numbers, widths[1:], strict=False)]
        yield "  ".join([name.ljust(widths[0]), *padded, line]).rstrip()
    if len(moves) > rows:
        yield f"  and {len(moves) - rows:,} more moves"
    if proven is not None:
        yield f"  proven: {proven:g}"


def _html_table(role: Role, moves: tuple[MoveAnalysis, ...], proven: float | None) -> str:
    rows = []
    for each in moves[:_ROWS]:
        visits, goal, *others = _numbers(each)
        shown = goal if each.worth is None else meter(each.worth, goal or f"{each.worth:g}")
        unbroken = Markup(f'<span style="white-space: nowrap">{code(each.move)}</span>')
        rows.append((unbroken, visits, shown, *others, _line(each.line, _STEPS)))
    more = f", and {len(moves) - _ROWS:,} more moves" if len(moves) > _ROWS else ""
    caption = role + (f": proven {proven:g}" if proven is not None else "") + more
    return table(("move", "visits", "goal", "error", "proven", "line"), rows, caption)


def _numbers(analysis: MoveAnalysis) -> list[str]:
    """Return strings: a move's visits, goal, error of the goal, and bounds that are tighter than 0..100."""
    least, most = analysis.bounds
    between = "" if least <= 0 and most >= 100 else f"{least:g}..{most:g}"
    return [
        f"{analysis.visits:,}",
        "" if analysis.goal is None else f"{analysis.goal:.2f}",
        "" if analysis.error is None else f"{analysis.error:.2f}",
        between if analysis.proven is None else f"{analysis.proven:g}",
    ]


def _line(line: JointMoves, steps: int) -> str:
    """Return joint moves as a string. The string omits ``noop`` unless ``noop`` is every role's move."""
    shown = [" ".join(text for text in map(str, joint) if text != "noop") or "noop" for joint in line[:steps]]
    return ", ".join(shown) + (" ..." if len(line) > steps else "")


@dataclass(frozen=True, slots=True)
class PracticeReport:
    """The result of ``Search.practise``.

    >>> print(PracticeReport(12_000, 700_000, 4.8, 6, 5.5, True))
    self-play: 12,000 games in 4.8 s; 5.5 points in 6 trial matches: used

    Attributes:
        games: number of games played.
        positions: number of positions from which the network learned.
        seconds: duration of self-play in seconds.
        trial_matches: number of matches between searches with and without the network.
        trial_score: points of the searches with the network: 1 for a win, 0.5 for a draw. In general, a match
            gives 0.5 plus half of the lead over the mean goal of the other roles, on a scale from 0 to 1.
        is_used: whether the network won the trial, so that later searches use the network.
    """

    games: int
    positions: int
    seconds: float
    trial_matches: int
    trial_score: float
    is_used: bool

    def __str__(self) -> str:
        trial = "no trial"
        if self.trial_matches:
            trial = f"{self.trial_score:.3g} points in {self.trial_matches} trial matches"
        used = "used" if self.is_used else "not used"
        return f"self-play: {counted(self.games, 'game')} in {self.seconds:.1f} s; {trial}: {used}"
