"""Work divided among the processes of a Ray cluster: the same results, whoever dies."""

from __future__ import annotations

import os
import signal
import socket
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.match.games import COUNTDOWN

import anygame
from anygame.cluster import Cluster, SelfPlay
from anygame.errors import ClusterError, MissingExtraError, PlayerError
from anygame.match import LocalSeat, Terms
from anygame.players import make_player
from anygame.tournament import Store, Tournament

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


def test_simulation_comes_to_the_same(cluster: Cluster) -> None:
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


def test_an_address_where_nobody_answers_is_told_at_once() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        port = taken.getsockname()[1]
        with pytest.raises(
            ClusterError, match=f"nobody answers at 127.0.0.1:{port}: Connection refused; `ray"
        ):
            Cluster(f"127.0.0.1:{port}")
    with pytest.raises(ClusterError, match=r"nobody answers at no\.such\.host\.invalid:6379: "):
        Cluster("no.such.host.invalid:6379")


@pytest.mark.parametrize(
    "address", ["", "here", "host:", ":6379", "host:port", "host:99999", "ray://", "host:0"]
)
def test_what_is_no_address_is_told(address: str) -> None:
    with pytest.raises(ClusterError, match=f"expected the address of a Ray cluster, .* found '{address}'"):
        Cluster(address)


def test_addresses_of_the_client_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anygame.cluster.ray_cluster.find_spec", lambda _: None)
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


def test_errors_of_calls_are_told(cluster: Cluster) -> None:
    with pytest.raises(PlayerError, match="no player 1"):
        list(cluster.map(_fail, "own", [1]))
    with pytest.raises(ClusterError, match="a call failed on a worker: by nothing"):
        list(cluster.map(_fail, "other", [1]))


def _seat(player: tuple[str, str], seed: int) -> Seat:
    return LocalSeat(make_player(player[1], seed=seed), name=player[0])


def test_tournaments_come_to_the_same(cluster: Cluster, tmp_path: Path) -> None:
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


def test_a_cluster_that_is_not_there_is_told() -> None:
    with pytest.raises(ValueError, match="cpus is a number from 1"):
        Cluster("127.0.0.1:1", cpus=2)
