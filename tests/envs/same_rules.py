"""Sheets beside OpenSpiel's own games of the same rules: both trees walked in step."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pytest

pyspiel: Any = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: pip install open-spiel")

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class Pair:
    """A sheet and a game of OpenSpiel.

    Attributes:
        sheet: the name of the sheet.
        other: what OpenSpiel calls the game.
        scale: what makes utilities of goals, with
        offset: this added.
        action: the number that OpenSpiel has for a move of the sheet.
    """

    sheet: str
    other: str
    scale: float
    offset: float
    action: Callable[[list[str]], int]


def _named(numbers: Mapping[str, int]) -> Callable[[list[str]], int]:
    return lambda words: numbers[words[-1]]


def _leduc(words: list[str]) -> int:
    if words[0] == "deal":
        return 2 * ["jack", "queen", "king"].index(words[1]) + ["hearts", "spades"].index(words[2])
    return ["fold", "call", "raise"].index(words[0])


def _dice(words: list[str]) -> int:
    if words[0] == "bid":
        return 6 * (int(words[1]) - 1) + int(words[2]) - 1
    return 12 if words[0] == "liar" else int(words[1]) - 1


def _cell(words: list[str]) -> int:
    return 3 * ("123".find(words[1]) if words[1].isdigit() else "abc".find(words[1])) + int(words[2]) - 1


PAIRS: Final = {
    pair.sheet: pair
    for pair in (
        Pair(
            "kuhn_poker",
            "kuhn_poker",
            1 / 25,
            -2.0,
            _named({"jack": 0, "queen": 1, "king": 2, "pass": 0, "bet": 1}),
        ),
        Pair("leduc_poker", "leduc_poker", 1 / 3, -50 / 3, _leduc),
        Pair("liars_dice", "liars_dice", 1 / 50, -1.0, _dice),
        Pair("phantom_tic_tac_toe", "phantom_ttt", 1 / 50, -1.0, _cell),
        Pair("dark_hex", "dark_hex(num_rows=3,num_cols=3)", 1 / 50, -1.0, _cell),
    )
}


@dataclass
class Walk:
    """What was met on a walk.

    Attributes:
        histories: all of them.
        ended: those that have ended.
        information: what the sheet tells the player who decides, by what OpenSpiel tells.
    """

    histories: int = 0
    ended: int = 0
    information: dict[str, set[str]] = field(default_factory=dict)


def differences(pair: Pair, state: Any, other: Any) -> dict[int, int]:
    """Check that two states agree; return the actions of the sheet with those of OpenSpiel."""
    assert state.is_terminal() == other.is_terminal(), state
    assert state.current_player() == other.current_player(), state
    if state.is_terminal():
        assert state.returns() == pytest.approx(other.returns(), abs=1e-9), state
        return {}
    player = state.current_player()
    texts = {action: state.action_to_string(player, action) for action in state.legal_actions()}
    actions = {action: pair.action(re.findall(r"\w+", text)) for action, text in texts.items()}
    assert sorted(actions.values()) == sorted(other.legal_actions()), state
    if state.is_chance_node():
        odds = dict(other.chance_outcomes())
        for action, probability in state.chance_outcomes():
            assert probability == pytest.approx(odds[actions[action]], abs=1e-9)
    return actions


def walked(pair: Pair, game: Any, depth: int = 1000) -> Walk:
    """Walk both trees in step, so deep; check that they agree."""
    found = Walk()

    def visit(state: Any, other: Any, left: int) -> None:
        found.histories += 1
        found.ended += state.is_terminal()
        actions = differences(pair, state, other)
        if state.is_player_node():
            key = f"{other.current_player()} {other.information_state_string()}"
            found.information.setdefault(key, set()).add(state.information_state_string())
        if left:
            for action, same in actions.items():
                visit(state.child(action), other.child(same), left - 1)

    visit(game.new_initial_state(), pyspiel.load_game(pair.other).new_initial_state(), depth)
    return found
