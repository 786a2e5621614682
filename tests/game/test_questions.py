"""Questions to states: queries, what roles see, why something holds and why not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.game.sheets import texts

import anygame
from anygame.language.rules import Atom
from anygame.language.terms import Compound, Constant, Variable

MONTY_HALL = Path(__file__).parents[2] / "gdl" / "monty_hall.kif"

#: A robot on a line of four cells that may paint the cell it stands on.
LINE = """
(role robot)
(init (at 1)) (init (colour 2 red))
(succ 1 2) (succ 2 3) (succ 3 4)
(<= (reach ?x) (true (at ?x)))
(<= (reach ?y) (reach ?x) (succ ?x ?y) (not (blocked ?y)))
(blocked 4)
(<= (legal robot (go ?y)) (true (at ?x)) (succ ?x ?y))
(<= (legal robot paint) (true (at ?x)) (not (coloured ?x)))
(<= (coloured ?x) (true (colour ?x ?c)))
(<= (next (at ?y)) (does robot (go ?y)))
(<= (next (at ?x)) (true (at ?x)) (not moving))
(<= (next (colour ?x ?c)) (true (colour ?x ?c)))
(<= (next (colour ?x blue)) (true (at ?x)) (does robot paint))
(<= moving (does robot (go ?y)))
(<= terminal (true (at 4)))
"""


@pytest.fixture(scope="module")
def start() -> anygame.State:
    return anygame.loads(LINE, name="line.kif").initial_state()


def _asked(state: anygame.State, pattern: str, moves: list[str] | None = None) -> list[str]:
    return [str(answer) for answer in state.query(pattern, moves)]


# -- queries ------------------------------------------------------------------------------------------


def test_variables_are_bound_to_terms(start: anygame.State) -> None:
    (answer,) = start.query("(true (colour ?cell ?c))")
    assert answer["?cell"] is answer["cell"] is answer[Variable("cell")] is Constant("2")
    assert dict(answer) == {"?cell": Constant("2"), "?c": Constant("red")}
    assert len(answer) == 2
    assert "?c" in answer
    with pytest.raises(KeyError):
        answer["?other"]


@pytest.mark.parametrize(
    ("pattern", "answers"),
    [
        ("(reach ?x)", ["{?x: 1}", "{?x: 2}", "{?x: 3}"]),
        ("(legal ?r ?m)", ["{?r: robot, ?m: (go 2)}", "{?r: robot, ?m: paint}"]),
        ("(legal robot (go ?y))", ["{?y: 2}"]),
        ("(succ ?x 3)", ["{?x: 2}"]),
        ("(succ ?x ?x)", []),
        ("(true ?f)", ["{?f: (at 1)}", "{?f: (colour 2 red)}"]),
        ("(true (at 1))", ["{}"]),
        ("(true (at 2))", []),
        ("(true (shape 2 round))", []),
        ("(reach (deep 1))", []),
        ("(init (at ?x))", ["{?x: 1}"]),
        ("(role ?r)", ["{?r: robot}"]),
        ("terminal", []),
        ("(base ?f)", []),
        ("(sees robot ?p)", []),
        ("(REACH 9)", None),
        ("(ROLE ?r)", ["{?r: robot}"]),
    ],
)
def test_answers_have_a_fixed_order(start: anygame.State, pattern: str, answers: list[str] | None) -> None:
    if answers is None:
        with pytest.raises(anygame.QueryError):
            start.query(pattern)
    else:
        assert _asked(start, pattern) == answers == _asked(start, pattern)


def test_patterns_may_be_atoms(start: anygame.State) -> None:
    cell = Variable("c")
    found = start.query(Atom("true", (Compound("at", (cell,)),)))
    assert [answer[cell] for answer in found] == [Constant("1")]


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(reech ?x)", "no relation reech/1; did you mean reach"),
        ("(zzzzzzzz ?x)", "no relation zzzzzzzz/1$"),
        ("(at ?x)", r"at is a fluent, not a relation: ask for \(true \(at \?x\)\)"),
        ("(succ ?x)", r"succ takes 2 arguments, but \(succ \?x\) has 1"),
        ("(reach ?x ?y)", "reach takes 1 argument, but"),
        ("(next ?f)", "next depends on the moves: give a joint move"),
        ("(does robot ?m)", "does depends on the moves"),
        ("moving", "moving depends on the moves"),
    ],
)
def test_questions_that_cannot_be_asked(start: anygame.State, pattern: str, message: str) -> None:
    for ask in (start.query, start.explain, start.explain_failure):
        with pytest.raises(anygame.QueryError, match=message):
            ask(pattern)


@pytest.mark.parametrize("pattern", ["", "(reach ?x", "(reach ?x) (reach ?y)", "?x", "(?r 1)"])
def test_patterns_that_cannot_be_read(start: anygame.State, pattern: str) -> None:
    with pytest.raises(anygame.TermSyntaxError):
        start.query(pattern)


def test_queries_with_moves_can_use_all_relations(start: anygame.State) -> None:
    assert _asked(start, "(next (at ?x))", ["(go 2)"]) == ["{?x: 2}"]
    assert _asked(start, "(next ?f)", ["paint"]) == [
        "{?f: (at 1)}",
        "{?f: (colour 1 blue)}",
        "{?f: (colour 2 red)}",
    ]
    assert _asked(start, "(does robot ?m)", ["paint"]) == ["{?m: paint}"]
    assert _asked(start, "moving", ["(go 2)"]) == ["{}"]
    assert _asked(start, "moving", ["paint"]) == []
    assert _asked(start, "(reach ?x)", ["paint"]) == _asked(start, "(reach ?x)")
    with pytest.raises(anygame.IllegalMoveError):
        start.query("(next ?f)", ["(go 3)"])


def test_questions_leave_the_state_alone(start: anygame.State) -> None:
    state = start.game.initial_state()
    for pattern, moves in (("(next ?f)", ["paint"]), ("(reach ?x)", None), ("(next ?f)", ["(go 2)"])):
        list(state.query(pattern, moves))
    assert texts(state.facts) == ["(at 1)", "(colour 2 red)"]
    assert texts(state.next(["(go 2)"]).facts) == ["(at 2)", "(colour 2 red)"]
    assert state == start


# -- what roles see -----------------------------------------------------------------------------------


def _seen(state: anygame.State, moves: list[str]) -> dict[str, list[str]]:
    return {role: list(map(str, terms)) for role, terms in state.percepts(moves).items()}


def test_percepts_of_monty_hall_depend_on_moves() -> None:
    game = anygame.load(MONTY_HALL)
    assert game.is_gdl2
    assert [(role, role.is_random) for role in game.roles] == [("candidate", False), ("random", True)]
    state = game.initial_state()
    hide = ["noop", "(hide 2)"]
    assert _seen(state, hide) == {"candidate": [], "random": []}
    state = state.next(hide).next(["(choose 1)", "noop"])
    assert state.legal_moves("random") == (Compound("open", (Constant("3"),)),)
    open_door = ["noop", "(open 3)"]
    assert _seen(state, open_door) == {"candidate": ["(opened 3)"], "random": []}
    state = state.next({"candidate": "noop", "random": "(open 3)"})
    assert _seen(state, ["switch", "noop"]) == {"candidate": ["(car 2)"], "random": []}
    assert state.next(["switch", "noop"]).goal("candidate") == 100
    assert state.next(["stay", "noop"]).goal("candidate") == 0


def test_percepts_are_sorted_and_each_role_has_its_own() -> None:
    game = anygame.loads(
        """
        (role teller) (role listener) (word no) (word yes) (word maybe)
        (<= (legal teller (say ?w)) (word ?w)) (legal listener wait)
        (<= (sees listener (heard ?w)) (does teller (say ?w)))
        (<= (sees ?r ?w) (role ?r) (word ?w) (distinct ?r teller) (does teller (say yes)))
        (sees teller clock)
        """
    )
    state = game.initial_state()
    assert _seen(state, ["(say yes)", "wait"]) == {
        "teller": ["clock"],
        "listener": ["(heard yes)", "maybe", "no", "yes"],
    }
    assert _seen(state, ["(say no)", "wait"]) == {"teller": ["clock"], "listener": ["(heard no)"]}
    seen = state.percepts(["(say no)", "wait"])
    assert list(seen) == list(game.roles)
    assert [str(percept) for percept in seen["teller"]] == ["clock"]
    with pytest.raises(anygame.IllegalMoveError):
        state.percepts(["(say perhaps)", "wait"])


def test_games_without_sees_have_no_percepts(start: anygame.State) -> None:
    assert not start.game.is_gdl2
    assert start.percepts(["paint"]) == {"robot": ()}


def test_sees_of_another_arity_hides_nothing() -> None:
    game = anygame.loads("(role r) (<= (sees ?a ?b ?c) (near ?a ?b ?c)) (legal r go) (near a b c)")
    assert not game.is_gdl2
    assert game.initial_state().percepts(["go"]) == {"r": ()}


# -- why ----------------------------------------------------------------------------------------------


def test_why_something_holds(start: anygame.State) -> None:
    derivation = start.explain("(reach 2)")
    assert (derivation.conclusion, derivation.reason, derivation.place) == (
        "(reach 2)",
        "rule",
        "line.kif:6:1",
    )
    assert [(premise.conclusion, premise.reason) for premise in derivation.premises] == [
        ("(reach 1)", "rule"),
        ("(succ 1 2)", "fact"),
        ("(not (blocked 2))", "absent"),
    ]
    (state_fact,) = derivation.premises[0].premises
    assert (state_fact.conclusion, state_fact.reason, state_fact.premises) == ("(true (at 1))", "state", ())
    assert derivation.premises[1].place == "line.kif:4:1"


def test_a_derivation_is_printed_as_a_tree(start: anygame.State) -> None:
    assert str(start.explain("(legal robot paint)")).splitlines() == [
        "(legal robot paint)   [by the rule at line.kif:9:1]",
        "├─ (true (at 1))   [in the state]",
        "└─ (not (coloured 1))   [nothing derives the atom]",
    ]


def test_why_something_will_be(start: anygame.State) -> None:
    derivation = start.explain("(next (at 2))", ["(go 2)"])
    assert [(premise.conclusion, premise.reason) for premise in derivation.premises] == [
        ("(does robot (go 2))", "move")
    ]


def test_an_atom_that_does_not_hold_has_no_derivation(start: anygame.State) -> None:
    with pytest.raises(anygame.QueryError, match=r"\(reach 4\) does not hold") as raised:
        start.explain("(reach 4)")
    assert "fails  (not (blocked 4))" in str(raised.value)


def test_why_something_does_not_hold(start: anygame.State) -> None:
    failure = start.explain_failure("(legal robot (go 3))")
    assert failure.atom == "(legal robot (go 3))"
    (attempt,) = failure.attempts
    assert attempt.place == "line.kif:8:1"
    assert {*attempt.held, attempt.failed} in (
        {"(true (at 1))", "(succ 1 3)"},
        {"(succ 2 3)", "(true (at 2))"},
    )
    assert "does not hold" in str(failure)


def test_why_something_will_not_be(start: anygame.State) -> None:
    failure = start.explain_failure("(next (at 1))", ["(go 2)"])
    fails = {attempt.place: attempt.failed for attempt in failure.attempts}
    assert fails == {"line.kif:11:1": "(does robot (go 1))", "line.kif:12:1": "(not moving)"}


def test_an_atom_that_no_rule_can_derive_has_no_attempts(start: anygame.State) -> None:
    failure = start.explain_failure("(blocked 9)")
    assert failure.attempts == ()
    assert str(failure) == "(blocked 9) does not hold: no rule or fact can derive it"


def test_an_atom_that_holds_has_no_failure(start: anygame.State) -> None:
    with pytest.raises(anygame.QueryError, match=r"\(reach 3\) holds"):
        start.explain_failure("(reach 3)")


def test_explanations_as_plain_data(start: anygame.State) -> None:
    data = start.explain("(coloured 2)").to_dict()
    assert data["conclusion"] == "(coloured 2)"
    assert data["premises"] == [
        {"conclusion": "(true (colour 2 red))", "reason": "state", "place": "", "premises": []}
    ]
    assert start.explain_failure("(coloured 1)").to_dict() == {
        "atom": "(coloured 1)",
        "attempts": [
            {
                "rule": "(<= (coloured ?x) (true (colour ?x ?c)))",
                "place": "line.kif:10:1",
                "held": [],
                "failed": "(true (colour 1 ?c))",
            }
        ],
    }
