"""A match that is played elsewhere, or was: nobody moves here, moves are told."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from anygame.errors import AnygameError, RecordError
from anygame.match.judging import Verdict
from anygame.web.hosting.course import Course, joint_of, look_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anygame.game.game import Game
    from anygame.match.record import Record

Told = dict[str, Any]


class FollowedMatch(Course):
    """A match of which others tell.

    Its ``live`` holds ``asked``, since when moves are waited for, in seconds since 1970, and ``clock``, the
    seconds that there are for each; nothing where the match has ended.
    """

    async def begin(self) -> None:
        """Look at the last state."""
        self.look = await asyncio.to_thread(look_at, self.states[-1])

    async def follow(
        self,
        start: int,
        turns: Sequence[Told],
        now: Told,
        keep: Callable[[Record], None],
    ) -> None:
        """Make moves that were made elsewhere, as far as the rules allow them.

        Args:
            start: the number of joint moves before them.
            turns: each with ``moves``, texts in the order of the roles, and perhaps with ``errors``,
                ``reasons``, ``said`` and ``seconds`` of every role.
            now: how the match stands: ``live`` and ``fault``; likewise ``opening``, what was said before the
                first move.
            keep: writes the record.
        """
        if "opening" in now and not self.line:
            self.record.explain(_of_all(now["opening"].get("reasons"), self.game, ""))
            self.record.quote(_of_all(now["opening"].get("said"), self.game, ()))
        for turn in turns[max(0, len(self.line) - start) :]:
            if start > len(self.line) or self.fault:
                break
            try:
                await self._turn(turn)
            except AnygameError as error:
                self.fault = f"move {len(self.line) + 1} of the record cannot be made: {error}"
        self.live = now["live"]
        self.fault = self.fault or now["fault"]
        self.record.is_completed = self.look.is_terminal
        self.record.is_aborted = bool(self.fault)
        if self.fault:
            self.record.own["fault"] = self.fault
        if self.look.is_terminal:
            self.record.goals = [goal or 0 for goal in self.look.goals]
        await asyncio.to_thread(keep, self.record)

    async def _turn(self, told: Told) -> None:
        game = self.game
        if len(told["moves"]) != len(game.roles):
            raise RecordError(f"expected {len(game.roles)} moves, found {len(told['moves'])}")
        joint = joint_of(game, told["moves"], self.states[-1])
        errors, reasons = (_of_all(told.get(key), game, "") for key in ("errors", "reasons"))
        said = _of_all(told.get("said"), game, ())
        await self._follow(joint, [*map(Verdict, joint, errors, reasons, said)])
        used = self.record.own.setdefault("seconds", [0.0] * len(game.roles))
        for index, seconds in enumerate(told.get("seconds") or ()):
            used[index] = round(used[index] + seconds, 3)

    @property
    def thinking(self) -> list[int]:
        """The indices of the roles whose choice is waited for."""
        if self.is_over or "asked" not in self.live:
            return []
        roles = self.game.roles
        return [index for index in sorted(self.choosing(self.look)) if not roles[index].is_random]


def _of_all(told: Sequence[Any] | None, game: Game, nothing: Any) -> list[Any]:
    """Return what is shown of every role; records of others may tell of fewer, or of none."""
    if told is None or len(told) != len(game.roles):
        return [nothing for _ in game.roles]
    return [nothing if one is None else one for one in told]
