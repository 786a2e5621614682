"""The exact value of a state, or the reason why it is unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from anygame.game.machine import reason_of
from anygame.language.diagnostics import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.answers.position import Position
    from anygame.search import Solution

_COUNTED: Final = ("states", "expanded", "edges", "depth", "seconds", "bytes", "leaves")
#: The shape of `Solved.to_json`; terms are strings in KIF.
SHAPE: Final = """\
{"game", "step", "terminal", "solved", "method", "goals": {ROLE: N}, "bounds": {ROLE: [N, N]},
   "reason", "interrupted", "states", "expanded", "edges", "depth", "seconds", "bytes", "leaves",
   "missing": {ROLE: N}, "line": [[MOVE]], "fallback"}
  An unknown goal is null, and reason says why. The bounds of a role are null or enclose its goal.
  expanded counts the states from which all joint moves were followed, and edges counts these moves.
  All states that depth joint moves can reach were expanded. leaves counts the positions that the
  proof search evaluated. missing counts, for each role, final states with no goal, with several
  goals, or with a goal that is not a whole number. fallback is null, or says why the reasoner
  computes the states instead of the network."""


@dataclass(frozen=True, slots=True)
class Solved:
    """The solution of a state."""

    at: Position
    solution: Solution

    def to_json(self) -> dict[str, Any]:
        """Return plain data of the shape `SHAPE`."""
        solution = self.solution
        return self.at.to_json() | {
            "solved": solution.solved,
            "method": solution.method,
            "goals": dict(solution.goals),
            "bounds": {role: bounds and list(bounds) for role, bounds in solution.bounds.items()},
            "reason": solution.reason,
            "interrupted": solution.interrupted,
            **{name: getattr(solution, name) for name in _COUNTED},
            "missing": dict(solution.missing),
            "line": [list(map(str, joint)) for joint in solution.line],
            "fallback": reason_of(self.at.game.fallback),
        }

    def lines(self) -> Iterator[str]:
        """Yield the goals or their bounds, a line of best play, and the work done."""
        solution = self.solution
        width = max(map(len, self.at.game.roles))
        if solution.solved:
            for role, goal in solution.goals.items():
                yield f"{role.ljust(width)}  {'-' if goal is None else f'{goal:g}'}"
            yield f"under best play ({solution.method})"
        else:
            yield f"not solved: {solution.reason}"
            for role, bounds in solution.bounds.items():
                if bounds is not None:
                    yield f"{role.ljust(width)}  between {bounds.least:g} and {bounds.most:g}"
        for role, count in solution.missing.items():
            if count:
                yield f"final states without a goal for {role}: {count:,}; each may be worth 0 to 100"
        if solution.line and not solution.solved:
            yield "the best line found:"
        elif solution.line:
            is_maximin = solution.method == "maximin"
            yield f"a line of best play{', not necessarily the shortest' * is_maximin}:"
        for number, joint in enumerate(solution.line, start=1):
            yield f"{number:>3}  {'  '.join(map(str, joint))}"
        part = "" if solution.expanded == solution.states else f", {solution.expanded:,} of them expanded"
        proof = f", then {solution.leaves:,} leaves in the search for a proof" if solution.leaves else ""
        yield (
            f"{counted(solution.states, 'state')}{part}, {counted(solution.edges, 'joint move')}, "
            f"{solution.depth} deep{proof}; {solution.seconds:.2f} s, {solution.bytes / 2**20:,.0f} MiB"
        )
