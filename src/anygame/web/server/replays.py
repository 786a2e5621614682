"""Pages that show a match record state by state."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from anygame.match.record import parse_record, read_record
from anygame.web.server.processes import MatchFaultError, NotFoundError
from anygame.web.server.sheets import described

if TYPE_CHECKING:
    from starlette.requests import Request

    from anygame.match.record import Record
    from anygame.web.server.matches import Match, Matches, Seat
    from anygame.web.server.sheets import Sheet, Sheets

#: Maximum number of joint moves in an uploaded record, ten times that of the longest public match.
_MOST_MOVES: Final = 5_000


def is_record(text: str) -> bool:
    """Return whether an upload is a record rather than a sheet: only records start with a brace."""
    return text.lstrip().startswith("{")


class Replays:
    """Routes of match records, which are shown as matches that cannot be played."""

    def __init__(self, sheets: Sheets, matches: Matches) -> None:
        self._sheets = sheets
        self._matches = matches
        self._opened: dict[str, str] = {}

    @property
    def routes(self) -> list[Route]:
        return [Route("/replay/{name}", self.show)]

    async def show(self, request: Request) -> Response:
        """Show the first state of a record that is among the files and folders of the settings."""
        name = request.path_params["name"]
        path = self._sheets.records.get(name)
        if path is None:
            raise NotFoundError(f"there is no record {name[:60]!r}")
        match = await self._matches.find(self._opened.get(name, ""))
        if match is None:
            match = await self.open(await asyncio.to_thread(read_record, path))
            self._opened[name] = match.match_id
        return RedirectResponse(f"/match/{match.match_id}/0", 303)

    async def upload(self, text: str) -> Response:
        record = await asyncio.to_thread(parse_record, text)
        if record.step > _MOST_MOVES:
            raise MatchFaultError(
                f"the record has {record.step:,} joint moves: pages show records of at most {_MOST_MOVES:,}"
            )
        match = await self.open(record)
        return RedirectResponse(f"/match/{match.match_id}/0", 303)

    async def open(self, record: Record) -> Match:
        """Return a match that shows a whole record. Raises AnygameError for unknown or unplayable rules."""
        match = await self.begin(record, reveals=True)
        now = {"live": {}} | ending_of(record) | opening_of(record)
        turns = turns_of(record, 0, record.step)
        await self._matches.change(match, "follow", start=0, turns=turns, now=now)
        return match

    async def begin(self, record: Record, *, reveals: bool) -> Match:
        """Return a match in the initial state of a record; ``reveals`` shows hidden information at once."""
        sheet = await asyncio.to_thread(self._sheet, record)

        def seated(roles: list[str]) -> list[Seat]:
            names = dict(enumerate(record.names))
            return [
                {"kind": "random", "name": "chance"}
                if role == "random"
                else {"kind": "elsewhere", "name": names.get(number, "")[:60]}
                for number, role in enumerate(roles)
            ]

        return await self._matches.open(sheet, seated, record.play_clock, reveals=reveals)

    def _sheet(self, record: Record) -> Sheet:
        rules, game = record.own.get("rules"), str(record.own.get("game", ""))
        stem = (game or record.game_url).rstrip("/").rpartition("/")[2]
        if isinstance(rules, str):
            case_sensitive = record.own.get("caseSensitive", True) is not False
            return described(stem or record.match_id, rules, case_sensitive=case_sensitive)
        sheet = self._sheets.find(stem.partition(".")[0]) if stem else None
        if sheet is None:
            raise MatchFaultError(
                f"the record does not contain its rules, and there is no sheet {stem[:60]!r} here"
            )
        return sheet


def turns_of(record: Record, start: int, end: int) -> list[dict[str, Any]]:
    """Return the moves between two states as `FollowedMatch.follow` expects them."""
    return [
        {
            "moves": record.moves[step - 1],
            "errors": _at(record.errors, step),
            "reasons": _at(record.reasons, step),
            "said": _at(record.said, step),
        }
        for step in range(start + 1, end + 1)
    ]


def opening_of(record: Record) -> dict[str, Any]:
    """Return the faults and comments of players before the first move."""
    return {"opening": {"reasons": _at(record.reasons, 0), "said": _at(record.said, 0)}}


def ending_of(record: Record) -> dict[str, Any]:
    """Return the fault of an aborted match; empty for other matches."""
    return {"fault": str(record.own.get("fault", "")) if record.is_aborted else ""}


def _at(told: list[Any], step: int) -> list[Any]:
    return told[step] if step < len(told) else []
