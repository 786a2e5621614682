"""Random games on a graphics card, which is emulated: a real one adds its own machine code."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.network import networks as n

import anygame
from anygame.cards import card as cards
from anygame.cards import simulator as warps
from anygame.cards.card import Card, CardMemory
from anygame.cards.code import warp_code
from anygame.cards.simulator import WarpSimulator
from anygame.errors import DeviceError
from anygame.native.code import make_ptx
from anygame.network import simulator as simulators
from anygame.network.block import StuckError
from anygame.network.kernels.kernel import build_kernel
from anygame.network.kernels.target import WIDE
from anygame.network.simulator import Simulator
from anygame.playouts import PlayoutRequest

if TYPE_CHECKING:
    from tests.cards.emulated_card import EmulatedDriver

    from anygame.network.network import Network
    from anygame.playouts import Tally


def network_of(name: str) -> Network:
    return anygame.load(f"gdl/{name}.kif").backends.needed_network().kernel.network


def by_processor(network: Network, request: PlayoutRequest, monkeypatch: pytest.MonkeyPatch) -> Tally[Any]:
    """Return what a processor counts that plays the same blocks."""
    monkeypatch.setattr(simulators, "Quotas", WarpSimulator.quotas)
    return Simulator(build_kernel(network, "loop", target=WIDE)).run(request)


def counts(tally: Tally[Any]) -> tuple[Any, ...]:
    goals = [{value: count for value, count in role.items() if count} for role in tally.goals]
    return goals, tally.lengths, tally.options, tally.states, tally.cut, tally.stuck, tally.playouts


#: With a goal for each role, with three roles, moves at the same time, a role that has none at times, chance,
#: and a cycle of gates.
@pytest.mark.parametrize(
    "name", ["tic_tac_toe", "three_player_chomp", "rock_paper_scissors", "monty_hall", "pig"]
)
@pytest.mark.parametrize("style", ["straight", "loop"])
def test_a_warp_plays_as_a_processor_with_blocks_as_wide(
    name: str, style: Any, driver: EmulatedDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = network_of(name)
    request = PlayoutRequest(2_500, seed=3, limit=12)
    found = WarpSimulator(network, Card(), style).run(request)
    assert counts(found) == counts(by_processor(network, request, monkeypatch))
    assert found.playouts + found.cut == 2_500
    assert not driver.taken, "memory of the card is given back"


@pytest.mark.usefixtures("played_any_way", "driver")
def test_small_games_are_played_like_large_games(monkeypatch: pytest.MonkeyPatch) -> None:
    network = network_of("tic_tac_toe")
    request = PlayoutRequest(2_100, seed=1)
    for style in ("straight", "loop"):
        found = WarpSimulator(network, Card(), style).run(request)
        assert counts(found) == counts(by_processor(network, request, monkeypatch))


def test_many_blocks_are_divided_as_the_memory_allows(
    driver: EmulatedDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warps, "_SMALL_BLOCK", 700)
    simulator = WarpSimulator(n.countdown(3, 2), Card())
    request = PlayoutRequest(2_300, seed=1)
    whole = simulator.run(request)
    driver.free = int(1.4 * simulator.bytes / warps._SHARE)
    before = driver.launches
    apart = simulator.run(request)
    assert driver.launches > before + 1
    assert counts(apart) == counts(whole)
    assert len(WarpSimulator.quotas(2_300)) == 3
    parts = [simulator.run(PlayoutRequest(2_300, seed=1, blocks=range(k, k + 1))) for k in range(3)]
    parts[0].add(parts[1])
    parts[0].add(parts[2])
    assert counts(parts[0]) == counts(whole)


@pytest.mark.usefixtures("driver")
def test_playouts_begin_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    game = anygame.load("gdl/tic_tac_toe.kif")
    state = game.initial_state().next(["(mark 2 2)", "noop"])
    found = game.simulate(2_000, seed=5, state=state, device="cuda")
    assert found.device == "cuda:0"
    assert max(found.lengths) == 8
    assert found.goal_counts == game.simulate(2_000, seed=5, state=state, device="cuda:0").goal_counts
    monkeypatch.setattr(simulators, "Quotas", WarpSimulator.quotas)
    assert found.playouts == 2_000


@pytest.mark.usefixtures("driver")
def test_the_first_stuck_match_is_found() -> None:
    rules = """
    (role a) (init (left 5)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
    (<= (legal a wait) (true (left ?n)) (distinct ?n 3)) (<= (legal a risk) (true (left 4)))
    (<= (next (left ?m)) (true (left ?n)) (succ ?m ?n) (not (does a risk)))
    (<= (next (left 0)) (does a risk)) (<= terminal (true (left 0))) (goal a 100)
    """
    game = anygame.loads(rules)
    found = game.simulate(3_000, seed=1, device="cuda")
    assert found.playouts + found.stuck == 3_000
    assert 1_300 < found.stuck < 1_700
    assert found.first_stuck is not None
    assert [str(move) for (move,) in found.first_stuck.moves] == ["wait", "wait"]
    with pytest.raises(anygame.IllegalMoveError, match="no legal move"):
        game.simulate(3_000, seed=1, device="cuda", strict=True)
    simulator = WarpSimulator(game.backends.needed_network().kernel.network, Card())
    with pytest.raises(StuckError):
        simulator.run(PlayoutRequest(3_000, seed=1, strict=True))


class Impatient:
    """Somebody who presses Ctrl-C some times while the third launch is under way."""

    def __init__(self, driver: EmulatedDriver, times: int) -> None:
        self._driver = driver
        self._left = times
        self._waits = threading.Event()
        self._is_seen = threading.Event()
        driver.on_launch = self._launched

    def _launched(self) -> None:
        if self._driver.launches == 3:
            self._waits.set()
            assert self._is_seen.wait(60)

    def reported(self, _done: int) -> None:
        if self._waits.is_set():
            if not self._left:
                self._is_seen.set()
                return
            self._left -= 1
            raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("times", "last_launches", "is_finished"), [(1, 20, True), (1, 3, False), (2, 20, False)]
)
def test_an_interrupt_keeps_the_statistics_so_far(
    times: int, last_launches: int, is_finished: bool, driver: EmulatedDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warps, "_FIRST_STEPS", 2)
    monkeypatch.setattr(warps, "_LAUNCH_SECONDS", 0.0)
    monkeypatch.setattr(warps, "_LAST_LAUNCHES", last_launches)
    monkeypatch.setattr(simulators, "_REPORT_SECONDS", 0.01)
    simulator = WarpSimulator(n.countdown(9, 2), Card())
    impatient = Impatient(driver, times)
    found = simulator.run(PlayoutRequest(4_000, seed=1, progress=impatient.reported))
    assert found.interrupted
    assert not driver.taken
    # Those under way are finished if some launches suffice, and left after a second one.
    assert (found.playouts, found.abandoned) == ((2_048, 0) if is_finished else (0, 2_048))


def test_errors_of_the_card_are_reported(driver: EmulatedDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    network = n.countdown(2, 2)
    simulator = WarpSimulator(network, Card())
    driver.free = 100
    with pytest.raises(DeviceError, match="an emulated card has too little free memory: 2,048 games need"):
        simulator.run(PlayoutRequest(10))
    driver.free = simulator.bytes * 2
    with monkeypatch.context() as patch:
        patch.setattr(driver, "cuMemAlloc_v2", lambda _place, _size: 2)
        with pytest.raises(DeviceError, match="out of memory: another program may use the card"):
            simulator.run(PlayoutRequest(10))
    monkeypatch.setattr(driver, "cuLaunchKernel", lambda *_: 719)
    with pytest.raises(DeviceError, match=r"cuLaunchKernel of .* failed: error 719"):
        simulator.run(PlayoutRequest(10))
    monkeypatch.setattr(driver, "cuModuleLoadDataEx", lambda *_: 218)
    with pytest.raises(DeviceError, match=r"cuModuleLoadDataEx of .* failed: error 218"):
        WarpSimulator(network, Card())
    with pytest.raises(DeviceError, match=r"no cuda:3: this machine has 1 graphics card, cuda:0$"):
        Card(3)
    driver.cards = 0
    with pytest.raises(DeviceError, match="finds no card"):
        Card()
    driver.cards, driver.capability = 2, (7, 5)
    with pytest.raises(DeviceError, match="cuda:0 to cuda:1"):
        Card(2)
    with pytest.raises(DeviceError, match=r"has compute capability 7\.5; at least 8\.0 is needed"):
        Card(1)
    with pytest.raises(ValueError, match="expected a start state of"):
        simulator.run(PlayoutRequest(1), start=np.zeros(1, np.bool_))


def test_a_missing_driver_raises_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    cards.card.cache_clear()
    with pytest.raises(DeviceError, match="the driver of NVIDIA graphics cards is not installed"):
        anygame.load("gdl/tic_tac_toe.kif").simulate(10, device="cuda")


def test_requests_that_no_card_can_play_raise_errors() -> None:
    game = anygame.load("gdl/tic_tac_toe.kif")
    with pytest.raises(DeviceError, match="the device should be cpu, cuda or cuda:NUMBER, not tpu"):
        game.simulate(10, device="tpu")
    with pytest.raises(DeviceError, match="the reasoner plays this game on a processor"):
        anygame.load("gdl/tic_tac_toe.kif", machine="reasoner").simulate(10, device="cuda")


def test_memory_of_a_card_is_written_and_read(driver: EmulatedDriver) -> None:
    memory = CardMemory(Card(), 3, 64)
    assert not memory.read((3, 8), np.uint64).any()
    memory.write(np.arange(6, dtype=np.uint64).reshape(3, 2), 16)
    memory.fill(32, 8, 0xFFFFFFFF)
    assert memory.read((3, 8), np.uint64).tolist() == [
        [0, 0, 2 * row, 2 * row + 1, 2**64 - 1, 0, 0, 0] for row in range(3)
    ]
    del memory
    assert not driver.taken


@pytest.mark.parametrize("style", ["straight", "loop"])
def test_the_code_is_assembled(style: Any, tmp_path: Path) -> None:
    """NVIDIA's assembler reads what LLVM writes, where it is installed."""
    ptx, _ = warp_code(build_kernel(network_of("tic_tac_toe"), style, target=WIDE))
    assert ".visible .entry playouts(" in ptx
    assert "vote.sync.any.pred" in ptx
    assert "redux.sync.add.s32" in ptx
    assembler = shutil.which("ptxas") or next(_installed_assemblers(), None)
    if assembler is None:
        pytest.skip("ptxas is not installed (pip install nvidia-cuda-nvcc-cu12)")
    (tmp_path / "code.ptx").write_text(ptx)
    command = [assembler, "-arch=sm_80", "code.ptx", "-o", "code.cubin"]
    subprocess.run(command, check=True, cwd=tmp_path)


def _installed_assemblers() -> Any:
    import site

    for folder in site.getsitepackages():
        yield from map(str, Path(folder).glob("nvidia/cuda_nvcc/bin/ptxas"))


def test_code_for_cards_is_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYGAME_CACHE", str(tmp_path / "cache"))
    text = "define ptx_kernel void @f() { ret void }"
    made = make_ptx(text)
    (file,) = (tmp_path / "cache").iterdir()
    written = file.stat().st_mtime_ns
    assert make_ptx(text) == made
    file.write_bytes(b"damaged")
    assert make_ptx(text) == made
    assert file.stat().st_size > len(made) > 0 < written


def test_a_function_of_a_card_calls_no_unknown_one() -> None:
    with pytest.raises(RuntimeError):
        make_ptx("define ptx_kernel void @f() { call void @unknown() ret void }")
