"""Moves are chosen exactly uniformly, and independently of each other: by count, against what chance allows.

Seeds are fixed, so a test that passes once passes always. The bounds lie at a chance of about one in ten
million, and the statistics are also put to choosers that are wrong, which they must find out.
"""

from __future__ import annotations

import ctypes
import random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.network.networks import Builder

from anygame.native.code import compile_library
from anygame.network.kernels import uniform_choice
from anygame.network.kernels.function import ACTIVE, GO, LANES, RANDOM, FunctionBuilder, SharedFunctions
from anygame.network.kernels.kernel import build_kernel
from anygame.network.kernels.nth_set_bit import (
    Candidates,
    UnrolledSelection,
    add_up,
    decrease,
    group_size,
    less,
    masks,
    subtract,
)
from anygame.network.kernels.phases import Phases
from anygame.network.kernels.target import PROCESSOR
from anygame.network.kernels.uniform_choice import STATE_ROWS, choose_function, seed_rows
from anygame.network.network import FALSE, TRUE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from anygame.network.kernels.kernel import Kernel
    from anygame.network.network import Network


def pack(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return rows [n, 8] of bool [n, lanes]."""
    return np.packbits(bits, axis=-1, bitorder="little").view(np.uint64)


def unpack(rows: NDArray[np.uint64]) -> NDArray[np.bool_]:
    return np.unpackbits(np.ascontiguousarray(rows).view(np.uint8), axis=-1, bitorder="little").view(np.bool_)


def free_choice(counts: Sequence[int]) -> Network:
    """Return a game in which each action is legal where a fluent of its own says so."""
    total = sum(counts)
    build = Builder(total, counts)
    return build.network(0, [False] * total, build.fluents, FALSE, [[] for _ in counts], build.fluents)


class Chooser:
    """The chooser of a game, called with what is legal: bool [actions, lanes]."""

    def __init__(self, kernel: Kernel, seed: int) -> None:
        self.kernel = kernel
        self.rows = kernel.rows()
        self.rows[RANDOM : RANDOM + STATE_ROWS] = seed_rows(seed, 0)
        self._pointers = self.rows.ctypes.data, kernel.data.ctypes.data

    def legal(self, legal: NDArray[np.bool_], active: NDArray[np.bool_] | None = None) -> None:
        self.rows[self.kernel.layout.fluent_rows] = pack(legal)
        self.rows[ACTIVE] = pack(np.ones(LANES, np.bool_) if active is None else active)
        self.kernel.library["evaluate_state"](*self._pointers)

    def choose(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return what was chosen, bool [actions, lanes], and in which lanes."""
        assert not self.kernel.library["choose"](*self._pointers)
        layout = self.kernel.layout
        return unpack(self.rows[layout.action_rows]), unpack(self.rows[GO])


def compute(write: Callable[[FunctionBuilder], list[str]], given: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Compile a function of rows 16 and on, bool [n, lanes], call it, and return its results."""
    code = FunctionBuilder("compute", PROCESSOR)
    results = write(code)
    out = 16 + len(given)
    for number, value in enumerate(results):
        code.store(out + number, value)
    library = compile_library(
        PROCESSOR.preamble + code.text(), {"compute": (None, ctypes.c_void_p, ctypes.c_void_p)}
    )
    words = np.zeros((out + len(results) + 1) * 8, np.uint64)
    rows = words[-words.ctypes.data % 64 // 8 :][: (out + len(results)) * 8].reshape(-1, 8)
    rows[16:out] = pack(given)
    library["compute"](rows.ctypes.data, 0)
    return unpack(rows[out:])


def planes_of(numbers: NDArray[np.int64], count: int) -> NDArray[np.bool_]:
    return (numbers >> np.arange(count)[:, None] & 1).astype(np.bool_)


def test_arithmetic_works_on_bit_planes() -> None:
    rng = np.random.default_rng(1)
    a, b, c = (rng.integers(0, 64, LANES) for _ in range(3))
    given = np.concatenate([planes_of(number, 6) for number in (a, b, c)])

    def result(
        write: Callable[[FunctionBuilder, list[str], list[str], list[str]], list[str]],
    ) -> NDArray[np.int64]:
        def numbers(code: FunctionBuilder) -> list[str]:
            return write(code, *([code.load(first + k) for k in range(6)] for first in (16, 22, 28)))

        found = compute(numbers, given)
        return (1 << np.arange(len(found))) @ found

    assert (result(lambda code, a, b, c: add_up(code, [a, b, c])) == a + b + c).all()
    assert (result(lambda code, a, b, _: [less(code, a, b)]) == (a < b)).all()
    assert (result(lambda code, a, b, _: subtract(code, a, b)[0]) == (a - b) % 64).all()
    assert (result(lambda code, a, b, _: [decrease(code, a)[1]]) == (a == 0)).all()
    highest = np.array([(1 << int(value).bit_length()) - 1 for value in a])
    assert (result(lambda code, a, b, _: masks(code, a)) == highest).all()


@pytest.mark.parametrize("moves", [2, 3, 7, 16, 45, 130])
def test_a_number_finds_its_move(moves: int) -> None:
    """Every group size finds the move that a number points to among the legal ones."""
    rng = np.random.default_rng(moves)
    legal = rng.random((moves, LANES)) < rng.random(LANES)
    legal[rng.integers(0, moves, LANES), np.arange(LANES)] = True
    number = (rng.random(LANES) * legal.sum(axis=0)).astype(np.int64)
    expected = legal & (legal.cumsum(axis=0) == number + 1)
    planes = (moves - 1).bit_length()
    for size in {2, 5, group_size(moves), moves}:

        def find(code: FunctionBuilder, size: int = size) -> list[str]:
            legal = [2 * (16 + planes + move) for move in range(moves)]
            does = range(16 + planes + moves, 16 + planes + 2 * moves)
            group = UnrolledSelection(code, Candidates(legal, does, (), ()), size)
            group.count()
            group.select([code.load(16 + k) for k in range(planes)])
            return [code.load(row) for row in does]

        assert (compute(find, np.concatenate([planes_of(number, planes), legal])) == expected).all()


@pytest.mark.parametrize(
    "counts", [(1,), (2,), (3,), (5,), (9, 9), (1, 12), (40,), (6, 3, 7), (200,), (65, 300), (3, 128)]
)
def test_each_role_gets_exactly_one_legal_move_in_unfinished_lanes(counts: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    chooser = Chooser(build_kernel(free_choice(counts)), 3)
    went = 0
    for _ in range(50):
        legal = rng.random((sum(counts), LANES)) < rng.random()
        first = 0
        for count in counts:
            legal[first + rng.integers(0, count, LANES), np.arange(LANES)] = True
            first += count
        active = rng.random(LANES) < 0.8
        chooser.legal(legal, active)
        chosen, go = chooser.choose()
        assert not (go & ~active).any()
        assert not (chosen & ~legal)[:, go].any()
        first = 0
        for count in counts:
            assert (chosen[first : first + count, go].sum(axis=0) == 1).all()
            first += count
        went += int(go.sum())
    assert went > 50 * LANES * 0.7


@pytest.mark.parametrize(
    "counts", [(2,), (40,), (1, 12), (9, 9), (64,), (65,), (600, 20), (65, 300), (3, 128, 70)]
)
def test_generic_code_chooses_the_same_moves_as_code_of_one_game(counts: tuple[int, ...]) -> None:
    network = free_choice(counts)
    straight, loop = (Chooser(build_kernel(network, style), 5) for style in ("straight", "loop"))
    rng = np.random.default_rng(len(counts))
    legal = np.zeros((sum(counts), LANES), np.bool_)
    for _ in range(20):
        first = 0
        for count in counts:
            of_role = rng.random((count, LANES)) < rng.random(LANES)
            of_role[rng.integers(0, count, LANES), np.arange(LANES)] = True
            legal[first : first + count] = of_role
            first += count
        active = rng.random(LANES) < rng.random()
        for chooser in (straight, loop):
            chooser.legal(legal, active)
        for expected, found in zip(straight.choose(), loop.choose(), strict=True):
            assert np.array_equal(expected, found)
        random = slice(RANDOM, RANDOM + STATE_ROWS)
        assert np.array_equal(straight.rows[random], loop.rows[random])


@pytest.mark.parametrize("first", [True, False])
def test_a_role_without_a_legal_move_is_noticed(first: bool) -> None:
    kernel = build_kernel(free_choice((4, 4)))
    chooser = Chooser(kernel, 1)
    legal = np.ones((8, LANES), np.bool_)
    legal[: 4 if first else 8, 77] = False
    chooser.legal(legal)
    assert kernel.library["choose"](chooser.rows.ctypes.data, 0)
    active = np.arange(LANES) != 77
    chooser.legal(legal, active)
    assert not kernel.library["choose"](chooser.rows.ctypes.data, 0)


def chi_square(observed: NDArray[np.int64]) -> float:
    """Return how many standard deviations chi-square lies above its mean, were all places equally likely."""
    expected = observed.sum() / observed.size
    freedom = observed.size - 1
    return float((((observed - expected) ** 2 / expected).sum() - freedom) / np.sqrt(2 * freedom))


#: A chi-square of a few degrees of freedom is this far out once in ten million.
_FAR = 9.0


def draw(kernel: Kernel, legal: NDArray[np.bool_], rounds: int, seed: int = 1) -> NDArray[np.bool_]:
    """Return choices, bool [rounds, actions, lanes]; a lane that waited has none."""
    chooser = Chooser(kernel, seed)
    chooser.legal(legal)
    result = np.zeros((rounds, *legal.shape), np.bool_)
    for number in range(rounds):
        chosen, go = chooser.choose()
        result[number] = chosen & go
    return result


@pytest.mark.parametrize("moves", [2, 3, 5, 6, 7, 9, 11, 17, 33])
def test_choices_are_uniform(moves: int) -> None:
    """For every number of legal moves, each move as often as any other, wherever the legal ones lie."""
    rng = random.Random(moves)
    legal = np.zeros((40, LANES), np.bool_)
    legal[rng.sample(range(40), moves)] = True
    chosen = draw(build_kernel(free_choice((40,))), legal, 600).sum(axis=(0, 2))
    assert chi_square(chosen[legal[:, 0]]) < _FAR


def test_lanes_with_different_counts_are_all_uniform() -> None:
    legal = np.arange(12)[:, None] <= np.arange(LANES)[None] % 12
    chosen = draw(build_kernel(free_choice((12,))), legal, 1500)
    for count in range(1, 13):
        lanes = chosen[:, :count, count - 1 :: 12].sum(axis=(0, 2))
        assert count == 1 or chi_square(lanes) < _FAR


def test_a_lane_that_waits_is_no_less_uniform(monkeypatch: pytest.MonkeyPatch) -> None:
    """One round only: nearly half the lanes wait, and what the others chose is uniform still."""
    monkeypatch.setattr(uniform_choice, "_ROUNDS", 1)
    chosen = draw(build_kernel(free_choice((9,))), np.ones((9, LANES), np.bool_), 600)
    assert 0.5 < chosen.sum() / (600 * LANES) < 0.62  # nine in sixteen
    assert chi_square(chosen.sum(axis=(0, 2))) < _FAR


def test_the_measure_finds_a_chooser_that_prefers_a_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the rejection, numbers beyond the count end as some move or other: chi-square must see it."""
    monkeypatch.setattr(uniform_choice, "less", lambda code, a, b: "splat (i64 -1)")
    chosen = draw(build_kernel(free_choice((9,))), np.ones((9, LANES), np.bool_), 600)
    assert chi_square(chosen.sum(axis=(0, 2))) > 10 * _FAR


@pytest.mark.parametrize("together", [True, False])
def test_roles_choose_independently(together: bool) -> None:
    """All pairs of moves are equally likely, and with a third role that can only pass, too."""
    legal = np.ones((5 + 3 + 2, LANES), np.bool_)
    if together:  # in each lane only one role has a choice: they share a random number
        legal[1:5, ::2] = False
        legal[6:8, 1::2] = False
    legal[9] = False
    chosen = draw(build_kernel(free_choice((5, 3, 2))), legal, 600)
    pairs = np.einsum("ral,rbl->abl", chosen[:, :5].astype(np.int64), chosen[:, 5:8].astype(np.int64))
    if together:
        assert chi_square(pairs[0, :, ::2].sum(axis=-1)) < _FAR
        assert chi_square(pairs[:, 0, 1::2].sum(axis=-1)) < _FAR
        assert pairs[1:, :, ::2].sum() == 0
    else:
        assert chi_square(pairs.sum(axis=-1)) < _FAR


def test_sharing_a_number_between_two_choices_would_be_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FunctionBuilder, "any_lane", lambda code, value: "false")
    chosen = draw(build_kernel(free_choice((4, 4))), np.ones((8, LANES), np.bool_), 200)
    pairs = np.einsum("ral,rbl->ab", chosen[:, :4].astype(np.int64), chosen[:, 4:].astype(np.int64))
    assert chi_square(pairs) > 10 * _FAR


def test_lanes_and_draws_are_independent() -> None:
    """A lane and its neighbours, at once and one draw later: all pairs equally likely."""
    chosen = draw(build_kernel(free_choice((6,))), np.ones((6, LANES), np.bool_), 700)
    went: NDArray[np.bool_] = chosen.max(axis=1)
    move = chosen.argmax(axis=1)
    for apart, later in ((1, 0), (64, 0), (0, 1), (1, 1), (511, 2)):
        a, b = move[: 700 - later].ravel(), np.roll(move, apart, axis=1)[later:].ravel()
        both = went[: 700 - later].ravel() & np.roll(went, apart, axis=1)[later:].ravel()
        assert chi_square(np.bincount(6 * a[both] + b[both], minlength=36)) < _FAR


def test_blocks_and_seeds_have_numbers_of_their_own() -> None:
    rows = [seed_rows(seed, block).tobytes() for seed in (0, 1, -1, 1 << 64, 1 << 70) for block in range(50)]
    assert len(set(rows)) == len(rows)
    assert seed_rows(3, 4).tobytes() == seed_rows(3, 4).tobytes()


def test_the_generator_is_xoshiro() -> None:
    """The bits that choose among two moves are the output of xoshiro256++, as written down by its authors."""
    kernel = build_kernel(free_choice((2,)))
    chooser = Chooser(kernel, 12)
    chooser.legal(np.ones((2, LANES), np.bool_))
    state = [[int(word) for word in row] for row in seed_rows(12, 0).T]
    for _ in range(5):
        chosen, _ = chooser.choose()
        expected = np.array([next_of(words) for words in state], np.uint64)
        assert (pack(chosen)[1] == expected).all()


def next_of(s: list[int]) -> int:
    """Advance xoshiro256++ and return its output."""
    word = (1 << 64) - 1

    def rotl(x: int, k: int) -> int:
        return (x << k | x >> (64 - k)) & word

    result = (rotl((s[0] + s[3]) & word, 23) + s[0]) & word
    shifted = s[1] << 17 & word
    s[2] ^= s[0]
    s[3] ^= s[1]
    s[1] ^= s[2]
    s[0] ^= s[3]
    s[2] ^= shifted
    s[3] = rotl(s[3], 45)
    return result


def test_a_constant_choice_costs_nothing() -> None:
    """A role with one action draws no number, and neither does one that has none to be counted."""
    build = Builder(1, (1, 1))
    network = build.network(0, [True], [TRUE, TRUE], FALSE, [[], []], build.fluents)
    kernel = build_kernel(network)
    chooser = Chooser(kernel, 1)
    before = chooser.rows[RANDOM : RANDOM + STATE_ROWS].copy()
    chooser.legal(np.ones((1, LANES), np.bool_))
    chosen, go = chooser.choose()
    assert chosen.all()
    assert go.all()
    assert (chooser.rows[RANDOM : RANDOM + STATE_ROWS] == before).all()
    shared = SharedFunctions()
    assert "round" not in choose_function(kernel.candidates, 100, Phases.none(network), PROCESSOR, shared)
    assert not shared
