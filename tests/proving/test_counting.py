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
from anygame.proving.certificate import (
    CertificateError,
    _holds,
    _is_kept,
    _Step,
    check_ending,
    check_invariant,
)
from anygame.proving.counting import Sum, _Matrix, _sparse, lemma_of, sums
from anygame.proving.ending import Measure, slip, sums_of
from anygame.proving.patience import OutOfTimeError, Patience
from anygame.proving.properties import Property
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
def test_found_sums_hold_in_every_state(text: str) -> None:
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
def test_gates_of_a_sum_agree_with_arithmetic(is_exact: bool, total: int, most: int) -> None:
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
    lemma = lemma_of(model, counted, Patience(60))
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


@pytest.mark.parametrize("is_exact", [True, False])
@pytest.mark.parametrize(("total", "most"), [(-2, 1), (0, 4), (2, 2)])
def test_the_checker_agrees_with_arithmetic(is_exact: bool, total: int, most: int) -> None:
    from pysat.solvers import Glucose4

    prover = _prover(anygame.load("tic_tac_toe"))
    model, sample = prover.model, prover.sample
    random = np.random.default_rng(most)
    fluents = random.permutation(len(model.fluents))[:16]
    weights = [1, 2, -1, 1, -3, 1, 5, -4]
    parts = [(w, *(2 * fluents[[k, k + 8]] + 2).tolist()) for k, w in enumerate(weights)]
    counted = Sum(total, most, is_exact, tuple(parts))
    step = _Step(model, [], Patience(60))
    asked = _holds(step.here, counted), _is_kept(step, counted)
    some = slice(0, None, 1 + len(sample.states) // 400)
    states, moves = sample.states[some], sample.moves(some)
    after = model.values(model.next, states, moves)
    seen = set()
    with Glucose4(bootstrap_with=step.clauses.rows) as solver:
        for now, made, then in zip(states, moves, after, strict=True):
            if not made.any():
                continue
            inputs = np.concatenate([now, made]).tolist()
            given = [step.here.literal(2 * node + 2 + (not holds)) for node, holds in enumerate(inputs)]
            assert solver.solve(given)
            answers = [(x > 0) == (solver.get_model()[abs(x) - 1] > 0) for x in asked]
            values = [
                [w * any(state[(x >> 1) - 1] for x in fact) for w, *fact in parts] for state in (now, then)
            ]
            value = sum(values[0])
            moved = [b - a for a, b in zip(*values, strict=True)]
            more, less = sum(max(0, x) for x in moved), sum(max(0, -x) for x in moved)
            kept = less <= most and (more == less if is_exact else more >= less)
            assert answers == [value == total if is_exact else value >= total, kept]
            seen.add(tuple(answers))
    assert all(len(set(answers)) == 2 for answers in zip(*seen, strict=True))


def test_a_wrong_sum_is_not_accepted_as_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    # Who counts says that no stone is ever put, and that no step changes that.
    prover = _prover(anygame.loads(_BAR))
    names = list(map(str, prover.model.fluents))
    stones = [2 * names.index(f"(stone {place})") + 2 for place in range(1, 6)]
    monkeypatch.setattr(
        "anygame.proving.prover.sums", lambda *_: [Sum(0, 1, True, tuple((1, x) for x in stones))]
    )
    monkeypatch.setattr(
        "anygame.proving.prover.lemma_of", lambda *asked: lemma_of(*asked)._replace(changes=FALSE)
    )
    wanted = Property("bare", "no stone is put", stones[0], lambda *_: True)
    with pytest.raises(CertificateError, match="violates the invariant"):
        prover._by_counting(wanted, Patience(60), Patience(60))


def test_adding_up_looks_at_its_patience() -> None:
    prover = _prover(anygame.loads(_BAR))
    nobody = Patience(-1)
    counted = _sums(prover)[0]
    literals = [(literal, 1) for _, literal in counted.parts]
    matrix = _Matrix(prover.model, prover.sample, prover.invariant, Patience(60))
    for way in (
        lambda: lemma_of(prover.model, counted, nobody),
        lambda: sums_of(prover.model, literals, 9, nobody),
        lambda: slip(prover.model, Measure(literals), nobody),
        lambda: check_ending(prover.model, literals, 0, [], nobody),
        lambda: check_invariant(prover.model, FALSE, [], nobody, [counted]),
        lambda: matrix.sums(nobody),
        lambda: _Matrix(prover.model, prover.sample, prover.invariant, nobody),
    ):
        with pytest.raises(OutOfTimeError):
            way()


def test_sums_prove_a_property_that_clauses_leave_open() -> None:
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
    with pytest.raises(CertificateError, match="violates the invariant"):
        check_invariant(model, FALSE, prover.invariant, Patience(60), [changing])
    growing = changing._replace(is_exact=False)
    check_invariant(model, FALSE, prover.invariant, Patience(60), [growing])


def test_a_sum_that_is_something_else_at_the_start_is_refused() -> None:
    prover = _prover(anygame.loads(_BAR))
    for counted in _sums(prover):
        another = [counted._replace(total=counted.total + 1)]
        with pytest.raises(CertificateError, match="in the initial state"):
            check_invariant(prover.model, FALSE, prover.invariant, Patience(60), another)


def test_each_part_of_a_sum_is_needed() -> None:
    prover = _prover(anygame.loads(_BAR))
    (counted,) = [each for each in _sums(prover) if each.is_exact and len(each.parts) > 5]
    check_invariant(prover.model, FALSE, prover.invariant, Patience(60), [counted])
    for number in range(len(counted.parts)):
        parts = counted.parts[:number] + counted.parts[number + 1 :]
        with pytest.raises(CertificateError):
            check_invariant(
                prover.model, FALSE, prover.invariant, Patience(60), [counted._replace(parts=parts)]
            )


def test_time_that_is_over_ends_the_search() -> None:
    prover = _prover(anygame.load("tic_tac_toe"))
    with pytest.raises(OutOfTimeError):
        sums(prover.model, prover.sample, prover.invariant, Patience(0))


def test_sums_of_both_sides_are_taken_apart() -> None:
    one, other = np.array([1, 1, 0, 0, 2]), np.array([0, 0, 1, 1, 0])
    kept = _sparse([one + other, one], Patience(60))
    assert [row.tolist() for row in kept] == [other.tolist(), one.tolist()]
    assert [row.tolist() for row in _sparse([one, one], Patience(60))] == [one.tolist(), one.tolist()]


@pytest.mark.parametrize("seed", range(8))
def test_gained_and_lost_literals_agree_with_the_states(seed: int) -> None:
    random = np.random.default_rng(seed)
    prover = _prover(anygame.load("connect_four"))
    model, sample = prover.model, prover.sample
    group = (2 * random.choice(len(model.fluents), 3, replace=False) + 2).tolist()
    part = slice(0, 300)
    states, moves = sample.states[part], sample.moves(part)
    after = model.values(model.next, states, moves)
    for literal in (group[0], group[1] ^ 1, model.gates.disjunction(group), model.gates.conjunction(group)):
        rises, falls = model.values([*model.moved(literal)], states, moves).T
        before, then = (model.values([literal], each)[:, 0] for each in (states, after))
        assert (rises == (~before & then)).all()
        assert (falls == (before & ~then)).all()
