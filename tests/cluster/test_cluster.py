"""Work divided among the processes of a Ray cluster: the same results, whoever dies."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import time
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.match.games import COUNTDOWN
from tests.search.tree.race import RACE

import anygame
from anygame.cli.main import main
from anygame.cluster import Cluster, SelfPlay
from anygame.errors import ClusterError, MissingExtraError, PlayerError, WorkerLostError
from anygame.match import LocalSeat, Terms
from anygame.players import make_player
from anygame.search.learning.learners import ROUND
from anygame.search.learning.remote import Actor, PlacedLearner
from anygame.tournament import Store, Tournament
from anygame.training import train

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from anygame.match import Seat

ray: Any = pytest.importorskip("ray", reason="needs Ray: pip install 'anygame[cluster]'")
pytestmark = pytest.mark.filterwarnings("ignore")  # those of Ray and of the libraries that it loads
# The processes of the cluster cannot import tests.
ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(cpus=2) as made:
        yield made


def test_simulation_on_a_cluster_gives_the_same_result(cluster: Cluster) -> None:
    game = anygame.load("tic_tac_toe")
    state = game.initial_state().next(["(mark 2 2)", "noop"])
    told: list[int] = []
    apart = game.simulate(200_000, seed=5, state=state, cluster=cluster, progress=told.append)
    alone = game.simulate(200_000, seed=5, state=state)
    assert apart.goal_counts == alone.goal_counts
    assert (apart.lengths, apart.branching, apart.states) == (alone.lengths, alone.branching, alone.states)
    assert (apart.playouts, apart.machine, apart.threads) == (200_000, "network", 2)
    assert told == sorted(told)
    assert told[-1] == 200_000


def test_closing_a_cluster_waits_for_readers() -> None:
    """A thread of Ray Data that asks a cluster that is gone would end the process."""
    reading = []

    def read() -> None:
        time.sleep(0.3)

    read.__module__ = "ray.data.reading"
    reader = threading.Thread(target=read)

    class Alone(Cluster):
        def __init__(self) -> None:
            self._ray = SimpleNamespace(shutdown=lambda: reading.append(reader.is_alive()))

    with Alone():
        reader.start()
    assert reading == [False]


def test_an_address_without_a_listener_raises_an_error_at_once() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        port = taken.getsockname()[1]
        with pytest.raises(ClusterError, match=f"no answer from 127.0.0.1:{port}: Connection refused; `ray"):
            Cluster(f"127.0.0.1:{port}")
    with pytest.raises(ClusterError, match=r"no answer from no\.such\.host\.invalid:6379: "):
        Cluster("no.such.host.invalid:6379")


@pytest.mark.parametrize(
    "address", ["", "here", "host:", ":6379", "host:port", "host:99999", "ray://", "host:0"]
)
def test_an_invalid_address_raises_an_error(address: str) -> None:
    with pytest.raises(ClusterError, match=f"expected the address of a Ray cluster, .* found '{address}'"):
        Cluster(address)


def test_addresses_of_the_client_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anygame.cluster.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"need Ray's client: pip install 'ray\[client\]'"):
        Cluster("ray://127.0.0.1:10001")


def test_the_reasoner_simulates_too(cluster: Cluster) -> None:
    game = anygame.load("tic_tac_toe", machine="reasoner")
    assert game.simulate(20, seed=5, cluster=cluster).lengths == game.simulate(20, seed=5).lengths


def _die_once(folder: str, item: int) -> int:
    """Kill the process of the third item, the first time."""
    mark = os.path.join(folder, "died")
    if item == 3 and not os.path.exists(mark):
        open(mark, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return item * item


def test_a_worker_that_dies_is_replaced_and_nothing_counts_twice(cluster: Cluster, tmp_path: Path) -> None:
    found = list(cluster.map(_die_once, str(tmp_path), range(8)))
    assert (tmp_path / "died").exists()
    assert sorted(found) == [(n, n * n) for n in range(8)]


def _simulate_and_die_once(shared: tuple[str, Any, Any], part: Any) -> Any:
    folder, call, given = shared
    mark = os.path.join(folder, "died")
    if not os.path.exists(mark):
        open(mark, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return call(given, part)


class _Deadly:
    """A cluster of which a process is killed in the middle of a simulation."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self._cluster, self._folder = cluster, folder
        self.count = cluster.count

    def map(self, call: Any, shared: Any, items: Any, prepare: Any = None) -> Iterator[Any]:
        return self._cluster.map(_simulate_and_die_once, (str(self._folder), call, shared), items)


def test_a_simulation_is_the_same_when_a_worker_is_killed(cluster: Cluster, tmp_path: Path) -> None:
    game = anygame.load("tic_tac_toe")
    apart = game.simulate(100_000, seed=6, cluster=_Deadly(cluster, tmp_path))
    assert (tmp_path / "died").exists()
    alone = game.simulate(100_000, seed=6)
    assert (apart.goal_counts, apart.lengths) == (alone.goal_counts, alone.lengths)


def _fail(kind: str, item: int) -> int:
    if kind == "own":
        raise PlayerError(f"no player {item}")
    raise ZeroDivisionError("by nothing")


def test_errors_of_calls_are_raised(cluster: Cluster) -> None:
    with pytest.raises(PlayerError, match="no player 1"):
        list(cluster.map(_fail, "own", [1]))
    with pytest.raises(ClusterError, match="a call failed on a worker: by nothing"):
        list(cluster.map(_fail, "other", [1]))


def _seat(player: tuple[str, str], seed: int) -> Seat:
    return LocalSeat(make_player(player[1], seed=seed), name=player[0])


def test_tournaments_on_a_cluster_give_the_same_result(cluster: Cluster, tmp_path: Path) -> None:
    games = {"count": anygame.loads(COUNTDOWN)}
    players = {"a": "random", "b": "legal", "c": "random"}
    stored = []
    for name, workers in (("here", None), ("there", cluster)):
        with Store(tmp_path / name) as store:
            event = Tournament(games, players, store, Terms(20, 20, seed=3), _seat)
            meetings = event.meetings(2)
            if workers is None:
                import asyncio

                async def play(event: Tournament = event, meetings: Any = meetings) -> None:
                    for meeting in meetings:
                        await event.play(meeting)

                asyncio.run(play())
            else:
                assert len(list(event.play_apart(meetings, workers))) == len(meetings)
                assert not list(event.play_apart(meetings, workers))
            stored.append(store.results())
    assert stored[0] == stored[1]


def test_self_play_is_a_data_set_that_does_not_depend_on_workers(cluster: Cluster) -> None:
    pytest.importorskip("pyarrow", reason="Ray Data needs pyarrow: pip install 'anygame[cluster]'")
    play = SelfPlay(anygame.load("tic_tac_toe"), seed=3)
    rows = cluster.self_play(play, 700).take_all()
    blocks = [play.block(0), play.block(1, 700 - 512)]
    for column in ("match", "step", "state", "moves", "goals"):
        wanted = np.concatenate([block[column] for block in blocks])
        assert np.array_equal(np.stack([row[column] for row in rows]), wanted)
    with pytest.raises(ValueError, match="from 1, got 0"):
        cluster.self_play(play, 0)


def test_cpus_cannot_be_combined_with_an_address() -> None:
    with pytest.raises(ValueError, match="cpus must be at least 1"):
        Cluster("127.0.0.1:1", cpus=2)


class _Counter:
    """Counts; where it is told to die, its process does."""

    def __init__(self, number: int) -> None:
        if number < 0:
            raise PlayerError(f"no counter from {number}")
        self._number = number

    def add(self, number: int) -> tuple[int, int]:
        self._number += number
        return os.getpid(), self._number

    def die(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def divide(self) -> float:
        return self._number / 0


def _call_until_it_is_lost(actor: Actor) -> None:
    """Call an actor whose process ends: a call that is made at once may still be heard."""
    for _ in range(1000):
        actor.call("add", 1)
        time.sleep(0.01)


def test_an_actor_keeps_state_between_calls_and_its_death_raises_an_error(cluster: Cluster) -> None:
    # One more than there are cores.
    with cluster.actors(_Counter, [1, 10, 100]) as (first, second, third):
        process, number = first.call("add", 1)
        assert (process, 3) == first.call("add", number - 1)
        assert second.call("add", 1)[1] == 11
        assert third.call("add", 1)[1] == 101
        with pytest.raises(ClusterError, match="a call failed on a worker: division by zero") as failed:
            first.call("divide")
        assert not isinstance(failed.value, WorkerLostError)
        with pytest.raises(WorkerLostError, match="the work was abandoned: "):
            first.call("die")
        with pytest.raises(WorkerLostError):
            first.call("add", 1)
        first.renew(5)
        assert first.call("add", 1)[1] == 6
        assert first.call("add", 1)[0] != process
    with pytest.raises(WorkerLostError):
        _call_until_it_is_lost(second)
    with pytest.raises(PlayerError, match="no counter from -1"), cluster.actors(_Counter, [1, -1]):
        pass


class _Mortal(PlacedLearner):
    """A learner that kills its process in the middle of a training, once."""

    def __init__(self, folder: str, beginning: Any) -> None:
        super().__init__(beginning)
        self._folder = folder

    def play(self, means: Any, games: float, seconds: float) -> Any:
        report = super().play(means, games, seconds)
        if games > 2 * ROUND:
            _die_once(self._folder, 3)
        return report


class _OfMortals:
    """A cluster of mortal learners."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self._cluster, self._folder = cluster, folder
        self.count = cluster.count

    def actors(self, make: Any, items: Any) -> Any:
        assert make is PlacedLearner
        return self._cluster.actors(partial(_Mortal, str(self._folder)), items)


def test_a_training_is_the_same_when_a_worker_is_killed(cluster: Cluster, tmp_path: Path) -> None:
    game = anygame.loads(RACE)
    alone = train(game, games=1500, seed=1, threads=2, into=tmp_path / "alone.npz")
    apart = train(
        game, games=1500, seed=1, cluster=_OfMortals(cluster, tmp_path), into=tmp_path / "apart.npz"
    )
    assert (tmp_path / "died").exists()
    assert (apart.weights == alone.weights).all()
    assert apart.figures.games == alone.figures.games


def test_the_command_trains_on_a_cluster(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("anygame.cluster.Cluster", lambda address: cluster)
    monkeypatch.setattr(Cluster, "close", lambda self: None)  # others use it, too
    found = []
    for more in (["--threads", "2"], ["--cluster"]):
        into = str(tmp_path / f"{more[0]}.npz")
        assert (
            main(["train", "tic_tac_toe", "--games", "1100", "--seed", "1", "--into", into, "--json", *more])
            == 0
        )
        *reports, last = map(json.loads, capsys.readouterr().out.splitlines())
        assert [each["matches"] for each in reports if each["matches"]] == [12]
        found.append((last["games"], last["history"][0]["error"], last["trial_score"]))
    assert found[0] == found[1]


def test_a_cluster_without_cores_raises_an_error(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray, "cluster_resources", lambda: {"memory": 1.0})
    with pytest.raises(ClusterError, match="the cluster has no cores; run `ray start --address=HOST:PORT`"):
        train("tic_tac_toe", games=100, cluster=cluster, into=tmp_path / "model.npz")
