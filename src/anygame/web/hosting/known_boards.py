"""Boards that show what people know in a match with hidden information."""

from __future__ import annotations

from contextlib import suppress
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Final

from anygame.boards.drawing.clickable import clickable_picture
from anygame.errors import LimitError
from anygame.game.state import Observation, RoleView
from anygame.search.hidden.knowledge import Knowledge

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from anygame.boards import Painter
    from anygame.match.course import Course

#: Maximum time in seconds that a view waits for the compiler, which continues in the background.
_COMPILING: Final = 2.0
#: Maximum number of joint moves before a state whose board is drawn.
_MOST_STEPS: Final = 500


class KnownBoards:
    """Draws the facts that each role can derive from its own moves and percepts.

    These boards need the compiled game. Until a background thread has compiled the game, views are empty. If
    a view was requested in the meantime, the thread then calls ``ready``.
    """

    def __init__(self, match: Course, painter: Painter, ready: Callable[[], object]) -> None:
        self._match = match
        self._painter = painter
        self._ready = ready
        self._is_missed = False
        self._compiling = Thread(target=self._compile, name="compiling", daemon=True)
        if match.game.is_gdl2:
            self._compiling.start()
        self._knowledge: dict[int, Knowledge] = {}
        self._following = Lock()

    def _compile(self) -> None:
        with suppress(LimitError):
            self._match.game.backends.needed_network()
            if self._is_missed:
                self._ready()

    def view(self, roles: Collection[int], step: int) -> dict[str, Any]:
        """Return boards of what each role knows about a state; empty after too many joint moves."""
        if not self._match.game.is_gdl2 or step > _MOST_STEPS:
            return {}
        self._compiling.join(_COMPILING)
        if self._compiling.is_alive():
            self._is_missed = True
            return {}
        with self._following:
            try:
                return {str(self._match.game.roles[index]): self._of(index, step) for index in roles}
            except LimitError:
                return {}

    def _of(self, index: int, step: int) -> dict[str, Any]:
        match, role = self._match, self._match.game.roles[index]
        if index not in self._knowledge:
            self._knowledge[index] = Knowledge(match.game, role)
        observations = [
            Observation(joint[index], tuple(seen[role]), after.legal_moves(role))
            for joint, seen, after in zip(match.line, match.seen(step), match.states[1:], strict=False)
        ]
        known = self._knowledge[index].of(RoleView(match.states[0], tuple(observations)))
        made = [(role, joint[index]) for joint in match.line[:step][-1:]]
        legal = {role: match.states[step].legal_moves(role)}
        painter, name = self._painter, match.game.name
        picture = painter.known_picture(name, known.facts, known.open, legal=legal, made=made)
        return clickable_picture(picture, [role])
