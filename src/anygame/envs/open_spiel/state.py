"""States of sheets in OpenSpiel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anygame.envs.extensive import CHANCE, TERMINAL
from anygame.envs.open_spiel.library import StateBase
from anygame.errors import IllegalMoveError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.envs.open_spiel.description import Description, Utilities
    from anygame.game.game import Game
    from anygame.language.terms import Term


class SheetState(StateBase):
    """A history of a game, with the methods that OpenSpiel asks of states written in Python.

    Attributes:
        node: the history; copies share it, and what was computed of it.
    """

    def __init__(self, game: Any, description: Description, utilities: Utilities) -> None:
        super().__init__(game)
        self._description = description
        self._utilities = utilities
        self.node = description.root

    def current_player(self) -> int:
        """Return the player who decides, or what OpenSpiel has for chance, all at once, and the end."""
        return self.node.actor

    def _legal_actions(self, player: int) -> list[int]:
        number = self._description.action_number
        return [number[move] for move in self.node.moves(player)]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return what `random` can draw, all with the same probability."""
        number, draws = self._description.draw_number, self.node.draws()
        return [(number[move], 1 / len(draws)) for move in draws]

    def _apply_action(self, action: int) -> None:
        node = self.node
        if node.actor == CHANCE:
            move = self._legal(action, self._description.draws, node.draws(), "random")
            self.node = node.child(move)
        else:
            self.node = node.child(self._move(node.actor, action))

    def _apply_actions(self, actions: Sequence[int]) -> None:
        players = self._description.form.players
        if len(actions) != len(players):
            who = ", ".join(map(str, players))
            raise IllegalMoveError(f"expected {len(players)} actions, of {who}; found {len(actions)}")
        moves = tuple(self._move(player, action) for player, action in enumerate(actions))
        self.node = self.node.child_of_all(moves)

    def _move(self, player: int, action: int) -> Term:
        if player < 0:
            over = self.node.actor == TERMINAL
            raise IllegalMoveError(
                "the game is over" if over else "all players move at once here: give all moves"
            )
        role = str(self._description.form.players[player])
        return self._legal(action, self._description.actions, self.node.moves(player), role)

    def _legal(self, action: int, named: Sequence[Term], legal: Sequence[Term], role: str) -> Term:
        """Return the move with a number.

        Raises:
            IllegalMoveError: it is not legal here.
        """
        move = named[action] if 0 <= action < len(named) else None
        if move is None or move not in legal:
            meant = f"action {action}" if move is None else f"action {action}, {move},"
            raise IllegalMoveError(f"{meant} is not legal for {role} here", role, str(move or action))
        return move

    def _action_to_string(self, player: int, action: int) -> str:
        named = self._description.draws if player == CHANCE else self._description.actions
        return str(named[action])

    @property
    def sheet(self) -> Game:
        """The rules."""
        return self._description.game

    def is_terminal(self) -> bool:
        """Return whether the play is over: by the rules, after too many steps, or as a role has no move."""
        return self.node.actor == TERMINAL

    def returns(self) -> list[float]:
        """Return the utilities of the players; zeros before the end."""
        if not self.is_terminal():
            return [0.0] * len(self._description.form.players)
        return self._utilities.of(self.node.goals())

    def __str__(self) -> str:
        return str(self.node)
