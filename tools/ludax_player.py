"""The trained Reversi player of ``ludax-agents``, for the public sheet of Reversi.

    pip install ludax-agents 'jax<0.10'
    anygame match reversi.kif --players mcts tools/ludax_player.py:LudaxAgent --play-clock 5
    anygame match reversi.kif --players mcts tools/ludax_player.py:LudaxAgent:simulations=1024
    python tools/ludax_player.py reversi.kif --games 20

The last line plays random games with the rules of the sheet and with the rules of Ludax, and compares boards,
turns, legal moves and results. In Ludax, a match ends after two passes. By the sheet, a match ends as soon as
neither role can move. By both, a role without a move passes. In Ludax 1.0.0, a pass flips stones again, along
lines from the last stone of the role. This player corrects that, also in its search.

AlphaZero trained the network, a ResNet. Gumbel MuZero searches with this network (Danihelka et al. 2022,
"Policy improvement by planning with Gumbel"). See https://github.com/gdrtodd/ludax.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.arguments import some_count

import anygame
from anygame.errors import PlayerError
from anygame.players import Player
from anygame.players.player import check_option

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anygame import Game, State, Term
    from anygame.players import Clock

#: Command for installation; later versions of JAX cannot read the file of the network.
INSTALL: Final = "pip install ludax-agents 'jax<0.10'"
#: The initial state of the supported sheet, its roles in the order of their turns, and its patterns.
_FIRST: Final = {
    "(cell 4 4 black)",
    "(cell 5 5 black)",
    "(cell 4 5 red)",
    "(cell 5 4 red)",
    "(control black)",
}
_ROLES: Final = ("black", "red")
_CELL: Final = re.compile(r"\(cell ([1-8]) ([1-8]) (black|red)\)")
_TURN: Final = re.compile(r"\(control (black|red)\)")
_MOVE: Final = re.compile(r"\(move ([1-8]) ([1-8])\)")
#: Numbers of Ludax for an empty square and for the action of passing; all other actions are squares.
_EMPTY: Final = -1
_PASS: Final = 64


def check_game(game: Game) -> None:
    """Raise an error unless the game has the initial state and the roles of the supported sheet.

    Raises:
        PlayerError: the game is not the supported game.
    """
    facts = {str(fact) for fact in game.initial_state().facts}
    if facts != _FIRST or tuple(map(str, game.roles)) != _ROLES:
        raise PlayerError(f"this player plays reversi as the public sheet has it, not {game.name}")


def square(x: str, y: str) -> int:
    """Return the number of a square in Ludax, whose board is mirrored: row by row, from the right.

    >>> square("4", "4"), square("5", "5")
    (28, 35)
    """
    return 8 * (int(y) - 1) + 8 - int(x)


def actions(legal: Sequence[Term]) -> dict[int, Term]:
    """Return legal moves by action of Ludax; a move without a square is a pass."""
    found = {}
    for each in legal:
        move = _MOVE.fullmatch(str(each))
        found[_PASS if move is None else square(move[1], move[2])] = each
    return found


def position(state: State) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.int8]], int]:
    """Return the board of a state, int8 [1, 64] with the role of each stone, and the role to move."""
    board, player = np.full((1, 64), _EMPTY, np.int8), 0
    for fact in map(str, state.facts):
        if (cell := _CELL.fullmatch(fact)) is not None:
            board[0, square(cell[1], cell[2])] = _ROLES.index(cell[3])
        elif (turn := _TURN.fullmatch(fact)) is not None:
            player = _ROLES.index(turn[1])
    return board, player


@dataclass(frozen=True, slots=True)
class Ludax:
    """Reversi in Ludax, corrected: a pass does not change the board.

    Attributes:
        environment: the environment in which the trained player searches.
        first: the initial state.
        step: returns the state after an action, given a state and the action.
    """

    environment: Any
    first: Any
    step: Callable[[Any, int], Any]


@cache
def ludax() -> Ludax:
    """Return the installed environment, corrected.

    Raises:
        PlayerError: ``ludax-agents`` is not installed.
    """
    try:
        import jax
        import ludax_agents  # noqa: F401
        from ludax import LudaxEnvironment, games
    except ImportError as error:
        raise PlayerError(f"ludax-agents is not installed; try: {INSTALL}") from error
    environment = LudaxEnvironment(game_str=games.reversi)
    by_itself = environment.step

    def step(state: Any, action: Any, key: Any = None) -> Any:
        # Stones flip along lines from the last stone of a role, so remove the last stone before a pass.
        moved = state.game_state.previous_actions
        moved = jax.numpy.where(action == _PASS, jax.numpy.full_like(moved, -1), moved)
        return by_itself(
            state.replace(game_state=state.game_state._replace(previous_actions=moved)), action, key
        )

    environment.step = step
    return Ludax(environment, environment.init(jax.random.PRNGKey(0)), jax.jit(step))


def state_of(state: State) -> Any:
    """Return a non-terminal state as a state of Ludax."""
    import jax.numpy as jnp

    board, player = position(state)
    legal = np.zeros(_PASS + 1, bool)
    legal[list(actions(state.legal_moves(state.game.roles[player])))] = True
    first = ludax().first
    game_state = first.game_state._replace(
        board=jnp.asarray(board),
        legal_action_mask=jnp.asarray(legal),
        current_player=jnp.int8(player),
        phase_step_count=jnp.int8(player),  # the parity determines the role to move
        scores=jnp.asarray([(board == role).sum() for role in (0, 1)], jnp.float32),
    )
    return first.replace(
        game_state=game_state, legal_action_mask=jnp.asarray(legal), current_player=jnp.int8(player)
    )


@cache
def policy(simulations: int) -> Callable[[Any, int], int]:
    """Return a function from a state of Ludax and a seed to an action; the first call compiles for 30 s.

    Raises:
        PlayerError: ``ludax-agents`` is not installed, or cannot be used with this version of JAX.
    """
    known = ludax()
    import jax
    from ludax_agents import policy as agents

    agents.NUM_SIMULATIONS = simulations  # read during tracing, which happens below
    try:
        traced = agents.az_checkpoint_policy(known.environment, agents.get_checkpoint_path("reversi"))
    except TypeError as error:
        raise PlayerError(
            f"JAX {jax.__version__} cannot read the network of ludax-agents; try: {INSTALL}"
        ) from error

    def choose(state: Any, seed: int) -> int:
        batch = jax.tree_util.tree_map(lambda leaf: jax.numpy.asarray(leaf)[None], state)
        return int(traced(batch, jax.random.PRNGKey(seed))[0])

    choose(known.first, 0)
    return choose


class LudaxAgent(Player):
    """A player whose moves the trained player chooses, with a fixed number of simulations on any clock.

    Args:
        seed: seed of the noise in the search.
        simulations: number of simulations per move.

    Raises:
        PlayerError: a number is out of range, or ``ludax-agents`` cannot be used.
    """

    def __init__(self, seed: int | None = None, *, simulations: int = 256) -> None:
        super().__init__(seed)
        check_option("simulations", simulations, 1)
        self._choose = policy(simulations)

    def start(self, clock: Clock) -> None:
        """Check that the game is the supported game."""
        check_game(self.game)
        super().start(clock)

    def move(self, state: State, clock: Clock) -> Term:
        """Return the move of the trained player."""
        legal = state.legal_moves(self.role)
        if len(legal) == 1:
            return legal[0]
        action, known = self._choose(state_of(state), self.random.getrandbits(31)), actions(legal)
        if action not in known:
            raise PlayerError(f"the trained player chose action {action}, which is no legal move here")
        return known[action]


def follow(game: Game, random: Random) -> int:
    """Play a random game with the sheet and with Ludax; return its number of joint moves.

    Raises:
        PlayerError: the sheet and Ludax differ.
    """
    known = ludax()
    state, theirs, made = game.initial_state(), known.first, 0
    while not state.is_terminal:
        ours = state_of(state)
        _compare(made, ours, theirs)
        legal = [state.legal_moves(role) for role in game.roles]
        joint = [random.choice(moves) for moves in legal]
        player = int(ours.current_player)
        action = next(action for action, move in actions(legal[player]).items() if move == joint[player])
        # Compare the step from the converted state with the step from Ludax's own state.
        theirs, ours = known.step(theirs, action), known.step(ours, action)
        _compare(made + 1, ours, theirs)
        state, made = state.next(joint), made + 1
    for passes in range(2):
        if theirs.terminated:
            raise PlayerError(f"after {made} moves and {passes} passes only Ludax says that it is over")
        theirs = known.step(theirs, _PASS)
    goals = [state.goal(role) for role in game.roles]
    rewards = {100: 1, 50: 0, 0: -1}
    board, _ = position(state)
    if (
        not theirs.terminated
        or not np.array_equal(board, theirs.game_state.board)
        or list(theirs.rewards) != [rewards.get(-1 if goal is None else goal) for goal in goals]
    ):
        raise PlayerError(f"after {made} moves the sheet has the goals {goals}, Ludax {theirs.rewards}")
    return made


def _compare(made: int, ours: Any, theirs: Any) -> None:
    """Raise an error unless two states of Ludax have the same board, legal actions and role to move."""
    for what, one, other in (
        ("boards", ours.game_state.board, theirs.game_state.board),
        ("turns", ours.current_player, theirs.current_player),
        ("legal moves", ours.legal_action_mask, theirs.legal_action_mask),
    ):
        if not np.array_equal(one, other):
            raise PlayerError(f"after {made} moves the {what} of the sheet and of Ludax differ")


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the rules of a sheet with the rules of Ludax; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("sheet", help="the public sheet of reversi")
    parser.add_argument("--games", type=some_count, default=20, help="number of random games (20)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random games (1)")
    given = parser.parse_args(arguments)
    game, random = anygame.load(given.sheet), Random(given.seed)
    try:
        check_game(game)
        ludax()
    except PlayerError as error:
        print(error, file=sys.stderr)
        return 2
    try:
        moves = sum(follow(game, random) for _ in range(given.games))
    except PlayerError as error:
        print(error)
        return 1
    print(f"{given.games} games, {moves:,} joint moves: the same rules")
    return 0


if __name__ == "__main__":
    sys.exit(main())
