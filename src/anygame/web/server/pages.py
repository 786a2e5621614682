"""Pages: templates, and what they show of a match to one visitor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from starlette.responses import HTMLResponse

from anygame.match.judging import outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.web.server.matches import Match


class Pages:
    """The templates of the package.

    Args:
        navigation: what every page leads to, with addresses.
    """

    def __init__(self, navigation: Sequence[tuple[str, str]]) -> None:
        self._templates = Environment(
            loader=PackageLoader("anygame.web"),
            # Whatever a sheet, a player or a visitor is called, it is text.
            autoescape=select_autoescape(default=True),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals["navigation"] = navigation

    def text(self, template: str, **context: Any) -> str:
        """Return what a template makes of a context."""
        return self._templates.get_template(template).render(context)

    def page(self, template: str, status: int = 200, **context: Any) -> HTMLResponse:
        """Return the answer that a template makes of a context."""
        return HTMLResponse(self.text(template, **context), status)


def match_context(match: Match, view: dict[str, Any], mine: list[str], *, is_last: bool) -> dict[str, Any]:
    """Return what the page of a match shows to somebody.

    Args:
        match: the match.
        view: of the state that is shown.
        mine: the roles that the visitor has.
        is_last: whether this is the state in which the match stands.
    """
    last: dict[str, Any] = match.view or view
    shows_all = match.shows_all_now(mine)
    asking = next((role for role in last["turn"] if role in mine), None) if is_last else None
    people = [role for role, seat in zip(match.roles, match.seats, strict=True) if seat["kind"] == "person"]
    shown_role = asking or next((role for role in mine if view["legal"].get(role)), None)
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
        "status": _status(last, mine, asking, is_elsewhere=match.is_elsewhere, shows_all=shows_all),
        "board": board_context(view["picture"], asking) if shows_all else _known_board(view, asking, mine),
        "may_take_back": mine and people == mine and last["can_take_back"] and match.shows_all(mine),
        "hides": view["seen"] is not None and not last["over"],
        "known": None if shows_all else {role: view["seen"][role] for role in mine},
    }


def _player(
    match: Match, last: dict[str, Any], number: int, mine: list[str], *, shows_all: bool
) -> dict[str, Any]:
    role, seat = match.roles[number], match.seats[number]
    name = seat["name"]
    if seat["kind"] == "person":
        name = "you" if role in mine else "a person"
    elif seat["kind"] == "open":
        name = "free"
    return {
        "role": role,
        "name": name,
        "kind": seat["kind"],
        "colour": last["picture"]["colours"].get(role, ""),
        # Who has to choose, and for how long, shows something of a state that is hidden.
        "seconds": last["seconds"].get(role, 0) if shows_all or role in mine else None,
        "is_turn": role in last["turn"] or (shows_all and role in last["thinking"]),
        "goal": last["goals"].get(role) if last["over"] else None,
        # Only who has a role may invite.
        "invitation": f"/match/{match.match_id}/join/{seat['secret']}"
        if seat["kind"] == "open" and mine
        else "",
    }


def _status(
    last: dict[str, Any], mine: list[str], asking: str | None, *, is_elsewhere: bool, shows_all: bool
) -> str:
    """Return whose turn it is, or how it ended, in a sentence."""
    if last["fault"]:
        return f"The match was given up: {last['fault']}"
    if last["over"]:
        goals = {role: goal for role, goal in last["goals"].items() if role != "random"}
        return f"Over. {outcome(goals, mine)}."
    if asking:
        return "Your move." if len(mine) == 1 else f"{asking} to move."
    if not shows_all:
        return "Waiting for the others." if mine else "Going on ..."
    if last["live"].get("is_start"):
        return "The players get ready ..."
    if last["thinking"]:
        return f"{' and '.join(last['thinking'])} thinking ..."
    if is_elsewhere and not last["live"]:
        return f"A record, as far as it goes: {last['last']} moves."
    if last["turn"]:
        return f"Waiting for {' and '.join(last['turn'])}."
    return "Going on ..."


def _known_board(view: dict[str, Any], asking: str | None, mine: Sequence[str]) -> dict[str, Any]:
    """Return the boards as the role that is asked to move knows them, or else somebody's first role."""
    role = asking or next(iter(mine), "")
    picture = view["known"].get(role) or {"svg": "", "touches": {}, "listings": []}
    return board_context(picture, asking)


def board_context(picture: dict[str, Any], asking: str | None) -> dict[str, Any]:
    """Return boards, with the cells of the moves of whoever is asked to move."""
    return {
        # Drawn by us from a picture, with every text in it escaped.
        "svg": Markup(picture["svg"]),
        "touches": picture["touches"].get(asking, {}),
        "listings": picture["listings"],
    }
