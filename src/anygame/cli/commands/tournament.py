"""The ``tournament`` command: plays all combinations of players on rule sheets, and prints ratings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from anygame.answers.standings import StandingTable
from anygame.cli.matches.pages import WATCHING, EndedBySignal, WebOptions, on_pages, run_until_signal
from anygame.cli.matches.seating import HUMAN, PLAYERS, make_seat, named
from anygame.cli.matches.watching import HiddenWatcher, LineWatcher
from anygame.cli.options import Command, Status, argument, command_options, flag, option, positive
from anygame.cli.output import Screen, complain, print_json, print_lines, table_lines
from anygame.cli.shared_options import ClockOptions, cluster_option, joined, plot_option, seed_option
from anygame.cli.sheets import read_game
from anygame.errors import MissingExtraError, PlayerError, RecordError, RuleSheetError
from anygame.language.diagnostics import counted
from anygame.match.broadcast import Broadcast, BroadcastMatch
from anygame.match.referee import Watchers
from anygame.match.running import Terms
from anygame.players.loading import is_address
from anygame.tournament.running import Tournament
from anygame.tournament.standings import standings
from anygame.tournament.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.match.broadcast import Table
    from anygame.match.record import Record
    from anygame.match.referee import Watcher
    from anygame.tournament.schedule import Meeting
    from anygame.tournament.standings import Standings
    from anygame.tournament.store import Result

_DETAILS: Final = f"""\
{PLAYERS}
In each round, every combination of players plays every sheet, once in each rotation of the
roles. Every step is written to the store, so the same command resumes an interrupted
tournament. When all matches have been played, the command only prints the standings. --report
reads the players and matches from the store. If sheets and players are also given, --report
prints the number of planned matches, too.

{WATCHING}
With --json, one object is printed. With --web, the object
{{"event": "listening", "address", "host", "port"}} is printed first:
  {{"matches": {{"played", "planned", "failed"}},
   "players": [{{"name", "rating", "mu", "sigma", "games", "mean", "margin", "errors"}}],
   "sheets": {{FILE: {{NAME: MEAN}}}}}}
  planned is null if no sheets are given. rating is mu - 3 sigma, or null without the extra
  `tournament`. margin is half the width of a 95 % confidence interval.
"""


_STORE_HELP: Final = "database of all matches: an SQLite file, or postgresql://USER@HOST/NAME"


@command_options
class _Options(ClockOptions, WebOptions):
    files: list[str] = argument("FILE", nargs="*", help="rule sheets")
    players: list[str] | None = option(
        "--players", "PLAYER", "players to compare, usually two or more", nargs="+"
    )
    store: str = option("--store", "FILE", _STORE_HELP, required=True)
    rounds: int = option(
        "--rounds",
        "N",
        "number of rounds; in each round, every combination of players plays every sheet",
        positive,
        default=1,
    )
    seed: int = seed_option(0)
    plot: str | None = plot_option("the ratings")
    cluster: str | None = cluster_option(
        "play one match on each core of the Ray cluster at ADDRESS; without ADDRESS, on each core of this "
        "machine"
    )
    report: bool = flag("--report", "print the standings in --store without playing")


def _tournament(options: _Options) -> int:
    if options.report and not (options.files and options.players):
        return _report(options)
    if not options.files or not options.players:
        raise PlayerError("expected rule sheets and --players; only --report works without them")
    if "-" in options.files:
        raise RuleSheetError(
            "a tournament reads its sheets again when you resume it: give each sheet as a file, not as -"
        )
    games = {file: read_game(file, options) for file in options.files}
    players = dict(named(options.players))
    terms = Terms(options.start_clock, options.play_clock, options.seed, options.scramble, "tournament")
    status: int = Status.OK
    with Store(options.store) as store:
        event = Tournament(games, players, store, terms, make_seat)
        meetings = event.meetings(options.rounds)
        if not options.report:
            pages = _Pages(event, meetings, options)
            for name, what in players.items():
                # Players are prepared before the matches. During the matches, preparing would delay Ctrl-C.
                if what != HUMAN and not is_address(what):
                    make_seat((name, what))
            try:
                with on_pages(options.web, pages.broadcast, stay=options.stay, is_json=options.json):
                    if options.cluster is None:
                        run_until_signal(_play(event, meetings, pages, quiet=options.json))
                    else:
                        _play_apart(event, meetings, pages, options)
            except (EndedBySignal, KeyboardInterrupt) as end:
                complain("interrupted; run the same command again to resume the tournament")
                status = end.status if isinstance(end, EndedBySignal) else Status.INTERRUPTED
        results = _results(store, meetings)
    return status or _tell(options, list(players), results, len(meetings))


def _report(options: _Options) -> int:
    if "://" not in options.store and not Path(options.store).is_file():
        raise RecordError(f"there is no store {options.store}; a tournament without --report creates it")
    with Store(options.store) as store:
        players, results = store.players(), store.results()
    return _tell(options, players, results, None)


def _tell(options: _Options, players: Sequence[str], results: Sequence[Result], planned: int | None) -> int:
    table, missing = _standings(players, results)
    if missing:
        complain(missing)
    if options.json:
        print_json(_described(table, results, planned))
    else:
        _print_table(table, results, planned)
    if options.plot is not None:
        from anygame.tournament.standings import plot_standings

        plot_standings(table, options.plot)
    return Status.ANSWER_IS_NO if any(result.fault for result in results) else Status.OK


def _results(store: Store, meetings: Sequence[Meeting]) -> list[Result]:
    planned = {meeting.key for meeting in meetings}
    return [result for result in store.results() if result.key in planned]


class _Pages:
    """The pages of a tournament, with their own connection to the store: SQLite needs one per thread."""

    def __init__(self, event: Tournament, meetings: Sequence[Meeting], options: _Options) -> None:
        self.broadcast = Broadcast("Tournament", len(meetings), self._table)
        self._meetings = meetings
        self._players = list(event.players)
        self._path = options.store
        self._is_shown = options.web is not None
        past = {result.key: result for result in event.store.results()}
        for meeting in meetings:
            if meeting.key in past:
                self.past(past[meeting.key])

    def past(self, result: Result) -> None:
        goals = zip(result.players, result.goals or (), strict=False)
        shown = ", ".join(f"{name} {goal}" for name, goal in goals)
        match = BroadcastMatch(self.broadcast, lambda: self._record(result))
        match.past(result.sheet, ", ".join(result.players), shown or f"aborted: {result.fault}")

    def watcher(self, meeting: Meeting, other: Watcher | None) -> Watcher | None:
        if not self._is_shown:
            return other
        match = BroadcastMatch(self.broadcast, lambda: self._record(meeting))
        return match if other is None else Watchers(other, match)

    def _record(self, meeting: Meeting) -> Record | None:
        with Store(self._path) as store:
            return store.record(meeting)

    def _table(self) -> Table:
        with Store(self._path) as store:
            results = _results(store, self._meetings)
        ranked, missing = _standings(self._players, results)
        strength = "Strength is the interval from mu - 3 sigma to mu + 3 sigma. The rating is the lower end"
        note = f"{missing or strength}. Goals are means with 95 % confidence intervals, then means by sheet."
        return StandingTable(ranked).page(note)


def _play_apart(event: Tournament, meetings: Sequence[Meeting], pages: _Pages, options: _Options) -> None:
    if HUMAN in event.players.values():
        raise PlayerError("`human` plays at this terminal, not on a cluster: leave out `human` or --cluster")
    over = sum(event.store.is_over(meeting) for meeting in meetings)
    with joined(options.cluster) as cluster:
        assert cluster is not None
        for number, (result, record) in enumerate(event.play_apart(meetings, cluster), over + 1):
            pages.past(result)
            pages.broadcast.on_change(None)
            if not options.json:
                _say_over(event, result, record, f"{number} of {len(meetings)}")


async def _play(event: Tournament, meetings: Sequence[Meeting], pages: _Pages, *, quiet: bool) -> None:
    screen = Screen()
    numbers = {meeting: number for number, meeting in enumerate(meetings, 1)}
    async for meeting in event.to_be_played(meetings):
        has_people = HUMAN in {event.players[name] for name in meeting.players}
        game = event.games[meeting.sheet]
        watch = HiddenWatcher if game.is_gdl2 else LineWatcher
        watcher = watch(game, screen) if has_people else None
        record = await event.play(meeting, pages.watcher(meeting, watcher))
        pages.broadcast.on_change(None)
        if not quiet:
            _say_over(event, meeting, record, f"{numbers[meeting]} of {len(meetings)}")


def _say_over(event: Tournament, meeting: Meeting, record: Record, which: str) -> None:
    outcome = f"aborted: {record.own.get('fault', 'an error in the rules')}"
    if record.goals is not None:
        pairs = zip(event.games[meeting.sheet].roles, record.names, record.goals, strict=True)
        outcome = ", ".join(f"{name} {goal}" for role, name, goal in pairs if not role.is_random)
    outcome += "".join([f"; every move of {name} was replaced" for name in record.failed])
    Screen().say(f"{which}  {meeting.sheet}  {outcome}")


def _standings(players: Sequence[str], results: Sequence[Result]) -> tuple[Standings, str]:
    """Return the standings, and a message if ratings need an extra that is not installed."""
    try:
        return standings(players, results), ""
    except MissingExtraError as error:
        return standings(players, results, rated=False), str(error)


def _print_table(ranked: Standings, results: Sequence[Result], planned: int | None) -> None:
    failed = sum(result.goals is None for result in results)
    given_up = f", {failed} aborted" if failed else ""
    played = f"{len(results)} of {counted(planned, 'match')}" if planned else counted(len(results), "match")
    print(f"{played}{given_up}")
    print_lines(table_lines(StandingTable(ranked).rows(), "<>>>>"))


def _described(ranked: Standings, results: Sequence[Result], planned: int | None) -> dict[str, Any]:
    sheets: dict[str, dict[str, float]] = {}
    for standing in ranked:
        for sheet, mean in standing.by_sheet.items():
            sheets.setdefault(sheet, {})[standing.name] = mean
    failed = sum(result.goals is None for result in results)
    return {
        "matches": {"played": len(results), "planned": planned, "failed": failed},
        "players": StandingTable(ranked).to_json(),
        "sheets": sheets,
    }


COMMANDS: Final = {"tournament": Command(_Options, _tournament, _DETAILS)}
