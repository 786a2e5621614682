"""Random playouts of the rule files and their simulators in step: every answer must be the same."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from tests.games.rule_files import rule_file
from tests.simulators import SIMULATORS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.simulators import Simulator

Choice = tuple[str, ...]


def anywhere(simulator: Simulator[Any], state: Any, moves: Choice) -> Choice:
    return moves


def captures(simulator: Simulator[Any], state: Any, moves: Choice) -> Choice:
    """Moves onto pieces, which a uniform choice makes too rarely."""
    taken = {tuple(piece.split()[1:3]) for piece in simulator.cells(state)}
    return tuple(move for move in moves if tuple(move.strip("()").split()[3:]) in taken)


def central(simulator: Simulator[Any], state: Any, moves: Choice) -> Choice:
    """Moves into the central nine cells from outside, where the lines are."""
    centre = set("345")
    return tuple(
        move
        for move in moves
        if set(move.strip("()").split()[3:]) <= centre and not set(move.strip("()").split()[1:3]) <= centre
    )


def narrow(simulator: Simulator[Any], state: Any, moves: Choice) -> Choice:
    """Cells of a border strip, where runs of six, seven and more soon come about."""
    return tuple(move for move in moves if move.endswith((" 10)", " 11)")))


def undecided(simulator: Simulator[Any], state: Any, moves: Choice) -> Choice:
    """The swap, then placements that do not end the game, which so takes as long as it can."""
    if "swap" in moves:
        return ("swap",)
    mover = next(role for role, legal in simulator.legal(state).items() if legal != ("noop",))
    joint = dict.fromkeys(simulator.roles, "noop")
    after = ((move, simulator.next(state, joint | {mover: move})) for move in moves if move != "noop")
    return tuple(move for move, reached in after if not simulator.is_terminal(reached))


#: Game, the moves to prefer, how often they are preferred, and how many playouts.
PLAYOUTS = (
    ("copolymer", anywhere, 0.0, 30),
    ("six_in_a_row", anywhere, 0.0, 4),
    ("six_in_a_row", narrow, 0.5, 16),
    ("capture_chess", anywhere, 0.0, 15),
    ("capture_chess", captures, 0.5, 15),
    ("hex_pie", anywhere, 0.0, 20),
    ("hex_pie", undecided, 1.0, 3),
    ("line_chess", anywhere, 0.0, 15),
    ("line_chess", central, 0.5, 15),
)


def answers(game: Simulator[Any], state: Any) -> dict[str, Any]:
    """All that is compared in a state: the legal moves until the end, the goals at the end."""
    over = game.is_terminal(state)
    return {
        "terminal": over,
        "cells": game.cells(state),
        "control": game.control(state),
        "goals" if over else "legal moves": game.goals(state) if over else game.legal(state),
    }


def difference(expected: dict[str, Any], found: dict[str, Any]) -> str:
    """Name what differs, with only the differing elements of sets."""
    lines = []
    for question, answer in expected.items():
        other = found.get(question)
        if answer == other or (question == "control" and answer is None):
            continue
        if isinstance(answer, frozenset) and isinstance(other, frozenset):
            lines.append(f"{question}: missing {sorted(answer - other)}, too many {sorted(other - answer)}")
        elif question == "legal moves" and other is not None:
            for role, moves in answer.items():
                missing, surplus = set(moves) - set(other[role]), set(other[role]) - set(moves)
                if missing or surplus:
                    lines.append(f"moves of {role}: missing {sorted(missing)}, too many {sorted(surplus)}")
                elif moves != other[role]:
                    lines.append(f"moves of {role}: not sorted: {other[role]}")
        else:
            lines.append(f"{question}: expected {answer}, found {other}")
    return "\n".join(lines)


def test_the_difference_names_the_differing_part() -> None:
    expected = {"terminal": False, "cells": frozenset({"(cell 1 1 red)"}), "legal moves": {"red": ("noop",)}}
    found = {"terminal": True, "cells": frozenset({"(cell 1 2 red)"}), "goals": {"red": 0}}
    text = difference(expected, found)
    assert "terminal: expected False, found True" in text
    assert "missing ['(cell 1 1 red)'], too many ['(cell 1 2 red)']" in text
    assert "legal moves: expected {'red': ('noop',)}, found None" in text
    assert difference(expected, expected) == ""
    assert difference({"control": None}, {"control": frozenset({"(control red)"})}) == ""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "prefer", "share", "playouts"), PLAYOUTS)
def test_playouts_agree(
    name: str, prefer: Callable[[Simulator[Any], Any, Choice], Choice], share: float, playouts: int
) -> None:
    simulator, game = SIMULATORS[name], rule_file(name)
    assert game.roles == simulator.roles
    for seed in range(playouts):
        generator = random.Random(f"{name} {prefer.__name__} {seed}")
        state, other = simulator.initial(), game.initial()
        history: list[str] = []
        while True:
            wrong = difference(answers(simulator, state), answers(game, other))
            if wrong:
                pytest.fail(f"{name}, playout {seed}, after {history or 'no move'}:\n{wrong}")
            if simulator.is_terminal(state):
                break
            joint = {}
            for role, moves in simulator.legal(state).items():
                preferred = prefer(simulator, state, moves) if generator.random() < share else ()
                joint[role] = generator.choice(preferred or moves)
            history.append(" ".join(joint.values()))
            state, other = simulator.next(state, joint), game.next(other, joint)
