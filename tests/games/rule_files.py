"""The rule files behind the face of a simulator, and what the tests of both share."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tests.simulators import SIMULATORS

import anygame

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.simulators import Simulator

RULE_FILES: Final = Path(__file__).parents[2] / "gdl"


class RuleFile:
    """A game of anygame as a simulator: the same questions, the same answers as text."""

    def __init__(self, path: Path) -> None:
        self.game = anygame.load(path)
        self.roles = tuple(map(str, self.game.roles))

    def initial(self) -> anygame.State:
        return self.game.initial_state()

    def legal(self, state: anygame.State) -> dict[str, tuple[str, ...]]:
        return {role: tuple(map(str, state.legal_moves(role))) for role in self.roles}

    def next(self, state: anygame.State, joint: Mapping[str, str]) -> anygame.State:
        return state.next(joint)

    def is_terminal(self, state: anygame.State) -> bool:
        return state.is_terminal

    def goals(self, state: anygame.State) -> dict[str, int]:
        goals = {role: state.goal(role) for role in self.roles}
        return {role: goal for role, goal in goals.items() if goal is not None}

    def _facts(self, state: anygame.State, relation: str) -> frozenset[str]:
        return frozenset(text for text in map(str, state.facts) if text.startswith(f"({relation} "))

    def cells(self, state: anygame.State) -> frozenset[str]:
        return self._facts(state, "cell")

    def control(self, state: anygame.State) -> frozenset[str]:
        return self._facts(state, "control")


@cache
def rule_file(name: str) -> RuleFile:
    """Load one of the rule files, once for all tests."""
    return RuleFile(RULE_FILES / f"{name}.kif")


def both(name: str, source: str) -> Simulator[Any]:
    """Return the rule file of a game, or its simulator."""
    return rule_file(name) if source == "rule file" else SIMULATORS[name]


def written_out(functor: str, text: str) -> list[str]:
    """Write out moves that are noted by their arguments alone: ``a4 swap`` is ``(place a 4)``, ``swap``."""
    return [f"({functor} {' '.join(word)})" if word[-1].isdigit() else word for word in text.split()]


def moves_of(game: Simulator[Any], state: Any) -> frozenset[str]:
    """Return the moves of whoever may act: all legal moves but ``noop``."""
    return frozenset(move for moves in game.legal(state).values() for move in moves if move != "noop")


def step(game: Simulator[Any], state: Any, move: str) -> Any:
    """Make a move for whoever may make it (everybody, if it is ``noop``), the others having ``noop``."""
    legal = game.legal(state)
    joint = {role: move if move in moves else "noop" for role, moves in legal.items()}
    for role, chosen in joint.items():
        assert chosen in legal[role], f"{role} cannot answer {move}; legal: {legal}"
    assert move in joint.values(), f"nobody can make {move}; legal: {legal}"
    return game.next(state, joint)


def play(game: Simulator[Any], moves: Iterable[str]) -> Any:
    """Make moves from the start, each by whoever may make it, none of them after the end."""
    state = game.initial()
    for number, move in enumerate(moves, 1):
        assert not game.is_terminal(state), f"the game is over before move {number}, {move}"
        state = step(game, state, move)
    return state
