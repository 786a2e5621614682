"""A Ray cluster, and matches of a game with itself that are made on it as rows of data.

Calls are tasks, made again elsewhere when a process or a machine dies. What has to live on from call to call
is an actor; when its process dies, who made it is told.

Ray: Moritz et al. 2018, "Ray: A distributed framework for emerging AI applications".
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar
from urllib.parse import urlsplit

import numpy as np

from anygame.errors import AnygameError, ClusterError, MissingExtraError, WorkerLostError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from anygame.game.batch import Batch
    from anygame.game.game import Game

    #: Returns for each role a move in every lane, int [lanes], as ``Batch.step`` takes them.
    Policy: TypeAlias = Callable[[Batch], Mapping[str, NDArray[np.int64]]]

_Shared = TypeVar("_Shared")
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

#: Calls that are handed in at a time, per worker: the next one waits where the last one ends.
_AHEAD: Final = 4
#: How often a call is made again when its process dies. One that kills its process every time ends all.
_RETRIES: Final = 5
#: Seconds in which the machine of an address has to answer; Ray itself tries for minutes.
_ANSWER: Final = 5.0
#: Seconds in which threads of Ray Data end at the latest, once nobody reads what they make.
_ENDING: Final = 5.0
#: How the client of Ray begins addresses; it is a package of its own.
_CLIENT: Final = "ray://"


class Cluster:
    """Workers of a Ray cluster.

    The contracts are ``anygame.game.simulation.Workers`` for calls, and ``anygame.training.remote.Hosts`` for
    objects that live there.

    Use it as a context manager, or `close` it. Without an address, Ray is started on this machine, and ended
    with the last use.

    Args:
        address: of a cluster that runs, ``HOST:PORT``, ``ray://HOST:PORT``, or ``auto`` for that which this
            machine belongs to; None to start one here.
        cpus: how many cores to use here; all by default. Not with an address.

    Raises:
        MissingExtraError: Ray is not installed.
        ClusterError: there is no cluster at this address, or it is none.
    """

    def __init__(self, address: str | None = None, *, cpus: int | None = None) -> None:
        if cpus is not None and (address is not None or cpus < 1):
            raise ValueError(f"cpus is a number from 1, for a cluster that is started here; got {cpus}")
        self._ray = _ray()
        if address is not None and address != "auto":
            _knock(address)
        settings: dict[str, Any] = {"log_to_driver": True, "logging_level": "ERROR"}
        if address is None:
            settings |= {"num_cpus": cpus, "include_dashboard": False}
        try:
            self._ray.init(address=address, **settings)
        except Exception as error:  # Ray raises many kinds
            where = "on this machine" if address is None else f"at {address}"
            raise ClusterError(f"there is no Ray cluster {where}: {_first_line(error)}") from error

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the cluster, some seconds later if anybody reads from it; end it, if it was started here."""
        _wait_for_readers()
        self._ray.shutdown()

    @property
    def count(self) -> int:
        """How many cores it has.

        Raises:
            ClusterError: it has none.
        """
        cores = int(self._ray.cluster_resources().get("CPU", 0))
        if not cores:
            raise ClusterError(
                "the cluster has no cores; `ray start --address=HOST:PORT` lends those of a machine"
            )
        return cores

    def _alive(self) -> list[str]:
        nodes = self._ray.nodes()
        return [node["NodeID"] for node in nodes if node["Alive"] and node["Resources"].get("CPU")]

    def map(
        self,
        call: Callable[[_Shared, _Item], _Result],
        shared: _Shared,
        items: Sequence[_Item],
        prepare: Callable[[_Shared], object] | None = None,
    ) -> Iterator[tuple[int, _Result]]:
        """Make a call for each item, and yield each number of an item with its result, as they come.

        Raises:
            ClusterError: a call killed its process again and again, or nobody is left.
            AnygameError: that of a call.
        """
        ray = self._ray
        known = ray.put(shared)
        if prepare is not None:
            self._prepare(prepare, known)
        task = ray.remote(max_retries=_RETRIES, num_cpus=1)(call)
        waiting = iter(enumerate(items))
        under_way: dict[Any, int] = {}
        # To ask the cluster for its cores takes as long as a small call.
        most = _AHEAD * self.count
        try:
            while True:
                for number, item in waiting:
                    under_way[task.remote(known, item)] = number
                    if len(under_way) >= most:
                        break
                if not under_way:
                    return
                done, _ = ray.wait(list(under_way), num_returns=1)
                for reference in done:
                    number = under_way.pop(reference)
                    yield number, self._result(reference)
        finally:
            for reference in under_way:
                ray.cancel(reference, force=True)

    @contextmanager
    def actors(self, make: Callable[[_Item], object], items: Sequence[_Item]) -> Iterator[list[RayActor]]:
        """Have an object made of each item, which lives in a process of its own until the block ends."""
        cores = self.count
        made: list[RayActor] = []
        try:
            made += [RayActor(self, make, item, number < cores) for number, item in enumerate(items)]
            for each in made:
                each.wait()
            yield made
        finally:
            for each in made:
                each.kill()

    def self_play(self, play: SelfPlay, matches: int) -> Any:
        """Return matches as a Ray Data set, which is made while it is read: a ``ray.data.Dataset``.

        The rows (see `SelfPlay`) are the same, and in the same order, whatever the number of workers.

        Raises:
            ValueError: ``matches`` is not a number from 1.
        """
        if matches < 1:
            raise ValueError(f"expected a number of matches from 1, got {matches}")
        data = import_module("ray.data")
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        context = data.DataContext.get_current()
        context.enable_progress_bars = False
        context.execution_options.preserve_order = True
        blocks = data.range(-(-matches // LANES), override_num_blocks=min(-(-matches // LANES), 4096))
        return blocks.map_batches(_play_blocks, batch_size=1, fn_args=(play, matches))

    def _prepare(self, prepare: Callable[[Any], object], known: Any) -> None:
        """Make a call on every machine; one that is gone meanwhile needs none."""
        ray = self._ray
        affinity = import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
        task = ray.remote(max_retries=_RETRIES, num_cpus=1)(prepare)
        for reference in [
            task.options(scheduling_strategy=affinity(node, soft=True)).remote(known)
            for node in self._alive()
        ]:
            self._result(reference)

    def _result(self, reference: Any) -> Any:
        """Return what a call returned, or raise what it raised."""
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, AnygameError):
                raise cause from None
            raise ClusterError(f"a call failed on a worker: {_first_line(cause or error)}") from error
        except self._ray.exceptions.RayError as error:
            raise WorkerLostError(f"work was given up: {_first_line(error)}") from error


class RayActor:
    """An object in a process of a cluster; see ``anygame.training.remote.Actor`` for the contract."""

    def __init__(self, cluster: Cluster, make: Callable[[Any], object], item: object, has_core: bool) -> None:
        self._cluster, self._make = cluster, make
        self._begin(item, has_core)

    def _begin(self, item: object, has_core: bool) -> None:
        # Without a number, Ray has it placed where there are cores, and count for none.
        settings = {"num_cpus": 1} if has_core else {}
        ray = self._cluster._ray
        self._handle = ray.remote(max_concurrency=1, **settings)(_Holder).remote()
        self._made = self._handle.make.remote(self._make, item)

    def wait(self) -> None:
        """Wait until the object is made."""
        self._cluster._result(self._made)

    def call(self, method: str, *arguments: object) -> Any:
        """Return what a method of the object returns."""
        return self._cluster._result(self._handle.call.remote(method, *arguments))

    def renew(self, item: object) -> None:
        """Have the object made of another item, in another process."""
        self.kill()
        self._begin(item, has_core=False)
        self.wait()

    def kill(self) -> None:
        """End the process."""
        self._cluster._ray.kill(self._handle)


class _Holder:
    """What an actor of Ray holds; it is made by a call, so that errors are those of a call."""

    def __init__(self) -> None:
        self._held: Any = None

    def make(self, make: Callable[[Any], object], item: object) -> None:
        self._held = make(item)

    def call(self, method: str, *arguments: object) -> Any:
        return getattr(self._held, method)(*arguments)


def _play_blocks(numbers: dict[str, Any], play: SelfPlay, matches: int) -> dict[str, Any]:
    """Play the block of a row; Ray Data gives one at a time."""
    (number,) = numbers["id"].tolist()
    return play.block(number, min(LANES, matches - number * LANES))


def _wait_for_readers() -> None:
    """Wait for threads of Ray Data, which end a little after rows are read.

    One that calls the cluster when it is gone has Ray end the process, without a word.
    """
    until = monotonic() + _ENDING
    for thread in threading.enumerate():
        work = getattr(thread, "_target", None) or type(thread)
        if getattr(work, "__module__", "").startswith("ray.data."):
            thread.join(max(0.0, until - monotonic()))


def _ray() -> Any:
    """Return Ray; it reports to nobody, and starts without a page."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        return import_module("ray")
    except ImportError as error:
        raise MissingExtraError(
            "dividing work among machines needs Ray: pip install 'anygame[cluster]'", "cluster"
        ) from error


def _knock(address: str) -> None:
    """Look whether anybody listens at the address of a cluster.

    Raises:
        MissingExtraError: it is one for the client of Ray, which is not installed.
        ClusterError: nobody does, or it is no address.
    """
    try:
        parts = urlsplit("//" + address.removeprefix(_CLIENT))
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port:
        wanted = f"the address of a Ray cluster, HOST:PORT, {_CLIENT}HOST:PORT or auto"
        raise ClusterError(f"expected {wanted}, found {address[:200]!r}")
    if address.startswith(_CLIENT) and find_spec("grpc") is None:
        raise MissingExtraError(
            f"addresses with {_CLIENT} need Ray's client: pip install 'ray[client]'", "cluster"
        )
    try:
        socket.create_connection((host, port), timeout=_ANSWER).close()
    except OSError as error:
        reason = error.strerror or str(error)
        advice = "`ray start --head` prints the address of the cluster that it starts"
        raise ClusterError(f"nobody answers at {address}: {reason}; {advice}") from error


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


#: Matches side by side: those that all gates of a network are evaluated for at a time.
LANES: Final = 512


@dataclass(frozen=True, slots=True)
class SelfPlay:
    """What is to be played.

    A row is a state in which a match stood, with the moves that were made there and the goals that the match
    ended with::

        match   int64            number of the match
        step    int32            joint moves before the state
        state   uint64 [words]   as of ``Batch.packed``
        moves   int32 [roles]    numbers of moves, as of ``Game.actions``
        goals   float64 [roles]  at the end; not a number where the rules give none

    Matches that are stuck, or longer than the limit, have no rows.

    Args:
        game: the game.
        seed: of random numbers; rows depend on it, on the policy, and on nothing else.
        policy: chooses moves; None for random ones. It is pickled, so that a trained model can be sent.
        limit: joint moves after which matches are given up.
    """

    game: Game
    seed: int = 0
    policy: Policy | None = None
    limit: int = 1000

    def block(self, number: int, matches: int = LANES) -> dict[str, NDArray[Any]]:
        """Play so many matches of a block at most 512, and return their rows, column by column.

        >>> import anygame
        >>> rows = SelfPlay(anygame.load("tic_tac_toe"), seed=1).block(0, matches=2)
        >>> sorted(rows), rows["match"].tolist()[:3], rows["step"].tolist()[:3], rows["goals"].shape[1]
        (['goals', 'match', 'moves', 'state', 'step'], [0, 0, 0], [0, 1, 2], 2)

        Raises:
            LimitError: the game cannot be compiled.
            ValueError: there are more matches than lanes.
        """
        if not 0 < matches <= LANES:
            raise ValueError(f"a block has from 1 to {LANES} matches, not {matches}")
        # Blocks draw from streams of their own; a batch takes 64 bits of a seed.
        seeds = np.random.SeedSequence([self.seed & (1 << 64) - 1, number])
        batch = self.game.batch(matches, seed=int(seeds.generate_state(1, np.uint64)[0]))
        going = ~(batch.terminal | batch.stuck)
        lanes: list[NDArray[np.int64]] = []
        states: list[NDArray[np.uint64]] = []
        moves: list[NDArray[np.int32]] = []
        steps: list[NDArray[np.int32]] = []
        for step in range(self.limit):
            if not going.any():
                break
            lanes.append(np.flatnonzero(going))
            states.append(batch.packed()[going])
            made = batch.step_random() if self.policy is None else self._step(batch)
            columns = [np.asarray(made[role])[going] for role in self.game.roles]
            moves.append(np.stack(columns, axis=1).astype(np.int32))
            steps.append(np.full(len(lanes[-1]), step, np.int32))
            going = ~(batch.terminal | batch.stuck)
        goals = np.stack([batch.goals(role) for role in self.game.roles], axis=1)
        return self._rows(number, lanes, states, moves, steps, goals, np.asarray(batch.terminal))

    def _step(self, batch: Batch) -> Mapping[str, NDArray[np.int64]]:
        assert self.policy is not None
        chosen = self.policy(batch)
        batch.step(chosen)
        return chosen

    def _rows(
        self,
        number: int,
        lanes: list[NDArray[np.int64]],
        states: list[NDArray[np.uint64]],
        moves: list[NDArray[np.int32]],
        steps: list[NDArray[np.int32]],
        goals: NDArray[np.float64],
        ended: NDArray[np.bool_],
    ) -> dict[str, NDArray[Any]]:
        """Return rows match by match."""
        lane = np.concatenate([np.zeros(0, np.int64), *lanes])
        order = np.argsort(lane, kind="stable")
        order = order[ended[lane[order]]]
        lane = lane[order]

        def sorted_rows(columns: list[Any], *shape: int) -> NDArray[Any]:
            return np.concatenate(columns)[order] if columns else np.zeros((0, *shape))

        return {
            "match": lane + number * LANES,
            "step": sorted_rows(steps),
            "state": sorted_rows(states, 1),
            "moves": sorted_rows(moves, len(self.game.roles)),
            "goals": goals[lane],
        }
