"""States: moving from one to the next, and what they are worth."""

from __future__ import annotations

from typing import Any

import pytest
from tests.game.sheets import BIDS, texts

import anygame
from anygame.language.terms import Compound, Constant


@pytest.fixture(scope="module")
def game() -> anygame.Game:
    return anygame.loads(BIDS, name="bids.kif")


@pytest.fixture
def start(game: anygame.Game) -> anygame.State:
    return game.initial_state()


# -- moving -------------------------------------------------------------------------------------------


def test_a_move_leaves_the_state_as_it_was(start: anygame.State) -> None:
    before = start.facts, start.legal_moves("left"), start.legal_moves("right"), start.is_terminal
    following = start.next(["pass", "(bid 2)"])
    assert texts(following.facts) == ["(bid right 2)", "(round 1)"]
    assert texts(start.facts) == ["(round 0)"]
    assert (start.facts, start.legal_moves("left"), start.legal_moves("right"), start.is_terminal) == before
    assert start.next(["pass", "(bid 2)"]) == following


def test_branches_do_not_touch_each_other(start: anygame.State) -> None:
    branches = [start.next([left, right]) for left in ("pass", "(bid 1)") for right in ("(bid 1)", "(bid 2)")]
    assert len(set(branches)) == 4
    assert [texts(state.facts) for state in branches] == [
        ["(bid right 1)", "(round 1)"],
        ["(bid right 2)", "(round 1)"],
        ["(bid left 1)", "(bid right 1)", "(round 1)"],
        ["(bid left 1)", "(bid right 2)", "(round 1)"],
    ]


@pytest.mark.parametrize(
    "joint",
    [
        ["(bid 1)", "(bid 2)"],
        ("(bid 1)", "(bid 2)"),
        ["( bid  1 )", "(bid 2) ; a comment"],
        [Compound("bid", (Constant("1"),)), Compound("bid", (Constant("2"),))],
        {"left": "(bid 1)", "right": "(bid 2)"},
        {"right": "(bid 2)", "left": "(bid 1)"},
        {Constant("left"): "(bid 1)", Constant("right"): Compound("bid", (Constant("2"),))},
        {anygame.Role(Constant("left")): "(bid 1)", " right ": "(bid 2)"},
    ],
)
def test_joint_moves_may_be_given_in_many_ways(start: anygame.State, joint: Any) -> None:
    assert texts(start.next(joint).facts) == ["(bid left 1)", "(bid right 2)", "(round 1)"]


def test_roles_may_be_given_as_role_text_or_term(game: anygame.Game, start: anygame.State) -> None:
    for role in (game.roles[1], "right", Constant("right"), "right ", "( right )"):
        assert texts(start.legal_moves(role)) == ["(bid 1)", "(bid 2)"]
        assert start.goal(role) == 0


def test_the_error_for_an_illegal_move_suggests_similar_moves(start: anygame.State) -> None:
    with pytest.raises(anygame.IllegalMoveError, match=r"\(bid 3\) is not legal for right here") as raised:
        start.next({"left": "pass", "right": "(bid 3)"})
    assert (raised.value.role, raised.value.move) == ("right", "(bid 3)")
    assert sorted(raised.value.suggestions) == ["(bid 1)", "(bid 2)"]
    assert texts(start.facts) == ["(round 0)"]
    assert start == start.game.initial_state()


def test_without_similar_moves_the_error_lists_legal_moves(start: anygame.State) -> None:
    with pytest.raises(anygame.IllegalMoveError, match=r"legal: \(bid 1\), \(bid 2\), pass") as raised:
        start.next(["zzzzzzzzzzzz", "(bid 1)"])
    assert raised.value.suggestions == ("(bid 1)", "(bid 2)", "pass")


def test_a_move_of_another_role_is_illegal(start: anygame.State) -> None:
    with pytest.raises(anygame.IllegalMoveError) as raised:
        start.next(["(bid 1)", "pass"])
    assert (raised.value.role, raised.value.move) == ("right", "pass")


@pytest.mark.parametrize("moves", [[], ["pass"], ["pass", "(bid 1)", "(bid 1)"]])
def test_the_wrong_number_of_moves(start: anygame.State, moves: list[str]) -> None:
    with pytest.raises(anygame.IllegalMoveError, match=rf"expected 2 moves.*left, right.*found {len(moves)}"):
        start.next(moves)


def test_a_missing_role_raises_an_error(start: anygame.State) -> None:
    with pytest.raises(anygame.IllegalMoveError, match="no move is given for right") as raised:
        start.next({"left": "pass"})
    assert raised.value.role == "right"


def test_an_unknown_role_raises_an_error(game: anygame.Game, start: anygame.State) -> None:
    with pytest.raises(anygame.UnknownRoleError, match="did you mean right") as raised:
        start.next({"left": "pass", "rihgt": "(bid 1)"})
    assert (raised.value.role, raised.value.roles) == ("rihgt", game.roles)
    for ask in (start.legal_moves, start.goal):
        with pytest.raises(anygame.UnknownRoleError, match="the roles are left, right"):
            ask("nobody")


@pytest.mark.parametrize("role", ["", "(", "left right", "?r", "(left 1)"])
def test_text_that_is_not_a_role_raises_an_error(start: anygame.State, role: str) -> None:
    with pytest.raises(anygame.UnknownRoleError):
        start.legal_moves(role)


@pytest.mark.parametrize("move", ["", "(bid", "(bid 1) (bid 2)", ")", "()"])
def test_a_move_that_cannot_be_read(start: anygame.State, move: str) -> None:
    with pytest.raises(anygame.IllegalMoveError, match="the move of left cannot be read") as raised:
        start.next([move, "(bid 1)"])
    assert (raised.value.role, raised.value.move) == ("left", move)


@pytest.mark.parametrize("move", [1, None, ("bid", 1)])
def test_a_move_that_is_neither_text_nor_term(start: anygame.State, move: Any) -> None:
    with pytest.raises(anygame.IllegalMoveError, match="the move of left should be text or a term, found"):
        start.next([move, "(bid 1)"])


def test_two_moves_for_one_role(start: anygame.State) -> None:
    joint = {"left": "pass", Constant("left"): "(bid 1)", "right": "(bid 1)"}
    with pytest.raises(anygame.IllegalMoveError, match="two moves are given for left") as raised:
        start.next(joint)
    assert raised.value.role == "left"


def test_errors_shorten_long_names(start: anygame.State) -> None:
    move = f"(bid {' '.join(['x' * 1000] * 100)})"
    with pytest.raises(anygame.IllegalMoveError) as raised:
        start.next([move, "(bid 1)"])
    assert raised.value.move == move
    assert len(str(raised.value)) < 500
    with pytest.raises(anygame.UnknownRoleError) as unknown:
        start.goal("x" * 100_000)
    assert len(str(unknown.value)) < 500


def test_a_move_with_variables_is_not_legal(start: anygame.State) -> None:
    with pytest.raises(anygame.IllegalMoveError, match=r"\(bid \?n\) is not legal"):
        start.next(["(bid ?n)", "(bid 1)"])


@pytest.mark.parametrize("move", ["pass", Constant("pass")])
def test_a_single_move_is_no_joint_move(start: anygame.State, move: Any) -> None:
    with pytest.raises(
        anygame.IllegalMoveError, match=r"one move per role \(left, right\) as a list or a mapping"
    ):
        start.next(move)


def test_a_single_move_is_no_joint_move_with_one_role_either() -> None:
    state = anygame.loads("(role r) (legal r g)").initial_state()
    with pytest.raises(anygame.IllegalMoveError, match="as a list or a mapping, found the single move g"):
        state.next("g")


def test_a_role_without_legal_moves() -> None:
    state = anygame.loads("(role r) (role s) (legal r go)").initial_state()
    assert state.legal_moves("s") == ()
    assert not state.is_terminal
    with pytest.raises(anygame.IllegalMoveError, match="s has no legal move at all") as raised:
        state.next(["go", "go"])
    assert (raised.value.role, raised.value.suggestions) == ("s", ())


_COUNTDOWN = """(role a) (role b) (init (left 3)) (succ 0 1) (succ 1 2) (succ 2 3) (legal b wait)
    (<= (legal a wait) (true (left ?n)) (distinct ?n 1)) (<= (legal a (stop ?x)) (true (left 1)) (succ ?x ?y))
    (<= (next (left ?m)) (true (left ?n)) (succ ?m ?n)) (<= (next (left 3)) (true (left 0)))"""


def test_play_without_a_choice_takes_any_move_of_the_joint_move() -> None:
    state = anygame.loads(_COUNTDOWN).initial_state()
    assert state.movers == ()
    assert texts(state.play("wait").facts) == ["(left 2)"]
    assert state.play(" wait ").play("b", "wait") == state.skip_forced()
    with pytest.raises(anygame.IllegalMoveError, match="nonsense is not legal for a here; legal: wait"):
        state.play("nonsense")


def test_play_raises_the_expected_errors(start: anygame.State) -> None:
    with pytest.raises(anygame.SimultaneousMovesError, match="left and right can choose here: give `next`"):
        start.play("(bid 1)")
    with pytest.raises(anygame.SimultaneousMovesError, match="left and right can choose here"):
        start.play("left", "(bid 1)")
    choice = anygame.loads(_COUNTDOWN).initial_state().skip_forced()
    assert choice.movers == ("a",)
    with pytest.raises(anygame.IllegalMoveError, match=r"^wait is not legal for a here"):
        choice.play("wait")
    with pytest.raises(anygame.SimultaneousMovesError, match=r"^a can choose here"):
        choice.play("b", "wait")
    with pytest.raises(anygame.UnknownRoleError, match="no role is called c"):
        choice.play("c", "wait")
    with pytest.raises(
        anygame.IllegalMoveError, match="the move of a cannot be read: this list is never closed"
    ):
        choice.play("(stop")
    with pytest.raises(anygame.IllegalMoveError, match=r"found more text after stop; try \(stop 0\)"):
        choice.play("stop 0")
    forced = anygame.loads(_COUNTDOWN).initial_state()
    with pytest.raises(anygame.TermSyntaxError, match="this list is never closed"):
        forced.play("(wait")
    stuck = anygame.loads("(role a) (role b) (legal a x) (legal a y) (init s)").initial_state()
    with pytest.raises(anygame.IllegalMoveError, match="b has no legal move"):
        stuck.play("x")
    assert stuck.skip_forced() is stuck


def test_forced_moves_without_end_are_bounded() -> None:
    game = anygame.loads(
        _COUNTDOWN.replace("(distinct ?n 1)", "").replace("(true (left 1)) (succ", "(succ x")
    )
    assert game.initial_state().movers == ()
    with pytest.raises(anygame.LimitError, match="no role has a choice within 50 joint moves") as caught:
        game.initial_state().skip_forced(50)
    assert caught.value.limit == "moves"


def test_all_goals_need_no_exception_handling() -> None:
    roles = "(role a) (role b) (role c) (role d) (<= (legal ?r x) (role ?r)) (init s)"
    state = anygame.loads(f"{roles} (goal a 1) (goal a 2) (goal b x) (goal d 7)").initial_state()
    assert state.goals() == {"a": None, "b": None, "c": None, "d": 7}
    assert state.goals(default=0) == {"a": 0, "b": 0, "c": 0, "d": 7}


def test_terminal_states_have_moves_and_can_be_left(game: anygame.Game) -> None:
    state = game.state(["(round 3)"])
    assert state.is_terminal
    assert texts(state.legal_moves("left")) == ["(bid 1)", "(bid 2)"]
    assert texts(state.next(["(bid 1)", "(bid 1)"]).facts) == ["(bid left 1)", "(bid right 1)"]


# -- goals --------------------------------------------------------------------------------------------

GOALS = """
(role r) (role s) (init none) (legal r go) (legal s go)
(<= (goal r 100) (true won))
(<= (goal r 50) (true drawn))
(<= (goal r 050) (true drawn_again))
(<= (goal r high) (true odd))
(<= (goal r (sum 1 2)) (true strange))
(<= (goal r -5) (true owing))
(<= (goal ?r 7) (role ?r) (true all))
"""


@pytest.mark.parametrize(
    ("facts", "goal"), [("none", None), ("won", 100), ("drawn_again", 50), ("owing", -5), ("all", 7)]
)
def test_a_goal_is_a_number_or_none(facts: str, goal: int | None) -> None:
    state = anygame.loads(GOALS).state([facts])
    assert state.goal("r") == goal
    assert state.goal("s") == (7 if facts == "all" else None)


@pytest.mark.parametrize(
    ("facts", "values", "message"),
    [
        (["won", "drawn"], ("100", "50"), "gives? r 2 different goal values here: 100, 50"),
        (["won", "drawn", "all"], ("100", "50", "7"), "3 different"),
        (["odd"], ("high",), "should be an integer, but the rules give high"),
        (["strange"], ("(sum 1 2)",), r"should be an integer, but the rules give \(sum 1 2\)"),
        (["odd", "won"], ("100", "high"), "should be an integer"),
    ],
)
def test_goals_that_cannot_be_used(facts: list[str], values: tuple[str, ...], message: str) -> None:
    state = anygame.loads(GOALS).state(facts)
    for _ in range(2):
        with pytest.raises(anygame.GoalError, match=message) as raised:
            state.goal("r")
        assert (raised.value.role, raised.value.values) == ("r", values)
