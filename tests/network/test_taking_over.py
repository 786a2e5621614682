"""A loop stands in for straight code until that is compiled: nobody can tell from what is computed."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
import threading
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.examples import examples
from tests.network.networks import Builder, networks, random_network, tic_tac_toe

from anygame.native import cache as cached_files
from anygame.native import code
from anygame.native.code import Library, compile_library
from anygame.network.kernels import compilation, segments
from anygame.network.kernels import kernel as kernels
from anygame.network.kernels import layout as kernel_rows
from anygame.network.kernels.function import ACTIVE, GO, RANDOM, RESTART, STUCK
from anygame.network.kernels.kernel import Kernel, build_kernel
from anygame.network.kernels.uniform_choice import STATE_ROWS, seed_rows
from anygame.network.lanes import Lanes
from anygame.network.network import FALSE, TRUE
from anygame.network.simulator import Simulator
from anygame.network.single import Single
from anygame.playouts import PlayoutRequest

if TYPE_CHECKING:
    from anygame.network.network import Network

_SHEET = Path(__file__).parents[2] / "gdl" / "six_in_a_row.kif"
law = settings(
    max_examples=examples(6),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    phases=set(Phase) - {Phase.explain},
)


@pytest.fixture
def standing_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a loop stand in for every straight code, and nothing cached."""
    monkeypatch.setattr(kernels, "COMPILED_AT_ONCE", -1)
    monkeypatch.setenv("ANYGAME_CACHE", "")


@pytest.fixture
def never_made(standing_in: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have another process never make what it is asked for."""
    monkeypatch.setattr(compilation, "_begun", lambda *_: None)
    monkeypatch.setattr(compilation.Compilation, "_image", lambda _: None)


class Played:
    """A block of lanes, moved by calls of machine code."""

    def __init__(self, kernel: Kernel, seed: int) -> None:
        self.kernel = kernel
        self.rows = kernel.rows()
        self.rows[kernel.layout.fluent_rows] = seed_rows(seed, 1)[:1]
        self.rows[RANDOM : RANDOM + STATE_ROWS] = seed_rows(seed, 0)
        self.rows[ACTIVE] = ~np.uint64(0)
        self._pointers = self.rows.ctypes.data, kernel.data.ctypes.data

    def call(self, library: Library, name: str) -> object:
        return library[name](*self._pointers)

    def read(self, bits: list[int]) -> list[bytes]:
        return [(~self.rows[bit >> 1] if bit & 1 else self.rows[bit >> 1]).tobytes() for bit in bits]

    def outputs(self) -> list[bytes]:
        gates = self.kernel.gates
        return self.read([gates.terminal, *gates.legal, *(bit for role in gates.goals for _, bit in role)])

    def state(self) -> bytes:
        return self.rows[self.kernel.layout.fluent_rows].tobytes()

    def moves(self) -> bytes:
        counters = self.kernel.counters
        of_counters = self.rows[counters.first : counters.end].tobytes()
        rows = [self.rows[row].tobytes() for row in (GO, STUCK)]
        # What stands there in a lane that waits is of no meaning.
        chosen = (self.rows[self.kernel.layout.action_rows] & self.rows[GO]).tobytes()
        return b"".join([of_counters, *rows, chosen, self.rows[RANDOM : RANDOM + STATE_ROWS].tobytes()])


def agree(network: Network, rng: random.Random) -> None:
    """Let two codes take turns at random, move by move, beside one alone."""
    kernel = build_kernel(network)
    assert kernel.stands_in
    loop = kernel.library
    straight = compile_library(kernel.code, kernels._SIGNATURES)
    alone, mixed = Played(kernel, 7), Played(kernel, 7)
    for _ in range(4):
        code = rng.choice((loop, straight))
        for name in ("evaluate_state", "choose", "evaluate_moves"):
            told = alone.call(straight, name), mixed.call(code, name)
            assert told[0] == told[1]
            if name == "evaluate_state":
                assert alone.outputs() == mixed.outputs()
        assert alone.moves() == mixed.moves()
        assert alone.state() == mixed.state()
        for played in (alone, mixed):
            played.rows[RESTART] = seed_rows(3, 3)[0]


@pytest.mark.usefixtures("never_made")
@law
@given(network=networks(), rng=st.randoms(use_true_random=False), size=st.sampled_from((2, 10, 2000)))
def test_codes_may_take_turns_at_every_move(network: Network, rng: random.Random, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "FUNCTION_INPUTS", size)
        patch.setattr(kernel_rows, "MOST_UNROLLED", rng.choice((2, 64)))
        agree(network, rng)


@pytest.mark.usefixtures("never_made")
@pytest.mark.parametrize(
    "moves",
    [(4, 0), (3, 0), (8, 2), (1, 3), (0, 4), (4, 0, 4, 0), (4, 0, 0, 2), (2, 0, 0, 5), (3, 0, 4, 0), (0, 90)],
)
def test_moves_that_are_always_legal(moves: tuple[int, ...]) -> None:
    """Straight code knows how many they are while it is written, and draws other numbers for it."""
    roles = list(zip(moves[::2], moves[1::2], strict=True))
    build = Builder(sum(moves[1::2]), tuple(map(sum, roles)))
    free = iter(build.fluents)
    legal = [bit for always, rest in roles for bit in [*[TRUE] * always, *islice(free, rest)]]
    network = build.network(0, [False] * len(build.fluents), legal, FALSE, [[] for _ in roles], build.fluents)
    agree(network, random.Random(1))


def counted(simulator: Simulator, take_over_at: int | None = None) -> object:
    """Return what is counted in playouts, if the straight code takes over in the middle."""

    def progress(started: int) -> None:
        if take_over_at is not None and started >= take_over_at:
            simulator._kernel.finish()

    tally = simulator.run(PlayoutRequest(300_000, seed=3, progress=progress))
    return tally.goals, tally.states, tally.lengths, tally.options, tally.playouts


@pytest.mark.usefixtures("never_made", "played_any_way")
def test_playouts_are_the_same_whichever_code_plays() -> None:
    network = tic_tac_toe()
    expected = counted(Simulator(build_kernel(network, "straight")))
    standing_in = Simulator(build_kernel(network))
    assert counted(standing_in) == expected
    assert not standing_in._kernel.is_final
    changed = Simulator(build_kernel(network))
    assert counted(changed, take_over_at=1) == expected
    assert changed._kernel.is_final
    assert counted(changed) == expected


@pytest.mark.usefixtures("never_made")
def test_matches_continue_when_faster_code_takes_over() -> None:
    network = random_network(random.Random(4), 150)
    reference = build_kernel(network, "straight")
    kernel = build_kernel(network)
    lanes, same = Lanes(kernel, 600, seed=5), Lanes(reference, 600, seed=5)
    single, same_single = Single(kernel), Single(reference)
    state = single.initial
    for turn in range(6):
        # What the state decides is evaluated before, the moves are made after.
        assert np.array_equal(lanes.legal(), same.legal())
        legal = single.legal(state)
        assert legal == same_single.legal(state)
        if turn == 3:
            kernel.finish()
        for found, expected in zip(lanes.step_random(), same.step_random(), strict=True):
            assert np.array_equal(found, expected)
        assert np.array_equal(lanes.observation(), same.observation())
        joint = [moves[-1] for moves in legal]
        after = single.next(state, joint)
        assert after == same_single.next(state, joint)
        state = after
    assert kernel.is_final


@pytest.mark.usefixtures("standing_in")
def test_another_process_makes_the_code() -> None:
    kernel = build_kernel(tic_tac_toe())
    assert not kernel.library.cached
    loop = kernel.library.addresses
    assert not kernel.finish()
    assert kernel.is_final
    assert all(kernel.library.addresses[name] != loop[name] for name in loop)
    assert counted(Simulator(kernel)) == counted(Simulator(build_kernel(tic_tac_toe(), "straight")))


def test_code_compiled_by_another_process_is_cached(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(kernels, "COMPILED_AT_ONCE", -1)
    monkeypatch.setenv("ANYGAME_CACHE", str(tmp_path))
    first = build_kernel(tic_tac_toe())
    assert not first.library.cached
    assert not first.finish()
    second = build_kernel(tic_tac_toe())
    assert second.library.cached
    assert second.is_final
    assert second.finish()
    assert second.rows().nbytes < first.rows().nbytes  # no loop, none of its rows


def test_small_code_is_compiled_in_the_same_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(kernels, "COMPILED_AT_ONCE", -1)
    monkeypatch.setenv("ANYGAME_CACHE", str(tmp_path))
    asked: list[str] = []  # also for games of other tests, whose turn comes only now
    monkeypatch.setattr(compilation, "_begun", lambda request, _: asked.append(pickle.loads(request)[0]))
    first, second = build_kernel(tic_tac_toe()), build_kernel(tic_tac_toe())
    assert not first.finish()
    assert first.key not in asked
    assert first.is_final
    assert second.finish()
    assert second.library.cached
    assert counted(Simulator(first)) == counted(Simulator(build_kernel(tic_tac_toe(), "straight")))


@pytest.mark.parametrize("fails", ["the other process", "beginning it"])
@pytest.mark.usefixtures("standing_in")
def test_code_is_compiled_without_other_processes(fails: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if fails == "beginning it":
        monkeypatch.setattr(sys, "executable", "")
    else:
        monkeypatch.setattr(compilation, "_BOOTSTRAP", "raise SystemExit(3)")
    kernel = build_kernel(tic_tac_toe())
    before = counted(Simulator(kernel))
    assert not kernel.finish()
    assert kernel.is_final
    assert counted(Simulator(kernel)) == before


@pytest.mark.usefixtures("standing_in")
def test_code_of_other_sources_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after an update: what the other process would write is not what belongs to these rows."""
    monkeypatch.setattr(segments, "FUNCTION_INPUTS", 3)
    network = random_network(random.Random(6), 150)
    kernel = build_kernel(network)
    making = kernel._start.making
    assert making is not None
    assert not making.wait()
    assert not kernel.finish()
    assert counted(Simulator(kernel)) == counted(Simulator(build_kernel(network, "loop")))


@pytest.mark.usefixtures("standing_in")
def test_garbage_collected_games_are_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[bytes] = []
    held = threading.Event()
    monkeypatch.setattr(compilation, "_begun", lambda request, _: begun.append(request))
    make = code.make_image

    def make_later(code: str, key: str, folder: Path | None) -> bytes | None:
        if key in {"", code}:  # of a loop
            return make(code, key, folder)
        held.wait(60)
        return None

    monkeypatch.setattr(compilation, "make_image", make_later)
    built = [build_kernel(random_network(random.Random(seed))) for seed in range(4)]
    for each in built:
        assert each.library
    last = built[-1]
    del each, built
    held.set()
    last.finish()
    assert len(begun) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # of JAX, where other tests have loaded it
@pytest.mark.usefixtures("never_made")
def test_a_process_that_was_forked_off_makes_its_own() -> None:
    kernel = build_kernel(tic_tac_toe())
    assert kernel.library
    child = os.fork()
    if child == 0:
        kernel.finish()
        os._exit(0 if kernel.is_final else 1)
    assert os.waitpid(child, 0)[1] == 0


def running(script: str, cache: Path | str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, str(_SHEET)],
        env={**os.environ, "ANYGAME_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )


_PLAY = """
import sys, anygame
game = anygame.load(sys.argv[1])
result = game.simulate(1000, seed=4)
kernel = game.backends.network.kernel
print(result.goal_counts, result.states)
print(kernel.stands_in, kernel.is_final)
print(kernel.key)
"""


@pytest.mark.slow
def test_a_program_ends_while_its_code_is_made(tmp_path: Path) -> None:
    """It waits for nothing, what is made fills the cache, and the next one plays the same by it."""
    before = running(_PLAY, tmp_path)
    assert before.stderr == ""
    result, stand_in, key = before.stdout.splitlines()
    assert stand_in == "True False"
    deadline = time.monotonic() + 120
    while code.find_library(key, {}, tmp_path) is None and time.monotonic() < deadline:
        time.sleep(0.1)
    after = running(_PLAY, tmp_path)
    assert after.stdout.splitlines() == [result, "True True", key]
    assert after.stderr == ""


_COMPILE = """
import sys, time, anygame
game = anygame.load(sys.argv[1])
while not __import__("pathlib").Path(sys.argv[2]).exists():
    time.sleep(0.001)
game.compile(wait=True)
result = game.simulate(1000, seed=4)
print(result.goal_counts, result.states)
"""


@pytest.mark.slow
def test_processes_that_compile_the_same_at_once_share_a_whole_cache(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    alone = running(_PLAY, tmp_path / "other").stdout.splitlines()[0]
    begun = [
        subprocess.Popen(
            [sys.executable, "-c", _COMPILE, str(_SHEET), str(tmp_path / "go")],
            env={**os.environ, "ANYGAME_CACHE": str(cache)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    (tmp_path / "go").touch()
    told = [each.communicate(timeout=300) for each in begun]
    assert told == [(f"{alone}\n", "")] * 3
    files = list(cache.iterdir())
    assert files
    # Nothing half written, nothing left of writing.
    assert all(path.suffix == ".code" and cached_files.read_cached(path) for path in files), files


@pytest.mark.slow
def test_nothing_is_left_behind_where_nothing_is_cached() -> None:
    """The other process is ended with the one that asked it: its work would be of no use to anybody."""
    script = f"{_PLAY}\nimport time\nfrom anygame.network.kernels import compilation\n" + (
        "for _ in range(1000):\n    if compilation._PROGRAM.useless is None: time.sleep(0.01)\n"
        "print(compilation._PROGRAM.useless.pid)\n"
    )
    done = running(script, "")
    assert done.stderr == ""
    number = int(done.stdout.split()[-1])
    deadline = time.monotonic() + 10
    while _lives(number) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _lives(number)


def _lives(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{number}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
