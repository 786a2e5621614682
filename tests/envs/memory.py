"""What roles should observe of a match, by the rules alone: an oracle for all environments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    import anygame


def percepts_since_choices(
    states: Sequence[anygame.State], joints: Iterable[Sequence[anygame.Term]]
) -> dict[str, set[str]]:
    """Return per role what it has seen since it last had several legal moves."""
    seen: dict[str, set[str]] = {role: set() for role in states[0].game.roles}
    for state, joint in zip(states, joints, strict=False):
        percepts = state.percepts(joint)
        for role in seen:
            kept = set() if role in state.movers else seen[role]
            seen[role] = kept | set(map(str, percepts[role]))
    return seen


def history(
    states: Sequence[anygame.State], joints: Sequence[Sequence[anygame.Term]], role: str, steps: int
) -> NDArray[np.int8]:
    """Return the history that a role should observe."""
    game = states[0].game
    hides = game.is_gdl2
    actors = [game.role_index(role)] if hides else list(range(len(game.roles)))
    events: list[tuple[Any, anygame.Term]] = [
        (actor, move) for actor in actors for move in game.actions(game.roles[actor])
    ]
    if hides:
        events += [("sees", term) for term in game.percept_terms(role)]
    rows = np.zeros((steps, len(events)), np.int8)
    for row, state, joint in zip(rows, states, joints, strict=False):
        row[[events.index((actor, joint[actor])) for actor in actors]] = 1
        if hides:
            row[[events.index(("sees", term)) for term in state.percepts(joint)[role]]] = 1
    return rows
