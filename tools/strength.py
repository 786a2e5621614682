"""Measure how much stronger one player is than another: goals over many matches with equal clocks.

    python tools/strength.py gdl/tic_tac_toe.kif gdl/connect_four.kif
    python tools/strength.py gdl/*.kif --player mcts --against random --matches 50 --play-clock 1 --jobs 4
    python tools/strength.py hex_pie --player hard --against medium --matches 60 --opening 2 --play-clock 60

The player takes the roles in turn, and the other player takes all other roles. With ``--opening``, matches
begin with random moves, and the player takes each role once for each opening. The table has a row per sheet.
A row shows the mean goal of the player with its 95 % interval, the mean goal of the others, the numbers of
matches won (with a higher goal than every other role), drawn and lost, the moves per match, and the numbers
of replaced moves: of the player, and of the other player. Matches that end with an error of the rules do not
count.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import fmean
from typing import TYPE_CHECKING, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.arguments import some_count, some_seconds

import anygame
from anygame.game.machine import FallbackWarning
from anygame.match import run
from anygame.players import Clock, Player, make_player
from anygame.tournament.standings import Estimate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term

_HEAD: Final = ("sheet", "matches", "goals", "others", "won", "drawn", "lost", "moves", "replaced")


@dataclass(frozen=True, slots=True)
class Plan:
    """A match to play. ``opening`` is the number of random joint moves at the beginning."""

    sheet: str
    number: int
    player: str
    against: str
    opening: int
    start_clock: float
    play_clock: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a match from the view of the player; ``replaced`` has the number for each player."""

    goal: int
    others: tuple[int, ...]
    moves: int
    replaced: tuple[int, int]


class Opened(Player):
    """A prepared player whose first moves are random; they depend only on ``seed``."""

    def __init__(self, player: Player, opening: int, seed: int) -> None:
        super().__init__()
        self._player, self._left, self._opening = player, opening, Random(seed)

    @property
    def name(self) -> str:
        """The name of the player after the opening."""
        return self._player.name

    @property
    def best(self) -> Term | None:
        """The best move so far of the player."""
        return self._player.best

    @best.setter
    def best(self, move: Term | None) -> None:
        self._player.best = move

    def start(self, clock: Clock) -> None:
        """Begin the match of the player."""
        self._player.begin(self.game, self.role, clock)

    def move(self, state: State, clock: Clock) -> Term:
        """Return a random move in the opening, and later the move of the player."""
        if self._left:
            self._left -= 1
            return self._opening.choice(state.legal_moves(self.role))
        self._player.view = self.view
        return self._player.move(state, clock)

    def stop(self, goals: Mapping[Role, int | None]) -> None:
        """Tell the player the goals."""
        self._player.stop(goals)

    def abort(self) -> None:
        """Tell the player that the match is aborted."""
        self._player.abort()


@cache
def load(sheet: str) -> anygame.Game:
    """Load and compile a sheet once in each process, so that clocks exclude the time for this."""
    game = anygame.load(sheet, lenient=True)
    with suppress(FallbackWarning):
        game.compile(wait=True)
    return game


def play(plan: Plan) -> Outcome | None:
    """Play one match; return None if an error of the rules ended it."""
    game = load(plan.sheet)
    roles = [index for index, role in enumerate(game.roles) if not role.is_random]
    opening, mine = divmod(plan.number, len(roles))
    seed = 1000 * plan.number
    players = [
        make_player(plan.player if index == mine else plan.against, seed=seed + index)
        for index in range(len(roles))
    ]
    if plan.opening:
        for index, player in enumerate(players):
            player.prepare()  # It has no time limit, so it comes before the start clock.
            players[index] = Opened(player, plan.opening, 1000 * opening + index)
    record = run(game, players, start_clock=plan.start_clock, play_clock=plan.play_clock, seed=seed)
    if record.goals is None:
        return None
    goals = [record.goals[index] for index in roles]
    replaced = [sum(bool(errors[role]) for errors in record.errors[1:]) for role in roles]
    own = replaced.pop(mine)
    return Outcome(goals.pop(mine), tuple(goals), record.step, (own, sum(replaced)))


def row(sheet: str, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """Return the cells of a sheet's row."""
    best = [max(outcome.others) for outcome in outcomes if outcome.others]
    goals = [outcome.goal for outcome in outcomes]
    met = list(zip(goals, best, strict=False))
    others = [goal for outcome in outcomes for goal in outcome.others]
    return (
        Path(sheet).stem,
        str(len(outcomes)),
        str(Estimate.of(goals)),
        f"{fmean(others):.1f}" if others else "",
        str(sum(goal > other for goal, other in met)),
        str(sum(goal == other for goal, other in met)),
        str(sum(goal < other for goal, other in met)),
        f"{fmean(outcome.moves for outcome in outcomes):.0f}",
        ", ".join(str(sum(outcome.replaced[place] for outcome in outcomes)) for place in (0, 1)),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Play the matches and print the table; return the exit status."""
    parser = argparse.ArgumentParser(description="Measure how much stronger one player is than another.")
    parser.add_argument("sheets", metavar="SHEET", nargs="+")
    parser.add_argument("--player", default="mcts", metavar="P", help="as for `anygame match` (mcts)")
    parser.add_argument("--against", default="random", metavar="P", help="(random)")
    parser.add_argument("--matches", type=some_count, default=50, metavar="N", help="matches per sheet (50)")
    parser.add_argument(
        "--opening", type=some_count, default=0, metavar="N", help="random joint moves first (none)"
    )
    parser.add_argument("--start-clock", type=some_seconds, default=1.0, metavar="S", help="seconds (1)")
    parser.add_argument("--play-clock", type=some_seconds, default=1.0, metavar="S", help="seconds (1)")
    parser.add_argument("--jobs", type=some_count, default=1, metavar="N", help="simultaneous matches (1)")
    options = parser.parse_args(arguments)
    try:
        measure(options)
    except anygame.AnygameError as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    return 0


def measure(options: argparse.Namespace) -> None:
    """Play the matches on each sheet, and print the table."""
    clocks = options.start_clock, options.play_clock
    widths = [max(24, *(len(Path(sheet).stem) for sheet in options.sheets)), 7, 13, 6, 5, 5, 5, 5, 8]
    print_row(_HEAD, widths)
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        for sheet in options.sheets:
            plans = [
                Plan(sheet, number, options.player, options.against, options.opening, *clocks)
                for number in range(options.matches)
            ]
            outcomes = [outcome for outcome in pool.map(play, plans) if outcome]
            print_row(row(sheet, outcomes) if outcomes else (Path(sheet).stem, "0"), widths)


def print_row(cells: Sequence[str], widths: Sequence[int]) -> None:
    """Print cells in columns."""
    first, *rest = zip(cells, widths, strict=False)
    print("  ".join([first[0].ljust(first[1]), *[cell.rjust(width) for cell, width in rest]]), flush=True)


if __name__ == "__main__":
    sys.exit(main())
