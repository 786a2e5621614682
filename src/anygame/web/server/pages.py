"""Templates of pages, and the data of a match that pages show to a visitor."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from starlette.responses import HTMLResponse

from anygame.boards.names import die_face
from anygame.language.diagnostics import counted
from anygame.match.judging import outcome
from anygame.players.loading import LEVELS
from anygame.sheets.installed import summary_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.web.server.matches import Match


class Pages:
    """The templates of the package."""

    def __init__(self, navigation: Sequence[tuple[str, str]]) -> None:
        self._templates = Environment(
            loader=PackageLoader("anygame.web"),
            # Names of sheets and players can contain HTML.
            autoescape=select_autoescape(default=True),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals["navigation"] = navigation
        self._templates.filters.update(plain=plain, paragraphs=paragraphs, summary=summary_of, die=die_face)

    def text(self, template: str, **context: Any) -> str:
        return self._templates.get_template(template).render(context)

    def page(self, template: str, status: int = 200, **context: Any) -> HTMLResponse:
        return HTMLResponse(self.text(template, **context), status)


def match_context(match: Match, view: dict[str, Any], mine: list[str], *, is_last: bool) -> dict[str, Any]:
    """Return the context of a match's page for a visitor with the roles ``mine``."""
    last: dict[str, Any] = match.view or view
    shows_all = match.shows_all_now(mine)
    asking = next((role for role in last["turn"] if role in mine), None) if is_last else None
    kinds = {role: seat["kind"] for role, seat in zip(match.roles, match.seats, strict=True)}
    people = [role for role, kind in kinds.items() if kind == "person"]
    contestants = [role for role, kind in kinds.items() if kind != "random"]
    shown_role = asking or next((role for role in mine if view["legal"].get(role)), None)
    no_undo = match.no_undo(mine)
    status = _status(match, last, mine, asking, shows_all=shows_all)
    made = _log(last)[-1] if shows_all and last["log"] else []
    moves_of_others = [f"{role}: {move}." for role, _, move in made if role not in mine or len(mine) > 1]
    goals = {} if last["left"] or last["fault"] or not last["over"] else _goals(last)
    best = [role for role, goal in goals.items() if goal == max(goals.values())]
    winners = best if len(best) < len(goals) else []
    picture = view["picture"]
    if not shows_all:
        nothing = {"svg": "", "touches": {}, "listings": [], "upright": False}
        picture = view["known"].get(asking or next(iter(mine), "")) or nothing
    return {
        "match": match,
        "view": view,
        "mine": mine,
        "asking": asking,
        "moves": view["legal"][asking] if asking else [],
        "asked_role": shown_role or next(iter(view["legal"]), ""),
        "is_last": is_last,
        "live": last["live"],
        "players": [
            _player(match, last, number, mine, shows_all=shows_all) for number in range(len(match.roles))
        ],
        "status": status,
        "verdict": _verdict(last, mine),
        "winners": [last["picture"]["colours"].get(role, "") for role in winners],
        "over": last["over"],
        "since": last["since"],
        "board": board_context(picture, asking),
        "may_take_back": not no_undo and people == mine and last["can_take_back"],
        "no_undo": no_undo or "there is no move to take back",
        # A visitor who plays all of several roles has no opponent, so this visitor cannot resign.
        "may_resign": mine and not last["over"] and (contestants != mine or len(mine) == 1),
        "may_rematch": mine and last["over"],
        "is_exchanged": match.exchanged != match.seats,
        "log": _log(view) if shows_all else [],
        "joint": _log(view)[view["step"] - 1] if shows_all and view["joint"] else [],
        "spoken": " ".join([*moves_of_others, status]),
        "hides": view["seen"] is not None and not last["over"],
        "known": None if shows_all else {role: view["seen"][role] for role in mine},
    }


def paragraphs(text: str) -> list[tuple[bool, str]]:
    r"""Return the paragraphs of a text, each with a flag for tables. Only tables keep their line breaks.

    >>> paragraphs("Take some\nor all.\n\nRoles  x, o\nMoves  (take N)")
    [(False, 'Take some or all.'), (True, 'Roles  x, o\nMoves  (take N)')]
    """
    parts = []
    for part in re.split(r"\n\s*\n", text.strip("\n")):
        lines = part.splitlines()
        is_table = any("  " in line.strip() for line in lines)
        parts.append((is_table, part if is_table else " ".join(map(str.strip, lines))))
    return parts


def plain(move: str) -> str:
    """Return a move without the parentheses around it.

    >>> plain("(drop 4)"), plain("noop"), plain("(move (at 1) (at 2))")
    ('drop 4', 'noop', 'move (at 1) (at 2)')
    """
    return move[1:-1] if move.startswith("(") else move


def _log(view: dict[str, Any]) -> list[list[tuple[str, str, str]]]:
    """Return, for each joint move, the name, colour and move of each role that had a choice."""
    roles, colours = list(view["goals"]), view["picture"]["colours"]
    return [
        [(roles[index], colours.get(roles[index], ""), plain(joint[index])) for index in told]
        for joint, told in zip(view["log"], view["told"], strict=True)
    ]


def _player(
    match: Match, last: dict[str, Any], number: int, mine: list[str], *, shows_all: bool
) -> dict[str, Any]:
    role, seat = match.roles[number], match.seats[number]
    name = seat["name"]
    level = LEVELS.get(seat.get("player", ""))
    if seat["kind"] == "person":
        name = "you" if role in mine else "a person"
    elif seat["kind"] == "open":
        name = "free"
    return {
        "role": role,
        "name": name,
        "about": level.about if level else "",
        "kind": seat["kind"],
        "colour": last["picture"]["colours"].get(role, ""),
        # Thinking times could reveal hidden facts.
        "seconds": last["seconds"].get(role, 0) if shows_all or role in mine else None,
        "left": last["time"].get(role),
        "is_turn": role in last["turn"] or (shows_all and role in last["thinking"]),
        "goal": last["goals"].get(role) if last["over"] and seat["kind"] != "random" else None,
        # Only visitors who have a role may invite other people.
        "invitation": f"/match/{match.match_id}/join/{seat['secret']}"
        if seat["kind"] == "open" and mine
        else "",
    }


def _status(
    match: Match, last: dict[str, Any], mine: list[str], asking: str | None, *, shows_all: bool
) -> str:
    if verdict := _verdict(last, mine):
        return f"Over. {''.join(verdict)}."
    if last["fault"]:
        return f"The match has no result: {last['fault']}"
    if asking:
        return "Your move." if len(mine) == 1 else f"{asking} to move."
    if not shows_all:
        return "Waiting for the others." if mine else "In progress ..."
    if last["live"].get("is_start"):
        return "The players get ready ..."
    if last["thinking"]:
        return f"{' and '.join(_called(match, role) for role in last['thinking'])} thinking ..."
    seats = dict(zip(match.roles, match.seats, strict=True))
    if not last["live"] and any(seat["kind"] == "elsewhere" for seat in match.seats):
        return f"An incomplete record: {counted(last['last'], 'move')}."
    if last["turn"]:
        free = [role for role in last["turn"] if seats[role]["kind"] == "open"]
        if free and mine:
            return f"Waiting for a person to play {' and '.join(free)}: send the link."
        return f"Waiting for the move of {' and '.join(_called(match, role) for role in last['turn'])}."
    return "No role has a choice, so the match continues ..." if last["log"] else "In progress ..."


def _verdict(last: dict[str, Any], mine: list[str]) -> tuple[str, str] | None:
    """Return the result of a match in words, and its goals; None if there is no result."""
    if last["left"]:
        role, how = last["left"]
        done = {"resigned": "resigned", "late": "ran out of time"}[how]
        who = "You" if mine == [role] else role
        remaining = [other for other in last["goals"] if other not in (role, "random")]
        won = "" if len(remaining) != 1 else ": you win" if mine == remaining else f": {remaining[0]} wins"
        return f"{who} {done}{won}", ""
    if last["fault"] or not last["over"]:
        return None
    words, colon, goals = outcome(_goals(last), mine).partition(": ")
    return words, f"{colon}{goals}"


def _goals(last: dict[str, Any]) -> dict[str, int]:
    return {role: goal for role, goal in last["goals"].items() if role != "random"}


def _called(match: Match, role: str) -> str:
    seat = match.seats[list(match.roles).index(role)]
    return f"{role} ({seat['name']})" if seat["kind"] == "player" else role


def board_context(picture: dict[str, Any], asking: str | None) -> dict[str, Any]:
    """Return the context of boards, with the cells that the role ``asking`` can click to move."""
    return {
        # All text in this SVG has been escaped.
        "svg": Markup(picture["svg"]),
        "touches": picture["touches"].get(asking, {}),
        "listings": picture["listings"],
        "upright": picture["upright"],
    }
