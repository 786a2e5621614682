"""Symmetries are what names suggest and play bears out, however the rules are written."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

import anygame
from anygame.search.learning.self_play import FILLED, NEXT, POSITIONS, make_practice, sample_state
from anygame.search.learning.symmetries import symmetries_of
from anygame.search.tree.searcher import TreeSearcher
from anygame.search.tree.worker import make_worker

from .race import RACE, TAKING

if TYPE_CHECKING:
    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.search.learning.symmetries import Symmetries

#: Two roles take the cells of a row in turn; who takes an end has won, by a rule of its own for each end.
_ROW = """
(role left) (role right) (init (turn left)) (goes left right) (goes right left)
(cell 1) (cell 2) (cell 3) (cell 4) (cell 5)
(<= (legal ?r (take ?c)) (true (turn ?r)) (cell ?c) (not (taken ?c)))
(<= (legal ?r noop) (goes ?s ?r) (true (turn ?s)))
(<= (taken ?c) (true (has ?c ?r)))
(<= (next (has ?c ?r)) (does ?r (take ?c)))
(<= (next (has ?c ?r)) (true (has ?c ?r)))
(<= (next (turn ?s)) (true (turn ?r)) (goes ?r ?s))
(<= terminal (won ?r))
(<= (won ?r) (true (has 5 ?r)))
(<= (reached ?r 1) (true (has 1 ?r)))
(<= (won ?r) (reached ?r 1))
(<= (goal ?r 100) (won ?r))
(<= (goal ?r 0) (goes ?r ?s) (won ?s))
"""


def _symmetries(game: Game) -> Symmetries:
    assert game.compile()
    return symmetries_of(game)


def _image(game: Game, state: State, fluents: np.ndarray) -> frozenset[str]:
    terms = [str(term) for term in game.fluent_terms]
    number = {term: n for n, term in enumerate(terms)}
    return frozenset(terms[fluents[number[str(fact)]]] for fact in state.facts)


@pytest.mark.parametrize(
    ("source", "symmetries", "orders"),
    [
        ("tic_tac_toe", 16, {(0, 1), (1, 0)}),
        ("connect_four", 4, {(0, 1), (1, 0)}),
        ("copolymer", 4, {(0, 1)}),
        (RACE, 4, {(0, 1), (1, 0)}),
        (_ROW, 4, {(0, 1), (1, 0)}),
        (TAKING, 3, {(0, 1, 2), (1, 2, 0), (2, 0, 1)}),
        ("three_player_chomp", 3, {(0, 1, 2), (1, 2, 0), (2, 0, 1)}),
    ],
    ids=["tic_tac_toe", "connect_four", "copolymer", "race", "row", "taking", "three_player_chomp"],
)
def test_symmetries_of_boards_and_roles_are_found(
    source: str, symmetries: int, orders: set[tuple[int, ...]]
) -> None:
    game = anygame.loads(source) if "(" in source else anygame.load(source)
    found = _symmetries(game)
    assert len(found.fluents) == len(found.roles) == symmetries
    assert {tuple(map(int, each)) for each in found.roles} == orders


def test_a_rule_that_breaks_a_symmetry_is_noticed() -> None:
    broken = _symmetries(anygame.loads(_ROW.replace("(<= (won ?r) (reached ?r 1))", "")))
    assert len(broken.fluents) == 2  # the roles change places, the ends do not
    of_one = _ROW.replace(
        "(<= (reached ?r 1) (true (has 1 ?r)))", "(<= (reached left 1) (true (has 1 left)))"
    )
    assert len(_symmetries(anygame.loads(of_one)).fluents) == 1


def test_a_game_that_neither_ends_nor_has_few_moves_has_none() -> None:
    says = "".join(f"(legal ?r (say {number}))" for number in range(12)).replace("?r", "a")
    sheet = f"(role a) (role b) {says} {says.replace('(legal a', '(legal b')} (init (said 1))"
    game = anygame.loads(f"{sheet} (<= (next (said ?n)) (does a (say ?n))) (<= terminal (true (said 12)))")
    assert len(_symmetries(game).fluents) == 1


@pytest.mark.parametrize("name", ["tic_tac_toe", "six_in_a_row", "capture_chess", "copolymer"])
def test_successors_of_images_are_images_of_successors(name: str) -> None:
    game, random = anygame.load(name), Random(1)
    found = _symmetries(game)
    for fluents, order in zip(found.fluents, found.roles, strict=True):
        state = game.initial_state()
        while not state.is_terminal:
            image = game.state(_image(game, state, fluents))
            for role, other in zip(game.roles, (game.roles[number] for number in order), strict=True):
                assert len(state.legal_moves(role)) == len(image.legal_moves(other))
            state = state.next([random.choice(state.legal_moves(role)) for role in game.roles])
        image = game.state(_image(game, state, fluents))
        assert image.is_terminal
        goals = [image.goal(game.roles[number]) for number in order]
        assert [state.goal(role) for role in game.roles] == goals


def test_symmetries_are_a_group() -> None:
    found = _symmetries(anygame.load("tic_tac_toe")).fluents
    assert (found[0] == np.arange(found.shape[1])).all()
    known = {each.tobytes() for each in found}
    assert len(known) == len(found)
    assert {one[other].tobytes() for one in found for other in found} == known


def test_a_sampled_state_is_an_image_with_its_value() -> None:
    """Of one output, what is good for the first role is bad where it changes places with the other."""
    searcher = TreeSearcher(anygame.load("tic_tac_toe"), seed=1, memory=1 << 20)
    fluents, roles = searcher.symmetries
    state = searcher.game.initial_state().next({"x": "(mark 1 2)", "o": "noop"})
    for number in range(len(fluents)):
        images = np.arange(64, dtype=np.int32).reshape(1, -1)
        images[0, : fluents.shape[1]] = fluents[number]
        practice = make_practice(
            searcher.packed(state), np.zeros((66, 32), np.float32), images, roles[number : number + 1, :1]
        )
        practice.states[0], practice.targets[0], practice.counts[:] = searcher.packed(state), 0.75, 1
        with np.errstate(over="ignore"):
            sample_state(  # type: ignore[no-untyped-call]
                make_worker(searcher.kernel, 1, 1, searcher.settings), practice
            )
        expected = searcher.packed(searcher.game.state(_image(searcher.game, state, fluents[number])))
        assert (practice.sampled[0] == expected).all()
        assert practice.wanted[0] == (0.25 if roles[number, 0] else 0.75)


@pytest.mark.parametrize("following", [1 << 20, 5])
def test_states_are_sampled_from_the_latest_eighth(following: int) -> None:
    """``following`` is the next row to fill; with 5, the latest states go around the end of the memory."""
    searcher = TreeSearcher(anygame.load("tic_tac_toe"), seed=1, memory=1 << 20)
    start, images = (
        searcher.packed(searcher.game.initial_state()),
        np.arange(64, dtype=np.int32).reshape(1, -1),
    )
    practice = make_practice(start, np.zeros((66, 32), np.float32), images, np.zeros((1, 1), np.int32))
    capacity = len(practice.targets)
    practice.targets[:, 0] = np.arange(capacity)
    practice.counts[[NEXT, FILLED, POSITIONS]] = following, capacity, 1 << 20
    worker = make_worker(searcher.kernel, 1, 1, searcher.settings)
    rows = []
    with np.errstate(over="ignore"):
        for _ in range(200):
            sample_state(worker, practice)  # type: ignore[no-untyped-call]
            rows.append(int(practice.wanted[0]))
    ages = [(following - 1 - row) % capacity for row in rows]
    assert max(ages) < 1 << 17
    assert len({age >> 14 for age in ages}) == 8
