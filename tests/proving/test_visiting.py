"""Without a network, the reasoner visits states, and says what provers say, as far as it says anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.proving.sheets import CHOMP, GOALS, NIM, ROADS, TRAP

import anygame
from anygame.game.machine import FallbackWarning
from anygame.proving import equal, prove

if TYPE_CHECKING:
    from anygame.game import Game

#: Terms nest without end, so that there is no network.
_ENDLESS = "(role me) (init (n 0)) (<= (next (n (s ?x))) (true (n ?x)) {}) (legal me up) (legal me stop)"
_FORMULAS = {
    NIM: ["(never (true (heap a 2)))", "(always (implies (does ?r (take ?h ?n)) (true (control ?r))))"],
    CHOMP: ["(reachable (not (true (piece 2 2))))", "(until (true (piece 1 1)) terminal)"],
    TRAP: ["(never (next (at 3)))", "(never (does lone go))"],
}


def _bare(text: str) -> Game:
    """Return a game that is said to have no network."""
    game = anygame.loads(text, machine="reasoner")
    game.backends.fallback = MemoryError("none is wanted")
    return game


@pytest.mark.parametrize("text", [NIM, TRAP, GOALS, CHOMP, ROADS])
def test_small_games_are_decided_as_by_provers(text: str) -> None:
    formulas = _FORMULAS.get(text, [])
    asked = ["playable", "ends", "goals", "turn-taking", "zero-sum", "winnable", *formulas]
    by_provers, by_states = (
        prove(anygame.loads(text), asked),
        prove(_bare(text), asked[: -len(formulas) or None]),
    )
    for one in by_states:
        other = by_provers[one.name]
        assert (one.name, one.outcome) == (other.name, other.outcome)
        if one.outcome == "proved" and one.match is None:
            assert "the reasoner visited all" in one.note
        if one.is_shortest and other.is_shortest:
            assert one.match is not None
            assert other.match is not None
            assert len(one.match) == len(other.match)


@pytest.mark.filterwarnings("ignore::anygame.FallbackWarning")
@given(fault=st.integers(1, 5), stop=st.booleans())
@settings(max_examples=10)
def test_a_fault_is_found_at_its_depth_where_states_have_no_end(fault: int, stop: bool) -> None:
    deep = "(s " * fault + "0" + ")" * fault
    text = _ENDLESS.format("(does me up)" if stop else "")
    text += f"(<= (next done) (does me stop)) (<= terminal (true done)) (<= bad (true (n {deep})))"
    game = anygame.loads(text + "(<= (goal me 100) (not bad)) (goal me 50)")
    found = prove(game, ["(never bad)", "ends", "goals", "playable", "mutex"], seconds=1)
    shown = found["(never bad)"]
    assert shown.outcome == "refuted"
    assert shown.match is not None
    assert len(shown.match) == fault
    assert shown.is_shortest
    assert found["goals"].outcome == "refuted"
    assert found["playable"].outcome == found["ends"].outcome == found["mutex"].outcome == "open"
    assert (found["playable"].depth or 0) > 5
    assert "there is no network: the reasoner visited" in found["playable"].note


@pytest.mark.filterwarnings("ignore::anygame.FallbackWarning")
def test_matches_at_random_go_deeper_than_all_states_can_be_visited() -> None:
    # Sixteen moves everywhere, and a fault that every match meets after thirty.
    counted = " ".join(f"(after {n} {n + 1})" for n in range(40)) + " ".join(f" (bit {n})" for n in range(16))
    game = anygame.loads(
        f"(role me) (init (at 0)) {counted} (<= (legal me (turn ?b)) (bit ?b))"
        "(<= (next (at ?y)) (true (at ?x)) (after ?x ?y)) (<= terminal (true (at 30)))"
        "(<= (next (was ?b ?x)) (does me (turn ?b)) (true (at ?x)))"
        "(<= (next (was ?b ?x)) (true (was ?b ?x)))"
        "(init (deep 0)) (<= (next (deep (s ?x))) (true (deep ?x))) (<= (goal me 100) (not terminal))"
    )
    found = prove(game, ["goals", "winnable"], seconds=2)
    assert found["goals"].outcome == "refuted"
    assert len(found["goals"].match or ()) == 30
    assert not found["goals"].is_shortest
    assert found["winnable me"].outcome == "open"


@pytest.mark.filterwarnings("ignore::anygame.FallbackWarning")
def test_two_sheets_without_a_network_are_told_apart() -> None:
    text = _ENDLESS.format("(does me up)") + "(<= (next done) (does me stop)) (<= terminal (true done))"
    one = anygame.loads(text + "(goal me 100)")
    other = anygame.loads(text + "(<= (goal me 100) (not (true (n (s (s 0))))))")
    assert equal(one, other, up_to=1, seconds=2).outcome == "proved"
    found = equal(one, other, seconds=2)
    assert (found.outcome, len(found.match or ()), found.is_shortest) == ("refuted", 2, True)
    assert found.note == "here me has goal 100, and no goal in the other sheet"
    assert equal(one, anygame.loads(text + "(goal me 100) (goal me 100) (same)"), seconds=2).outcome == "open"


def test_all_states_of_both_sheets_prove_that_they_are_the_same() -> None:
    found = equal(_bare(CHOMP), _bare(CHOMP.replace("(turn ", "(to ")))
    assert found.outcome == "proved"
    assert found.note.startswith("there is no network: the reasoner visited all ")


def test_it_is_said_once_that_there_is_no_network() -> None:
    with pytest.warns(FallbackWarning) as warned:
        prove(anygame.loads(_ENDLESS.format("(does me up)")), ["playable"], seconds=1)
    assert len(warned) == 1


def test_a_network_that_is_too_large_leaves_the_states_to_the_reasoner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("anygame.proving.model._MOST_GATES", 2)
    found = prove(anygame.loads(NIM), ["playable", "mutex"])
    assert found["playable"].outcome == "proved"
    assert "gates, proofs are limited to 2: the reasoner visited all" in found["playable"].note
    assert found["mutex"].outcome == "open"
    assert "proofs are limited to 2" in found["mutex"].note


def test_rules_that_would_make_a_network_too_large_leave_what_is_dead_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = anygame.loads(NIM)
    gates = game.backends.needed_network().compiled.network.gates
    monkeypatch.setattr("anygame.proving.model._MOST_GATES", gates)
    found = prove(game, ["dead", "playable"])
    assert [each.outcome for each in found] == ["open", "proved"]
    assert f"proofs are limited to {gates}" in found["dead"].note.replace(",", "")


def test_memory_that_is_spent_leaves_a_property_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def spent(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("anygame.proving.prover.Prover.ends", spent)
    found = prove(anygame.loads(NIM), ["ends", "playable"])
    assert [each.outcome for each in found] == ["open", "proved"]
    assert found["ends"].note == "there is not enough memory"
    monkeypatch.setattr("anygame.proving.prover.Prover.decide", spent)
    (found_of_formula,) = prove(anygame.loads(NIM), ["(never terminal)"])
    assert (found_of_formula.outcome, found_of_formula.note) == ("open", "there is not enough memory")
    monkeypatch.setattr("anygame.proving.prover.Prover.of", spent)
    assert (
        "not enough memory for the network: the reasoner visited all"
        in prove(anygame.loads(NIM), ["playable"])["playable"].note
    )
