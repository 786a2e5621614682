"""States and observations of rule sheets for OpenSpiel, with moves as numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

import numpy as np
import pyspiel

from anygame.envs.extensive import CHANCE, MAX_STEPS, TERMINAL, ExtensiveForm, find_turns, survey
from anygame.errors import IllegalMoveError, LimitError, RuleSheetError
from anygame.game import loads
from anygame.language.terms import integer_of
from anygame.proving.proving import Facts, facts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from anygame.envs.extensive import Node, Survey
    from anygame.game import Game
    from anygame.language.terms import Term

_Item = TypeVar("_Item")
#: How roles that move at the same time decide; ``auto`` is ``sequential`` if roles take turns.
Dynamics: TypeAlias = Literal["auto", "sequential", "simultaneous"]
#: Maximum number of cached sheets. OpenSpiel creates a game for every state that it deserialises.
_KEPT: Final = 16
#: An information state with more than this number of entries (1 MB) has no array, only text.
_LARGEST: Final = 2**18


@dataclass(frozen=True)
class Utilities:
    """Converts goals to utilities: ``scale * goal + offset``.

    With ``zero_sum``, the mean goal of the players is subtracted first.
    """

    scale: float = 1.0
    offset: float = 0.0
    zero_sum: bool = False

    def of(self, goals: Sequence[int]) -> list[float]:
        """Return the utilities of all players."""
        mean = sum(goals) / len(goals) if self.zero_sum else 0.0
        return [self.scale * (goal - mean) + self.offset for goal in goals]

    def bounds(self, least: int, most: int, players: int) -> tuple[float, float]:
        """Return the smallest and the largest utility for goals from ``least`` to ``most``."""
        low, high = float(least), float(most)
        if self.zero_sum:
            high = (most - least) * (players - 1) / players
            low = -high
        ends = (self.scale * low + self.offset, self.scale * high + self.offset)
        return min(ends), max(ends)


class Description:
    """A rule sheet for OpenSpiel, which all games and states of the sheet share.

    Attributes:
        actions: the moves of all players, sorted by text. A move has the same number for all players.
        draws: the moves of `random`, sorted by text.
        survey: properties of all states; None if there are too many states, or if plays are cut.
        longest: maximum number of decision nodes in a play.
    """

    def __init__(self, game: Game, dynamics: Dynamics, max_steps: int) -> None:
        if all(role.is_random for role in game.roles):
            raise RuleSheetError(f"{game.name} has no role besides random, so no players")
        game.compile_if_worth_it()
        self.game = game
        turns = find_turns(game)
        surveyed = survey(game, turns)
        if surveyed is not None:
            turns = replace(turns, are_taken=surveyed.turns_are_taken)
        # If there are too many states to visit, proofs replace the survey.
        facts = facts_of(game) if surveyed is None and game.fallback is None else Facts()
        if facts.takes_turns is not None:
            turns = replace(turns, are_taken=facts.takes_turns)
        proven = surveyed.steps if surveyed else facts.most_moves
        steps = max_steps or proven or MAX_STEPS
        # At the end of a cut play, goals can differ from those of terminal states.
        is_whole = proven is not None and proven <= steps
        self.survey: Survey | None = surveyed if is_whole else None
        self._proved_sum = facts.goal_sum if is_whole else None
        self.form = ExtensiveForm(
            game, None if dynamics == "auto" else dynamics, turns=turns, max_steps=steps
        )
        self.root: Node = self.form.root()
        players = self.form.players
        moves = {move for role in players for move in game.actions(role)}
        self.actions: tuple[Term, ...] = tuple(sorted(moves, key=str))
        self.action_number = _numbered(self.actions)
        self.draws = game.actions("random") if self.form.chance is not None else ()
        self.draw_number = _numbered(self.draws)
        in_turn = facts.takes_turns or (self.survey and turns.are_taken)
        apart = self.form.order == "sequential" and not in_turn
        self.longest = (self.survey.decisions if self.survey else steps) * (len(players) if apart else 1)

    def __deepcopy__(self, memo: object) -> Description:
        return self

    @property
    def goals(self) -> tuple[int, int]:
        """The smallest and the largest goal, or else a lower and an upper bound of all goals."""
        if self.survey is not None:
            return self.survey.goals
        values = self.game.domains().get(("goal", 2), ((), ()))[1]
        goals = [goal for goal in map(integer_of, values) if goal is not None]
        return min([*goals, 0]), max([*goals, 0])

    @property
    def goal_sum(self) -> int | None:
        """The sum of all players' goals; None unless this sum is known to be the same in all plays."""
        return self.survey.goal_sum if self.survey else self._proved_sum

    @cached_property
    def facts(self) -> Mapping[Term, int]:
        """The number of each fluent."""
        return _numbered(self.game.fluent_terms)

    @cached_property
    def observables(self) -> list[Mapping[Term, int]]:
        """For each player, the numbers of its percepts (GDL-II) or of all facts; empty if unknown."""
        try:
            if self.game.is_gdl2:
                return [_numbered(self.game.percept_terms(role)) for role in self.form.players]
            return [self.facts] * len(self.form.players)
        except LimitError:
            return []

    @cached_property
    def events(self) -> list[Mapping[object, int]]:
        """For each player, the numbers of the events that the player can remember; empty if unknown.

        Events are the moves and percepts of the player (GDL-II), or else the moves of all roles.
        """
        game = self.game
        if not game.is_gdl2:
            moves = [(index, move) for index, role in enumerate(game.roles) for move in game.actions(role)]
            return [_numbered(moves)] * len(self.form.players)
        own = [("move", move) for move in self.actions]
        return [_numbered([*own, *(("percept", term) for term in terms)]) for terms in self.observables]

    @cached_property
    def memory_shape(self) -> tuple[int, int] | None:
        """The shape (steps, events) of a player's memory array; None if the shape is unknown or too large."""
        steps, events = self.form.max_steps, max(map(len, self.events), default=_LARGEST + 1)
        return (steps, events) if steps * events <= _LARGEST else None


def _numbered(items: Iterable[_Item]) -> Mapping[_Item, int]:
    return {item: number for number, item in enumerate(items)}


@lru_cache(maxsize=_KEPT)
def describe(
    name: str, text: str, case_sensitive: bool, lenient: bool, dynamics: Dynamics, max_steps: int
) -> Description:
    """Return the description of a sheet. If ``max_steps`` is 0, the sheet determines the limit.

    Raises RuleSheetError for an unusable sheet, and LimitError for a game that is too large for a network.
    """
    game = loads(text, name=name, case_sensitive=case_sensitive, lenient=lenient)
    return Description(game, dynamics, max_steps)


class SheetState(pyspiel.State):
    """A history of a game, with the methods that OpenSpiel expects of states in Python.

    Attributes:
        node: the history. All copies of a state share one node and the caches of the node.
    """

    def __init__(self, game: Any, description: Description, utilities: Utilities) -> None:
        super().__init__(game)
        self._description = description
        self._utilities = utilities
        self.node = description.root

    def current_player(self) -> int:
        """Return the player who decides, or OpenSpiel's number for chance, all players or the end."""
        return self.node.actor

    def _legal_actions(self, player: int) -> list[int]:
        number = self._description.action_number
        return [number[move] for move in self.node.moves(player)]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the moves of `random`, with equal probabilities."""
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
            raise IllegalMoveError(f"expected one action for each of {who}; found {len(actions)}")
        moves = tuple(self._move(player, action) for player, action in enumerate(actions))
        self.node = self.node.child_of_all(moves)

    def _move(self, player: int, action: int) -> Term:
        if player < 0:
            over = self.node.actor == TERMINAL
            raise IllegalMoveError(
                "the game is over" if over else "all players move at once here: give the moves of all players"
            )
        role = str(self._description.form.players[player])
        return self._legal(action, self._description.actions, self.node.moves(player), role)

    def _legal(self, action: int, named: Sequence[Term], legal: Sequence[Term], role: str) -> Term:
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
        """Return whether a terminal state, the limit of steps, or a stuck role ends the play here."""
        return self.node.actor == TERMINAL

    def returns(self) -> list[float]:
        """Return the utilities of the players, which are 0 before the end."""
        if not self.is_terminal():
            return [0.0] * len(self._description.form.players)
        return self._utilities.of(self.node.goals())

    def __str__(self) -> str:
        return str(self.node)


class SheetObserver:
    """An observer of OpenSpiel.

    With perfect recall, an observer shows all moves; in GDL-II, only the moves and percepts of the player.
    Without perfect recall, an observer shows the facts; in GDL-II, only the percepts of the player since its
    last choice. With ``private_info`` of all players, the facts are shown in every game.

    Attributes:
        tensor: float32, the concatenated pieces; None if the array is too large.
        dict: the pieces by name, each in its own shape. With perfect recall: ``player`` [players], ``step``
            [steps + 1], ``memory`` [steps, events], and ``now`` [actions], the player's decision in an
            unfinished step. Without perfect recall: ``facts`` [fluents] or ``percepts`` [percepts].
    """

    def __init__(self, description: Description, kind: Any, params: Mapping[str, Any] | None) -> None:
        if params:
            raise ValueError(f"observers of sheets take no parameters, found {params}")
        self._description = description
        self._kind = kind or pyspiel.IIGObservationType(perfect_recall=False)
        private, hides = self._kind.private_info, description.game.is_gdl2
        shows_all = private == pyspiel.PrivateInfoType.ALL_PLAYERS
        self._shows_facts = shows_all or (self._kind.public_info and not hides)
        self._shows_percepts = hides and private == pyspiel.PrivateInfoType.SINGLE_PLAYER
        self.tensor: NDArray[np.float32] | None = None
        self.dict: dict[str, NDArray[np.float32]] = {}
        pieces = self._pieces()
        if pieces is not None:
            self.tensor = np.zeros(sum(map(prod, pieces.values())), np.float32)
            begin = 0
            for name, shape in pieces.items():
                self.dict[name] = self.tensor[begin : begin + prod(shape)].reshape(shape)
                begin += prod(shape)

    def _pieces(self) -> dict[str, tuple[int, ...]] | None:
        description = self._description
        if self._kind.perfect_recall:
            shape = description.memory_shape
            if shape is None:
                return None
            players, actions = len(description.form.players), len(description.actions)
            return {"player": (players,), "step": (shape[0] + 1,), "memory": shape, "now": (actions,)}
        if self._shows_facts:
            return {"facts": (len(description.facts),)}
        if not self._shows_percepts or not description.observables:
            return None
        return {"percepts": (max(map(len, description.observables)),)}

    def set_from(self, state: SheetState, player: int) -> None:
        """Fill the array with the information of a player in a state."""
        if self.tensor is None:
            return
        self.tensor.fill(0)
        node = state.node
        if self._kind.perfect_recall:
            self._remember(node, player)
        elif self._shows_facts:
            numbers = self._description.facts
            self.dict["facts"][[numbers[fact] for fact in node.state.facts]] = 1
        else:
            numbers = self._description.observables[player]
            self.dict["percepts"][[numbers[percept] for percept in node.percepts(player)]] = 1

    def _remember(self, node: Node, player: int) -> None:
        description = self._description
        numbers, hides = description.events[player], description.game.is_gdl2
        self.dict["player"][player] = 1
        self.dict["step"][node.step] = 1
        memory = self.dict["memory"]
        for step, moves, percepts in node.memories[description.form.role_index(player)]:
            events = [("move" if hides else index, move) for index, move in enumerate(moves)]
            for event in [*events, *(("percept", seen) for seen in percepts)]:
                memory[step - 1, numbers[event]] = 1
        own = node.decided(player)
        if own is not None:
            self.dict["now"][description.action_number[own]] = 1

    def string_from(self, state: SheetState, player: int) -> str:
        """Return the information of a player in a state as text."""
        node = state.node
        if self._kind.perfect_recall:
            return node.information(player)
        if self._shows_facts:
            return str(node)
        seen = [f"sees {term}" for term in node.percepts(player)] if self._shows_percepts else []
        return "; ".join([*([f"step {node.step + 1}"] if self._kind.public_info else []), *seen])
