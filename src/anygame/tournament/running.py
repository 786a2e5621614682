"""Playing a tournament match after match; every step of a match is stored."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Final

from anygame.errors import RecordError
from anygame.game.encoding import rules_digest
from anygame.match.local import LocalSeat
from anygame.match.referee import Referee
from anygame.match.replaying import replay
from anygame.match.running import new_record, resume, seated, wait_for
from anygame.players.player import Failures
from anygame.tournament.schedule import schedule
from anygame.tournament.store import Result

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence

    from anygame.game.game import Game
    from anygame.game.simulation import Workers
    from anygame.match.record import Record
    from anygame.match.referee import Watcher
    from anygame.match.running import Terms
    from anygame.match.seats import Seat
    from anygame.tournament.schedule import Meeting
    from anygame.tournament.store import Store

#: Seconds between two checks whether other processes have finished the remaining matches.
_BETWEEN_CHECKS: Final = 2.0


@dataclass(frozen=True, slots=True)
class MatchRunner:
    """Plays matches of a tournament, in this process or another process. `Tournament` explains the fields."""

    games: Mapping[str, Game]
    players: Mapping[str, str]
    terms: Terms
    make_seat: Callable[[tuple[str, str], int], Seat]

    async def play(
        self,
        meeting: Meeting,
        stored: Record | None,
        failures: Failures,
        keep: Callable[[Record], None] = lambda record: None,
        watcher: Watcher | None = None,
    ) -> Record:
        """Play a match, or resume the match from its record. Raises RecordError if the record is damaged.

        The match is restarted if all players are in this process and ``Player.remembers`` is true for a
        player. A restarted match has the same moves as without an interruption.
        """
        game = self.games[meeting.sheet]
        seed = Random(f"{self.terms.seed}/{meeting.key}").getrandbits(32)
        made = [
            self.make_seat((name, self.players[name]), seed + index)
            for index, name in enumerate(meeting.players)
        ]
        seats = seated(game, made)
        terms = replace(self.terms, seed=seed)
        local = [seat.player for seat in made if isinstance(seat, LocalSeat)]
        is_restarted = len(local) == len(made) and any(player.remembers for player in local)
        if stored is not None and not stored.is_completed and is_restarted:
            stored = None
        try:
            if stored is None:
                record = new_record(game, seats, terms)
                return await Referee(
                    game, seats, record, keep=keep, watcher=watcher, failures=failures
                ).play()
            if stored.is_completed:
                faults = replay(stored, game).faults
                if faults:
                    raise RecordError(f"the record of the match {meeting.key} is damaged: {faults[0]}")
                return stored
            return await resume(game, seats, stored, keep=keep, watcher=watcher, failures=failures)
        finally:
            await asyncio.gather(*[seat.close() for seat in made])


def _play_apart(runner: MatchRunner, match: tuple[Meeting, Record | None]) -> Record:
    return wait_for(runner.play(*match, Failures()))


class Tournament:
    """A round robin with one or several games.

    Args:
        games: games by name.
        players: specification of each player by name (see `anygame.players.make_player`).
        store: store of the matches.
        terms: clocks of all matches, and the seed from which the seed of each match is derived.
        make_seat: returns a seat, given the name and specification of a player, and a seed.

    Raises:
        PlayerError: a game has more roles than there are players.
        RecordError: the store belongs to a tournament with other players, rules or clocks.
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
        self._runner = MatchRunner(games, players, terms, make_seat)
        self._failures = Failures()
        facts = {"clocks": f"{terms.start_clock:g} and {terms.play_clock:g} s"}
        facts |= {f"player {name}": spec for name, spec in players.items()}
        facts |= {
            f"rules of {name}": rules_digest(game).removeprefix("sha256:") for name, game in games.items()
        }
        store.settle(facts)

    def meetings(self, rounds: int) -> list[Meeting]:
        """Return all matches of a number of rounds."""
        return schedule(self.games, list(self.players), rounds)

    async def to_be_played(self, meetings: Sequence[Meeting]) -> AsyncIterator[Meeting]:
        """Claim and yield each match that is not over, and release the match afterwards.

        A match that another process has claimed is yielded if that process releases the unfinished match.
        """
        remaining = list(meetings)
        while remaining:
            waiting = []
            for meeting in remaining:
                if self.store.is_over(meeting):
                    continue
                if not self.store.claim(meeting):
                    waiting.append(meeting)
                    continue
                try:
                    if not self.store.is_over(meeting):
                        yield meeting
                finally:
                    self.store.release(meeting)
            if len(waiting) == len(remaining):
                await asyncio.sleep(_BETWEEN_CHECKS)
            remaining = waiting

    async def play(self, meeting: Meeting, watcher: Watcher | None = None) -> Record:
        """Play or resume a match, and store the match."""

        def keep(record: Record) -> None:
            self.store.keep(meeting, record)

        record = await self._runner.play(meeting, self.store.record(meeting), self._failures, keep, watcher)
        self._finish(meeting, record)
        return record

    def play_apart(self, meetings: Sequence[Meeting], workers: Workers) -> Iterator[tuple[Result, Record]]:
        """Play all unfinished matches on several workers; yield each result and record after storing."""
        claimed = [each for each in meetings if not self.store.is_over(each) and self.store.claim(each)]
        matches = [(meeting, self.store.record(meeting)) for meeting in claimed]
        for number, record in workers.map(_play_apart, self._runner, matches):
            result = self._finish(claimed[number], record)
            self.store.release(claimed[number])
            yield result, record

    def _finish(self, meeting: Meeting, record: Record) -> Result:
        result = Result.of(meeting, record, self.games[meeting.sheet])
        self.store.keep(result, record)
        return result
