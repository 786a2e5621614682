from __future__ import annotations

from itertools import product
from random import Random
from typing import TYPE_CHECKING

import pytest

import anygame
from anygame.errors import LimitError
from anygame.game.state import RoleView
from anygame.language.parser import parse_term
from anygame.search.hidden.knowledge import Knowledge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term


def played(game: Game, seed: int) -> tuple[list[State], list[list[Term]]]:
    random, states, joints = Random(seed), [game.initial_state()], []
    while not states[-1].is_terminal:
        joint = [random.choice(states[-1].legal_moves(role)) for role in game.roles]
        joints.append(joint)
        states.append(states[-1].next(joint))
    return states, joints


def agreeing(view: RoleView, role: int) -> list[State]:
    """Return all states to which play can have led, as far as a role can tell: by trying all of it."""
    states = [view.start]
    for turn in view.observations:
        after = []
        for state in set(states):
            roles = state.game.roles
            for joint in (
                product(*(state.legal_moves(role) for role in roles)) if not state.is_terminal else ()
            ):
                made = state.next(joint)
                seen = state.percepts(joint)[roles[role]]
                legal = made.legal_moves(roles[role])
                if joint[role] == turn.move and set(seen) == set(turn.percepts) and legal == turn.legal:
                    after.append(made)
        states = after
    return states


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "liars_dice", "monty_hall"])
def test_exactly_facts_true_in_all_consistent_states_are_known(name: str) -> None:
    game = anygame.load(name)
    for seed, (number, role) in product((1, 2), enumerate(game.roles)):
        if role.is_random:
            continue
        states, joints = played(game, seed)
        knowledge = Knowledge(game, role)
        for step in range(len(states)):
            view = RoleView.of(role, states[: step + 1], joints[:step])
            facts = [state.facts for state in agreeing(view, number)]
            known = knowledge.of(view)
            assert known.facts == frozenset.intersection(*facts)
            assert known.open >= frozenset.union(*facts) - known.facts


@pytest.mark.parametrize("name", ["phantom_tic_tac_toe", "dark_hex"])
def test_all_known_facts_are_true(name: str) -> None:
    game = anygame.load(name)
    for seed in (1, 2, 3):
        states, joints = played(game, seed)
        for role in game.roles:
            knowledge = Knowledge(game, role)
            for step, state in enumerate(states):
                known = knowledge.of(RoleView.of(role, states[: step + 1], joints[:step]))
                assert known.facts <= state.facts <= known.facts | known.open
                assert not known.facts & known.open


def test_a_refused_move_reveals_the_hidden_mark() -> None:
    game = anygame.load("phantom_tic_tac_toe")
    moves = [("(mark 2 2)", "noop"), ("noop", "(mark 2 2)")]
    states, joints = [game.initial_state()], []
    for move in moves:
        joints.append([parse_term(text) for text in move])
        states.append(states[-1].next(move))
    facts = {
        str(role): {str(fact) for fact in Knowledge(game, role).of(RoleView.of(role, states, joints)).facts}
        for role in game.roles
    }
    assert "(cell 2 2 x)" in facts["x"]
    assert {"(cell 2 2 x)", "(found o (at 2 2))"} <= facts["o"]
    # That it was found out is hidden from x.
    assert "(found o (at 2 2))" not in facts["x"]


def twins() -> tuple[Game, Sequence[str]]:
    game = anygame.load("phantom_tic_tac_toe")
    return game, [f"(mark {row} {column})" for row in (1, 2, 3) for column in (1, 2, 3)]


def test_indistinguishable_histories_give_the_same_knowledge() -> None:
    game, marks = twins()
    found = set()
    for hidden in marks[1:]:
        moves = [(marks[0], "noop"), ("noop", hidden), ("noop", "noop")]
        states, joints = [game.initial_state()], []
        for move in moves:
            joints.append([parse_term(text) for text in move])
            states.append(states[-1].next(move))
        found.add(Knowledge(game, "x").of(RoleView.of(game.roles[0], states, joints)))
    assert len(found) == 1


def test_a_longer_view_extends_a_shorter_view_and_a_new_view_starts_again() -> None:
    game = anygame.load("dark_hex")
    first, other = played(game, 1), played(game, 2)
    knowledge = Knowledge(game, "white")
    for states, joints in (first, other, first):
        for step in (2, 5, 3, len(joints)):
            view = RoleView.of(game.roles[1], states[: step + 1], joints[:step])
            assert knowledge.of(view) == Knowledge(game, "white").of(view)


def test_impossible_observations_raise_an_error() -> None:
    game = anygame.load("kuhn_poker")
    states, joints = played(game, 1)
    view = RoleView.of(game.roles[0], states, joints)
    with pytest.raises(LimitError, match=r"no match of .* has these observations"):
        Knowledge(game, "player2").of(view)
