"""Measures: matches that end because a weighted sum grows, and matches that do not."""

from __future__ import annotations

from itertools import product
from math import inf
from typing import Any

import pytest

import anygame
from anygame.network.logic.gates import Gates
from anygame.network.network import FALSE
from anygame.proving import prove
from anygame.proving.certificate import CertificateError, check_ending
from anygame.proving.ending import Measure, Measures, _IdleSteps
from anygame.proving.formula import Copy, Formula
from anygame.proving.induction import candidates
from anygame.proving.patience import OutOfTimeError, Patience
from anygame.proving.prover import Prover

pytest.importorskip("pysat")

#: Pawns of two sides on three columns go forward and take each other; who cannot move passes.
_PAWNS = """
(role white) (role black) (init (control white))
(next_to 1 2) (next_to 2 3) (next_to 3 4) (next_to 4 5) (column 1) (column 2)
(init (at 1 1 white)) (init (at 2 1 white)) (init (at 1 5 black)) (init (at 2 5 black))
(<= (ahead white ?x ?y) (next_to ?x ?y)) (<= (ahead black ?x ?y) (next_to ?y ?x))
(other white black) (other black white)
(<= (step ?p ?c ?y ?z) (true (at ?c ?y ?p)) (ahead ?p ?y ?z) (not (true (at ?c ?z ?p))))
(<= (can ?p) (step ?p ?c ?y ?z))
(<= (legal ?p (go ?c ?y ?z)) (true (control ?p)) (step ?p ?c ?y ?z))
(<= (legal ?p pass) (true (control ?p)) (not (can ?p)))
(<= (legal ?p noop) (role ?p) (not (true (control ?p))))
(<= (left ?c ?y) (does ?p (go ?c ?y ?z)))
(<= (taken ?c ?z) (does ?p (go ?c ?y ?z)))
(<= (next (at ?c ?z ?p)) (does ?p (go ?c ?y ?z)))
(<= (next (at ?c ?y ?p)) (true (at ?c ?y ?p)) (not (left ?c ?y)) (not (taken ?c ?y)))
(<= (next (control ?q)) (true (control ?p)) (other ?p ?q))
(<= terminal (not (can white)) (not (can black)))
(goal white 50) (goal black 50)
"""

#: A counter in a counter: the inner one begins again with each step of the outer one.
_CLOCK = """
(role hand) (legal hand tick) (legal hand skip)
(after 0 1) (after 1 2) (after 2 3) (init (hour 0)) (init (minute 0))
(<= (next (minute ?n)) (true (minute ?m)) (after ?m ?n) (does hand tick))
(<= (next (hour ?h)) (true (hour ?h)) (does hand tick) (not (true (minute 3))))
(<= over (does hand skip)) (<= over (true (minute 3)))
(<= (next (minute 0)) over)
(<= (next (hour ?k)) over (true (hour ?h)) (after ?h ?k))
(<= terminal (true (hour 3))) (goal hand 100)
"""


def _longest(text: str) -> int:
    """Return the moves of a longest match, by following all of them."""
    game = anygame.loads(text)
    level, moves = {game.initial_state()}, 0
    while True:
        going = [state for state in level if not state.is_terminal]
        if not going:
            return moves
        level = {
            state.next(joint)
            for state in going
            for joint in product(*(state.legal_moves(role) for role in game.roles))
        }
        moves += 1
        assert moves < 100


@pytest.mark.parametrize("text", [_PAWNS, _CLOCK], ids=["pawns", "clock"])
def test_a_weighted_sum_bounds_every_match(text: str) -> None:
    found = prove(anygame.loads(text), ["ends"])["ends"]
    assert found.outcome == "proved"
    assert "weighted" in found.note
    assert found.most_moves is not None
    assert _longest(text) <= found.most_moves <= 40


@pytest.mark.slow
def test_a_counter_of_turns_outweighs_what_a_turn_loses() -> None:
    found = prove(anygame.load("pig"), ["ends"], seconds=600)["ends"]
    assert found.outcome == "proved"
    # Each of twenty turns has five rolls at least, of two moves, and may have more.
    assert (found.most_moves or 0) >= 20 * 2


def test_a_sum_that_need_not_grow_proves_nothing() -> None:
    stalled = _CLOCK.replace("(<= (next (minute 0)) over)", "(<= (next (minute 0)) over) (legal hand wait)")
    stalled += "(<= (next (minute ?m)) (does hand wait) (true (minute ?m)))"
    stalled += "(<= (next (hour ?h)) (does hand wait) (true (hour ?h)))"
    found = prove(anygame.loads(stalled), ["ends"])["ends"]
    assert found.outcome == "refuted"
    assert found.match is not None
    assert str(found.match[-1][0]) == "wait"


def test_how_many_moves_a_sum_allows_is_found_by_the_checker() -> None:
    # Each move but the last fills a cell, as long as one of both is to move.
    model = Prover.of(anygame.load("connect_four"), Patience(inf)).model
    cells, control = (
        [2 * n + 2 for n, fluent in enumerate(model.fluents) if str(fluent).startswith(f"({name} ")]
        for name in ("cell", "control")
    )
    filled = [(cell, 1) for cell in cells]
    most, steps = check_ending(model, filled, 0, [control], Patience(inf))
    assert most == len(cells) + 1
    assert steps > 0
    for wrong in (filled[1:], [], [(x ^ 1, 1) for x in cells], [*filled[1:], (cells[0], -1)]):
        with pytest.raises(CertificateError):
            check_ending(model, wrong, 0, [control], Patience(inf))
    with pytest.raises(CertificateError):
        check_ending(model, filled, 0, [], Patience(inf))


def test_a_wrong_measure_is_not_accepted_as_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anygame.proving.prover.slip", lambda *_: FALSE)
    prover = Prover.of(anygame.loads(_CLOCK), Patience(inf))
    measures = Measures(prover.model, prover.sample, Patience(inf))
    hours = [
        (2 * n + 2, 1) for n, fluent in enumerate(prover.model.fluents) if str(fluent).startswith("(hour ")
    ]
    with pytest.raises(CertificateError, match="violates the invariant"):
        prover._by_measure(Measure(hours), measures, Patience(inf), Patience(inf))


def test_a_state_that_seldom_comes_again_is_found_from_where_the_sum_stops() -> None:
    rare = """
        (role a) (init (at 0)) (legal a left) (legal a right)
        (after 0 1) (after 1 2) (after 2 3) (after 3 4) (after 4 5) (after 5 6) (after 6 7) (after 7 8)
        (after 8 9) (after 9 10) (after 10 11) (after 11 12) (after 12 13) (after 13 14) (after 14 15)
        (<= (next (at ?y)) (does a right) (true (at ?x)) (after ?x ?y))
        (<= (next (at 15)) (true (at 15)))
        (<= (next lost) (does a left) (not (true (at 15)))) (<= (next lost) (true lost))
        (<= terminal (true lost)) (goal a 50)
    """
    found = prove(anygame.loads(rare), ["ends"])["ends"]
    assert found.outcome == "refuted"
    assert "can continue forever" in found.note


def test_a_counter_that_play_seldom_follows_is_a_measure_after_a_few_rounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    last = 120
    rules = f"""
        (role a) (init (step 0)) (lamp 1) (lamp 2) (lamp 3) (lamp 4) (lamp 5) (lamp 6)
        {" ".join(f"(after {n} {n + 1})" for n in range(last))}
        (legal a stop) (<= (legal a (press ?l)) (lamp ?l))
        (<= (next (step ?y)) (true (step ?x)) (after ?x ?y))
        (<= (next (lit ?l)) (does a (press ?l)) (not (true (lit ?l))))
        (<= (next (lit ?l)) (true (lit ?l)) (not (does a (press ?l))))
        (<= (next over) (does a stop)) (<= terminal (true over)) (<= terminal (true (step {last})))
        (goal a 50)
    """
    prover = Prover.of(anygame.loads(rules), Patience(inf))
    assert prover.sample.longest < last / 2
    rounds = []
    of = _IdleSteps.of

    def counted(self: _IdleSteps, *asked: Any) -> Any:
        rounds.append(found := of(self, *asked))
        return found

    monkeypatch.setattr(_IdleSteps, "of", counted)
    measures = Measures(prover.model, prover.sample, Patience(inf))
    found = next(measures.search(prover.invariant, Patience(inf)))
    assert sum(weight for _, weight in found.parts) == last - 1
    assert rounds[-1] == []
    assert len(rounds) <= 12


def test_the_search_for_measures_respects_the_time_limit() -> None:
    game = anygame.load("line_chess")
    prover = Prover.of(game, Patience(inf))
    nobody = Patience(-1)
    with pytest.raises(OutOfTimeError):
        candidates(prover.model, prover.sample, nobody)
    with pytest.raises(OutOfTimeError):
        Measures(prover.model, prover.sample, nobody)


def test_gates_are_looked_at_once_however_many_literals_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = Prover.of(anygame.load("line_chess"), Patience(inf)).model
    looked = 0
    inputs_of = type(model.gates).inputs_of

    def counted(gates: Gates, literal: int) -> tuple[int, ...] | None:
        nonlocal looked
        looked += 1
        return inputs_of(gates, literal)

    monkeypatch.setattr(Gates, "inputs_of", counted)
    with Formula(Patience(inf)) as formula:
        Copy(formula, model).then()
    assert looked <= 3 * model.nodes
