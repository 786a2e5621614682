"""What pages show of a state: plain data, bounded in size; boards as SVG, whose cells answer to clicks."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from html import escape
from itertools import groupby
from random import Random
from typing import TYPE_CHECKING, Any, Final

from anygame.boards import Aim, Painter, svg
from anygame.errors import AnygameError
from anygame.game.machine import reason_of
from anygame.match.judging import describe_fault
from anygame.web.hosting.course import summary_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.boards import Listing, Picture
    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.web.hosting.course import Course, StateSummary


#: Facts of a state, or moves of a role, that a page shows: more than any public game has, and a page still
#: opens at once.
_MOST_SHOWN: Final = 5_000
#: Characters of one term that a page shows.
_LONGEST_TERM: Final = 2_000

#: Lines of what players say of one move.
_MOST_SAID: Final = 50

View = dict[str, Any]


def state_view(
    state: State,
    summary: StateSummary,
    painter: Painter,
    *,
    before: State | None,
    joint: Sequence[Term] | None,
) -> View:
    """Return what is shown of a state, by whatever way it was reached.

    Args:
        state: the state.
        summary: what is known of it.
        painter: of the game.
        before: the state before it, and the ``joint`` move between; None at the start.
        joint: see ``before``.
    """
    roles = state.game.roles
    facts = [text for fact in sorted(state.facts)[:_MOST_SHOWN] if len(text := str(fact)) <= _LONGEST_TERM]
    moves = {
        role: sorted(
            [text for move in legal[:_MOST_SHOWN] if len(text := str(move)) <= _LONGEST_TERM],
            key=in_natural_order,
        )
        for role, legal in zip(roles, summary.legal or [()] * len(roles), strict=True)
    }
    return {
        "facts": facts,
        "hidden_facts": len(state.facts) - len(facts),
        "legal": moves,
        "terminal": summary.is_terminal,
        "goals": dict(zip(roles, summary.goals or [None] * len(roles), strict=True)),
        "joint": dict(zip(roles, map(str, joint), strict=True)) if joint else None,
        "picture": draw(painter, state, before=before, joint=joint, goals=summary.goals),
    }


def match_view(match: Course, shown: View) -> View:
    """Return what is shown of a match in its last state."""
    roles = match.game.roles
    used = match.record.own.get("seconds") or [0.0] * len(roles)
    return shown | {
        "step": len(match.line),
        "last": len(match.line),
        "turn": [roles[index] for index in match.turn],
        "thinking": [roles[index] for index in match.thinking],
        "over": match.is_over,
        "fault": match.fault,
        "left": match.left,
        "seconds": dict(zip(roles, used, strict=True)),
        "can_take_back": match.can_take_back,
        "live": dict(match.live),
        "time": {role: match.time_left(index) for index, role in enumerate(roles)},
        "since": int(match.since) if match.since and match.is_running else None,
        "slow": (reason_of(match.game.fallback) or "")[:_LONGEST_TERM],
    }


def way_view(match: Course, step: int) -> View:
    """Return what happened on the way to a state: what players said, what was wrong with replies."""
    told = match.record.said[step] if step < len(match.record.said) else []
    said = zip(match.game.roles, told, strict=False)
    pairs = [(str(role), line[:_LONGEST_TERM]) for role, lines in said for line in lines]
    return {"notes": _notes(match, step), "said": pairs[:_MOST_SAID]}


def seen_view(match: Course, step: int) -> View | None:
    """Return what each role knows of the way to a state: at each step its own move, and what it saw then.

    None where the rules hide nothing.
    """
    game = match.game
    if not game.is_gdl2:
        return None
    seen = match.seen(step)
    return {
        str(role): [
            [str(match.line[number][index])[:_LONGEST_TERM], [str(one)[:_LONGEST_TERM] for one in each[role]]]
            for number, each in enumerate(seen)
        ]
        for index, role in enumerate(game.roles)
        if not role.is_random
    }


def _notes(match: Course, step: int) -> list[str]:
    roles, found = match.game.roles, []
    for index, (role, verdict) in enumerate(zip(roles, match.record.verdicts(step, len(roles)), strict=True)):
        drawn = f"; {match.line[step - 1][index]} was drawn instead" if step and verdict.error else ""
        if verdict.error or verdict.detail:
            found.append(f"{role}: {describe_fault(verdict.error, verdict.detail)}{drawn}"[:_LONGEST_TERM])
    return found


def log_view(match: Course) -> View:
    """Return the joint moves so far, as texts in the order of the roles, and whose a list shows of each."""
    return {
        "log": [[str(move)[:_LONGEST_TERM] for move in joint] for joint in match.line],
        "told": [match.told(step) for step in range(len(match.line))],
    }


_NUMBER: Final = re.compile(r"([0-9]{1,15})")


def in_natural_order(text: str) -> list[tuple[int, str]]:
    """Return a key by which texts are sorted as people count.

    >>> sorted(["(drop 10)", "(drop 2)", "(drop a)"], key=in_natural_order)
    ['(drop 2)', '(drop 10)', '(drop a)']
    """
    parts = _NUMBER.split(text)
    return [(int(part), "") if at % 2 else (0, part) for at, part in enumerate(parts)]


#: Cells that are drawn: a board of 50 by 50 takes half a megabyte of SVG.
_MOST_CELLS: Final = 2_500
#: Facts of one fluent that are listed of a game without a board.
_MOST_LISTED: Final = 500
_CELL: Final = re.compile(
    r'<g id="(?P<id>[^"]*)" class="(?P<marks>cell[^"]*)" data-cell="[^"]*">'
    r"<title>(?P<title>.*?)</title>(?P<inner>.*?)\n</g>",
    re.DOTALL,
)
#: Pages allow no styles but those of their own sheet, which has these rules too.
_STYLE: Final = re.compile(r"<style>.*?</style>", re.DOTALL)


def draw(
    painter: Painter,
    state: State,
    *,
    before: State | None,
    joint: Sequence[Term] | None,
    goals: Sequence[int] = (),
) -> dict[str, Any]:
    """Return the boards of a state as SVG, and the cells that every legal move names.

    Args:
        painter: of the game.
        state: what is drawn.
        before: the state before it, and the ``joint`` move between; None at the start.
        joint: see ``before``.
        goals: of every role at the end, to show how the winner won; none elsewhere.
    """
    roles = [] if state.is_terminal else [role for role in state.game.roles if not role.is_random]
    picture = painter.picture(state, last=joint, before=before, legal_for=roles)
    return drawn(replace(picture, chains=_chains(state, goals, picture)) if goals else picture, roles)


def drawn(picture: Picture, roles: Sequence[str]) -> dict[str, Any]:
    """Return a picture as SVG, and the cells that the moves of some roles name."""
    touches: dict[str, dict[str, Any]] = {role: {} for role in roles}
    for touch in picture.touches:
        if touch.cells or touch.area:
            touches[touch.role][str(touch.move)] = {"cells": touch.cells, "area": touch.area}
    count = sum(len(grid.cells) for grid in picture.grids)
    return {
        "svg": _svg(picture) if 0 < count <= _MOST_CELLS else "",
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
    """Whether facts beside a board hold numbers, such as scores and steps: players want to see these."""
    return any(word.strip("()").isdigit() for text, _ in listing.facts for word in text.split())


def _chains(state: State, goals: Sequence[int], picture: Picture) -> tuple[Aim, ...]:
    """Return for each winner the cells that the derivation of its goal names, or else that of the end.

    A derivation that names everything on the board, as one that counts does, shows no line.
    """
    reached = {role: goal for role, goal in zip(state.game.roles, goals, strict=True) if not role.is_random}
    best = max(reached.values(), default=0)
    if len(set(reached.values())) == 1 < len(reached):
        return ()
    standing = {f"(true {thing.fact})": cell.id for cell in picture.cells() for thing in cell.contents}
    found = []
    for role in (role for role, goal in reached.items() if goal == best):
        for atom in (f"(goal {role} {best})", "terminal"):
            with suppress(AnygameError):
                cells = dict.fromkeys(
                    standing[each.conclusion] for each in state.explain(atom) if each.conclusion in standing
                )
                if 0 < len(cells) < len(set(standing.values())):
                    found.append(Aim(role, picture.colours.get(role, ""), tuple(cells)))
                    break
    return tuple(found)


#: Joint moves after which a thumbnail shows a game, at most: its boards are seldom empty then.
_THUMBNAIL_MOVES: Final = 18
#: Cells of a thumbnail: more could not be told apart.
_MOST_THUMBNAIL_CELLS: Final = 600
#: Fluents that a thumbnail of a game without a board shows.
_THUMBNAIL_LINES: Final = 6
#: What a thumbnail has no use for.
_NAMED: Final = re.compile(
    r'<title>.*?</title>|<desc>.*?</desc>| id="[^"]*"| data-cell="[^"]*"| class="cell[^"]*"', re.DOTALL
)


def thumbnail(game: Game, painter: Painter) -> str:
    """Return a small drawing of a game on its way, the same each time; empty where it is too large.

    It is of two thirds of the first random moves, and of a state in which play goes on.
    """
    states, random = [game.initial_state()], Random(1)
    while len(states) <= _THUMBNAIL_MOVES and not summary_of(states[-1]).is_over:
        state = states[-1]
        states.append(state.next([random.choice(state.legal_moves(role)) for role in game.roles]))
    picture = painter.picture(states[2 * (len(states) - 1) // 3])
    if sum(len(grid.cells) for grid in picture.grids) > _MOST_THUMBNAIL_CELLS:
        return ""
    bare = tuple([replace(grid, title="", labels=(), looks=()) for grid in picture.grids])
    # Of a game without a board the cards say most.
    listed = [listing for listing in picture.others if listing.hands] or picture.others
    shown = replace(picture, grids=bare, others=tuple(listed[:_THUMBNAIL_LINES]))
    return _NAMED.sub("", svg(shown))


def _svg(picture: Picture) -> str:
    """Return the picture as a grid of rows of cells, so that readers and keys find their way in it.

    Which moves are legal is not drawn: that depends on who looks at it.
    """
    grids = [
        replace(grid, cells=tuple([replace(cell, marks=cell.marks - {"legal"}) for cell in grid.cells]))
        for grid in picture.grids
    ]
    plain = replace(picture, grids=tuple(grids))
    rows = _Rows(picture)
    text = _CELL.sub(rows.cell, _STYLE.sub("", svg(plain)))
    return text.replace('role="img"', 'role="grid" aria-label="Board"', 1)


class _Rows:
    """Puts the cells of an SVG element into rows, and says what they are."""

    def __init__(self, picture: Picture) -> None:
        self._terms = {cell.id: " ".join(map(str, cell.terms)) for cell in picture.cells()}
        rows = [list(row) for grid in picture.grids for _, row in groupby(grid.cells, lambda cell: cell.y)]
        self._firsts = {row[0].id for row in rows}
        self._lasts = {row[-1].id for row in rows}

    def cell(self, match: re.Match[str]) -> str:
        """Return a cell that can be reached by keys and has a name, with the tags of its row around it."""
        own, title = match["id"], match["title"]
        start = '<g role="row">' if own in self._firsts else ""
        end = "</g>" if own in self._lasts else ""
        terms = escape(self._terms.get(own, ""))
        return (
            f'{start}<g id="{own}" class="{match["marks"]}" role="gridcell" tabindex="-1" data-id="{own}" '
            f'data-terms="{terms}" aria-label="{title}"><title>{title}</title>{match["inner"]}</g>{end}'
        )
