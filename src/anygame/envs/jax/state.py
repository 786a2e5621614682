"""The state of a game as arrays: what JAX carries through its transformations."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

import jax
import numpy as np

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.envs.jax.evaluation import Array
    from anygame.game.game import Game
    from anygame.language.terms import Term

#: States of a batch that a picture shows.
_SHOWN: Final = 16
_LENGTH: Final = {name: re.compile(rf' {name}="([\d.]+)"') for name in ("width", "height")}
_ID: Final = re.compile(r' id="[^"]*"')


class Named(Protocol):
    """What a state knows of its environment."""

    id: str
    game: Game
    fluents: tuple[Term, ...]


@dataclass(frozen=True)
class State:
    """A state, with the fields that those of pgx have (Koyamada et al. 2023, "Pgx").

    Shapes are those of one game; ``vmap`` puts an axis of games before them. ``players`` and ``actions`` are
    the numbers of them, ``env.num_players`` and ``env.num_actions``.

    Attributes:
        current_player: int32; whose action is next, -1 where players act together.
        legal_action_mask: bool [actions], of the current player; where players act together [players,
            actions]. All are true once the match has ended.
        observation: see ``load``.
        rewards: float32 [players]; of the last step.
        terminated: bool; whether the match has come to its end, or to that of an illegal action.
        truncated: bool; whether it cannot go on, although the rules do not end it.
    """

    current_player: Array
    observation: Array
    rewards: Array
    terminated: Array
    truncated: Array
    legal_action_mask: Array
    _step_count: Array
    _fluents: Array
    _legal: Array
    _seen: Array
    _env: Named = field(repr=False)

    @property
    def env_id(self) -> str:
        """The name of the game."""
        return self._env.id

    def replace(self, **changes: Any) -> State:
        """Return a state in which some fields are others."""
        return replace(self, **changes)

    def to_svg(self) -> str:
        """Return a picture of the board; of several states, the boards of the first few side by side."""
        fluents = np.asarray(self._fluents)
        if fluents.ndim == 1:
            return self._picture(fluents)
        return _side_by_side([self._picture(row) for row in fluents.reshape(-1, fluents.shape[-1])[:_SHOWN]])

    def _picture(self, fluents: NDArray[np.bool_]) -> str:
        facts = [fact for fact, holds in zip(self._env.fluents, fluents, strict=True) if holds]
        return self._env.game.state(facts).board().svg()

    def save_svg(self, filename: str | os.PathLike[str]) -> None:
        """Write a picture of the board into a file; see ``to_svg``."""
        with open(filename, "w", encoding="utf-8") as file:
            file.write(self.to_svg())

    def _repr_html_(self) -> str:
        return self.to_svg()


def _side_by_side(pictures: Sequence[str]) -> str:
    """Return SVG elements as one."""
    across, tallest, parts = 0.0, 0.0, []
    for picture in pictures:
        width, height = (float(_LENGTH[name].search(picture)[1]) for name in ("width", "height"))  # type: ignore[index]
        # One page, on which ids would no longer be of one element.
        parts.append(_ID.sub("", picture).replace("<svg ", f'<svg x="{across:g}" ', 1))
        across, tallest = across + width, max(tallest, height)
    size = f'width="{across:g}" height="{tallest:g}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(parts)}</svg>'


_FIXED: Final = ["_env"]
jax.tree_util.register_dataclass(
    State, [name.name for name in fields(State) if name.name not in _FIXED], _FIXED
)
