"""The player for games with hidden information: information-set tree search from what it believes."""

from __future__ import annotations

from contextlib import suppress
from math import inf
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.errors import LimitError
from anygame.game.machine import FallbackWarning
from anygame.game.role_view import RoleView
from anygame.players.player import Player, check_option
from anygame.players.uct import UctPlayer
from anygame.search.hidden.belief import Belief
from anygame.search.hidden.searcher import LANES, InformationSetSearch
from anygame.search.searching import DEFAULT_MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.players.clock import Clock

#: Of the clock, the part that compiling may take, and the part for finding what may be true.
_COMPILING, _BELIEVING = 0.5, 0.4
#: Passes that a search of a given number of tries has at least: each learns from those before.
_LEAST_PASSES: Final = 16
_FEWEST_LANES: Final = 16
#: What is certain, with room for rounding.
_CERTAIN: Final = 1 - 1e-9


class BeliefSearch:
    """What a player of a game with hidden information thinks with: what it believes, and what it does then.

    Args:
        game: the rules.
        role: whose moves are looked for.
        seed: of the random numbers.
        iterations: tries for a move; None for as many as the clock allows.
        memory: bytes that the trees may take at most, about.
        clock: of the start; the game is compiled if half of it is enough for that.

    Raises:
        LimitError: the game has no network that knows what roles see.
    """

    def __init__(
        self, game: Game, role: Role, seed: int, iterations: int | None, memory: int, clock: Clock
    ) -> None:
        if not game.is_settled and not clock.is_up:
            with suppress(FallbackWarning):
                game.compile(seconds=clock.remaining() * _COMPILING)
        if game.backends.network is None:
            raise LimitError(f"{game.name} has no network")
        self._game = game
        self._role = role
        self._iterations = iterations
        self._moves = game.actions(role)
        self._random = Random(seed)
        self._belief = Belief(game, role, seed)
        self._search = InformationSetSearch(game, role, self._belief, seed, memory)
        self._tries = 0
        self._allowed_now: list[int] = []
        self._is_lost = False
        # Machine code is made now, not on the clock of the first move.
        self._belief.follow(RoleView(game.initial_state()), inf)
        self._search.run(_FEWEST_LANES)

    @property
    def is_lost(self) -> bool:
        """Whether the belief has run empty: what is believed then agrees with most of what was seen."""
        return self._is_lost

    def moves(self, state: State, view: RoleView | None, clock: Clock) -> Iterator[Term]:
        """Yield better and better moves, until the clock is up or all tries are made.

        Args:
            state: one that agrees with what the role knows.
            view: what it knows; None in games that hide nothing.
            clock: how long there is.
        """
        yield self._random.choice(state.legal_moves(self._role))
        belief, search = self._belief, self._search
        belief.follow(view or RoleView(state), monotonic() + _BELIEVING * clock.remaining())
        belief.leave_out_ends()
        self._tries = 0
        self._is_lost = belief.particles is None or belief.is_guess
        if belief.particles is None:
            return
        allowed = self._allowed(state)
        self._allowed_now = allowed.tolist()
        yield self._moves[self._random.choice(allowed.tolist())]
        if len(allowed) == 1:
            return
        search.forget_if_full()
        left = self._iterations
        lanes = LANES if left is None else min(LANES, max(_FEWEST_LANES, left // _LEAST_PASSES))
        took = 0.0
        # A pass that would not end in time is not begun: passes over long games take a while.
        while clock.remaining() > took and (left is None or left > 0):
            made = lanes if left is None else min(lanes, left)
            began = monotonic()
            search.run(made)
            took = monotonic() - began
            self._tries += made
            left = None if left is None else left - made
            tries, means = search.statistics()
            # Of moves tried as often, the one that brought more.
            best: int = max(allowed.tolist(), key=lambda action: (tries[action], means[action]))
            yield self._moves[best]

    def known(self) -> list[tuple[Term, int, float]]:
        """Return for each move that may be made how often it was tried, and its mean goal; the best first."""
        if self._belief.particles is None:
            return []
        tries, means = self._search.statistics()
        ranked = sorted(self._allowed_now, key=lambda action: (-tries[action], -means[action]))
        goal = self._search.goal
        return [(self._moves[action], int(tries[action]), goal(means[action])) for action in ranked]

    @property
    def tries(self) -> int:
        """How many tries were made for the last move."""
        return self._tries

    @property
    def believed(self) -> str:
        """How many states are believed in, in words."""
        count = 0 if self._belief.particles is None else len(self._belief.particles)
        if self._belief.is_guess:
            return f"{count:,} guesses"
        return f"{count:,} {'states believed in' if self._belief.is_exact else 'particles'}"

    def _allowed(self, state: State) -> NDArray[np.int64]:
        """Return the actions that are legal in all states believed in, else where most of the weight is."""
        weights = self._belief.weight_of_legal()
        allowed = np.flatnonzero(weights >= min(_CERTAIN, weights.max() * _CERTAIN))
        if self._belief.is_guess:
            return allowed
        # The state given is one that agrees with what was seen, too.
        legal = state.legal_moves(self._role)
        both = [action for action in allowed.tolist() if self._moves[action] in legal]
        return np.array(both, np.int64) if both else allowed

    def told(self, move: Term) -> str:
        """Return what is to be said of a move that was chosen; empty where there was nothing to search."""
        particles = self._belief.particles
        if particles is None or not self._tries:
            return ""
        tried, means = self._search.statistics()
        action = self._moves.index(move)
        mean, share = self._search.goal(means[action]), tried[action] / max(1.0, tried.sum())
        return f"{move}: mean goal {mean:.1f}, {share:.0%} of tries, {self._tries:,} now; {self.believed}"


class IsmctsPlayer(Player):
    """Searches information sets, and plays the move that it tried most.

    What it believes are all states that agree with what it did and saw, with their probabilities, as long as
    they fit; beyond that many of them, drawn. It only plays what is legal in all of them, if anything is. On
    games without hidden information it searches from the state itself.

    Args:
        seed: of the random numbers.
        iterations: tries for a move, if the clock allows; None for as many as it allows.
        memory: bytes that the trees may take at most, about.
        aloud: whether it says what it thinks of its move.
    """

    def __init__(
        self,
        seed: int | None = None,
        *,
        iterations: int | None = None,
        memory: int = DEFAULT_MEMORY,
        aloud: bool = False,
    ) -> None:
        super().__init__(seed)
        check_option("memory in bytes", memory, 1)
        check_option("iterations", iterations, 1)
        self.iterations, self.memory, self.aloud = iterations, memory, aloud
        self.remembers = iterations is not None
        self._thoughts: BeliefSearch | None = None
        self._other: UctPlayer | None = None

    def start(self, game: Game, role: Role, clock: Clock) -> None:
        """Compile the game, and begin to believe."""
        super().start(game, role, clock)
        self._thoughts = self._other = None
        self.needs_state = True
        seed = self.random.getrandbits(32)
        try:
            self._thoughts = BeliefSearch(game, role, seed, self.iterations, self.memory, clock)
            self.needs_state = False
        except LimitError as error:
            self.say(f"{error}: searching one state that agrees with what was seen")
            self._other = UctPlayer(seed, tries=self.iterations)
            self._other.start(game, role, clock)

    def move(self, state: State, clock: Clock) -> Term:
        """Return the move tried most, of those that are legal whatever is true."""
        if self._other is not None:
            return self._other.move(state, clock)
        assert self._thoughts is not None
        best = think(self, self._thoughts, state, clock)
        if self.aloud and (told := self._thoughts.told(best)):
            self.say(told)
        return best


def think(player: Player, thoughts: BeliefSearch, state: State, clock: Clock) -> Term:
    """Return the move that thoughts come to, keeping the player's `best` up to date; say where they fail."""
    was_lost = thoughts.is_lost
    best: Term | None = None
    for move in thoughts.moves(state, player.view, clock):
        player.best = best = move
    assert best is not None
    if thoughts.is_lost and not was_lost:
        player.say("belief has run empty: no state that was tried agrees with all that was seen")
    return best
