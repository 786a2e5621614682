"""The match of a process, and the commands of the server about the match."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from anygame.boards import Painter
from anygame.errors import RecordError
from anygame.game.loading import loads, read_silently
from anygame.match.course import FollowedMatch, joint_of, summary_of
from anygame.match.hosted import HostedMatch
from anygame.match.judging import Verdict
from anygame.match.local import LocalSeat
from anygame.match.opponents import Opponent
from anygame.match.record import Record, read_record
from anygame.match.replaying import replay
from anygame.match.running import Terms, keeper, new_record
from anygame.players.loading import is_address, make_player
from anygame.protocol.seat import RemoteSeat
from anygame.search.model import model_name
from anygame.sheets.citing import goal_lines
from anygame.web.hosting import questions
from anygame.web.hosting.known_boards import KnownBoards
from anygame.web.hosting.questions import StateSearch
from anygame.web.hosting.views import log_view, match_view, seen_view, state_view, thumbnail, way_view
from anygame.web.settings import LIMITS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.match.seats import Seat

View = dict[str, Any]
#: Names of the methods of a session that are commands.
_COMMANDS: Final = (
    *("check", "describe", "thumbnail", "open", "follow", "move", "take_back", "resign", "sit"),
    *("look", "why", "fired", "analyse", "wanted"),
)
#: Key of the seats in the record of a match.
_SEATS: Final = "seats"


class Session:
    """Answers the commands of the server, and reports changes of the match with ``tell``.

    The argument ``sheet`` of a command is a dictionary of the arguments of `_load`.
    """

    game: Game
    painter: Painter
    match: HostedMatch | FollowedMatch
    _known: KnownBoards

    def __init__(self, tell: Callable[[View], None]) -> None:
        self._tell = tell
        self._path = ""
        self._loaded = ""
        self._publishing: asyncio.Task[None] | None = None
        self._is_stale = False
        self._search: StateSearch | None = None

    async def do(self, name: str, arguments: Mapping[str, Any]) -> Any:
        return await {command: getattr(self, command) for command in _COMMANDS}[name](**arguments)

    async def describe(self, sheet: View) -> View:
        """Return the roles of a sheet, whether it hides information, and the name of the model file."""
        self.game = await asyncio.to_thread(_load, **sheet)
        self._loaded = sheet["text"]
        return {"roles": list(self.game.roles), "hides": self.game.is_gdl2, "model": model_name(self.game)}

    async def thumbnail(self, sheet: View) -> str:
        await self.describe(sheet)
        return await asyncio.to_thread(lambda: thumbnail(self.game, Painter.of(self.game)))

    async def check(self, sheet: View) -> View:
        return await asyncio.to_thread(questions.check, **sheet)

    async def open(
        self,
        match_id: str,
        path: str,
        players: dict[str, str],
        clock: float,
        sheet: View | None = None,
        seed: int = 0,
        seats: Sequence[View] = (),
        line: Sequence[Sequence[str]] = (),
        reveals: bool = False,
        time: Sequence[float] | None = None,
    ) -> View:
        """Begin a match, or resume it if its record exists.

        Players receive ``match_id`` and have ``clock`` seconds for each move. ``players`` maps names of
        players to specifications. ``path`` is the file of the record. A new match has the rules ``sheet``,
        the random seed ``seed`` and the ``seats`` (see `anygame.web.server.matches`), and begins with the
        joint moves ``line``. With ``reveals``, people see hidden information. ``time`` is the number of
        seconds of each person for the match, and the increment per move.
        """
        if Path(path).exists():
            record, states = await asyncio.to_thread(self._resume, Path(path))
        else:
            if sheet and sheet["text"] != self._loaded:
                self.game = await asyncio.to_thread(_load, **sheet)
            record, states = await asyncio.to_thread(self._begin, match_id, seed, clock, seats, line)
        self.painter = await asyncio.to_thread(Painter.of, self.game)
        self._path = path
        keep = keeper(path)
        if reveals:
            record.own["reveals"] = True
        if time:
            record.own["clock"] = list(time)
        if _is_elsewhere(record):
            self.match = FollowedMatch(self.game, record, states)
        else:
            opponents = self._opponents(record, players, seed)
            self.match = HostedMatch(self.game, record, states, opponents, keep=keep, changed=self._publish)
        loop = asyncio.get_running_loop()
        self._known = KnownBoards(self.match, self.painter, partial(loop.call_soon_threadsafe, self._publish))
        await asyncio.to_thread(keep, record)
        await self.match.begin()
        return await self._view()

    def _opponents(self, record: Record, players: dict[str, str], seed: int) -> dict[int, Opponent]:
        return {
            index: Opponent(
                _seat(seat["player"], players.get(seat["player"], "random"), seed + index),
                self.game.roles[index],
                record.play_clock,
            )
            for index, seat in enumerate(record.own[_SEATS])
            if seat["kind"] == "player"
        }

    def _resume(self, path: Path) -> tuple[Record, list[State]]:
        record = read_record(path)
        case_sensitive = record.own.get("caseSensitive", True) is not False
        self.game = _load(str(record.own.get("game")), str(record.own.get("rules")), case_sensitive)
        replayed = replay(record, self.game)
        # A match that was played elsewhere is shown up to its first fault.
        if replayed.faults and not _is_elsewhere(record):
            raise RecordError(f"the record of this match is damaged: {replayed.faults[0]}")
        return record, list(replayed.states)

    def _begin(
        self, match_id: str, seed: int, clock: float, seats: Sequence[View], line: Sequence[Sequence[str]]
    ) -> tuple[Record, list[State]]:
        if len(seats) != len(self.game.roles):
            raise RecordError(f"expected {len(self.game.roles)} seats, found {len(seats)}")
        record = new_record(self.game, [], Terms(clock, clock, seed), match_id=match_id)
        record.names = [str(seat["name"]) for seat in seats]
        record.game_url = ""  # the path of the sheet on this machine is private
        record.own[_SEATS] = list(seats)
        states = [self.game.initial_state()]
        record.add_state(states[0], [""] * len(seats))
        for texts in line:
            joint = joint_of(self.game, texts, states[-1])
            states.append(states[-1].next(joint))
            record.add_turn(joint, states[-1], [*map(Verdict, joint)])
        return record, states

    async def move(self, role: str, text: str, step: int) -> View:
        await self._hosted().choose(self.game.role_index(role), text, step)
        return await self._view()

    async def take_back(self, roles: Sequence[str]) -> View:
        await self._hosted().take_back([self.game.role_index(role) for role in roles])
        return await self._view()

    async def resign(self, role: str) -> View:
        await self._hosted().resign(self.game.role_index(role))
        return await self._view()

    def _hosted(self) -> HostedMatch:
        if not isinstance(self.match, HostedMatch):
            raise RecordError("this page only shows the match: its players move elsewhere")
        return self.match

    async def follow(self, start: int, turns: list[View], now: View) -> View:
        assert isinstance(self.match, FollowedMatch)
        await self.match.follow(start, turns, now, keeper(self._path))
        return await self._view()

    async def sit(self, seats: list[View], rematch: str = "") -> None:
        """Store new seats, and the id of a rematch."""
        self.match.record.own[_SEATS] = seats
        self.match.record.names = [str(seat["name"]) for seat in seats]
        if rematch:
            self.match.record.own["rematch"] = rematch
        if isinstance(self.match, HostedMatch):
            await self.match.seat_taken()
        await asyncio.to_thread(keeper(self._path), self.match.record)

    async def look(self, step: int) -> View:
        self._state(step)
        if step == len(self.match.line):
            return await self._view()
        shown = await asyncio.to_thread(self._shown, step)
        return shown | {"step": step, "last": len(self.match.line)} | log_view(self.match)

    async def _view(self) -> View:
        while True:
            step = len(self.match.line)
            shown = await asyncio.to_thread(self._shown, step)
            if step == len(self.match.line):
                return match_view(self.match, shown) | log_view(self.match)

    def _shown(self, step: int) -> View:
        match = self.match
        state = match.states[step]
        before, joint = (match.states[step - 1], match.line[step - 1]) if step else (None, None)
        summary = summary_of(state)
        people = [
            index
            for index, seat in enumerate(match.record.own[_SEATS])
            if seat["kind"] in ("person", "open") and not summary.is_terminal
        ]
        seen = {"seen": seen_view(match, step), "known": self._known.view(people, step)}
        shown = state_view(state, summary, self.painter, before=before, joint=joint)
        return shown | way_view(match, step) | seen

    def _publish(self) -> None:
        self._is_stale = True
        if self._publishing is None or self._publishing.done():
            self._publishing = asyncio.create_task(self._tell_changes())

    async def _tell_changes(self) -> None:
        # Changes that occur while a view is computed are reported together in the next view.
        while self._is_stale:
            self._is_stale = False
            self._tell({"event": "changed", "view": await self._view()})

    async def why(self, step: int, role: str, move: str = "", atom: str = "") -> View:
        return await asyncio.to_thread(questions.why, self._state(step), atom or f"(legal {role} {move})")

    async def fired(self, step: int) -> View:
        if step < 1:
            return {"came": [], "went": [], "more": 0}
        state = self._state(step)
        before, joint = self.match.states[step - 1], self.match.line[step - 1]
        return await asyncio.to_thread(questions.fired, before, joint, state)

    async def wanted(self) -> View:
        """Return the lines of the sheet that define goals, and the target cells in the board hints."""
        lines = await asyncio.to_thread(goal_lines, self.game.program)
        return {"lines": lines, "cells": list(map(str, self.painter.boards.wishes))}

    async def analyse(self, step: int, seconds: float) -> View:
        state = self._state(step)
        if self._search is None:
            self._search = StateSearch(self.game)
        return await asyncio.to_thread(self._search.of, state, seconds)

    def _state(self, step: int) -> State:
        if not 0 <= step < len(self.match.states):
            raise RecordError(f"the match has the states 0 to {len(self.match.line)}, not {step}")
        return self.match.states[step]


def _load(name: str, text: str, case_sensitive: bool = True, lenient: bool = False) -> Game:
    with read_silently():  # the editor on the pages shows these warnings
        return loads(text, name=name, case_sensitive=case_sensitive, lenient=lenient, limits=LIMITS)


def _seat(name: str, spec: str, seed: int) -> Seat:
    if not is_address(spec):
        return LocalSeat(make_player(spec, seed=seed), name=name)
    host, _, port = spec.rpartition(":")
    return RemoteSeat(host.strip("[]"), int(port), name=name)


def _is_elsewhere(record: Record) -> bool:
    return any(seat["kind"] == "elsewhere" for seat in record.own[_SEATS])
