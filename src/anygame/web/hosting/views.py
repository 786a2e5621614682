"""What pages are told of a state: plain data, bounded in size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from anygame.web.hosting.board import draw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.boards import Painter
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.web.hosting.match import HostedMatch, Look

__all__ = ["log_view", "match_view", "state_view"]

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
    """Return what is told of a state, by whatever way it was reached.

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


def match_view(match: HostedMatch, shown: View) -> View:
    """Return what is told of a match in its last state."""
    roles = match.game.roles
    used = match.record.own.get("seconds") or [0.0] * len(roles)
    return shown | {
        "step": len(match.line),
        "last": len(match.line),
        "turn": [roles[index] for index in match.turn],
        "thinking": [roles[index] for index in match.thinking],
        "over": match.is_over,
        "fault": match.fault,
        "notes": [note for step in match.record.reasons[len(match.line) :] for note in step if note],
        "said": _said(match),
        "seconds": dict(zip(roles, used, strict=True)),
        "can_take_back": bool(match.line),
    }


def _said(match: HostedMatch) -> list[tuple[str, str]]:
    """Return what the players said before the last moves, each line with its role."""
    last = match.record.said[len(match.line) :] or [[]]
    said = zip(match.game.roles, last[0], strict=False)
    pairs = [(str(role), line[:_LONGEST_TERM]) for role, lines in said for line in lines]
    return pairs[:_MOST_SAID]


def log_view(match: HostedMatch) -> list[list[str]]:
    """Return the joint moves so far, as texts in the order of the roles."""
    return [[str(move)[:_LONGEST_TERM] for move in joint] for joint in match.line]
