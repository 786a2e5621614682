"""Exactly uniform choice of moves in all lanes at once.

For each role, the code counts the legal moves of each lane in bit planes, samples a number below the count,
and finds the legal move with this number. It uses rejection sampling: it samples a number with as many bits
as ``count - 1``, and accepts the number in the lanes in which it is below the count. The probability of
acceptance is at least one half. A lane without a number after several rounds waits: it keeps its state, and
samples again in the next step. So all moves have the same probability.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anygame.network.kernels.function import ACTIVE, GO, ONES, RANDOM, STUCK, WORDS, ZERO, FunctionBuilder
from anygame.network.kernels.gate_code import Presence
from anygame.network.kernels.nth_set_bit import LoopSelection, UnrolledSelection, decrease, less, masks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.network.kernels.function import SharedFunctions
    from anygame.network.kernels.nth_set_bit import Candidates
    from anygame.network.kernels.phases import Phases
    from anygame.network.kernels.target import Target


#: Maximum number of rounds of rejection sampling. In the worst case, each round fails in half of the lanes,
#: and some lane must wait in 1 of 8 steps with 512 lanes.
_ROUNDS = 12
#: Maximum number of rounds if no lane should wait. In the worst case, a lane must wait once in 2^55 steps.
_MANY_ROUNDS = 64
#: Cost of a round of sampling, in row operations: per plane of the number, and for the rest of the round.
_PLANE_COST, _ROUND_COST = 12, 40
#: Cost of a waiting lane in row operations, without its share of the step.
_WAIT_COST = 14
#: Number of lowest planes that are always sampled. Nearly always, a lane needs these planes, so a check would
#: cost more than it saves.
_ALWAYS_SAMPLED = 2


@dataclass
class _Draw:
    """The sampling of a number below a count: planes of the count, planes of a bit mask, and variables."""

    count: list[str]
    masks: list[str]
    number: list[str]


def choose_function(
    roles: Sequence[Candidates], step_cost: int, phases: Phases, target: Target, shared: SharedFunctions
) -> str:
    """Write ``i1 @choose``, which chooses moves for the lanes of row ACTIVE.

    If a role has many moves, the name is ``@choose_factors``; see ``factor_functions``.

    The function sets the rows of the actions and row GO to the lanes that have chosen, and adds to the
    counters. It returns whether a role has no legal move in some lane. In this case it only sets row STUCK to
    these lanes, and samples no random number. The rest of a step costs ``step_cost`` row operations, and a
    waiting lane wastes its share of this cost. In a game with phases no lane waits, so that all lanes stay in
    the same phase.
    """
    many = any(role.scratch is not None for role in roles)
    code = FunctionBuilder("choose_factors" if many else "choose", target, "i1")
    presence = Presence(code, phases)
    failed = code.variable()
    waiting = None if phases.patterns else step_cost
    drawing = _Drawing(code, failed, waiting, shared)
    numbers = [code.array(planes) if (planes := planes_of(role)) else [] for role in roles]
    common = code.array(max(map(len, numbers))) if any(numbers) else []
    active = code.load(ACTIVE)
    groups = [
        UnrolledSelection(code, role) if role.scratch is None else LoopSelection(code, role, presence, shared)
        for role in roles
    ]
    counts = [group.count() for group in groups]
    # If a role has no legal move in a lane, return before any choice.
    able = [[ONES] if 1 in role.legal else count for role, count in zip(roles, counts, strict=True)]
    missing = code.and_(active, code.not_(code.all(code.any(count) for count in able)))
    if missing != ZERO:
        refuse, accept = code.new_label(), code.new_label()
        code.branch(code.any_lane(missing), refuse, accept)
        code.label(refuse)
        code.store(STUCK, missing)
        code.line("ret i1 true")
        code.label(accept)
    draws = []
    for number, count in zip(numbers, counts, strict=True):
        if number:
            less_one, _ = decrease(code, count)
            draws.append(_Draw(count, masks(code, less_one[: len(number)]), number))
    code.write(failed, ZERO)
    drawing.draw_all(draws, common, active)
    go = code.and_(active, code.not_(code.read(failed)))
    code.store(GO, go)
    for role, count in zip(roles, counts, strict=True):
        for row, plane in zip(role.counters, count, strict=False):
            code.count(row, code.and_(plane, go))
    for group, number in zip(groups, numbers, strict=True):
        group.select([code.read(plane) for plane in number])
    return code.text("ret i1 false")


def planes_of(role: Candidates) -> int:
    """Return the number of bits of a random number for a role."""
    return max(0, len(role.legal) - 1).bit_length()


class _Drawing:
    """Samples numbers with functions that do not depend on the game.

    The functions add the lanes without a number to ``failed``. If ``step_cost`` is None, no lane should wait.
    """

    def __init__(
        self, code: FunctionBuilder, failed: str, step_cost: int | None, shared: SharedFunctions
    ) -> None:
        self._code = code
        self._failed = failed
        self._step_cost = step_cost
        self._rounds = _MANY_ROUNDS if step_cost is None else _ROUNDS
        self._shared = shared

    def draw_all(self, draws: Sequence[_Draw], common: Sequence[str], active: str) -> None:
        """Sample a number for each role, or a common number if no lane needs several numbers."""
        if len(draws) < 2:
            for draw in draws:
                self._draw(draw, active)
            return
        code = self._code
        seen, twice = ZERO, ZERO
        for draw in draws:
            twice = code.or_(twice, code.and_(seen, draw.masks[0]))
            seen = code.or_(seen, draw.masks[0])
        with code.either(code.any_lane(code.and_(twice, active))) as otherwise:
            for draw in draws:
                self._draw(draw, active)
            otherwise()
            self._draw_together(draws, common, seen, active)

    def _draw_together(self, draws: Sequence[_Draw], common: Sequence[str], seen: str, active: str) -> None:
        code = self._code
        count = [
            code.any(code.and_(d.count[k], d.masks[0]) for d in draws if k < len(d.count))
            for k in range(max(len(draw.count) for draw in draws))
        ]
        count[0] = code.or_(count[0], code.not_(seen))
        mask = [code.any(d.masks[k] for d in draws if k < len(d.masks)) for k in range(len(common))]
        self._draw(_Draw(count, mask, list(common)), active)
        for draw in draws:
            for own, drawn, plane in zip(draw.number, common, draw.masks, strict=False):
                code.write(own, code.and_(code.read(drawn), plane))

    def _draw(self, draw: _Draw, active: str) -> None:
        code = self._code
        if len(draw.masks) == 1 or less(code, draw.masks, draw.count) == ONES:  # every number is in range
            for target, mask in zip(draw.number, draw.masks, strict=True):
                code.write(target, code.and_(self._random(), mask))
            return
        self._draw_in_rounds(draw, active)

    def _random(self) -> str:
        (place,) = self._code.array(1)
        name = self._shared.need("random", lambda name: _random_function(name, self._code.target))
        self._code.call(name, [place], [])
        return self._code.read(place)

    def _draw_in_rounds(self, draw: _Draw, active: str) -> None:
        code, sizes = self._code, (len(draw.number), len(draw.count))
        name = self._shared.need(
            "draw_{}_{}".format(*sizes), lambda name: _draw_function(name, *sizes, code.target)
        )
        count, masks = code.array(sizes[1]), code.array(sizes[0])
        for place, plane in zip([*count, *masks], [*draw.count, *draw.masks], strict=True):
            code.write(place, plane)
        limit, lanes, round_cost = 0, code.target.lanes, _PLANE_COST * sizes[0] + _ROUND_COST
        if self._step_cost is not None:  # up to this many lanes, waiting is cheaper than a round
            limit = 2 * lanes * round_cost // (_WAIT_COST * lanes + self._step_cost)
        code.call(name, [draw.number[0], count[0], masks[0], self._failed], [limit, self._rounds])


def _random_function(name: str, target: Target) -> str:
    code = FunctionBuilder(name, target, parameters=["ptr noalias %out"], inlined=True)
    generator = Xoshiro(code)
    code.write("%out", generator.row())
    generator.save()
    return code.text()


def _draw_function(name: str, planes: int, count_planes: int, target: Target) -> str:
    """Write a function that samples a number below a count, in the lanes of row ACTIVE.

    The function ends after ``%rounds`` rounds, or as soon as at most ``%limit`` lanes have no number.
    """
    pointers = [f"ptr noalias %{each}" for each in ("number", "count", "masks", "failed")]
    parameters = [*pointers, "i64 %limit", "i64 %rounds"]
    code = FunctionBuilder(name, target, parameters=parameters, inlined=True)
    generator = Xoshiro(code)
    failed = code.variable(code.read("%failed"))
    count, masks_ = (
        [code.read(place) for place in code.rows_at(first, size)]
        for first, size in (("%count", count_planes), ("%masks", planes))
    )
    number = [code.variable() for _ in range(planes)]
    active = code.load(ACTIVE)
    wanted = [
        None if k < _ALWAYS_SAMPLED else code.any_lane(code.and_(mask, active))
        for k, mask in enumerate(masks_)
    ]
    before = code.read(failed)
    for plane in number:
        code.write(plane, ZERO)
    code.write(failed, active)
    entry, loop, done = code.begin_block(), code.begin_block(), code.new_label()
    code.line(f"%round.{loop} = phi i64 [ 0, %{entry} ], [ %next.{loop}, %last.{loop} ]")
    missing = code.read(failed)
    for plane, mask, want in zip(number, masks_, wanted, strict=True):
        with code.when(want) if want else nullcontext():
            value = code.and_(generator.row(), mask)
            code.write(plane, code.mux(missing, value, code.read(plane)))
    accepted = less(code, [code.read(plane) for plane in number], count)
    missing = code.and_(missing, code.not_(accepted))
    code.write(failed, missing)
    many = code.let(f"icmp ugt i64 {code.popcount(missing)}, %limit")
    code.line(f"%next.{loop} = add i64 %round.{loop}, 1")
    more = code.let(f"icmp ult i64 %next.{loop}, %rounds")
    again = code.let(f"and i1 {many}, {more}")
    code.jump(f"last.{loop}")
    code.label(f"last.{loop}")
    code.branch(again, loop, done)
    code.label(done)
    code.write(failed, code.or_(before, code.read(failed)))
    for place, plane in zip(code.rows_at("%number", planes), number, strict=True):
        code.write(place, code.read(plane))
    code.write("%failed", code.read(failed))
    generator.save()
    return code.text()


#: Number of rows that hold the state of the random number generators. The first is row RANDOM.
STATE_ROWS = 4
_GOLDEN = 0x9E3779B97F4A7C15
_WORD = (1 << 64) - 1


class Xoshiro:
    """xoshiro256++ generators, one for each word of a row, whose state a function loads from rows.

    See Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", 2021. splitmix64 seeds the
    generators (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
    """

    def __init__(self, code: FunctionBuilder) -> None:
        self._code = code
        self._state = [code.variable(code.load(RANDOM + number)) for number in range(STATE_ROWS)]

    def row(self) -> str:
        """Return a row of random bits."""
        code = self._code
        s0, s1, s2, s3 = (code.read(pointer) for pointer in self._state)
        result = code.add(code.rotate_left(code.add(s0, s3), 23), s0)
        shifted = code.let(f"shl {code.target.row} {s1}, splat (i64 17)")
        s2 = code.xor(s2, s0)
        s3 = code.xor(s3, s1)
        s1 = code.xor(s1, s2)
        s0 = code.xor(s0, s3)
        s2 = code.xor(s2, shifted)
        s3 = code.rotate_left(s3, 45)
        for pointer, value in zip(self._state, (s0, s1, s2, s3), strict=True):
            code.write(pointer, value)
        return result

    def save(self) -> None:
        """Save the state to its rows."""
        for number, pointer in enumerate(self._state):
            self._code.store(RANDOM + number, self._code.read(pointer))


def seed_rows(seed: int, block: int, words: int = WORDS) -> NDArray[np.uint64]:
    """Return the state of a block's generators: uint64 [4, words]."""
    rows: NDArray[np.uint64] = seeds_of_blocks(seed, range(block, block + 1), words)[0]
    return rows


def seeds_of_blocks(seed: int, blocks: range, words: int) -> NDArray[np.uint64]:
    """Return the state of the generators of several blocks: uint64 [blocks, 4, words]."""
    low, high = (np.array(part & _WORD, np.uint64) for part in (seed, seed >> 64))
    numbers = np.arange(blocks.start, blocks.stop, dtype=np.uint64)
    with np.errstate(over="ignore"):
        first = _mix(_mix(low) ^ _mix(_mix(high) + np.uint64(1)) ^ _mix(numbers + np.uint64(2)))
        steps = np.arange(1, STATE_ROWS * words + 1, dtype=np.uint64) * np.uint64(_GOLDEN)
        return _mix(first[:, None] + steps).reshape(-1, STATE_ROWS, words)


def _mix(word: NDArray[np.uint64]) -> NDArray[np.uint64]:
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))
