"""What holds in every state: found by induction, kept as far as it was found, and used again."""

from __future__ import annotations

from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING

import pytest

import anygame
from anygame.network.network import FALSE
from anygame.proving import prove
from anygame.proving.certificate import CertificateError, check_invariant
from anygame.proving.formula import Formula
from anygame.proving.induction import Induction, exclusions, learned
from anygame.proving.patience import OutOfTimeError, Patience
from anygame.proving.prover import Prover
from anygame.proving.store import ProofStore

if TYPE_CHECKING:
    from pathlib import Path

    from anygame.game import Game
    from anygame.proving.model import Clause

pytest.importorskip("pysat")

#: Two walk in circles of their own, of five places each, until they have met.
_CIRCLES = """
(role a) (role b) (init (at a 1)) (init (at b 3))
(after 1 2) (after 2 3) (after 3 4) (after 4 5) (after 5 1)
(<= (legal ?r go) (role ?r)) (<= (legal ?r stay) (role ?r))
(<= (next (at ?r ?y)) (does ?r go) (true (at ?r ?x)) (after ?x ?y))
(<= (next (at ?r ?x)) (does ?r stay) (true (at ?r ?x)))
(<= terminal (true (at a ?x)) (true (at b ?x)))
(<= (goal ?r ?g) (role ?r) (true (at a ?x)) (worth ?x ?g))
(worth 1 0) (worth 2 20) (worth 3 50) (worth 4 70) (worth 5 100)
"""


def _prover(name: str, patience: Patience | None = None) -> Prover:
    game = anygame.loads(_CIRCLES) if name == "circles" else anygame.load(name)
    return Prover.of(game, patience or Patience(inf))


class _Stop:
    """Counts the looks at the clock, and ends the work after so many."""

    def __init__(self, most: float = inf, error: type[BaseException] = OutOfTimeError) -> None:
        self.asked, self._most, self._error = 0, most, error

    def __call__(self) -> None:
        self.asked += 1
        if self.asked > self._most:
            raise self._error


def _learning(game: Game, stop: _Stop) -> Prover:
    """Return a prover that has learned the invariant, as far as it may."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Patience, "check", stop)
        prover = Prover.of(game, Patience(inf))
        with suppress(KeyboardInterrupt):
            prover.after_learning(1)
    return prover


@pytest.mark.parametrize("name", ["circles", "connect_four", "kuhn_poker"])
def test_all_that_is_yielded_is_an_invariant_in_itself(name: str) -> None:
    prover = _prover(name)
    known: list[list[Clause]] = [list(each) for each in learned(prover.model, prover.sample, Patience(inf))]
    assert known[-1]
    for earlier, later in zip([[], *known], known, strict=False):
        assert set(earlier) <= set(later)
        check_invariant(prover.model, FALSE, later, Patience(inf))


def test_found_clauses_are_stored_after_a_timeout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYGAME_CACHE", str(tmp_path))
    game, stop = anygame.load("connect_four"), _Stop()
    whole = _learning(game, stop).invariant
    sizes = set()
    for part in range(8):
        for path in tmp_path.glob("*.proofs"):
            path.unlink()
        prover = _learning(game, _Stop(stop.asked * part // 7))
        check_invariant(prover.model, FALSE, prover.invariant, Patience(inf))
        sizes.add(len(prover.invariant))
        assert set(prover.invariant) <= set(whole)
    assert len(sizes) > 2, "nothing, some of it, and all of it were kept"


def test_found_clauses_are_stored_after_an_interrupt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYGAME_CACHE", str(tmp_path))
    game, stop = anygame.load("connect_four"), _Stop()
    whole = _learning(game, stop).invariant
    next(tmp_path.glob("*.proofs")).unlink()
    found = _learning(game, _Stop(stop.asked - 1, KeyboardInterrupt)).invariant
    kept = ProofStore(game.backends.needed_network().compiled).certificates["in every state"]
    assert 0 < len(found) == len(kept.clauses) + len(kept.groups) < len(whole)
    # The next one goes on from there, and the one after it has only to check.
    stop = _Stop()
    assert set(found) < set(_learning(game, stop).invariant)
    again = _Stop()
    assert set(_learning(game, again).invariant) == set(whole)
    assert again.asked < stop.asked / 2


def test_groups_are_exclusive_without_pairs() -> None:
    prover = _prover("circles")
    fluents = list(map(str, prover.model.fluents))
    groups = [c for c in prover.invariant if c[0] in prover.model.exclusive]
    assert len(groups) == 2
    assert not any(len(c) == 2 and c[0] & c[1] & 1 for c in prover.invariant)
    apart = exclusions(prover.model, prover.invariant)
    for one, bits in zip(fluents, apart, strict=True):
        walker = one[:5]
        others = {fluents[place] for place in range(len(fluents)) if bits >> place & 1}
        assert others == {fluent for fluent in fluents if fluent.startswith(walker) and fluent != one}
    found = prove(anygame.loads(_CIRCLES), ["goals", "mutex"])
    assert found.all("proved")
    assert any(text.startswith("at most one of (true (at a 1)), ") for text in found["goals"].invariant or ())
    assert sum(text.startswith("exactly one of (at a 1), ") for text in found["mutex"].found) == 1


def test_a_group_that_is_none_is_refused() -> None:
    model = _prover("circles").model
    both = [2 * (1 + list(map(str, model.fluents)).index(text)) for text in ("(at a 2)", "(at b 3)")]
    with Formula(Patience(inf)) as formula:
        induction = Induction(model, formula)
        induction.keep([model.exclusion(both)])
        assert not induction.found
    with pytest.raises(CertificateError):
        check_invariant(model, FALSE, [model.exclusion(both)], Patience(inf))


def test_no_time_is_an_error_that_keeps_nothing() -> None:
    prover = _prover("circles")
    with Formula(Patience(0)) as formula:
        induction = Induction(prover.model, formula)
        with pytest.raises(OutOfTimeError):
            induction.keep([prover.model.exclusion([2, 4])])
