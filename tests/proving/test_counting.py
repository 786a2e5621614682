"""What is counted: sums that stay the same, as gates, as they are found, and as they are checked."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.proving.sheets import CHOMP, NIM

import anygame
from anygame.network.network import FALSE
from anygame.proving import prove
from anygame.proving.certificate import CertificateError, check_invariant
from anygame.proving.counting import Sum, _sparse, lemma_of, sums
from anygame.proving.patience import OutOfTimeError, Patience
from anygame.proving.prover import Prover

if TYPE_CHECKING:
    from anygame.game.game import Game
    from anygame.proving.model import Model

pytest.importorskip("pysat")

#: Stones are put on a bar, one or two at once; a clock counts the moves, and a counter the stones.
_BAR = """
(role hand) (place 1) (place 2) (place 3) (place 4) (place 5) (init (clock 0)) (init (stones 0))
(after 0 1) (after 1 2) (after 2 3) (after 3 4) (after 4 5)
(<= (free ?p) (place ?p) (not (true (stone ?p))))
(<= (legal hand (put ?p)) (free ?p))
(<= (next (stone ?p)) (does hand (put ?p))) (<= (next (stone ?p)) (true (stone ?p)))
(<= (next (stones ?n)) (true (stones ?m)) (after ?m ?n))
(<= (next (clock ?n)) (true (clock ?m)) (after ?m ?n))
(<= terminal (true (stones 5)))
(goal hand 100)
"""


def _prover(game: Game) -> Prover:
    return Prover.of(game, Patience(60))


def _sums(prover: Prover) -> list[Sum]:
    return sums(prover.model, prover.sample, prover.invariant, Patience(60))


def _value(counted: Sum, facts: set[str], model: Model) -> int:
    names = list(map(str, model.fluents))
    return sum(
        weight
        for weight, *fact in counted.parts
        if any(names[(literal >> 1) - 1] in facts for literal in fact)
    )


def _all_states(game: Game) -> list[set[str]]:
    """Return the facts of all states that can be reached, by the reasoner."""
    seen, level = {game.initial_state()}, [game.initial_state()]
    while level:
        state = level.pop()
        moves = [] if state.is_terminal else [state.legal_moves(role) for role in game.roles]
        for joint in product(*moves) if moves else ():
            then = state.next(joint)
            if then not in seen:
                seen.add(then)
                level.append(then)
    return [set(map(str, state.facts)) for state in seen]


@pytest.mark.parametrize("text", [_BAR, NIM, CHOMP], ids=["bar", "nim", "chomp"])
def test_what_is_found_holds_in_every_state(text: str) -> None:
    game = anygame.loads(text)
    prover = _prover(game)
    found = _sums(prover)
    for facts in _all_states(game):
        for counted in found:
            value = _value(counted, facts, prover.model)
            assert value == counted.total if counted.is_exact else value >= counted.total
    if text == _BAR:
        stones = [counted for counted in found if counted.is_exact and len(counted.parts) > 5]
        assert stones, "there are as many stones as the counter says"


@pytest.mark.parametrize("is_exact", [True, False])
@pytest.mark.parametrize("total", [-2, 0, 1, 3])
@pytest.mark.parametrize("most", [1, 4])
def test_gates_of_a_sum_are_what_arithmetic_says(is_exact: bool, total: int, most: int) -> None:
    model = _prover(anygame.load("tic_tac_toe")).model
    random = np.random.default_rng(1)
    fluents = random.permutation(len(model.fluents))[:7]
    parts = [
        (int(w), *(2 * fluents[[k, (k + 3) % 7]] + 2).tolist()) for k, w in enumerate([1, 2, -1, 1, -3, 1])
    ]
    counted = Sum(total, most, is_exact, tuple(parts))
    states = random.random((500, len(model.fluents))) < 0.3
    moves = np.zeros((500, len(model.legal)), np.bool_)
    moves[np.arange(500), random.integers(0, len(model.legal), 500)] = True
    lemma = lemma_of(model, counted)
    holds, changes = model.values([lemma.holds, lemma.changes], states, moves).T
    after = model.values(model.next, states, moves)

    def values(rows: np.ndarray) -> np.ndarray:
        facts = [(w, [(x >> 1) - 1 for x in fact]) for w, *fact in parts]
        return np.stack([w * rows[:, columns].any(axis=1) for w, columns in facts], axis=1)

    now, then = values(states), values(after)
    value = now.sum(axis=1)
    assert np.array_equal(holds, value == total if is_exact else value >= total)
    moved = then - now
    more, less = np.maximum(moved, 0).sum(axis=1), np.maximum(-moved, 0).sum(axis=1)
    kept = (more == less if is_exact else more >= less) & (less <= most)
    if is_exact:
        kept &= more <= most
    able = moves[:, [node - model.first_action for node in model.moves_of[0]]].any(axis=1)
    assert np.array_equal(changes, able & ~kept)
    assert changes.any()
    assert (able & ~changes).any()


def test_what_is_counted_decides_what_clauses_leave_open() -> None:
    found = prove(anygame.load("phantom_tic_tac_toe"), ["playable"])["playable"]
    assert found.outcome == "proved"
    assert found.certificate is not None
    assert found.certificate.sums
    assert found.invariant is not None
    assert any(">=" in text for text in found.invariant)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "wanted"), [("knights_tour", "goals"), ("copolymer", "playable")])
def test_counters_are_as_high_as_there_are_stones(name: str, wanted: str) -> None:
    assert prove(anygame.load(name), [wanted])[wanted].outcome == "proved"


def test_a_sum_that_a_step_changes_is_refused() -> None:
    prover = _prover(anygame.loads(_BAR))
    model = prover.model
    names = list(map(str, model.fluents))
    stones = tuple((1, 2 * names.index(f"(stone {place})") + 2) for place in range(1, 6))
    changing = Sum(0, 1, True, stones)
    with pytest.raises(CertificateError, match="leads out"):
        check_invariant(model, FALSE, prover.invariant, Patience(60), [lemma_of(model, changing)])
    growing = changing._replace(is_exact=False)
    check_invariant(model, FALSE, prover.invariant, Patience(60), [lemma_of(model, growing)])


def test_a_sum_that_is_something_else_at_the_start_is_refused() -> None:
    prover = _prover(anygame.loads(_BAR))
    for counted in _sums(prover):
        lemma_at = [lemma_of(prover.model, counted._replace(total=counted.total + 1))]
        with pytest.raises(CertificateError, match="at the start"):
            check_invariant(prover.model, FALSE, prover.invariant, Patience(60), lemma_at)


def test_each_part_of_a_sum_is_needed() -> None:
    prover = _prover(anygame.loads(_BAR))
    (counted,) = [each for each in _sums(prover) if each.is_exact and len(each.parts) > 5]
    check_invariant(prover.model, FALSE, prover.invariant, Patience(60), [lemma_of(prover.model, counted)])
    for number in range(len(counted.parts)):
        parts = counted.parts[:number] + counted.parts[number + 1 :]
        with pytest.raises(CertificateError):
            check_invariant(
                prover.model,
                FALSE,
                prover.invariant,
                Patience(60),
                [lemma_of(prover.model, counted._replace(parts=parts))],
            )


def test_time_that_is_over_ends_the_search() -> None:
    prover = _prover(anygame.load("tic_tac_toe"))
    with pytest.raises(OutOfTimeError):
        sums(prover.model, prover.sample, prover.invariant, Patience(0))


def test_sums_of_both_sides_are_taken_apart() -> None:
    one, other = np.array([1, 1, 0, 0, 2]), np.array([0, 0, 1, 1, 0])
    kept = _sparse([one + other, one])
    assert [row.tolist() for row in kept] == [other.tolist(), one.tolist()]
    assert [row.tolist() for row in _sparse([one, one])] == [one.tolist(), one.tolist()]


@pytest.mark.parametrize("seed", range(8))
def test_what_comes_to_hold_and_what_ceases_to_is_seen_in_the_states(seed: int) -> None:
    random = np.random.default_rng(seed)
    prover = _prover(anygame.load("connect_four"))
    model, sample = prover.model, prover.sample
    group = (2 * random.choice(len(model.fluents), 3, replace=False) + 2).tolist()
    part = slice(0, 300)
    states, moves = sample.states[part], sample.moves(part, model)
    after = model.values(model.next, states, moves)
    for literal in (group[0], group[1] ^ 1, model.gates.disjunction(group), model.gates.conjunction(group)):
        rises, falls = model.values([*model.moved(literal)], states, moves).T
        before, then = (model.values([literal], each)[:, 0] for each in (states, after))
        assert (rises == (~before & then)).all()
        assert (falls == (before & ~then)).all()
