"""Certificates: what proves nothing is refused."""

from __future__ import annotations

from functools import cache

import pytest

import anygame
from anygame.network.network import FALSE
from anygame.proving.certificate import CertificateError, check_bounded, check_induction, check_invariant
from anygame.proving.induction import learned, trimmed
from anygame.proving.matches import Sample, random_play
from anygame.proving.model import Model
from anygame.proving.patience import OutOfTimeError, Patience
from anygame.proving.properties import violations
from anygame.proving.reachability import reach


@cache
def _model(name: str) -> Model:
    return Model(anygame.load(name).backends.needed_network().compiled)


def _literal(model: Model, fact: str) -> int:
    return 2 * list(map(str, model.fluents)).index(fact) + 2


def test_an_invariant_that_proves_a_property_is_accepted() -> None:
    model = _model("leduc_poker")
    bad = violations(model)["goals"]
    found = reach(model, bad, Patience(600)).invariant
    assert found
    assert check_invariant(model, bad, found, Patience(600)) > 0


def test_no_clause_of_a_trimmed_invariant_can_be_left_out() -> None:
    model = _model("kuhn_poker")
    bad = violations(model)["goals"]
    found = reach(model, bad, Patience(600)).invariant
    assert found
    needed = trimmed(model, bad, found, Patience(600))
    check_invariant(model, bad, needed, Patience(600))
    refused = 0
    for number in range(len(needed)):
        try:
            check_invariant(model, bad, [*needed[:number], *needed[number + 1 :]], Patience(600))
        except CertificateError:
            refused += 1
    assert refused > len(needed) / 2


def test_a_clause_that_does_not_hold_at_the_start_is_refused() -> None:
    model = _model("tic_tac_toe")
    with pytest.raises(CertificateError, match="in the initial state"):
        check_invariant(model, FALSE, [(_literal(model, "(control o)"),)], Patience(600))


def test_an_invariant_that_allows_bad_states_is_refused() -> None:
    model = _model("tic_tac_toe")
    with pytest.raises(CertificateError):
        check_invariant(model, model.terminal, [], Patience(600))


def test_a_match_within_the_bound_is_found_out() -> None:
    model = _model("tic_tac_toe")
    assert check_bounded(model, model.terminal, 4, Patience(600)) >= 0
    with pytest.raises(CertificateError):
        check_bounded(model, model.terminal, 5, Patience(600))


def test_that_no_match_is_longer_is_checked() -> None:
    model = _model("kuhn_poker")
    check_bounded(model, FALSE, 5, Patience(600), is_everything=True)
    with pytest.raises(CertificateError):
        check_bounded(model, FALSE, 4, Patience(600), is_everything=True)


@pytest.mark.slow
def test_induction_over_too_few_moves_is_refused() -> None:
    model = _model("six_in_a_row")
    kernel = anygame.load("six_in_a_row").backends.needed_network().kernel
    sample = Sample(model, random_play(kernel))
    *_, invariant = learned(model, sample, Patience(120))
    bad = violations(model)["goals"]
    with pytest.raises(CertificateError):
        check_induction(model, bad, invariant, 1, Patience(120))


def test_a_lemma_that_does_not_follow_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import pysat.solvers

    class Lying(pysat.solvers.Glucose4):  # type: ignore[misc]
        def solve_limited(self, assumptions: object = (), **_: object) -> bool:
            return False

        def get_proof(self) -> list[str]:
            return ["1 0", "-1 0"]

    monkeypatch.setattr(pysat.solvers, "Glucose4", Lying)
    model = _model("tic_tac_toe")
    with pytest.raises(CertificateError, match="does not follow"):
        check_invariant(model, model.terminal, [], Patience(600))


def test_time_that_is_over_ends_the_check() -> None:
    model = _model("connect_four")
    with pytest.raises(OutOfTimeError):
        check_bounded(model, model.terminal, 6, Patience(0))
