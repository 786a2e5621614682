"""Workers of a Ray cluster, and self-play on the cluster as rows of data.

Ray retries a call on another machine if the process or the machine of the call dies. An actor holds state
between calls. If the process of an actor dies, the next call raises an error.

Ray: Moritz et al. 2018, "Ray: A distributed framework for emerging AI applications".
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar
from urllib.parse import urlsplit

import numpy as np

from anygame.errors import AnygameError, ClusterError, MissingExtraError, WorkerLostError, needing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from anygame.game.batch import Batch
    from anygame.game.game import Game

    #: Returns the moves of each role, int [lanes], in the form that ``Batch.step`` takes.
    Policy: TypeAlias = Callable[[Batch], Mapping[str, NDArray[np.int64]]]

_Shared = TypeVar("_Shared")
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

__all__ = ["Cluster", "SelfPlay"]

#: Maximum number of submitted calls per worker. With several calls, a worker never waits for the next call.
_AHEAD: Final = 4
#: Maximum number of retries of a call whose process died.
_RETRIES: Final = 5
#: Timeout in seconds for connecting to a cluster. Without this timeout, Ray tries for minutes.
_ANSWER: Final = 5.0
#: Maximum number of seconds to wait for threads of Ray Data, which end after the rows are read.
_ENDING: Final = 5.0
#: Prefix of addresses that need Ray's client, which is a separate package.
_CLIENT: Final = "ray://"
#: Number of matches that a batch plays in parallel.
_LANES: Final = 512


class Cluster(AbstractContextManager["Cluster"]):
    """Workers of a Ray cluster. Use the cluster as a context manager, or call `close`.

    ``Cluster`` implements ``anygame.game.simulation.Workers`` for calls, and
    ``anygame.search.learning.remote.Hosts`` for remote objects.

    Args:
        address: address of a running cluster, ``HOST:PORT``, ``ray://HOST:PORT``, or ``auto`` for the running
            cluster of this machine; None to start a cluster on this machine, which `close` stops.
        cpus: number of cores of a cluster that is started on this machine; all cores by default.

    Raises:
        MissingExtraError: Ray is not installed.
        ClusterError: the address is invalid, or there is no cluster.
    """

    def __init__(self, address: str | None = None, *, cpus: int | None = None) -> None:
        if cpus is not None and (address is not None or cpus < 1):
            raise ValueError(f"cpus must be at least 1, and cannot be combined with an address; got {cpus}")
        # With these environment variables, Ray sends no usage reports, and workers see all graphics cards.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        with needing("cluster", "dividing work among machines needs Ray"):
            self._ray: Any = import_module("ray")
        if address is not None and address != "auto":
            _check_address(address)
        settings: dict[str, Any] = {"log_to_driver": True, "logging_level": "ERROR"}
        if address is None:
            settings |= {"num_cpus": cpus, "include_dashboard": False}
        try:
            self._ray.init(address=address, **settings)
        except Exception as error:  # Ray raises exceptions of many types
            where = "on this machine" if address is None else f"at {address}"
            raise ClusterError(f"there is no Ray cluster {where}: {_first_line(error)}") from error

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Wait up to 5 s for readers of rows, then disconnect; stop a cluster that was started here."""
        _wait_for_readers()
        self._ray.shutdown()

    @property
    def count(self) -> int:
        """Number of cores.

        Raises:
            ClusterError: the cluster has no cores.
        """
        cores = int(self._ray.cluster_resources().get("CPU", 0))
        if not cores:
            raise ClusterError(
                "the cluster has no cores; run `ray start --address=HOST:PORT` on a machine to add its cores"
            )
        return cores

    def map(
        self,
        call: Callable[[_Shared, _Item], _Result],
        shared: _Shared,
        items: Sequence[_Item],
        prepare: Callable[[_Shared], object] | None = None,
    ) -> Iterator[tuple[int, _Result]]:
        """Make a call for each item; yield the number of each item with its result, in order of completion.

        Arguments and results are pickled. If a process dies, another process repeats its call.

        Args:
            call: function of the shared object and an item, in a module that the processes can import.
            shared: object that is sent once to each machine.
            items: one item for each call.
            prepare: function that is called first on every machine, with the shared object.

        Raises:
            ClusterError: a call failed, its process died in every retry, or no worker is left.
            AnygameError: a call raised this error.
        """
        ray = self._ray
        shared_reference = ray.put(shared)
        if prepare is not None:
            self._prepare(prepare, shared_reference)
        task = ray.remote(max_retries=_RETRIES, num_cpus=1)(call)
        waiting = iter(enumerate(items))
        running: dict[Any, int] = {}
        # The number of cores is read once, because reading the number takes as long as a small call.
        most = _AHEAD * self.count
        try:
            while True:
                for number, item in waiting:
                    running[task.remote(shared_reference, item)] = number
                    if len(running) >= most:
                        break
                if not running:
                    return
                done, _ = ray.wait(list(running), num_returns=1)
                for reference in done:
                    number = running.pop(reference)
                    yield number, self._result(reference)
        finally:
            for reference in running:
                ray.cancel(reference, force=True)

    @contextmanager
    def actors(self, make: Callable[[_Item], object], items: Sequence[_Item]) -> Iterator[list[RayActor]]:
        """Create an object from each item in a process of its own; the ``with`` block ends the processes."""
        cores = self.count
        made: list[RayActor] = []
        try:
            made += [RayActor(self, make, item, number < cores) for number, item in enumerate(items)]
            for actor in made:
                actor.wait()
            yield made
        finally:
            for actor in made:
                actor.kill()

    def self_play(self, play: SelfPlay, matches: int) -> Any:
        """Return matches as a lazy ``ray.data.Dataset``.

        The rows (see `SelfPlay`) and their order do not depend on the number of workers.

        Raises:
            ValueError: ``matches`` is less than 1.
        """
        if matches < 1:
            raise ValueError(f"expected a number of matches from 1, got {matches}")
        data = import_module("ray.data")
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        context = data.DataContext.get_current()
        context.enable_progress_bars = False
        context.execution_options.preserve_order = True
        count = -(-matches // _LANES)
        blocks = data.range(count, override_num_blocks=min(count, 4096))
        return blocks.map_batches(_play_blocks, batch_size=1, fn_args=(play, matches))

    def _prepare(self, prepare: Callable[[Any], object], shared_reference: Any) -> None:
        ray = self._ray
        affinity = import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
        task = ray.remote(max_retries=_RETRIES, num_cpus=1)(prepare)
        nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
        strategies = [affinity(node["NodeID"], soft=True) for node in nodes]
        for reference in [
            task.options(scheduling_strategy=one).remote(shared_reference) for one in strategies
        ]:
            self._result(reference)

    def _result(self, reference: Any) -> Any:
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, AnygameError):
                raise cause from None
            raise ClusterError(f"a call failed on a worker: {_first_line(cause or error)}") from error
        except self._ray.exceptions.RayError as error:
            raise WorkerLostError(f"the work was abandoned: {_first_line(error)}") from error


class RayActor:
    """An object in a process of a cluster; see ``anygame.search.learning.remote.Actor`` for the contract."""

    def __init__(self, cluster: Cluster, make: Callable[[Any], object], item: object, has_core: bool) -> None:
        self._cluster, self._make = cluster, make
        self._begin(item, has_core)

    def _begin(self, item: object, has_core: bool) -> None:
        # Without num_cpus, Ray schedules the actor on any machine with cores, and reserves no core.
        settings = {"num_cpus": 1} if has_core else {}
        ray = self._cluster._ray
        self._handle = ray.remote(max_concurrency=1, **settings)(_Holder).remote()
        self._made = self._handle.make.remote(self._make, item)

    def wait(self) -> None:
        """Wait until the object is created."""
        self._cluster._result(self._made)

    def call(self, method: str, *arguments: object) -> Any:
        """Call a method of the object, and return its result."""
        return self._cluster._result(self._handle.call.remote(method, *arguments))

    def renew(self, item: object) -> None:
        """Create the object again, from another item and in another process."""
        self.kill()
        self._begin(item, has_core=False)
        self.wait()

    def kill(self) -> None:
        """End the process."""
        self._cluster._ray.kill(self._handle)


class _Holder:
    """Class of Ray actors. A method creates the object, so Ray reports errors as errors of a call."""

    def __init__(self) -> None:
        self._held: Any = None

    def make(self, make: Callable[[Any], object], item: object) -> None:
        self._held = make(item)

    def call(self, method: str, *arguments: object) -> Any:
        return getattr(self._held, method)(*arguments)


def _play_blocks(numbers: dict[str, Any], play: SelfPlay, matches: int) -> dict[str, Any]:
    (number,) = numbers["id"].tolist()
    return play.block(number, min(_LANES, matches - number * _LANES))


def _wait_for_readers() -> None:
    # If a thread of Ray Data calls the cluster after the disconnection, Ray ends the process silently.
    until = monotonic() + _ENDING
    for thread in threading.enumerate():
        work = getattr(thread, "_target", None) or type(thread)
        if getattr(work, "__module__", "").startswith("ray.data."):
            thread.join(max(0.0, until - monotonic()))


def _check_address(address: str) -> None:
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
        raise ClusterError(f"no answer from {address}: {reason}; {advice}") from error


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


@dataclass(frozen=True, slots=True)
class SelfPlay:
    """Settings of self-play.

    Each row describes a state of a match, the moves made in this state, and the final goals of the match::

        match   int64            number of the match
        step    int32            number of joint moves before the state
        state   uint64 [words]   packed state, as in ``Batch.packed``
        moves   int32 [roles]    number of each role's move, an index into ``Game.actions``
        goals   float64 [roles]  final goals; nan for a role without a goal

    Matches in which a role has no legal move, or which exceed the limit, have no rows.

    Args:
        game: the game.
        seed: random seed. The rows depend only on the seed and the policy.
        policy: chooses moves; None for random moves. The policy must be picklable, such as a trained model.
        limit: number of joint moves after which a match is abandoned.
    """

    game: Game
    seed: int = 0
    policy: Policy | None = None
    limit: int = 1000

    def block(self, number: int, matches: int = _LANES) -> dict[str, NDArray[Any]]:
        """Play up to 512 matches, and return the columns of their rows.

        >>> import anygame
        >>> rows = SelfPlay(anygame.load("tic_tac_toe"), seed=1).block(0, matches=2)
        >>> sorted(rows), rows["match"].tolist()[:3], rows["step"].tolist()[:3], rows["goals"].shape[1]
        (['goals', 'match', 'moves', 'state', 'step'], [0, 0, 0], [0, 1, 2], 2)

        Raises:
            LimitError: the game cannot be compiled.
            ValueError: there are more than 512 matches, or less than 1.
        """
        if not 0 < matches <= _LANES:
            raise ValueError(f"expected from 1 to {_LANES} matches in a block, got {matches}")
        # Each block has its own random stream. The seed of a batch has 64 bits.
        seeds = np.random.SeedSequence([self.seed & (1 << 64) - 1, number])
        batch = self.game.batch(matches, seed=int(seeds.generate_state(1, np.uint64)[0]))
        roles = self.game.roles
        rows: dict[str, list[NDArray[Any]]] = {
            "lane": [np.zeros(0, np.int64)],
            "step": [np.zeros(0, np.int32)],
            "state": [batch.packed()[:0]],
            "moves": [np.zeros((0, len(roles)), np.int32)],
        }
        for step in range(self.limit):
            lanes = np.flatnonzero(~(batch.terminal | batch.stuck))
            if not len(lanes):
                break
            rows["lane"].append(lanes)
            rows["step"].append(np.full(len(lanes), step, np.int32))
            rows["state"].append(batch.packed()[lanes])
            made: Mapping[str, NDArray[Any]]
            if self.policy is None:
                made = batch.step_random()
            else:
                made = self.policy(batch)
                batch.step(made)
            columns = [np.asarray(made[role])[lanes] for role in roles]
            rows["moves"].append(np.stack(columns, axis=1).astype(np.int32))
        joined = {name: np.concatenate(parts) for name, parts in rows.items()}
        # Rows are sorted by match. Unfinished matches are left out.
        order = np.argsort(joined["lane"], kind="stable")
        order = order[np.asarray(batch.terminal)[joined["lane"][order]]]
        lane = joined.pop("lane")[order]
        goals = np.stack([batch.goals(role) for role in roles], axis=1)
        ordered = {name: column[order] for name, column in joined.items()}
        return {"match": lane + number * _LANES, **ordered, "goals": goals[lane]}
