"""What follows gate by gate: of a number that is counted square by square there is one."""

from __future__ import annotations

import pytest

import anygame
from anygame.network.network import TRUE
from anygame.proving.certificate import CertificateError, check_induction
from anygame.proving.derived import derived
from anygame.proving.patience import OutOfTimeError, Patience
from anygame.proving.properties import Property, built_in
from anygame.proving.prover import Prover

pytest.importorskip("pysat")

#: Stones are put and taken; at the end each of them is worth a point.
_STONES = """
(role hand) (after 0 1) (after 1 2) (after 2 3) (after 3 4) (after 4 5) (after 5 6) (init (clock 0))
(<= (place ?p) (after ?o ?p))
(<= (legal hand (turn ?p)) (place ?p))
(<= (turned ?p) (does hand (turn ?p)))
(<= (next (stone ?p)) (turned ?p) (not (true (stone ?p))))
(<= (next (stone ?p)) (true (stone ?p)) (not (turned ?p)))
(<= (next (clock ?n)) (true (clock ?m)) (after ?m ?n))
(count 0 0)
(<= (count ?p ?n) (after ?o ?p) (count ?o ?m) (after ?m ?n) (true (stone ?p)))
(<= (count ?p ?n) (after ?o ?p) (count ?o ?n) (not (true (stone ?p))))
(<= terminal (true (clock 6)))
(<= (goal hand ?n) (count 6 ?n))
"""


def _asked() -> tuple[Prover, Property]:
    game = anygame.loads(_STONES)
    prover = Prover.of(game, Patience(60))
    (goals,) = (each for each in built_in(game, prover.model, prover.sample) if each.name == "goals")
    return prover, goals


def test_what_follows_holds_in_every_state_and_is_checked() -> None:
    prover, goals = _asked()
    model, states = prover.model, prover.sample.states
    found = derived(model, goals.literal, states, [], Patience(60))
    assert found
    assert len(found) > 2
    assert model.values(found, states).all()
    assert check_induction(model, goals.literal, [], 0, Patience(60), found) > 0
    # A stone that play has put follows from nothing, nor does it that none is.
    for wrong in (2, 3):
        with pytest.raises(CertificateError):
            check_induction(model, goals.literal, [], 0, Patience(60), [*found, wrong])
        with pytest.raises(CertificateError):
            check_induction(model, wrong, [], 0, Patience(60), found)
    with pytest.raises(CertificateError):
        check_induction(model, TRUE, [], 0, Patience(60), found)


def test_a_property_is_proved_so() -> None:
    prover, goals = _asked()
    found = prover._by_derivation(goals, Patience(60), Patience(60))
    assert found is not None
    assert found.outcome == "proved"
    assert "gates" in found.note
    assert found.certificate is None


def test_nothing_follows_where_nothing_is_counted_or_time_is_over() -> None:
    prover, goals = _asked()
    states = prover.sample.states
    assert derived(prover.model, 2, states, [], Patience(60)) is None
    with pytest.raises(OutOfTimeError):
        derived(prover.model, goals.literal, states, [], Patience(60, stop=lambda: True))
