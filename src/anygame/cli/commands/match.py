"""The ``match`` command: plays matches between local and remote players, or resumes a match."""

from __future__ import annotations

import asyncio
import shlex
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random, SystemRandom
from typing import TYPE_CHECKING, Any, Final

from anygame.answers.standings import StandingTable
from anygame.cli.matches.pages import WATCHING, EndedBySignal, WebOptions, on_pages, run_until_signal
from anygame.cli.matches.seating import HUMAN, PLAYERS, make_seat, named
from anygame.cli.matches.watching import HiddenWatcher, JsonWatcher, LineWatcher, TerminalWatcher
from anygame.cli.options import Command, Status, argument, command_options, flag, option, positive
from anygame.cli.output import Screen, complain, print_event, print_lines, table_lines
from anygame.cli.shared_options import SHEET_HELP, ClockOptions, seed_option
from anygame.cli.sheets import read_game, record_path
from anygame.errors import AnygameError, PlayerError, RecordError
from anygame.game.machine import reason_of
from anygame.language.diagnostics import counted
from anygame.match.broadcast import Broadcast, BroadcastMatch
from anygame.match.record import read_record
from anygame.match.referee import Referee, Watchers
from anygame.match.replaying import rules_of
from anygame.match.running import Terms, keeper, new_record, resume, seated
from anygame.match.seats import is_person
from anygame.match.signing import read_key
from anygame.players.loading import is_address, is_strategy
from anygame.players.player import Failures
from anygame.tournament.schedule import Meeting, rotated
from anygame.tournament.standings import standings
from anygame.tournament.store import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Sequence

    from anygame.cli.matches.seating import Named
    from anygame.game.game import Game
    from anygame.match.record import Record
    from anygame.match.referee import Watcher
    from anygame.match.seats import Seat

#: Keys of the signature in a record.
_SIGNED: Final = ("matchHostPK", "matchHostSignature")
_DETAILS: Final = f"""\
{PLAYERS}
A late reply (TO), a missing reply (CE) or a reply that is not a legal move (IL) is replaced by
a random legal move, and the match continues. If the code of a player raises an exception, its
traceback is printed once on standard error, and with --record also written beside the record.
Comments of players are shown and recorded. Ctrl-C sends ABORT to the players.

The exit status is 1 if an error in the rules ended a match, or if all moves of a player in a
match were replaced.

{WATCHING}
With --json, one object is printed on each line:
  {{"event": "listening", "address", "host", "port"}}, with --web
  {{"event": "start", "match", "game", "players": {{ROLE: NAME}}, "seed", "step", "record"}}
  {{"event": "ready", "errors": {{ROLE: ERROR}}, "reasons": {{ROLE: TEXT}},
   "seconds": {{ROLE: SECONDS}}}}
  {{"event": "turn", "step", "moves": {{ROLE: MOVE}}, "errors", "reasons", "seconds", "said"}}
  {{"event": "end", "match", "completed", "goals": {{ROLE: GOAL}} or null, "fault"}}
  {{"event": "summary", "games", "fallback", "failed": [NAME],
   "players": [{{"name", "games", "mean", "margin", "errors"}}]}}
  errors, reasons, seconds and said (comments of players) contain only roles with a value. margin
  is half the width of a 95 % confidence interval. failed names players whose moves were all
  replaced in a match. fallback is null, or says why the game is not compiled.
"""


@command_options
class _Options(ClockOptions, WebOptions):
    file: str | None = argument("FILE", nargs="?", help=f"{SHEET_HELP}; not needed with --resume")
    players: list[str] | None = option("--players", "PLAYER", "players in the order of the roles", nargs="+")
    games: int = option("--games", "N", "number of matches", positive, default=1)
    swap_roles: bool = flag("--swap-roles", "rotate the players among the roles from match to match")
    record: str | None = option(
        "--record", "DIR", "folder for the record of each match (default: no records)"
    )
    resume: str | None = option("--resume", "RECORD", "resume the interrupted match in this record")
    sign: str | None = option(
        "--sign", "KEY", "sign records with the RSA key in this PEM file, which is created if it is missing"
    )
    seed: int | None = seed_option()


def _match(options: _Options) -> int:
    if options.resume is not None:
        return _resume(options, options.resume)
    if options.file is None or not options.players:
        raise AnygameError("expected a rule sheet and --players, or --resume RECORD")
    game = read_game(options.file, options)
    seed = SystemRandom().randrange(2**32) if options.seed is None else options.seed
    terms = Terms(options.start_clock, options.play_clock, seed, options.scramble)
    series = _Series(options, game, named(options.players), terms)
    status = _run(options, series.broadcast, series.seats, series.play, lambda: series.path)
    return status or (Status.ANSWER_IS_NO if series.faults or series.failed else Status.OK)


def _run(
    options: _Options,
    broadcast: Broadcast,
    seats: Sequence[Seat],
    play: Callable[[], Coroutine[Any, Any, None]],
    path_of: Callable[[], str | None],
) -> int:
    """Play matches, and close the seats. After an interruption, print how to resume the match."""

    async def play_and_close() -> None:
        try:
            await play()
        finally:
            await asyncio.gather(*[seat.close() for seat in seats])

    try:
        with on_pages(options.web, broadcast, stay=options.stay, is_json=options.json):
            run_until_signal(play_and_close())
    except EndedBySignal as end:
        path = path_of()
        if path is not None and Path(path).exists():
            complain(f"interrupted; to resume: anygame match --resume {shlex.quote(path)}")
        else:
            complain("interrupted; only matches with --record DIR can be resumed")
        return end.status
    return Status.OK


class _Series:
    def __init__(self, options: _Options, game: Game, players: Sequence[Named], terms: Terms) -> None:
        self.options = options
        self.game = game
        self.terms = terms
        self.players = players
        self.key = None if options.sign is None else read_key(options.sign)
        self.seats = [make_seat(player, terms.seed + number) for number, player in enumerate(players)]
        self.results: list[Result] = []
        self.faults = 0
        self.failed: list[str] = []
        self.path: str | None = None
        self._failures: Failures | None = None
        note = "Goals are means with 95 % confidence intervals."
        table = (lambda: self._standings().page(note)) if options.games > 1 else None
        self.broadcast = Broadcast(game.name, options.games, table)
        seated(game, self.seats)

    async def play(self) -> None:
        for number in range(self.options.games):
            await self._play_one(number)
        self._print()

    async def _play_one(self, number: int) -> None:
        order = list(range(len(self.seats)))
        if self.options.swap_roles:
            order = rotated(order, number)
        seats = seated(self.game, [self.seats[number] for number in order])
        seed = Random(f"{self.terms.seed}/{number}").getrandbits(32) if number else self.terms.seed
        terms = replace(self.terms, seed=seed)
        record = new_record(self.game, seats, terms)
        record.own["players"] = [list(self.players[number]) for number in order]
        record.own["playerSeeds"] = [self.terms.seed + number for number in order]
        folder = self.options.record
        self.path = None if folder is None else record_path(folder, record)
        if number and not self.options.json:
            print()
        keep = keeper(self.path, self.key)
        failures = self._failures = Failures(self.path, self._failures)
        with _watching(self.options, self.game, self.path, seats, self.broadcast) as watcher:
            await Referee(self.game, seats, record, keep=keep, watcher=watcher, failures=failures).play()
        self.failed += [name for name in record.failed if name not in self.failed]
        if record.goals is None:
            self.faults += 1
        else:
            names = tuple([self.seats[number].name for number in order])
            self.results.append(Result.of(Meeting(number, self.game.name, names), record, self.game))
            self.broadcast.on_change(None)
        if self.path and not self.options.json:
            print(f"record: {self.path}")

    def _standings(self) -> StandingTable:
        names = [seat.name for seat in self.seats]
        by_name = {each.name: each for each in standings(names, self.results, rated=False)}
        return StandingTable([by_name[name] for name in names], is_rated=False)

    def _print(self) -> None:
        played = self.options.games - self.faults
        if not self.options.json:
            if self.options.games > 1:
                print(f"\n{counted(played, 'game')}, seed {self.terms.seed}")
                print_lines(table_lines(self._standings().rows(), "<>>>"))
            _print_failed(self.failed)
            return
        print_event(
            {
                "event": "summary",
                "games": played,
                "fallback": reason_of(self.game.fallback),
                "failed": self.failed,
                "players": self._standings().to_json(),
            }
        )


def _print_failed(names: Sequence[str]) -> None:
    for name in names:
        print(f"{name} failed: in a match, random moves replaced all moves of this player")


def _seeds(record: Record, count: int) -> list[int]:
    seeds, seed = record.own.get("playerSeeds"), record.own.get("seed")
    if isinstance(seeds, list) and len(seeds) == count and all(isinstance(each, int) for each in seeds):
        return seeds
    first = seed if isinstance(seed, int) else 0
    return [first + number for number in range(count)]


def _resume(options: _Options, path: str) -> int:
    record = read_record(path)
    game = rules_of(record) if options.file is None else read_game(options.file, options)
    players = named(options.players) if options.players else _players(record)
    key = None if options.sign is None else read_key(options.sign)
    if key is None:
        # The record changes, so its old signature would be invalid.
        record.others = {name: value for name, value in record.others.items() if name not in _SIGNED}
    seeds = _seeds(record, len(players))
    seats: list[Seat] = [make_seat(player, seed) for player, seed in zip(players, seeds, strict=True)]
    order = seated(game, seats)
    broadcast = Broadcast(game.name, 1)

    async def play() -> None:
        with _watching(options, game, path, seats, broadcast) as watcher:
            await resume(
                game, order, record, keep=keeper(path, key), watcher=watcher, failures=Failures(path)
            )

    status = _run(options, broadcast, seats, play, lambda: path)
    if not options.json:
        _print_failed(record.failed)
    return status or (Status.OK if record.is_completed and not record.failed else Status.ANSWER_IS_NO)


def _players(record: Record) -> list[Named]:
    players = record.own.get("players")
    if not isinstance(players, list) or not all(
        isinstance(one, list) and len(one) == 2 and all(isinstance(part, str) for part in one)
        for one in players
    ):
        raise RecordError(f"the record of {record.match_id} names no players: add --players")
    code = [what for _, what in players if what != HUMAN and not is_strategy(what) and not is_address(what)]
    if code:
        # A record may come from a stranger, so reading it must not run any code.
        again = shlex.join(["--players", *[f"{name}={what}" for name, what in players]])
        raise RecordError(
            f"the record names the player {code[0]}, whose code could be unsafe; to run it, add {again}"
        )
    return [(name, what) for name, what in players]


@contextmanager
def _watching(
    options: _Options, game: Game, path: str | None, seats: Sequence[Seat | None], broadcast: Broadcast
) -> Iterator[Watcher]:
    """Yield a watcher that shows a match on the screen, and with ``--web`` also on pages."""
    watcher = _watcher(options, game, path, seats)
    load = None if path is None else partial(read_record, path)
    try:
        yield watcher if options.web is None else Watchers(watcher, BroadcastMatch(broadcast, load))
    finally:
        if isinstance(watcher, TerminalWatcher):
            watcher.close()


def _watcher(options: _Options, game: Game, path: str | None, seats: Sequence[Seat | None]) -> Watcher:
    has_people = any(map(is_person, seats))
    if options.json:
        if has_people:
            raise PlayerError("`human` needs the terminal: leave out --json")
        return JsonWatcher(game, path)
    screen = Screen()
    if has_people:
        # The prompt shows the boards to people, without hidden information.
        return HiddenWatcher(game, screen) if game.is_gdl2 else LineWatcher(game, screen)
    return TerminalWatcher(game, screen) if screen.is_terminal else LineWatcher(game, screen)


COMMANDS: Final = {"match": Command(_Options, _match, _DETAILS)}
