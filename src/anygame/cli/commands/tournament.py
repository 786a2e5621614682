"""The ``tournament`` command."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from anygame.cli.exit_status import ANSWER_IS_NO, OK
from anygame.cli.interrupts import EndedBySignal, run_until_signal
from anygame.cli.matches.options import ClockOptions
from anygame.cli.matches.seating import HUMAN, PLAYERS, make_seat, named
from anygame.cli.matches.watching import HiddenWatcher, LineWatcher
from anygame.cli.options import Command, argument, command_options, flag, option, positive
from anygame.cli.output import Screen, complain, print_json
from anygame.cli.sheets import read_game
from anygame.errors import MissingExtraError, RuleSheetError
from anygame.match.running import Terms
from anygame.tournament.running import Tournament
from anygame.tournament.standings import standings
from anygame.tournament.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.game.game import Game
    from anygame.match.record import Record
    from anygame.tournament.schedule import Meeting
    from anygame.tournament.standings import Standing
    from anygame.tournament.store import Result

__all__ = ["COMMAND"]

_DETAILS: Final = f"""\
{PLAYERS}
In each round, every choice of players meets on every sheet, once in each turn of the
roles. Matches are kept in the store after every step: the same command goes on where it
was stopped, and does nothing but print once all is played.

with --json, one object:
  {{"matches": {{"played", "planned", "failed"}},
   "players": [{{"name", "rating", "mu", "sigma", "games", "mean", "margin", "errors"}}],
   "sheets": {{FILE: {{NAME: MEAN}}}}}}
  rating is mu - 3 sigma; null without the extra `tournament`
"""


@command_options
class Options(ClockOptions):
    """What ``anygame tournament`` is asked."""

    files: list[str] = argument("FILE", count="+", help="rule sheets")
    players: list[str] = option(
        "--players", metavar="PLAYER", count="+", required=True, help="two or more, as a rule"
    )
    store: str = option("--store", metavar="FILE", required=True, help="the SQLite file of all matches")
    rounds: int = option("--rounds", read=positive, default=1, metavar="N", help="how many rounds (1)")
    seed: int = option("--seed", read=int, default=0, metavar="S", help="of random moves and players (0)")
    plot: str | None = option("--plot", metavar="IMAGE", help="draw the ratings: *.png, *.svg, *.pdf")
    report: bool = flag("--report", help="print the table, play nothing")


def run(options: Options) -> int:
    """Play what is left of a tournament, and print where the players stand."""
    games = _games(options)
    players = dict(named(options.players))
    terms = Terms(options.start_clock, options.play_clock, options.seed, options.scramble, "tournament")
    status = OK
    with Store(options.store) as store:
        event = Tournament(games, players, store, terms, make_seat)
        meetings = event.meetings(options.rounds)
        if not options.report:
            try:
                run_until_signal(_play(event, meetings, quiet=options.json))
            except EndedBySignal as end:
                complain("interrupted; the same command goes on")
                status = end.status
        planned = {(meeting.round, meeting.sheet, meeting.players) for meeting in meetings}
        results = [
            result for result in store.results() if (result.round, result.sheet, result.players) in planned
        ]
    found = _standings(list(players), results)
    if options.json:
        print_json(_described(found, results, len(meetings)))
    else:
        _print_table(found, results, len(meetings))
    if options.plot is not None:
        from anygame.tournament.plot import plot_standings

        plot_standings(found, options.plot)
    return status or (ANSWER_IS_NO if any(result.fault for result in results) else OK)


def _games(options: Options) -> dict[str, Game]:
    games: dict[str, Game] = {}
    for file in options.files:
        if file == "-":
            raise RuleSheetError("a tournament goes on later: give rule sheets as files")
        games[file] = read_game(file, case_sensitive=options.case_sensitive, lenient=options.lenient)
    return games


async def _play(event: Tournament, meetings: Sequence[Meeting], *, quiet: bool) -> None:
    screen = Screen()
    for number, meeting in enumerate(meetings, 1):
        if event.store.is_over(meeting):
            continue
        has_people = HUMAN in {event.players[name] for name in meeting.players}
        game = event.games[meeting.sheet]
        watch = HiddenWatcher if game.is_gdl2 else LineWatcher
        watcher = watch(game, screen) if has_people else None
        record = await event.play(meeting, watcher)
        if not quiet:
            outcome = _outcome(event.games[meeting.sheet], record)
            screen.say(f"{number} of {len(meetings)}  {meeting.sheet}  {outcome}")


def _outcome(game: Game, record: Record) -> str:
    if record.goals is None:
        return f"given up: {record.own.get('fault', 'an error of the rules')}"
    pairs = zip(game.roles, record.names, record.goals, strict=True)
    return ", ".join(f"{name} {goal}" for role, name, goal in pairs if not role.is_random)


def _standings(players: Sequence[str], results: Sequence[Result]) -> list[Standing]:
    try:
        return standings(players, results)
    except MissingExtraError as error:
        complain(error)
        return standings(players, results, rated=False)


def _print_table(found: Sequence[Standing], results: Sequence[Result], planned: int) -> None:
    failed = sum(result.goals is None for result in results)
    given_up = f", {failed} given up" if failed else ""
    print(f"{len(results)} of {planned} matches{given_up}")
    rows = [("player", "rating", "goals", "games", "replaced")]
    for standing in found:
        rating = "-" if standing.rating is None else f"{standing.rating:.1f}"
        count = standing.estimate.count if standing.estimate else 0
        rows.append(
            (standing.name, rating, str(standing.estimate or "-"), str(count), str(standing.errors or ""))
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            row[0].ljust(widths[0]),
            *[cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)],
        ]
        print("  ".join(cells).rstrip())


def _described(found: Sequence[Standing], results: Sequence[Result], planned: int) -> dict[str, Any]:
    sheets: dict[str, dict[str, float]] = {}
    for standing in found:
        for sheet, mean in standing.by_sheet.items():
            sheets.setdefault(sheet, {})[standing.name] = mean
    failed = sum(result.goals is None for result in results)
    return {
        "matches": {"played": len(results), "planned": planned, "failed": failed},
        "players": [_player(standing) for standing in found],
        "sheets": sheets,
    }


def _player(standing: Standing) -> dict[str, Any]:
    estimate = standing.estimate
    return {
        "name": standing.name,
        "rating": standing.rating,
        "mu": standing.mu,
        "sigma": standing.sigma,
        "games": estimate.count if estimate else 0,
        "mean": estimate.mean if estimate else None,
        "margin": estimate.margin if estimate and isfinite(estimate.margin) else None,
        "errors": standing.errors,
    }


COMMAND = Command(Options, run, _DETAILS)
