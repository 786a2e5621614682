"""Views of states and matches for pages, as plain data of bounded size."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any, Final

from anygame.boards import Painter, svg
from anygame.boards.drawing.clickable import clickable_state
from anygame.game.machine import reason_of
from anygame.match.course import summary_of
from anygame.match.judging import describe_fault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.match.course import Course, StateSummary

#: Maximum number of facts of a state, or moves of a role, on a page. No public game has more.
_MOST_SHOWN: Final = 5_000
#: Maximum number of characters of a term on a page.
_LONGEST_TERM: Final = 2_000
#: Maximum number of comments of players on one move.
_MOST_SAID: Final = 50
#: Maximum number of random joint moves before the state that a thumbnail shows.
_THUMBNAIL_MOVES: Final = 18
#: Maximum number of cells of a thumbnail. More cells would be too small to see.
_MOST_THUMBNAIL_CELLS: Final = 600
#: Maximum number of lists of facts in a thumbnail of a game without a board.
_THUMBNAIL_LINES: Final = 6
#: Pattern of the parts of an SVG that a thumbnail does not need.
_NAMED: Final = re.compile(
    r'<title>.*?</title>|<desc>.*?</desc>| id="[^"]*"| data-cell="[^"]*"| class="cell[^"]*"', re.DOTALL
)
_NUMBER: Final = re.compile(r"([0-9]{1,15})")

View = dict[str, Any]


def state_view(
    state: State,
    summary: StateSummary,
    painter: Painter,
    *,
    before: State | None,
    joint: Sequence[Term] | None,
) -> View:
    """Return the view of a state that the joint move ``joint`` reached from the state ``before``."""
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
        "picture": clickable_state(painter, state, before=before, joint=joint, goals=summary.goals),
    }


def match_view(match: Course, shown: View) -> View:
    """Return the view of a match in its last state, given the view ``shown`` of this state."""
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
    """Return the comments of players on the last move before a state, and faults of their replies."""
    roles, notes = match.game.roles, []
    for index, (role, verdict) in enumerate(zip(roles, match.record.verdicts(step, len(roles)), strict=True)):
        drawn = f"; {match.line[step - 1][index]} was played instead" if step and verdict.error else ""
        if verdict.error or verdict.detail:
            notes.append(f"{role}: {describe_fault(verdict.error, verdict.detail)}{drawn}"[:_LONGEST_TERM])
    comments = match.record.said[step] if step < len(match.record.said) else []
    said = [
        (str(role), line[:_LONGEST_TERM])
        for role, lines in zip(roles, comments, strict=False)
        for line in lines
    ]
    return {"notes": notes, "said": said[:_MOST_SAID]}


def seen_view(match: Course, step: int) -> View | None:
    """Return the moves and percepts of each role before a state; None without hidden information."""
    if not match.game.is_gdl2:
        return None
    seen = match.seen(step)
    return {
        str(role): [
            [str(joint[index])[:_LONGEST_TERM], [str(percept)[:_LONGEST_TERM] for percept in percepts[role]]]
            for joint, percepts in zip(match.line, seen, strict=False)
        ]
        for index, role in enumerate(match.game.roles)
        if not role.is_random
    }


def log_view(match: Course) -> View:
    """Return all joint moves as strings, and for each joint move the indices of the roles to list."""
    return {
        "log": [[str(move)[:_LONGEST_TERM] for move in joint] for joint in match.line],
        "told": [match.told(step) for step in range(len(match.line))],
    }


def in_natural_order(text: str) -> list[tuple[int, str]]:
    """Return a sort key that compares the numbers in strings by value.

    >>> sorted(["(drop 10)", "(drop 2)", "(drop a)"], key=in_natural_order)
    ['(drop 2)', '(drop 10)', '(drop a)']
    """
    parts = _NUMBER.split(text)
    return [(int(part), "") if at % 2 else (0, part) for at, part in enumerate(parts)]


def thumbnail(game: Game, painter: Painter) -> str:
    """Return a small SVG of a state after several random moves; empty if the board is too large."""
    states, random = [game.initial_state()], Random(1)
    while len(states) <= _THUMBNAIL_MOVES and not summary_of(state := states[-1]).is_over:
        states.append(state.next([random.choice(state.legal_moves(role)) for role in game.roles]))
    picture = painter.picture(states[2 * (len(states) - 1) // 3])
    if sum(len(grid.cells) for grid in picture.grids) > _MOST_THUMBNAIL_CELLS:
        return ""
    bare = tuple([replace(grid, title="", labels=(), looks=()) for grid in picture.grids])
    # Hands of cards illustrate a game without a board best.
    listed = [listing for listing in picture.others if listing.hands] or picture.others
    shown = replace(picture, grids=bare, others=tuple(listed[:_THUMBNAIL_LINES]))
    return _NAMED.sub("", svg(shown))
