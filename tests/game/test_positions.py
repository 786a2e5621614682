"""States made of facts, compared, copied and stored."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any

import pytest
from tests.game.sheets import BIDS, texts

import anygame
from anygame.language.terms import Compound, Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="module")
def game() -> anygame.Game:
    return anygame.loads(BIDS, name="bids.kif")


@pytest.fixture
def start(game: anygame.Game) -> anygame.State:
    return game.initial_state()


# -- states from facts --------------------------------------------------------------------------------


def test_a_state_can_be_made_from_facts(game: anygame.Game) -> None:
    state = game.state(["(round 3)", Compound("bid", (Constant("left"), Constant("2"))), "(bid right 1)"])
    assert state.is_terminal
    assert (state.goal("left"), state.goal("right")) == (100, 0)


def test_facts_can_be_repeated_and_in_any_order(game: anygame.Game) -> None:
    one = game.state(["(round 1)", "(bid left 1)", "(round 1)"])
    other = game.state(iter(["(bid left 1)", "(round 1)"]))
    assert one == other
    assert hash(one) == hash(other)


def test_facts_that_no_rule_knows_are_kept(game: anygame.Game) -> None:
    state = game.state(["(round 0)", "(weather fine)", "sunday", "(round 1 2)", "(round (deep 1))"])
    assert texts(state.facts) == ["(round (deep 1))", "(round 0)", "(round 1 2)", "(weather fine)", "sunday"]
    assert state != game.initial_state()
    assert texts(state.legal_moves("left")) == ["(bid 1)", "(bid 2)", "pass"]
    assert texts(state.next(["pass", "(bid 1)"]).facts) == ["(bid right 1)", "(round 1)"]
    assert pickle.loads(pickle.dumps(state)) == state


def test_a_state_can_have_no_facts(game: anygame.Game) -> None:
    state = game.state([])
    assert state.facts == frozenset()
    assert not state.is_terminal
    assert texts(state.next(["(bid 1)", "(bid 1)"]).facts) == ["(bid left 1)", "(bid right 1)"]


def test_facts_have_no_variables(game: anygame.Game) -> None:
    with pytest.raises(
        anygame.PositionError, match=r"must not contain variables, but contains \(round \?n\)"
    ):
        game.state(["(round ?n)"])
    with pytest.raises(anygame.PositionError, match="must not contain variables"):
        game.state([Variable("x")])


@pytest.mark.parametrize("facts", ["(round 1)", Constant("sunday")])
def test_a_single_fact_is_no_state(game: anygame.Game, facts: Any) -> None:
    with pytest.raises(anygame.PositionError, match="expected facts in a list, found the single fact"):
        game.state(facts)


@pytest.mark.parametrize("fact", [1, None, ("round", 1)])
def test_a_fact_that_is_neither_text_nor_term(game: anygame.Game, fact: Any) -> None:
    with pytest.raises(anygame.PositionError, match="a fact should be text or a term, found"):
        game.state([fact])


def test_facts_are_given_without_true(game: anygame.Game) -> None:
    with pytest.raises(anygame.PositionError, match=r"without `true`: \(round 1\), not \(true \(round 1\)\)"):
        game.state(["(true (round 1))"])


def test_a_fluent_may_be_called_true() -> None:
    game = anygame.loads("(role r) (init (true love)) (legal r go)")
    assert game.state(["(true love)"]) == game.initial_state()


def test_facts_that_cannot_be_read(game: anygame.Game) -> None:
    with pytest.raises(anygame.TermSyntaxError):
        game.state(["(round 1"])


def test_a_state_may_be_read_back_from_its_text(start: anygame.State) -> None:
    state = start.next(["(bid 2)", "(bid 1)"])
    assert str(state) == "((bid left 2) (bid right 1) (round 1))"
    assert start.game.state(map(str, state.facts)) == state
    assert repr(state) == "<State of bids.kif: (bid left 2) (bid right 1) (round 1)>"
    assert repr(start.game.state([])) == "<State of bids.kif: no facts>"


def test_repr_leaves_out_facts_of_large_states() -> None:
    game = anygame.load("tic_tac_toe")
    state = game.state([f"(cell {row} {column} b)" for row in range(9) for column in range(9)])
    kept = "(cell 0 0 b) (cell 0 1 b) (cell 0 2 b)", "(cell 8 6 b) (cell 8 7 b) (cell 8 8 b)"
    assert repr(state) == f"<State of tic_tac_toe: {kept[0]} ... 75 more ... {kept[1]}>"
    assert len(repr(game.state([f"(cell 1 1 {'x' * 4_000})"]))) < 200


# -- being a value ------------------------------------------------------------------------------------


def test_states_of_equal_games_are_equal(game: anygame.Game, start: anygame.State) -> None:
    other = anygame.loads(BIDS.replace("\n", "\n\n"), name="elsewhere").initial_state()
    assert other.game is not game
    assert other.game == game
    assert hash(other.game) == hash(game)
    assert other == start
    assert hash(other) == hash(start)
    assert {start: "found"}[other] == "found"
    assert other.next(["pass", "(bid 1)"]) == start.next(["pass", "(bid 1)"])
    assert other.next(["pass", "(bid 1)"]) != start


def test_states_of_other_games_differ(start: anygame.State) -> None:
    other = anygame.loads(BIDS + "(number 3)").initial_state()
    assert other.facts == start.facts
    assert other != start
    assert start != start.facts
    assert start != str(start)


def test_a_state_reached_and_a_state_from_facts_are_one(game: anygame.Game, start: anygame.State) -> None:
    reached = start.next(["(bid 1)", "(bid 2)"])
    given = game.state(["(round 1)", "(bid left 1)", "(bid right 2)"])
    assert reached == given
    assert hash(reached) == hash(given)
    assert len({reached, given}) == 1


def _pickled(state: anygame.State) -> Any:
    return pickle.loads(pickle.dumps(state))


@pytest.mark.parametrize("way", [_pickled, copy.copy, copy.deepcopy])
def test_a_copy_is_as_good_as_the_state(start: anygame.State, way: Callable[[Any], anygame.State]) -> None:
    state = start.next(["(bid 2)", "(bid 1)"])
    copied = way(state)
    assert copied == state
    assert hash(copied) == hash(state)
    assert copied.game == state.game
    assert copied.goal("left") == 100
    assert copied.next(["(bid 1)", "(bid 1)"]) == state.next(["(bid 1)", "(bid 1)"])


def test_copies_share_one_game(start: anygame.State) -> None:
    states = [start, start.next(["pass", "(bid 1)"])]
    first, second = pickle.loads(pickle.dumps(states))
    assert first.game is second.game
    assert _pickled(start).game is first.game


def test_a_pickle_keeps_how_the_sheet_was_read() -> None:
    limits = anygame.Limits(facts=1000)
    game = anygame.loads("(role R) (init (At 1)) (legal r Go)", name="x", case_sensitive=False, limits=limits)
    copied = pickle.loads(pickle.dumps(game))
    assert copied == game
    assert (copied.name, copied.case_sensitive, copied.limits) == ("x", False, limits)
    assert texts(copied.initial_state().legal_moves("r")) == ["go"]


def test_bindings_are_values(start: anygame.State) -> None:
    first, second = start.query("(legal right ?m)")
    assert first != second
    assert len({first, second, *start.query("(legal right ?m)")}) == 2
    assert dict(first) == {"?m": Compound("bid", (Constant("1"),))}
    assert repr(second) == "{?m: (bid 2)}"
