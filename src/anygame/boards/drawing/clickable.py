"""Boards as plain data of bounded size: SVG with clickable cells, and the cells that each move names."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from anygame.boards.drawing.pictures import Aim
from anygame.boards.drawing.svg import clickable_svg
from anygame.errors import AnygameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.boards.drawing.composing import Painter
    from anygame.boards.drawing.pictures import Listing, Picture
    from anygame.game.state import State
    from anygame.language.terms import Term

#: Maximum number of cells that are drawn: a board of 50 by 50 takes half a megabyte of SVG.
_MOST_CELLS: Final = 2_500
#: Maximum number of facts that are listed for each fluent.
_MOST_LISTED: Final = 500


def choosing_script() -> str:
    """Return the JavaScript that turns clicks on cells into moves, for pages and notebooks."""
    return (Path(__file__).parents[1] / "static" / "choosing.js").read_text(encoding="utf-8")


def clickable_state(
    painter: Painter,
    state: State,
    *,
    before: State | None,
    joint: Sequence[Term] | None,
    goals: Sequence[int] = (),
) -> dict[str, Any]:
    """Return the boards of a state as SVG, and the cells that each legal move names.

    At the start, ``before`` (the previous state) and ``joint`` (the joint move from ``before``) are None. In
    a terminal state, the caller can pass the goals of all roles to highlight the cells of the winners.
    """
    roles = [] if state.is_terminal else [role for role in state.game.roles if not role.is_random]
    picture = painter.picture(state, last=joint, before=before, legal_for=roles)
    chains = _chains(state, goals, picture) if goals else picture.chains
    return clickable_picture(replace(picture, chains=chains), roles)


def clickable_picture(picture: Picture, roles: Sequence[str]) -> dict[str, Any]:
    """Return a picture as SVG, and the cells that the legal moves of the roles name."""
    touches: dict[str, dict[str, Any]] = {role: {} for role in roles}
    for touch in picture.touches:
        if touch.cells or touch.area:
            touches[touch.role][str(touch.move)] = {"cells": touch.cells, "area": touch.area}
    count = sum(len(grid.cells) for grid in picture.grids)
    return {
        "svg": clickable_svg(picture) if 0 < count <= _MOST_CELLS else "",
        "touches": touches,
        "colours": dict(picture.colours),
        "upright": picture.upright,
        "listings": [
            {
                "name": listing.name,
                "facts": [text for text, _ in listing.facts[:_MOST_LISTED]],
                "hands": [(hand.owner, hand.cards[:_MOST_LISTED]) for hand in listing.hands[:_MOST_LISTED]],
                "told": not picture.grids or bool(listing.hands) or _is_counted(listing),
            }
            for listing in picture.others
        ],
    }


def _is_counted(listing: Listing) -> bool:
    """Return whether facts beside a board contain numbers that players want to see, such as scores."""
    return any(word.strip("()").isdigit() for text, _ in listing.facts for word in text.split())


def _chains(state: State, goals: Sequence[int], picture: Picture) -> tuple[Aim, ...]:
    """Return the cells with which each winner has won.

    The cells occur in the derivation of the winner's goal, or else in the derivation of ``terminal``.
    Derivations that contain all occupied cells are omitted. Such a derivation may only count cells.
    """
    reached = {role: goal for role, goal in zip(state.game.roles, goals, strict=True) if not role.is_random}
    best = max(reached.values(), default=0)
    if len(set(reached.values())) == 1 < len(reached):
        return ()
    standing = {f"(true {thing.fact})": cell.id for cell in picture.cells() for thing in cell.contents}
    chains = []
    for role in (role for role, goal in reached.items() if goal == best):
        for atom in (f"(goal {role} {best})", "terminal"):
            with suppress(AnygameError):
                cells = dict.fromkeys(
                    standing[each.conclusion] for each in state.explain(atom) if each.conclusion in standing
                )
                if 0 < len(cells) < len(set(standing.values())):
                    chains.append(Aim(role, picture.colours.get(role, ""), tuple(cells)))
                    break
    return tuple(chains)
