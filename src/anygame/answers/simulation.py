"""Summary statistics of random playouts."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, Final

from anygame.game.machine import reason_of
from anygame.language.diagnostics import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.game import Game, SimulationResult

#: The shape of `Simulation.to_json`; terms are strings in KIF.
SHAPE: Final = """\
{"game", "seed", "threads", "machine", "device", "fallback", "asked", "playouts", "cut", "stuck",
   "first_stuck", "interrupted", "abandoned", "states",
   "seconds", "setup_seconds", "playouts_per_second", "states_per_second",
   "lengths": {"mean", "min", "max", "counts": {LENGTH: NUMBER}},
   "roles": {ROLE: {"mean", "spread", "error", "counts": {GOAL: NUMBER}, "missing", "double",
                    "branching"}}}
  spread is the standard deviation of the goals, and error the standard error of their mean.
  missing counts games that ended without a goal. double counts games that ended with several goals.
  cut counts games that reached --limit. stuck counts games in which a role had no legal move.
  abandoned counts games that Ctrl-C ended. first_stuck is null or {"role", "facts", "moves"}.
  fallback is null, or says why the reasoner plays instead of the network."""

_COUNTED: Final = (
    *("interrupted", "abandoned", "states", "seconds", "setup_seconds"),
    *("playouts_per_second", "states_per_second"),
)
#: Maximum number of goal values that a line shows.
_GOALS_SHOWN: Final = 12
#: If a sample is expected to have this number of faulty games, it has at least one with probability 99 %.
_CHANCES: Final = 5
#: Minimum number of games in a command that a message recommends.
_FEWEST_GAMES: Final = 10
#: Maximum number of digits of a goal that a line shows.
_DIGITS_SHOWN: Final = 40


@dataclass(frozen=True, slots=True)
class Simulation:
    """The result of a simulation.

    Attributes:
        asked: the number of requested playouts.
        tells_speed: whether `lines` ends with the machine and its speed.
    """

    game: Game
    result: SimulationResult
    asked: int
    tells_speed: bool = True

    def to_json(self) -> dict[str, Any]:
        """Return plain data of the shape `SHAPE`."""
        result = self.result
        return {
            "game": self.game.name,
            "seed": result.seed,
            "threads": result.threads,
            "machine": result.machine,
            "device": result.device,
            "fallback": reason_of(self.game.fallback),
            "asked": self.asked,
            "playouts": result.playouts,
            "cut": result.cut,
            "stuck": result.stuck,
            "first_stuck": result.first_stuck.to_dict() if result.first_stuck else None,
            **{name: getattr(result, name) for name in _COUNTED},
            "lengths": {
                "mean": _known(result.mean_length),
                "min": min(result.lengths, default=None),
                "max": max(result.lengths, default=None),
                "counts": {str(length): count for length, count in result.lengths.items()},
            },
            "roles": {
                role: {
                    "mean": _known(result.mean_goals[role]),
                    "spread": _known(result.goal_spread[role]),
                    "error": _known(result.goal_error[role]),
                    "counts": {str(value): count for value, count in result.goal_counts[role].items()},
                    "missing": result.missing_goals[role],
                    "double": result.double_goals[role],
                    "branching": _known(result.branching[role]),
                }
                for role in self.game.roles
            },
        }

    def lines(self) -> Iterator[str]:
        """Yield a summary of goals, lengths, and numbers of legal moves."""
        game, result = self.game, self.result
        done = f"{result.playouts:,}" + (f" of {self.asked:,}" if result.playouts != self.asked else "")
        yield f"{done} random {'playout' if done == '1' else 'playouts'} of {game.name}, seed {result.seed}"
        if result.interrupted:
            yield "interrupted: the results cover only the games played so far"
        if result.abandoned:
            yield f"{result.abandoned:,} unfinished games do not count, so short games are over-represented"
        if result.cut:
            yield f"{result.cut:,} more games were abandoned at the move limit"
        if result.stuck:
            first = f"; the first: {result.first_stuck}" if result.first_stuck else ""
            yield f"{result.stuck:,} more games got stuck: a role has no legal move{first}"
        width = max(map(len, game.roles))
        for role in game.roles:
            yield f"goal of {role.ljust(width)}  {self._goals(role)}"
            yield from self._advice(role)
        if result.lengths:
            least, most = min(result.lengths), max(result.lengths)
            yield f"moves  {result.mean_length:.1f} on average, {least} to {most}"
        widths = [f"{mean:.1f} of {role}" for role, mean in result.branching.items() if not isnan(mean)]
        if widths:
            yield f"legal moves  {', '.join(widths)} on average"
        if self.tells_speed:
            yield self._speed()

    def _goals(self, role: str) -> str:
        result, counts = self.result, self.result.goal_counts[role]
        parts = [f"{shown(str(goal), _DIGITS_SHOWN)}: {self._share(count)}" for goal, count in counts.items()]
        if len(parts) > _GOALS_SHOWN:
            parts[_GOALS_SHOWN // 2 : -_GOALS_SHOWN // 2] = ["..."]
        if result.missing_goals[role]:
            parts.append(f"none: {self._share(result.missing_goals[role])}")
        if result.double_goals[role]:
            parts.append(f"several at once: {self._share(result.double_goals[role])}")
        mean = result.mean_goals[role]
        if isnan(mean):
            return ", ".join([*parts, *["the goals are too large to average"] * bool(counts)]) or "unknown"
        spread, error = result.goal_spread[role], result.goal_error[role]
        deviation = f"standard error {error:.2f}, standard deviation {spread:.1f}"
        return f"{mean:.2f} on average, {deviation} ({', '.join(parts)})"

    def _share(self, count: int) -> str:
        return f"{100 * count / self.result.playouts:.1f} %"

    def _advice(self, role: str) -> Iterator[str]:
        """Yield a command that probably shows a game that ends without a goal, or with several goals."""
        wrong = self.result.missing_goals[role] + self.result.double_goals[role]
        if wrong:
            enough = max(_FEWEST_GAMES, -(-_CHANCES * self.result.playouts // wrong))
            command = f"anygame check {self.game.name} --play {enough}"
            yield f"  `{command}` is likely to show such a game of {role}"

    def _speed(self) -> str:
        result = self.result
        cached = ""
        if result.machine == "network":
            cached = ", with cached machine code" if self.game.has_cached_code else ", machine code made now"
        device = "" if result.device == "cpu" else f" on {result.device}"
        threads = f", {result.threads} threads" if result.threads > 1 else ""
        return (
            f"{result.seconds:.2f} s with the {result.machine}{device}{threads}: "
            f"{result.playouts_per_second:,.0f} playouts and {result.states_per_second:,.0f} states a second"
            f"; set-up {result.setup_seconds:.2f} s{cached}"
        )


def _known(number: float) -> float | None:
    """Return a number, or None for nan, which JSON cannot hold."""
    return None if isnan(number) else number
