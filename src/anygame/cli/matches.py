"""The ``match`` command: matches between players here and elsewhere."""

from __future__ import annotations

import asyncio
import json
import shlex
from dataclasses import replace
from math import isfinite
from pathlib import Path
from random import Random, SystemRandom
from typing import TYPE_CHECKING, Any, Final

from anygame.cli.files import read_game
from anygame.cli.interrupts import ending_gently
from anygame.cli.output import Screen, complain
from anygame.cli.seating import make_seat, named
from anygame.cli.watching import JsonWatcher, LineWatcher, TerminalWatcher
from anygame.errors import AnygameError, RecordError
from anygame.match.record import read_record
from anygame.match.replaying import rules_of
from anygame.match.running import Terms, keeper, lead, new_record, resume, seated
from anygame.match.series import Tally, rotated
from anygame.match.signing import read_key
from anygame.players.loading import STRATEGIES, is_address

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from anygame.cli.seating import Named
    from anygame.game.game import Game
    from anygame.match.record import Record
    from anygame.match.referee import Watcher
    from anygame.match.seats import Seat

__all__ = ["match"]

_OK: Final = 0
_FAULT: Final = 1
_INTERRUPTED: Final = 130


def match(options: Namespace) -> int:
    """Play matches, or go on with one; return 1 where an error of the rules ended one."""
    if options.resume is not None:
        return _resume(options)
    if options.file is None or not options.players:
        raise AnygameError("expected a rule sheet, and --players after it, or --resume RECORD")
    game = read_game(options.file, case_sensitive=options.case_sensitive)
    seed = SystemRandom().randrange(2**32) if options.seed is None else options.seed
    terms = Terms(options.start_clock, options.play_clock, seed, options.scramble)
    series = _Series(options, game, named(options.players), terms)
    try:
        with ending_gently():
            asyncio.run(series.play())
    except KeyboardInterrupt:
        return series.interrupted()
    return _FAULT if series.faults else _OK


class _Series:
    """Some matches of a game between the same players."""

    def __init__(self, options: Namespace, game: Game, players: Sequence[Named], terms: Terms) -> None:
        self.options = options
        self.game = game
        self.terms = terms
        self.players = players
        self.key = None if options.sign is None else read_key(options.sign)
        self.seats = [make_seat(player, terms.seed + place) for place, player in enumerate(players)]
        self.tally = Tally(tuple([seat.name for seat in self.seats]))
        self.faults = 0
        self.path: str | None = None
        self._watcher: Watcher | None = None
        seated(game, self.seats)

    async def play(self) -> None:
        """Play all matches, and tell what came out of them."""
        try:
            for number in range(self.options.games):
                await self._play_one(number)
            if self.options.json:
                self._print_json()
            elif self.options.games > 1:
                self._print_lines()
        finally:
            await asyncio.gather(*[seat.close() for seat in self.seats])

    async def _play_one(self, number: int) -> None:
        order = list(range(len(self.seats)))
        if self.options.swap_roles:
            order = rotated(order, number)
        seats = seated(self.game, [self.seats[place] for place in order])
        seed = Random(f"{self.terms.seed}/{number}").getrandbits(32) if number else self.terms.seed
        terms = replace(self.terms, seed=seed)
        record = new_record(self.game, seats, terms)
        record.own["players"] = [list(self.players[place]) for place in order]
        self.path = _path(self.options.record, record)
        if number and not self.options.json:
            print()
        self._watcher = _watcher(self.options, self.game, self.path)
        keep = keeper(self.path, self.key)
        await lead(self.game, seats, record, terms, keep=keep, watcher=self._watcher)
        if record.goals is None:
            self.faults += 1
        else:
            self.tally.add(self.game, order, record.goals, record.errors)
        if self.path and not self.options.json:
            print(f"record: {self.path}")

    def interrupted(self) -> int:
        """Say what was left behind by Ctrl-C."""
        return _interrupted(self._watcher, self.path)

    def _print_lines(self) -> None:
        count = self.options.games - self.faults
        print(f"\n{count} game{'s' * (count != 1)}, seed {self.terms.seed}")
        width = max(map(len, self.tally.players))
        for name, estimate, errors in zip(
            self.tally.players, self.tally.estimates(), self.tally.errors, strict=True
        ):
            trouble = f"  {errors} replies replaced" if errors else ""
            print(f"  {name.ljust(width)}  {estimate or 'no goals'}{trouble}")

    def _print_json(self) -> None:
        players: list[dict[str, Any]] = []
        for name, estimate, errors in zip(
            self.tally.players, self.tally.estimates(), self.tally.errors, strict=True
        ):
            margin = estimate.margin if estimate and isfinite(estimate.margin) else None
            players.append(
                {
                    "name": name,
                    "games": estimate.count if estimate else 0,
                    "mean": estimate.mean if estimate else None,
                    "margin": margin,
                    "errors": errors,
                }
            )
        summary = {"event": "summary", "games": self.options.games - self.faults, "players": players}
        print(json.dumps(summary, ensure_ascii=False))


def _resume(options: Namespace) -> int:
    """Go on with the match of a record, and keep it in the same file."""
    record = read_record(options.resume)
    game = (
        rules_of(record)
        if options.file is None
        else read_game(options.file, case_sensitive=options.case_sensitive)
    )
    players = named(options.players) if options.players else _players(record)
    key = None if options.sign is None else read_key(options.sign)
    if key is None:
        # What is signed would not be any more; the record tells who signed it last.
        record.others = {name: value for name, value in record.others.items() if name not in _SIGNED}
    seed = record.own.get("seed")
    first = seed if isinstance(seed, int) else 0
    seats: list[Seat] = [make_seat(player, first + place) for place, player in enumerate(players)]
    order = seated(game, seats)
    watcher = _watcher(options, game, options.resume)

    async def play() -> None:
        try:
            await resume(game, order, record, keep=keeper(options.resume, key), watcher=watcher)
        finally:
            await asyncio.gather(*[seat.close() for seat in seats])

    try:
        with ending_gently():
            asyncio.run(play())
    except KeyboardInterrupt:
        return _interrupted(watcher, options.resume)
    return _OK if record.is_completed else _FAULT


def _players(record: Record) -> list[Named]:
    """Return the players that a record names, each with what it is."""
    found = record.own.get("players")
    if not isinstance(found, list) or not all(
        isinstance(one, list) and len(one) == 2 and all(isinstance(part, str) for part in one)
        for one in found
    ):
        raise RecordError(f"the record of {record.match_id} does not say who plays: give --players")
    code = [what for _, what in found if what not in STRATEGIES and not is_address(what)]
    if code:
        # Records come from anywhere, and must not make anybody run code that they name.
        again = _again([(name, what) for name, what in found])
        raise RecordError(f"{code[0]} is code, which is not run because a record says so: add {again}")
    return [(name, what) for name, what in found]


def _again(players: Sequence[Named]) -> str:
    """Return the option that names players on a command line."""
    return shlex.join(["--players", *[f"{name}={what}" for name, what in players]])


_SIGNED: Final = ("matchHostPK", "matchHostSignature")


def _interrupted(watcher: Watcher | None, path: str | None) -> int:
    if isinstance(watcher, TerminalWatcher):
        watcher.close()
    if path is not None and Path(path).exists():
        complain(f"interrupted; go on with: anygame match --resume {shlex.quote(path)}")
    else:
        complain("interrupted; with --record DIR, matches can be gone on with")
    return _INTERRUPTED


def _watcher(options: Namespace, game: Game, path: str | None) -> Watcher:
    if options.json:
        return JsonWatcher(game, path)
    screen = Screen()
    return TerminalWatcher(game, screen) if screen.is_terminal else LineWatcher(game, screen)


def _path(folder: str | None, record: Record) -> str | None:
    """Return where a record is kept; make the folder."""
    if folder is None:
        return None
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RecordError(f"cannot make the folder {folder}: {reason}") from error
    return str(Path(folder) / f"{record.match_id}.json")
