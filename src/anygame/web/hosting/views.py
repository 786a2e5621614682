"""What pages show of a state: plain data, bounded in size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from anygame.game.machine import reason_of
from anygame.match.judging import describe_fault
from anygame.web.hosting.board import draw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.boards import Painter
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.web.hosting.course import Course, Look

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
    look: Look,
    painter: Painter,
    *,
    before: State | None,
    joint: Sequence[Term] | None,
) -> View:
    """Return what is shown of a state, by whatever way it was reached.

    Args:
        state: the state.
        look: what is known of it.
        painter: of the game.
        before: the state before it, and the ``joint`` move between; None at the start.
        joint: see ``before``.
    """
    roles = state.game.roles
    facts = [text for fact in sorted(state.facts)[:_MOST_SHOWN] if len(text := str(fact)) <= _LONGEST_TERM]
    moves = {
        role: [text for move in legal[:_MOST_SHOWN] if len(text := str(move)) <= _LONGEST_TERM]
        for role, legal in zip(roles, look.legal or [()] * len(roles), strict=True)
    }
    return {
        "facts": facts,
        "hidden_facts": len(state.facts) - len(facts),
        "legal": moves,
        "terminal": look.is_terminal,
        "stuck": look.stuck,
        "goals": dict(zip(roles, look.goals, strict=True)),
        "joint": dict(zip(roles, map(str, joint), strict=True)) if joint else None,
        "picture": draw(painter, state, before=before, joint=joint),
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
        "seconds": dict(zip(roles, used, strict=True)),
        "can_take_back": bool(match.line),
        "live": dict(match.live),
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
    record = match.record
    reasons = record.reasons[step] if step < len(record.reasons) else []
    errors = record.errors[step] if step < len(record.errors) else []
    found = []
    for index, role in enumerate(match.game.roles):
        reason = reasons[index] if index < len(reasons) else ""
        error = errors[index] if index < len(errors) else ""
        drawn = f"; {match.line[step - 1][index]} was drawn instead" if step and error else ""
        if error or reason:
            found.append(f"{role}: {describe_fault(error, reason)}{drawn}"[:_LONGEST_TERM])
    return found


def log_view(match: Course) -> list[list[str]]:
    """Return the joint moves so far, as texts in the order of the roles."""
    return [[str(move)[:_LONGEST_TERM] for move in joint] for joint in match.line]
