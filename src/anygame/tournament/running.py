"""Playing a tournament: one match after another, each kept as it goes on."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from anygame.errors import RecordError
from anygame.match.replaying import replay
from anygame.match.running import lead, new_record, resume, seated
from anygame.players.failures import Failures
from anygame.tournament.schedule import schedule

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from anygame.game.game import Game
    from anygame.match.record import Record
    from anygame.match.referee import Watcher
    from anygame.match.running import Terms
    from anygame.match.seats import Seat
    from anygame.tournament.schedule import Meeting
    from anygame.tournament.store import Store

__all__ = ["Tournament"]


class Tournament:
    """A round robin on some sheets.

    Args:
        games: by name.
        players: what each is, by name.
        store: where everything is kept.
        terms: clocks and seed of all matches.
        make_seat: returns a seat for a player's name and what it is, and a seed.

    Raises:
        PlayerError: a game has more roles than there are players.
        RecordError: the store is of a tournament with other players, rules or clocks.
    """

    def __init__(
        self,
        games: Mapping[str, Game],
        players: Mapping[str, str],
        store: Store,
        terms: Terms,
        make_seat: Callable[[tuple[str, str], int], Seat],
    ) -> None:
        self.games = games
        self.players = players
        self.store = store
        self.terms = terms
        self._make_seat = make_seat
        self._failures = Failures()
        self._settle()

    def _settle(self) -> None:
        facts = {"clocks": f"{self.terms.start_clock:g} and {self.terms.play_clock:g} s"}
        facts |= {f"player {name}": what for name, what in self.players.items()}
        facts |= {f"rules of {name}": _digest(game) for name, game in self.games.items()}
        self.store.settle(facts)

    def meetings(self, rounds: int) -> list[Meeting]:
        """Return all matches of some rounds."""
        return schedule(self.games, list(self.players), rounds)

    async def play(self, meeting: Meeting, watcher: Watcher | None = None) -> Record:
        """Play a match, or go on with it, and keep it."""
        game = self.games[meeting.sheet]
        seed = Random(f"{self.terms.seed}/{meeting.key}").getrandbits(32)
        made = [
            self._make_seat((name, self.players[name]), seed + index)
            for index, name in enumerate(meeting.players)
        ]
        seats = seated(game, made)
        try:
            record = await self._lead(game, seats, meeting, replace(self.terms, seed=seed), watcher)
        finally:
            await asyncio.gather(*[seat.close() for seat in made])
        indexes = [index for index, seat in enumerate(seats) if seat is not None]
        goals = None if record.goals is None else tuple([record.goals[index] for index in indexes])
        errors = tuple([sum(bool(step[index]) for step in record.errors) for index in indexes])
        fault = str(record.own.get("fault", "")) if goals is None else ""
        self.store.finish(meeting, record, goals, errors, fault)
        return record

    async def _lead(
        self,
        game: Game,
        seats: Sequence[Seat | None],
        meeting: Meeting,
        terms: Terms,
        watcher: Watcher | None,
    ) -> Record:
        def keep(record: Record) -> None:
            self.store.keep(meeting, record)

        known = self.store.record(meeting)
        if known is None:
            record = new_record(game, seats, terms)
            return await lead(game, seats, record, terms, keep=keep, watcher=watcher, failures=self._failures)
        if known.is_completed:
            faults = replay(known, game).faults
            if faults:
                raise RecordError(f"the record of the match {meeting.key} is damaged: {faults[0]}")
            return known
        return await resume(game, seats, known, keep=keep, watcher=watcher, failures=self._failures)


def _digest(game: Game) -> str:
    return hashlib.sha256(str(game).encode()).hexdigest()
