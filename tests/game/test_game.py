"""Games: loading, counting, playing at random, keeping many states."""

from __future__ import annotations

import pickle
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from tests.game.sheets import SHEETS, answers_of, following, texts

import anygame
from anygame.errors import LimitError

if TYPE_CHECKING:
    from pathlib import Path

    from anygame.game.backends import MachineName

#: Take one or two of five; who takes the last wins. Both may pass once the pile is gone.
PILE = """
(role a) (role b)
(init (pile 5)) (init (control a))
(less 5 1 4) (less 4 1 3) (less 3 1 2) (less 2 1 1) (less 1 1 0)
(less 5 2 3) (less 4 2 2) (less 3 2 1) (less 2 2 0)
(turn a b) (turn b a)
(<= (legal ?r (take ?n)) (true (control ?r)) (true (pile ?p)) (less ?p ?n ?q))
(<= (legal ?r wait) (role ?r) (not (true (control ?r))))
(<= (next (pile ?q)) (does ?r (take ?n)) (true (pile ?p)) (less ?p ?n ?q))
(<= (next (control ?s)) (true (control ?r)) (turn ?r ?s))
(<= terminal (true (pile 0)))
(<= (goal ?r 100) (true (pile 0)) (role ?r) (not (true (control ?r))))
(<= (goal ?r 0) (true (pile 0)) (true (control ?r)))
"""


@pytest.fixture(scope="module")
def pile() -> anygame.Game:
    return anygame.loads(PILE, name="pile.kif")


# -- loading ------------------------------------------------------------------------------------------


def test_a_game_prints_as_rules_that_are_the_game(pile: anygame.Game) -> None:
    again = anygame.loads(str(pile))
    assert again == pile
    assert hash(again) == hash(pile)
    assert repr(pile) == "<Game pile.kif: 22 rules, roles a, b>"
    assert pile != anygame.loads(PILE + "(extra fact)")
    assert pile != anygame.loads(PILE, case_sensitive=False)
    assert pile != PILE


def test_a_game_is_loaded_from_a_file(tmp_path: Path, pile: anygame.Game) -> None:
    path = tmp_path / "pile.kif"
    path.write_text(PILE, encoding="utf-8")
    assert anygame.load(path) == anygame.load(str(path)) == pile
    assert anygame.load(path).name == str(path)
    assert anygame.load(path, case_sensitive=False).case_sensitive is False


def test_roles_are_text_and_terms() -> None:
    white, random = anygame.loads("(role white) (role random)").roles
    assert white == "white"
    assert str(white) == f"{white}" == "white"
    assert white.term is anygame.Constant("white")
    assert (white.is_random, random.is_random) == (False, True)
    assert len({white, "white"}) == 1
    copied = pickle.loads(pickle.dumps(random))
    assert (copied, copied.is_random, copied.term) == (random, True, random.term)


def test_fluents_and_moves_list_all_possible_arguments(pile: anygame.Game) -> None:
    assert {key: [texts(terms) for terms in arguments] for key, arguments in pile.fluents.items()} == {
        ("control", 1): [["a", "b"]],
        ("pile", 1): [["0", "1", "2", "3", "4", "5"]],
    }
    assert {key: [texts(terms) for terms in arguments] for key, arguments in pile.moves.items()} == {
        ("take", 1): [["1", "2"]],
        ("wait", 0): [],
    }


# -- counting -----------------------------------------------------------------------------------------


def test_counts_of_the_game_tree(pile: anygame.Game) -> None:
    # Ways to write 5 as a sum of ones and twos, step by step: sums that have reached 5 are not continued.
    assert [anygame.perft(pile, depth) for depth in range(7)] == [1, 2, 4, 7, 5, 1, 0]


def test_counts_split_by_first_move(pile: anygame.Game) -> None:
    split = anygame.perft_divide(pile, 3)
    assert {tuple(map(str, joint)): count for joint, count in split.items()} == {
        ("(take 1)", "wait"): 4,
        ("(take 2)", "wait"): 3,
    }


def test_counts_from_a_state(pile: anygame.Game) -> None:
    state = pile.state(["(pile 2)", "(control b)"])
    assert [anygame.perft(pile, depth, state) for depth in range(4)] == [1, 2, 1, 0]


@pytest.mark.parametrize("machine", ["reasoner", "auto"])
def test_counts_deeper_than_calls_can_be_nested(machine: MachineName) -> None:
    rules = "(role me) (legal me a) (legal me b) (init (going)) (<= (next (going)) (true (going)))"
    game = anygame.loads(rules + "(<= terminal (true (over)))", machine=machine)
    assert anygame.perft(game, 20_000) == 1 << 20_000
    assert set(anygame.perft_divide(game, 3_000).values()) == {1 << 2_999}
    for depth, error in ((-1, ValueError), (100_001, LimitError)):
        with pytest.raises(error, match=f"the depth of a count must be from 0 to 100,000, not {depth}"):
            anygame.perft(game, depth)


def test_a_terminal_state_has_no_continuation(pile: anygame.Game) -> None:
    over = pile.state(["(pile 0)", "(control b)"])
    assert [anygame.perft(pile, depth, over) for depth in range(3)] == [1, 0, 0]
    assert anygame.perft_divide(pile, 1, over) == {}


def test_perft_multiplies_simultaneous_moves() -> None:
    game = anygame.loads("(role r) (role s) (n 1) (n 2) (n 3) (<= (legal ?r ?n) (role ?r) (n ?n))")
    assert [anygame.perft(game, depth) for depth in range(4)] == [1, 9, 81, 729]


@pytest.mark.parametrize("depth", [1, 2])
def test_counting_needs_moves_for_every_role(depth: int) -> None:
    game = anygame.loads("(role r) (role s) (legal r go)")
    with pytest.raises(anygame.IllegalMoveError, match="s has no legal move in a state that is not terminal"):
        anygame.perft(game, depth, strict=True)
    assert anygame.perft(game, 0, strict=True) == 1
    assert anygame.perft(game, depth) == 0
    with pytest.raises(anygame.IllegalMoveError, match="s has no legal move"):
        anygame.perft_divide(game, depth, strict=True)
    assert anygame.perft_divide(game, depth) == {}


def test_depths_that_make_no_sense(pile: anygame.Game) -> None:
    with pytest.raises(ValueError, match="from 0 to 100,000, not -1"):
        anygame.perft(pile, -1)
    with pytest.raises(ValueError, match="from 1 to 100,000, not 0"):
        anygame.perft_divide(pile, 0)


# -- playing at random --------------------------------------------------------------------------------


def test_a_playout_is_a_match(pile: anygame.Game) -> None:
    for playout in pile.playouts(20, seed=3):
        state = pile.initial_state()
        for joint in playout.moves:
            assert not state.is_terminal
            state = state.next(joint)
        assert state.is_terminal
        assert playout.is_complete
        assert playout.length == len(playout.moves)
        assert playout.goals == {role: state.goal(role) for role in pile.roles}


def test_the_same_seed_gives_the_same_playouts(pile: anygame.Game) -> None:
    first = list(pile.playouts(10, seed=7))
    assert list(pile.playouts(10, seed=7)) == first
    assert pile.playout(7) == first[0]
    assert list(pile.playouts(10, seed=8)) != first
    assert list(pile.playouts(0, seed=7)) == []


def test_a_seed_gives_the_same_whatever_was_asked_before() -> None:
    rules = """
        (role r) (n 1) (n 2) (n 3) (init (stack nil))
        (<= (legal r (become (push ?x ?s))) (true (stack ?s)) (n ?x))
        (<= (legal r (become ?s)) (true (stack (push ?x ?s))))
        (<= (next (stack ?s)) (does r (become ?s)))
        (<= terminal (true (stack (push ?x (push ?y (push ?z ?s))))))
        """
    fresh, asked = anygame.loads(rules), anygame.loads(rules)
    assert len(asked.state(["(stack (push 3 nil))"]).legal_moves("r")) == 4
    assert list(asked.playouts(20, seed=3)) == list(fresh.playouts(20, seed=3))


def test_moves_are_chosen_uniformly(pile: anygame.Game) -> None:
    first_moves = Counter(str(playout.moves[0][0]) for playout in pile.playouts(2000, seed=1))
    assert set(first_moves) == {"(take 1)", "(take 2)"}
    assert 900 < first_moves["(take 1)"] < 1100


def test_a_limit_cuts(pile: anygame.Game) -> None:
    cut = pile.playout(1, limit=2)
    assert (cut.length, cut.is_complete, cut.goals) == (2, False, {"a": None, "b": None})
    nothing = pile.playout(1, limit=0)
    assert (nothing.moves, nothing.is_complete) == ((), False)
    endless = anygame.loads("(role r) (legal r go) (legal r stop)")
    assert endless.playout(1, limit=50).length == 50


def test_a_playout_that_ends_at_its_limit_is_complete(pile: anygame.Game) -> None:
    whole = pile.playout(1)
    assert pile.playout(1, limit=whole.length) == whole


def test_playouts_can_start_from_a_state(pile: anygame.Game) -> None:
    state = pile.state(["(pile 1)", "(control b)"])
    playout = pile.playout(1, state=state)
    assert [texts(joint) for joint in playout.moves] == [["(take 1)", "wait"]]
    assert playout.goals == {"a": 0, "b": 100}
    over = pile.playout(1, state=state.next(["wait", "(take 1)"]))
    assert (over.moves, over.goals, over.is_complete) == ((), {"a": 0, "b": 100}, True)


def test_goals_that_cannot_be_used_are_none_in_playouts() -> None:
    game = anygame.loads("(role r) (role s) (role t) terminal (goal r 1) (goal r 2) (goal s high) (goal t 3)")
    goals = game.playout(1).goals
    assert goals == {"r": None, "s": None, "t": 3}
    assert (goals["t"], list(goals)) == (3, list(game.roles))


def test_a_playout_stops_where_a_role_cannot_move() -> None:
    game = anygame.loads("(role r) (role s) (init on) (legal r go) (<= (legal s go) (true on))")
    found = game.playout(1)
    assert (found.length, found.is_complete) == (1, False)
    assert found.stuck is not None
    assert (found.stuck.role, found.stuck.facts, found.stuck.moves) == ("s", frozenset(), found.moves)
    assert game.playout(1, limit=1).stuck is None
    with pytest.raises(anygame.IllegalMoveError, match="s has no legal move") as raised:
        game.playout(1, strict=True)
    assert raised.value.role == "s"


# -- many states --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_any_number_of_states_keep_answering() -> None:
    game = anygame.load(SHEETS / "tic_tac_toe.kif")
    random = Random(5)
    states: list[anygame.State] = []
    answers = []
    while len(states) < 2000:
        state = game.initial_state()
        while not state.is_terminal:
            states.append(state)
            answers.append(answers_of(state))
            state = state.next([random.choice(state.legal_moves(role)) for role in game.roles])
    fresh = anygame.load(SHEETS / "tic_tac_toe.kif")
    for state, answer in zip(states, answers, strict=True):
        assert answers_of(state) == answer
    for state, answer in list(zip(states, answers, strict=True))[::50]:
        assert answers_of(fresh.state(state.facts)) == answer
        assert following(state) == following(fresh.state(state.facts))


def test_a_state_forgets_nothing_that_can_be_asked(pile: anygame.Game) -> None:
    state = pile.initial_state().next(["(take 2)", "wait"])
    before = answers_of(state), following(state)
    state.forget()
    assert (answers_of(state), following(state)) == before


@pytest.mark.parametrize("ask", [anygame.perft, anygame.perft_divide, anygame.solve, anygame.analyse])
def test_a_name_is_no_game(ask: Any) -> None:
    arguments = [1] if ask in (anygame.perft, anygame.perft_divide) else []
    with pytest.raises(
        anygame.PositionError, match=r"expected a game or a state, found str: anygame\.load\('pig'\)"
    ):
        ask("pig", *arguments)
