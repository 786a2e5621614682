"""The search from what one role knows: trees that grow from the states that agree with what it saw."""

from __future__ import annotations

from math import inf
from random import Random, SystemRandom
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.errors import LimitError
from anygame.game.state import RoleView
from anygame.search.analysis import Analysis, MoveAnalysis
from anygame.search.bounds import Bounds
from anygame.search.hidden.belief import Belief
from anygame.search.hidden.searcher import LANES, InformationSetSearch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term

#: Passes that a search of a given number of tries has at least: each learns from those before.
_LEAST_PASSES: Final = 16
_FEWEST_LANES: Final = 16
#: What is certain, with room for rounding.
_CERTAIN: Final = 1 - 1e-9


class BeliefSearcher:
    """Searches information sets for one role. See ``anygame.search.searcher.Searcher`` for the contract.

    The belief is all states that agree with what the role did and saw, with their probabilities, as long as
    they fit; beyond that many of them, drawn. The role plays only what is legal in all of them, if anything
    is.

    Args:
        game: the rules.
        role: whose moves are searched.
        seed: of the random numbers; None for any.
        memory: bytes that the trees may take at most, about.

    Attributes:
        is_lost: whether the belief has run empty: it then holds states that agree with most of what was seen.

    Raises:
        LimitError: the game has no network that knows what roles see.
    """

    def __init__(self, game: Game, role: Role, *, seed: int | None = None, memory: int = 1 << 30) -> None:
        if game.backends.network is None:
            raise LimitError(f"{game.name} has no network")
        seed = SystemRandom().getrandbits(32) if seed is None else seed
        self._game, self._role = game, role
        self._moves = game.actions(role)
        self._random = Random(seed)
        self._belief = Belief(game, role, seed)
        self._search = InformationSetSearch(game, role, self._belief, seed, memory)
        self._allowed: list[int] = []
        self._lanes: int | None = None
        self._has_searched = self.is_lost = False
        # Machine code is made now, not on the clock of the first move.
        self._belief.follow(RoleView(game.initial_state()), inf)
        self._search.run(_FEWEST_LANES)

    def follow(self, view: RoleView, seconds: float) -> None:
        """Bring the belief up to date, within about so many seconds.

        Args:
            view: all that the role knows of the match.
            seconds: may be infinite.
        """
        self._belief.follow(view, monotonic() + seconds)
        self._belief.leave_out_ends()
        self.is_lost = self._belief.particles is None or self._belief.is_guess

    def begin(self, state: State) -> None:
        """Choose between moves by the belief.

        Args:
            state: one that agrees with what the role knows.
        """
        legal = state.legal_moves(self._role)
        self._drawn = self._random.choice(legal) if legal else None
        self._allowed, self._lanes, self._has_searched = [], None, False
        if self._belief.particles is not None:
            self._allowed = self._allowed_in(legal).tolist()
            self._drawn = self._moves[self._random.choice(self._allowed)]
            self._search.forget_if_full()

    def _allowed_in(self, legal: tuple[Term, ...]) -> NDArray[np.int64]:
        """Return the actions that are legal in all states of the belief, else where most of the weight is."""
        weights = self._belief.weight_of_legal()
        allowed = np.flatnonzero(weights >= min(_CERTAIN, weights.max() * _CERTAIN))
        if self._belief.is_guess:
            return allowed
        # The state given is one that agrees with what was seen, too.
        both = [action for action in allowed.tolist() if self._moves[action] in legal]
        return np.array(both, np.int64) if both else allowed

    def advance(self, seconds: float, iterations: int | None = None) -> int:
        """Search for about so many seconds; return how many tries were made, side by side in passes."""
        if self.is_done:
            return 0
        if self._lanes is None:
            few = LANES if iterations is None else max(_FEWEST_LANES, iterations // _LEAST_PASSES)
            self._lanes = min(LANES, few)
        deadline = perf_counter() + seconds
        done = 0
        while iterations is None or done < iterations:
            made = self._lanes if iterations is None else min(self._lanes, iterations - done)
            self._search.run(made)
            self._has_searched = True
            done += made
            if perf_counter() >= deadline:
                break
        return done

    @property
    def is_done(self) -> bool:
        """Whether there is no choice, or nothing to search."""
        return len(self._allowed) < 2

    @property
    def bytes(self) -> int:
        """The memory that the trees take, about."""
        return self._search.bytes

    def best(self, role: int) -> Term:
        """Return the move that the role should make: of those tried as often, the one that brought more.

        Raises:
            ValueError: the role has no legal move, or is another one.
        """
        if self._game.roles[role] != self._role or self._drawn is None:
            raise ValueError(f"{self._game.roles[role]} has no move to choose here")
        ranked = self._ranked() if self._has_searched else []
        return self._moves[ranked[0][0]] if ranked else self._drawn

    def _ranked(self) -> list[tuple[int, int, float]]:
        """Return the allowed actions with their tries and mean goals, the best first."""
        if self._belief.particles is None:
            return []
        tries, means = self._search.statistics()
        ranked = sorted(self._allowed, key=lambda action: (-tries[action], -means[action]))
        return [(action, int(tries[action]), self._search.goal(means[action])) for action in ranked]

    def analysis(self, *, lines: bool = True) -> Analysis:
        """Return what is known of the moves of the role; nothing is proven, and no line is given."""
        role, ranked = self._role, self._ranked()
        tries = sum(count for _, count, _ in ranked)
        mean = sum(count * goal for _, count, goal in ranked) / tries if tries else None
        scale = Bounds(self._search.goal(0.0), self._search.goal(1.0))
        moves = [
            MoveAnalysis(self._moves[action], count, goal if count else None, None, scale)
            for action, count, goal in ranked
        ]
        return Analysis(
            iterations=0,
            seconds=0.0,
            nodes=self._search.nodes,
            depth=0,
            bytes=self.bytes,
            moves={role: tuple(moves)},
            goals={role: mean},
            proven={role: None},
            engine="beliefs",
            believed=self._believed,
        )

    @property
    def _believed(self) -> str:
        """How many states the belief holds, in words."""
        count = 0 if self._belief.particles is None else len(self._belief.particles)
        if self._belief.is_guess:
            return f"{count:,} guesses"
        return f"{count:,} {'states believed in' if self._belief.is_exact else 'particles'}"
