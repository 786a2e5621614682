"""Matches of a compiled game as arrays: states, legal moves and observations of one match or of many."""

from __future__ import annotations

from importlib.util import find_spec
from io import BytesIO
from operator import index as as_integer
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import numpy as np

from anygame.envs.rewards import players_of
from anygame.errors import MissingExtraError
from anygame.game.roles import illegal_number
from anygame.game.showing import planes_of
from anygame.game.state import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gymnasium import Space
    from gymnasium.spaces import Discrete
    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.showing import BoardView

#: Number of joint moves after which a match is cut, as in ``game.playouts``.
DEFAULT_LIMIT: Final = 10_000
#: The effect of an illegal action: an error, or a random legal move instead, as in the GGP protocol.
Illegal: TypeAlias = Literal["error", "random"]
#: The form of observations; see ``GameEnv``.
Form: TypeAlias = Literal["flat", "planes", "history"]
#: Maximum number of entries of a history. The histories of 512 matches take up to 128 MiB per role.
_LARGEST_HISTORY: Final = 2**18
#: The available render modes; pixels need cairosvg.
RENDER_MODES: Final = ["ansi", "human", *(["rgb_array"] if find_spec("cairosvg") else [])]


def check_options(render_mode: str | None, illegal: str) -> None:
    """Raise a ValueError for an unknown option, or a MissingExtraError for pixels without cairosvg."""
    if illegal not in get_args(Illegal):
        raise ValueError(f"illegal must be one of {', '.join(get_args(Illegal))}, not {illegal!r}")
    if render_mode is None or render_mode in RENDER_MODES:
        return
    if render_mode == "rgb_array":
        message = "this needs cairosvg, which is not installed: pip install 'anygame[cairosvg]'"
        raise MissingExtraError(message, "cairosvg")
    raise ValueError(f"render mode must be one of {', '.join(RENDER_MODES)}, not {render_mode!r}")


class Episode:
    """A match: its state, the legal moves of each role, and the observations so far.

    Attributes:
        players: the indices of all roles except ``random``.
        chance: the index of the role ``random`` in a list, which is empty without this role.
        legal: per role, the numbers of its legal moves.
        stuck: the index of the first role without a legal move in a nonterminal state, or None.
        moves: the number of joint moves made.
    """

    def __init__(self, game: Game, form: Form, limit: int, illegal: Illegal) -> None:
        self.game = game
        self.observer = Observer(game, form, limit)
        self.limit = limit
        self.players = players_of(game)
        self.chance = [index for index in range(len(game.roles)) if index not in self.players]
        self._illegal = illegal
        self._actions = [game.actions(role) for role in game.roles]
        self.begin()

    @property
    def limit(self) -> int:
        """Number of joint moves after which the match is cut; a history has at least as many rows."""
        return self._limit

    @limit.setter
    def limit(self, limit: int) -> None:
        self._limit = self.observer.checked_limit(limit)

    def begin(self) -> None:
        """Go to the initial state."""
        self.moves = 0
        self._last: tuple[bytes, tuple[int, ...]] | None = None
        self._seen = [np.zeros(size, np.bool_) for size in self.observer.percepts]
        self._histories = self.observer.histories(1)
        self._stand_at(self.game.backends.needed_network().initial())

    def _stand_at(self, position: bytes) -> None:
        self.position = position
        self.legal, self.is_terminal = self.game.backends.needed_network().options(position)
        self.stuck = None
        if not (self.is_terminal or all(self.legal)):
            self.stuck = self.legal.index([])

    def mark(self) -> Any:
        """Return a bookmark of the current point of the match, for ``go_back``."""
        return self.position, self.moves, self._last, [seen.copy() for seen in self._seen]

    def go_back(self, mark: Any) -> None:
        """Go back to an earlier point of the match, which ``mark`` returned."""
        position, self.moves, self._last, self._seen = mark
        for history in self._histories:
            history[0, self.moves :] = False
        self._stand_at(position)

    @property
    def is_cut(self) -> bool:
        """Whether the match stops before its end, because a role is stuck or the limit is reached."""
        return not self.is_terminal and (self.stuck is not None or self.moves >= self.limit)

    @property
    def is_over(self) -> bool:
        """Whether the match has ended or is cut."""
        return self.is_terminal or self.is_cut

    def move(self, joint: Sequence[int]) -> None:
        """Make a joint move, given as the number of a legal move for each role."""
        before, network = self.position, self.game.backends.needed_network()
        percepts = network.percept_numbers(before, joint) if self.observer.hides else ()
        for seen, new, legal in zip(self._seen, percepts, self.legal, strict=False):
            # A forced move is not a choice, so the role still observes the earlier percepts.
            seen[:] = new if len(legal) > 1 else seen | new
        if self._histories:
            lane, made = np.zeros(1, np.intp), [np.array([number]) for number in joint]
            self.observer.record(self._histories, lane, np.array([self.moves]), made, percepts)
        self.moves += 1
        self._last = before, tuple(joint)
        self._stand_at(network.after(before, joint))

    def draw(self, random: np.random.Generator, role: int) -> int:
        """Return a uniformly random legal move of a role."""
        options = self.legal[role]
        return options[int(random.integers(len(options)))] if len(options) > 1 else options[0]

    def checked(self, role: int, action: object, random: np.random.Generator | None = None) -> int:
        """Return an action of a role as the number of a legal move; raises IllegalMoveError.

        If ``illegal`` is ``random`` and a generator is given, an illegal action becomes a random legal move.
        """
        try:
            number = as_integer(action)  # type: ignore[arg-type]
        except TypeError:
            number = None
        if number is not None and number in self.legal[role]:
            return number
        if self._illegal == "random" and random is not None and number is not None:
            return self.draw(random, role)
        wrong = action if number is None else number
        raise illegal_number(self.game.roles[role], wrong, self._actions[role], self.legal[role])

    def goals(self) -> list[float]:
        """Return the goal of each role; nan if the rules give a role no goal, or several goals."""
        return self.game.backends.needed_network().goal_values(self.position)

    def mask(self, role: int) -> NDArray[np.int8]:
        """Return which moves of a role are legal: int8 [actions]."""
        mask = np.zeros(len(self._actions[role]), np.int8)
        mask[self.legal[role]] = 1
        return mask

    def observation(self, role: int) -> NDArray[np.int8]:
        """Return the observation of a role: int8 [*shape]."""
        if self._histories:
            return np.asarray(self._histories[role][0], np.int8)
        if self.observer.hides:
            return self.observer.of_seen(role, self._seen[role])
        return self.observer.of(np.frombuffer(self.position, np.bool_))

    def facts(self) -> NDArray[np.int8]:
        """Return all fluents, including hidden fluents: int8 [fluents]."""
        return np.frombuffer(self.position, np.int8).copy()

    def state(self) -> State:
        """Return the current state."""
        return State(self.game, self.game.backends.needed_network(), self.position)

    def board(self) -> BoardView:
        """Return the boards of the state, with marks for the last joint move."""
        if self._last is None:
            return self.state().board()
        position, joint = self._last
        moves = [moves[number] for moves, number in zip(self._actions, joint, strict=True)]
        before = State(self.game, self.game.backends.needed_network(), position)
        return self.state().board(last=moves, before=before)


class Observer:
    """Encodes the states of a compiled game as observations, for environments of all libraries.

    Raises ValueError if the form of observations does not exist or does not suit the game. Raises LimitError
    if the game is too large for a network that computes percepts.

    Attributes:
        hides: whether the rules hide information (GDL-II). With hidden information, a role observes its
            percepts since its last choice.
        percepts: if the rules hide information, the number of possible percepts of each role; else empty.
        shapes: per role, the shape of its observation. A role that can observe nothing gets a single 0.
    """

    def __init__(self, game: Game, form: Form, limit: int) -> None:
        if form not in get_args(Form):
            raise ValueError(f"observations must be one of {', '.join(get_args(Form))}, not {form!r}")
        self._steps: int | None = None
        self.checked_limit(limit)
        self.hides = game.is_gdl2
        if self.hides and form == "planes":
            raise ValueError(
                f"{game.name} hides information, so roles see no board: observe 'flat' or 'history'"
            )
        self._planes = planes_of(game, game.fluent_terms) if form == "planes" else None
        self._fluents = len(game.fluent_terms)
        self._actions = [len(game.actions(role)) for role in game.roles]
        self.percepts = [len(game.percept_terms(role)) for role in game.roles] if self.hides else []
        # Gymnasium and PettingZoo reject empty arrays.
        counts = self.percepts or [self._fluents] * len(game.roles)
        self.shapes: list[tuple[int, ...]] = [(max(1, count),) for count in counts]
        if self._planes is not None:
            shape = len(self._planes.channels), self._planes.rows, self._planes.columns
            self.shapes = [shape] * len(game.roles)
        if form == "history":
            self._steps = limit
            totals = [a + p for a, p in zip(self._actions, self.percepts, strict=False)]
            totals = totals or [sum(self._actions)] * len(game.roles)
            self.shapes = [(limit, total) for total in totals]
            if limit * max(totals) > _LARGEST_HISTORY:
                raise ValueError(
                    f"a history of {limit:,} joint moves has {limit * max(totals):,} numbers, and at most "
                    f"{_LARGEST_HISTORY:,} are allowed: truncate matches after "
                    f"at most {_LARGEST_HISTORY // max(totals):,} joint moves (max_steps or max_cycles)"
                )

    def checked_limit(self, limit: int) -> int:
        """Return the limit on joint moves, reduced to the number of rows of a history."""
        if limit < 1:
            raise ValueError(f"expected a limit of at least one joint move, got {limit}")
        return min(limit, self._steps or limit)

    def histories(self, lanes: int) -> list[NDArray[np.bool_]]:
        """Return an empty history of each role, bool [lanes, steps, events]; [] without histories.

        The events are the possible moves of the role, then its possible percepts. Without hidden information,
        the events are the moves of all roles, and all roles share one array.
        """
        if self._steps is None:
            return []
        if self.hides:
            return [np.zeros((lanes, *shape), np.bool_) for shape in self.shapes]
        return [np.zeros((lanes, *self.shapes[0]), np.bool_)] * len(self.shapes)

    def record(
        self,
        histories: Sequence[NDArray[np.bool_]],
        lanes: NDArray[np.intp],
        steps: NDArray[np.int64],
        joint: Sequence[NDArray[np.int64]],
        percepts: Sequence[NDArray[np.bool_]],
    ) -> None:
        """Write a joint move into the histories of the matches in ``lanes``.

        ``steps`` has the number of earlier joint moves of each match. For each role, ``joint`` has an array
        [matches] of move numbers, and ``percepts`` has an array [matches, percepts].
        """
        first = 0
        for role, history in enumerate(histories):
            history[lanes, steps, first + joint[role]] = True
            if self.hides:
                history[lanes, steps, self._actions[role] :] = percepts[role]
            else:
                first += self._actions[role]

    def action_space(self, role: int) -> Discrete:
        """Return the space of a role's moves."""
        from gymnasium.spaces import Discrete

        return Discrete(max(1, self._actions[role]))

    def space(self, role: int, *, masked: bool) -> Space[Any]:
        """Return the space of a role's observations: int8, 0 or 1.

        With masks, observations are ``{"observation": ..., "action_mask": int8 [actions]}``.
        """
        from gymnasium.spaces import Box, Dict

        seen = Box(0, 1, self.shapes[role], np.int8)
        mask = Box(0, 1, (max(1, self._actions[role]),), np.int8)
        return Dict({"observation": seen, "action_mask": mask}) if masked else seen

    def of(self, states: NDArray[np.bool_]) -> NDArray[np.int8]:
        """Convert states [..., fluents] to observations in a game without percepts: int8 [..., *shape]."""
        if self._planes is not None:
            return self._planes.of(states).view(np.int8)
        if not self._fluents:
            return np.zeros((*states.shape[:-1], 1), np.int8)
        return states.astype(np.int8, order="C")

    def of_seen(self, role: int, percepts: NDArray[np.bool_]) -> NDArray[np.int8]:
        """Convert percepts [..., percepts] of a role to observations: int8 [..., *shape]."""
        observations = np.zeros((*percepts.shape[:-1], *self.shapes[role]), np.int8)
        observations[..., : percepts.shape[-1]] = percepts
        return observations


class EpisodeLanes:
    """Matches in parallel lanes; like `Episode`, with arrays that have an entry per lane.

    Attributes:
        masks: per role, its legal moves: bool [lanes, actions].
        terminal: which matches have ended: bool [lanes].
        stuck: the first role without a legal move in a nonterminal state, or -1: int [lanes].
        moves: the number of joint moves made: int [lanes].
    """

    def __init__(self, game: Game, form: Form, lanes: int, limit: int) -> None:
        self.game = game
        self.observer = Observer(game, form, limit)
        self.batch = game.batch(lanes, seed=0)
        self.moves = np.zeros(lanes, np.int64)
        self._limit = limit
        self._seen = [np.zeros((lanes, size), np.bool_) for size in self.observer.percepts]
        self._histories = self.observer.histories(lanes)
        self._look()

    def _look(self) -> None:
        self.masks = self.batch.legal_masks()
        self.terminal = self.batch.terminal
        lacking = np.stack([~mask.any(axis=1) for mask in self.masks])
        self.stuck = np.where(lacking.any(axis=0) & ~self.terminal, lacking.argmax(axis=0), -1)

    @property
    def cut(self) -> NDArray[np.bool_]:
        """Which matches stop before their end: bool [lanes]; see ``Episode.is_cut``."""
        return ~self.terminal & ((self.stuck >= 0) | (self.moves >= self._limit))

    @property
    def over(self) -> NDArray[np.bool_]:
        """Which matches have ended or are cut: bool [lanes]."""
        return self.terminal | self.cut

    def begin(self, lanes: NDArray[np.bool_]) -> None:
        """Begin matches in the given lanes: bool [lanes]."""
        self.batch.reset(lanes)
        self.moves[lanes] = 0
        for seen in (*self._seen, *self._histories):
            seen[lanes] = False
        self._look()

    def move(self, joint: Sequence[NDArray[np.int64]], lanes: NDArray[np.bool_]) -> None:
        """Make legal joint moves, int [lanes] per role, in the given lanes: bool [lanes]."""
        self.batch.step(dict(zip(self.game.roles, joint, strict=True)), lanes)
        moved = np.flatnonzero(lanes)
        percepts = [self.batch.percepts(role)[moved] for role in self.game.roles if self.observer.hides]
        for seen, new, mask in zip(self._seen, percepts, self.masks, strict=False):
            is_forced = mask[moved].sum(axis=1) == 1
            seen[moved] = new | (seen[moved] & is_forced[:, None])
        if self._histories:
            made = [numbers[moved] for numbers in joint]
            self.observer.record(self._histories, moved, self.moves[moved], made, percepts)
        self.moves[lanes] += 1
        self._look()

    def mark(self) -> list[NDArray[Any]]:
        """Return a bookmark of the current point of all matches, for ``go_back``."""
        return [self.batch.packed(), self.moves.copy(), *(seen.copy() for seen in self._seen)]

    def go_back(self, mark: Sequence[NDArray[Any]], lanes: NDArray[np.bool_]) -> None:
        """Go back to an earlier point, which ``mark`` returned, in the given lanes: bool [lanes]."""
        states = self.batch.packed()
        for now, before in zip([states, self.moves, *self._seen], mark, strict=True):
            now[lanes] = before[lanes]
        for history in self._histories:
            history[np.arange(history.shape[1]) >= self.moves[:, None]] = False
        self.batch.set_packed(states)
        self._look()

    def observation(self, role: int, lanes: NDArray[np.intp] | None = None) -> NDArray[np.int8]:
        """Return the observations of a role in the given lanes, or in all lanes: int8 [lanes, *shape]."""
        if self._histories:
            history = self._histories[role]
            return (history if lanes is None else history[lanes]).astype(np.int8)
        if self.observer.hides:
            seen = self._seen[role]
            return self.observer.of_seen(role, seen if lanes is None else seen[lanes])
        states = self.batch.observation()
        return self.observer.of(states if lanes is None else states[lanes])

    def goals(self) -> NDArray[np.float64]:
        """Return the goals, float [lanes, roles]; nan for a role with no goal, or with several goals."""
        return np.stack([self.batch.goals(role) for role in self.game.roles], axis=1)


def render(board: BoardView, mode: str | None) -> str | NDArray[np.uint8] | None:
    """Return a board as text (``ansi``) or pixels (``rgb_array``), or print it (``human``).

    Pixels are uint8 [rows, columns, 3]. A board without a grid becomes one white pixel.
    """
    if mode == "ansi":
        return board.text()
    if mode == "human":
        print(board.text())
    if mode != "rgb_array":
        return None
    from cairosvg import svg2png
    from PIL import Image

    image = svg2png(bytestring=board.svg(dark=False).encode(), background_color="white")
    return np.asarray(Image.open(BytesIO(image)).convert("RGB"))
