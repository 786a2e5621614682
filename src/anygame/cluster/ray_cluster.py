"""A Ray cluster: calls are tasks, made again elsewhere when a process or a machine dies.

Ray: Moritz et al. 2018, "Ray: A distributed framework for emerging AI applications".
"""

from __future__ import annotations

import logging
import os
import socket
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit

from anygame.cluster.self_play import LANES
from anygame.errors import AnygameError, ClusterError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from anygame.cluster.self_play import SelfPlay

_Shared = TypeVar("_Shared")
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

#: Calls that are handed in at a time, per worker: the next one waits where the last one ends.
_AHEAD: Final = 4
#: How often a call is made again when its process dies. One that kills its process every time ends all.
_RETRIES: Final = 5
#: Seconds in which the machine of an address has to answer; Ray itself tries for minutes.
_ANSWER: Final = 5.0
#: How the client of Ray begins addresses; it is a package of its own.
_CLIENT: Final = "ray://"


class Cluster:
    """Workers of a Ray cluster; see ``anygame.game.simulation.Workers`` for the contract.

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
        """Leave the cluster; end it, if it was started here."""
        self._ray.shutdown()

    @property
    def count(self) -> int:
        """How many cores it has."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

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
            raise ClusterError(f"work was given up: {_first_line(error)}") from error


def _play_blocks(numbers: dict[str, Any], play: SelfPlay, matches: int) -> dict[str, Any]:
    """Play the block of a row; Ray Data gives one at a time."""
    (number,) = numbers["id"].tolist()
    return play.block(number, min(LANES, matches - number * LANES))


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
