"""The playout loop of a block: evaluate states, count results, choose moves, compute next states.

A lane whose playout has ended starts the next playout, until the block has started all its playouts. Every
playout is finished, so the results do not favour short games. The code visits single lanes only if their
playouts end. A playout also ends if a role has no legal move, or at a limit of moves; these playouts are
counted separately.

If goals take long to evaluate, lanes whose playouts have ended wait for each other.

If the game has phases, all lanes stay in the same phase: a playout starts only in steps in which the running
playouts are in the first phase.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from anygame.network.kernels.function import (
    ABSENT,
    ACTIVE,
    CUT,
    ENDED,
    FIRST_FLUENT,
    GO,
    IDLE,
    RESTART,
    RUNNING,
    STUCK,
    ZERO,
    FunctionBuilder,
)
from anygame.network.kernels.gate_code import find_presence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.network.kernels.function import SharedFunctions
    from anygame.network.kernels.layout import GateOutputs, RowLayout
    from anygame.network.kernels.phases import Phases
    from anygame.network.kernels.target import Target


#: Indices of the words in the record of a block. If several threads share a row, each thread has its own
#: record. These records differ only in the words for stuck playouts and for lanes. ``NOW``: the number of the
#: step. ``LEFT``: the number of playouts that have not started. ``DEADLINE``: a step before which no playout
#: reaches the limit. ``LIMIT``: the maximum number of moves. ``ELSEWHERE``: whether playouts start from a
#: state other than the initial state. ``STUCK_LANES``: the number of stuck playouts; the next three words are
#: step, lane and length of the first stuck playout. ``WHOLE``: whether to compute all gates in each phase.
#: ``WAITED``: the total number of steps that ended lanes have waited since the last evaluation of goals.
#: ``FACTORS``: whether the moves of the last step are stored as groups and members; see ``RowLayout``. From
#: ``STARTS`` on, per lane: the step in which its playout began, plus the steps that the playout has waited.
NOW, LEFT, DEADLINE, LIMIT, ELSEWHERE, STUCK_LANES, STUCK_STEP, STUCK_LANE, STUCK_LENGTH, WHOLE = range(10)
WAITED, FACTORS, STARTS = 10, 11, 12


@dataclass(frozen=True)
class PlayedGame:
    """The properties of a game on which the loop depends.

    Attributes:
        terminal: bit literal of the end of the game.
        moves: the row that counts joint moves.
        has_factors: whether the gates read chosen moves as groups and members; see ``RowLayout``.
        patience: total number of steps that ended lanes wait before the gates that only goals need are
            evaluated; 0 if these gates are evaluated in each step.
    """

    target: Target
    layout: RowLayout
    terminal: int
    moves: int
    phases: Phases
    has_factors: bool
    patience: int

    @property
    def has_phases(self) -> bool:
        """Whether the game has a clock."""
        return bool(self.phases.patterns)


def play_functions(game: PlayedGame, shared: SharedFunctions) -> str:
    """Write ``i1 @play``, which plays ``%steps`` steps and returns whether all playouts have ended.

    ``%block`` is the record of a block. ``%lengths`` counts the playouts of each number of moves up to the
    limit, and then the playouts that were cut. If playouts do not start from the initial state, ``%start``
    has 0 or -1 for each fluent.
    """
    shared["leave_stuck"] = _leave_stuck(game)
    shared["wait"] = _wait(game)
    if game.has_phases:
        shared["start_idle"] = _start_idle(game)
    return "".join((_cut(game), _finish(game), _start_elsewhere(game), _play(game)))


def _each_lane(
    code: FunctionBuilder, row: int, mask: str = "", target: str = ""
) -> Iterator[tuple[str, str, str]]:
    """Write a loop over the lanes in which a row holds; the body must not change the row.

    The function yields the number of a lane, the number of its word, and its bit in the word. The body can
    set bits of the variable ``mask``, which the loop stores word by word to the row ``target``.
    """
    base = code.address(row)
    for word in code.loop(code.target.words):
        for bit in code.set_bits(code.word(base, word)):
            yield code.let(f"add i64 {bit}, {code.let(f'shl i64 {word}, 6')}"), word, bit
        if mask:
            code.set_word(target, code.word(mask), word)
            code.set_word(mask, 0)


def _cut(game: PlayedGame) -> str:
    code = FunctionBuilder("cut", game.target, parameters=["ptr noalias %block"])
    now, limit = code.word_of_block(NOW), code.word_of_block(LIMIT)
    mask, first = code.word_variable(0), code.word_variable(0)
    code.set_word(first, code.let(f"add i64 {code.let(f'add i64 {now}, {limit}')}, 1"))
    code.store(ACTIVE, code.and_(code.load(RUNNING), code.not_(code.bits(game.terminal))))
    row = code.address(CUT)
    for lane, _, bit in _each_lane(code, ACTIVE, mask, row):
        start = code.word(_start_of(code, lane))
        due = code.let(f"add i64 {start}, {limit}")
        late = code.let(f"zext i1 {code.let(f'icmp sge i64 {now}, {due}')} to i64")
        code.set_word(mask, code.let(f"or i64 {code.word(mask)}, {code.let(f'shl i64 {late}, {bit}')}"))
        soon = code.let(f"icmp slt i64 {due}, {code.word(first)}")
        sooner = code.let(f"and i1 {soon}, {code.let(f'icmp slt i64 {now}, {due}')}")
        code.set_word(first, code.let(f"select i1 {sooner}, i64 {due}, i64 {code.word(first)}"))
    code.set_word_of_block(code.least(code.word(first)), DEADLINE)
    return code.text()


def _finish(game: PlayedGame) -> str:
    """Write a function that counts ended and cut playouts, and starts new playouts or lets lanes wait."""
    code = FunctionBuilder("finish", game.target, parameters=["ptr noalias %block", "ptr noalias %lengths"])
    now, limit = code.word_of_block(NOW), code.word_of_block(LIMIT)
    bucket = code.let(f"add i64 {limit}, 1")
    late = code.let(f"icmp sge i64 {now}, {code.word_of_block(DEADLINE)}")
    with code.either(late) as otherwise:
        code.line("call void @cut(ptr %rows, ptr %data, ptr %block)")
        otherwise()
        code.store(CUT, ZERO)
    ended, running = ended_lanes(code, game.terminal), code.load(RUNNING)
    leaving = code.or_(ended, code.load(CUT))
    code.store(ENDED, leaving)
    cuts = code.address(CUT)
    for _, start, word, bit in _each_playout(code, game, ENDED, now):
        length = code.let(f"sub i64 {now}, {code.word(start)}")
        cut = code.let(f"trunc i64 {code.let(f'lshr i64 {code.word(cuts, word)}, {bit}')} to i1")
        slot = code.offset("%lengths", code.let(f"select i1 {cut}, i64 {bucket}, i64 {length}"))
        if game.target.threads > 1:
            code.line(f"atomicrmw add ptr {slot}, i64 1 monotonic")
        else:
            code.set_word(slot, code.let(f"add i64 {code.word(slot)}, 1"))
    if game.has_phases:
        _let_wait(code, leaving)
        return code.text()
    staying = code.and_(running, code.not_(leaving))
    code.store(ACTIVE, staying)
    code.store(RUNNING, code.or_(staying, code.load(RESTART)))
    return code.text()


def _start_of(code: FunctionBuilder, lane: str) -> str:
    return code.place_in_block(code.let(f"add i64 {lane}, {STARTS}"))


def _each_playout(
    code: FunctionBuilder, game: PlayedGame, row: int, now: str
) -> Iterator[tuple[str, str, str, str]]:
    """Write a loop over the ended playouts of a row. Without phases, the loop also starts new playouts."""
    if not game.has_phases:
        yield from _start_next(code, row, now)
        return
    for lane, word, bit in _each_lane(code, row):
        yield lane, _start_of(code, lane), word, bit


def _let_wait(code: FunctionBuilder, leaving: str) -> None:
    staying = code.and_(code.load(RUNNING), code.not_(leaving))
    code.store(ACTIVE, staying)
    code.store(RUNNING, staying)
    code.store(RESTART, ZERO)
    code.store(IDLE, code.or_(code.load(IDLE), leaving))


def _start_idle(game: PlayedGame) -> str:
    code = FunctionBuilder("start_idle", game.target, parameters=["ptr noalias %block"])
    for _ in _start_next(code, IDLE, code.word_of_block(NOW)):
        pass
    code.store(RUNNING, code.or_(code.load(RUNNING), code.load(RESTART)))
    code.store(IDLE, ZERO)
    return code.text()


def _start_next(code: FunctionBuilder, row: int, now: str) -> Iterator[tuple[str, str, str, str]]:
    """Write a loop that starts a playout in each lane of a row while playouts are left, and sets row RESTART.

    For each lane, the function first yields the lane, a pointer to the step in which the lane's last playout
    began, and the lane's word and bit.
    """
    before = code.count_before(code.load(row))
    left = code.word_variable(code.let(f"sub i64 {code.word_of_block(LEFT)}, {before}"))
    mask = code.word_variable(0)
    lanes = code.load(row)
    left_after = code.let(f"sub i64 {code.word_of_block(LEFT)}, {code.popcount(lanes)}")
    after = code.let(f"add i64 {now}, 1")
    restarts = code.address(RESTART)
    for lane, word, bit in _each_lane(code, row, mask, restarts):
        start = _start_of(code, lane)
        yield lane, start, word, bit
        again = code.let(f"zext i1 {code.let(f'icmp sgt i64 {code.word(left)}, 0')} to i64")
        code.set_word(left, code.let(f"sub i64 {code.word(left)}, {again}"))
        code.set_word(mask, code.let(f"or i64 {code.word(mask)}, {code.let(f'shl i64 {again}, {bit}')}"))
        code.set_word(start, after)
    code.set_word_of_block(code.let(f"call i64 @llvm.smax.i64(i64 {left_after}, i64 0)"), LEFT)


def _leave_stuck(game: PlayedGame) -> str:
    """Write a function that ends and counts stuck playouts, and records the first of them for a replay."""
    code = FunctionBuilder("leave_stuck", game.target, parameters=["ptr noalias %block"], rare=True)
    now = code.word_of_block(NOW)
    restarting = code.variable(code.load(RESTART))
    for lane, start, _, _ in _each_playout(code, game, STUCK, now):
        before = code.word_of_block(STUCK_LANES)
        first = code.let(f"icmp eq i64 {before}, 0")
        length = code.let(f"sub i64 {now}, {code.word(start)}")
        for offset, value in ((STUCK_STEP, now), (STUCK_LANE, lane), (STUCK_LENGTH, length)):
            old = code.word_of_block(offset)
            code.set_word_of_block(code.let(f"select i1 {first}, i64 {value}, i64 {old}"), offset)
        code.set_word_of_block(code.let(f"add i64 {before}, 1"), STUCK_LANES)
    if game.has_phases:
        restart = code.read(restarting)
        _let_wait(code, code.load(STUCK))
        code.store(RESTART, restart)
        code.store(ACTIVE, code.and_(code.load(ACTIVE), code.not_(restart)))
        return code.text()
    restart = code.or_(code.read(restarting), code.load(RESTART))
    staying = code.and_(code.load(ACTIVE), code.not_(code.load(STUCK)))
    code.store(RESTART, restart)
    code.store(ACTIVE, staying)
    code.store(RUNNING, code.or_(code.and_(code.load(RUNNING), code.not_(code.load(STUCK))), restart))
    return code.text()


def _wait(game: PlayedGame) -> str:
    """Write a function that adds a step to the recorded start of each playout that waited in this step."""
    code = FunctionBuilder("wait", game.target, parameters=["ptr noalias %block"])
    code.store(ENDED, _waiting_lanes(code, game))
    for lane, _, _ in _each_lane(code, ENDED):
        start = _start_of(code, lane)
        code.set_word(start, code.let(f"add i64 {code.word(start)}, 1"))
    return code.text()


def _waiting_lanes(code: FunctionBuilder, game: PlayedGame) -> str:
    # The code has just written row RESTART word by word, so a read of the whole row would stall.
    if not game.patience:
        return code.and_(code.load(ACTIVE), code.not_(code.load(GO)))
    others = code.or_(code.load(GO), code.load(RESTART))
    return code.and_(code.load(RUNNING), code.not_(others))


def _start_elsewhere(game: PlayedGame) -> str:
    code = FunctionBuilder("start_elsewhere", game.target, parameters=["ptr noalias %start"])
    restart = code.load(RESTART)
    first = code.address(FIRST_FLUENT)
    for fluent in code.repeat(str(game.layout.actions - game.layout.fluents)):
        row = code.row_at(first, fluent)
        value = code.broadcast(code.word("%start", fluent))
        code.write(row, code.mux(restart, value, code.read(row)))
    return code.text()


def _are_enough(code: FunctionBuilder, ended: str, game: PlayedGame) -> str:
    """Return whether the ended lanes have waited for so long that the goals should be evaluated.

    If waiting has then cost as much as the evaluation, both together cost at most twice the optimum (Karlin,
    Manasse, Rudolph and Sleator, "Competitive Snoopy Caching", 1988).
    """
    waited = code.let(f"add i64 {code.word_of_block(WAITED)}, {code.popcount(ended)}")
    code.set_word_of_block(waited, WAITED)
    others = code.any_lane(code.and_(code.load(RUNNING), code.not_(ended)))
    enough = code.let(f"icmp sge i64 {waited}, {game.patience}")
    return code.let(f"select i1 {others}, i1 {enough}, i1 true")


def _play(game: PlayedGame) -> str:
    choose, evaluate = "choose", "evaluate_moves"
    if game.has_factors:
        choose, evaluate = "choose_factors", "evaluate_factors"
    pointers = [f"ptr noalias %{name}" for name in ("block", "lengths", "start")]
    code = FunctionBuilder("play", game.target, "i1", [*pointers, "i64 %steps"])
    code.jump("loop")
    code.label("loop")
    code.line("%step = phi i64 [ 0, %entry ], [ %next.step, %again ]")
    now = code.word_of_block(NOW)
    if game.has_phases:
        find_presence(code, game.phases, game.layout.fluents, code.load(RUNNING))
        whole = code.let(f"icmp ne i64 {code.word_of_block(WHOLE)}, 0")
        absent = code.address(ABSENT)
        code.set_word(absent, code.let(f"select i1 {whole}, i64 0, i64 {code.word(absent)}"))
    state = "evaluate_options" if game.patience else "evaluate_state"
    code.line(f"call void @{state}(ptr %rows, ptr %data)")
    late = code.let(f"icmp sge i64 {now}, {code.word_of_block(DEADLINE)}")
    ended = ended_lanes(code, game.terminal)
    due = _are_enough(code, ended, game) if game.patience else code.any_lane(ended)
    code.branch(code.let(f"or i1 {late}, {due}"), "leaving", "staying")
    code.label("leaving")
    if game.patience:
        code.set_word_of_block(0, WAITED)
        code.line("call void @evaluate_goals(ptr %rows, ptr %data)")
    code.line("call void @account(ptr %rows, ptr %data)")
    code.line("call void @finish(ptr %rows, ptr %data, ptr %block, ptr %lengths)")
    if game.has_phases:
        code.jump("starting")
    else:
        code.branch(code.any_lane(code.load(RUNNING)), "moving", "done")
    code.label("staying")
    code.store(RESTART, ZERO)
    active = code.load(RUNNING)
    if game.patience:
        active = code.and_(active, code.not_(code.bits(game.terminal)))
    code.store(ACTIVE, active)
    code.jump("starting" if game.has_phases else "moving")
    if game.has_phases:
        code.label("starting")
        after = code.let(f"add i64 {now}, 1")
        first = code.let(f"icmp eq i64 {code.let(f'urem i64 {after}, {len(game.phases.patterns)}')}, 0")
        with code.when(code.let(f"and i1 {first}, {code.any_lane(code.load(IDLE))}")):
            code.line("call void @start_idle(ptr %rows, ptr %data, ptr %block)")
        code.branch(code.any_lane(code.or_(code.load(RUNNING), code.load(IDLE))), "moving", "done")
    code.label("moving")
    refused = code.let(f"call i1 @{choose}(ptr %rows, ptr %data)")
    code.branch(refused, "stuck", "chosen")
    code.label("chosen")
    go = code.load(GO)
    code.count(game.moves, go)
    code.branch(code.any_lane(_waiting_lanes(code, game)), "waiting", "going")
    code.label("waiting")
    code.line("call void @wait(ptr %rows, ptr %data, ptr %block)")
    code.jump("going")
    code.label("going")
    code.line(f"call void @{evaluate}(ptr %rows, ptr %data)")
    code.set_word_of_block(int(game.has_factors), FACTORS)
    replacing, counting = code.new_label(), code.new_label()
    code.branch(code.let(f"icmp eq i64 {code.word_of_block(ELSEWHERE)}, 0"), counting, replacing)
    code.label(replacing)
    code.line("call void @start_elsewhere(ptr %rows, ptr %data, ptr %start)")
    code.jump(counting)
    code.label(counting)
    code.set_word_of_block(code.let(f"add i64 {now}, 1"), NOW)
    code.line("%next.step = add i64 %step, 1")
    code.branch(code.let("icmp slt i64 %next.step, %steps"), "again", "out")
    code.label("again")
    code.jump("loop")
    code.label("stuck")
    code.line("call void @leave_stuck(ptr %rows, ptr %data, ptr %block)")
    code.branch(code.any_lane(code.or_(code.load(RUNNING), code.load(IDLE))), "moving", "done")
    code.label("done")
    code.line("ret i1 true")
    code.label("out")
    return code.text("ret i1 false")


@dataclass(frozen=True)
class Counters:
    """Rows of counters. A counter is the sum of the 64-bit words of its row; each word counts its own lanes.

    Attributes:
        moves: counts joint moves.
        options: per role and bit plane, counts joint moves before which the number of the role's legal moves
            has this bit.
        goals: per row that a goal reads, counts playouts at whose end the row holds.
        missing: per role, counts playouts that end without a goal value.
        double: per role, counts playouts that end with several goal values.
        overlaps: per role and goal value, counts playouts that end with this value and another value.
    """

    first: int
    end: int
    moves: int
    options: tuple[tuple[int, ...], ...]
    goals: dict[int, int]
    missing: tuple[int, ...]
    double: tuple[int, ...]
    overlaps: tuple[tuple[int, ...], ...]

    @classmethod
    def after(cls, layout: RowLayout, candidates: Sequence[int]) -> Counters:
        """Return counters in the rows after a layout, given how many moves of each role can be legal."""
        gates, rows = layout.outputs, count(layout.end)
        first = next(rows)
        options = tuple(tuple(next(rows) for _ in range(moves.bit_length())) for moves in candidates)
        read = dict.fromkeys(bit >> 1 for role in gates.goals for _, bit in role if bit > 1)
        goals = {row: next(rows) for row in read}
        missing = tuple(next(rows) for _ in gates.goals)
        double = tuple(next(rows) for _ in gates.goals)
        overlaps = tuple(tuple(next(rows) for _ in role) for role in gates.goals)
        return cls(first, next(rows), first, options, goals, missing, double, overlaps)


def ended_lanes(code: FunctionBuilder, terminal: int) -> str:
    """Return the lanes whose playouts have ended by the rules, given the bit literal of the end."""
    return code.and_(code.load(RUNNING), code.bits(terminal))


def account_function(gates: GateOutputs, counters: Counters, target: Target) -> str:
    """Write ``@account``, which counts goals of ended playouts, missing goals, and ambiguous goals."""
    code = FunctionBuilder("account", target)
    ended = ended_lanes(code, gates.terminal)
    for row, counter in counters.goals.items():
        code.count(counter, code.and_(code.load(row), ended))
    wrong = ZERO
    for role in gates.goals:
        seen, twice = _unique(code, [bit for _, bit in role])
        wrong = code.or_(wrong, code.or_(code.not_(seen), twice))
    wrong = code.and_(wrong, ended)
    if wrong == ZERO:
        return code.text()
    with code.when(code.any_lane(wrong)):
        for number, role in enumerate(gates.goals):
            seen, twice = _unique(code, [bit for _, bit in role])
            code.count(counters.missing[number], code.and_(ended, code.not_(seen)))
            twice = code.and_(ended, twice)
            code.count(counters.double[number], twice)
            for (_, bit), counter in zip(role, counters.overlaps[number], strict=True):
                code.count(counter, code.and_(code.bits(bit), twice))
    return code.text()


def _unique(code: FunctionBuilder, bits: Sequence[int]) -> tuple[str, str]:
    seen, twice = ZERO, ZERO
    for bit in bits:
        value = code.bits(bit)
        twice = code.or_(twice, code.and_(seen, value))
        seen = code.or_(seen, value)
    return seen, twice
