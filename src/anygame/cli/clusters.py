"""The option ``--cluster``: work on other machines, or on all cores of this one."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from anygame.cli.options import option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.cluster import Cluster

#: What stands for a cluster that is started here.
_HERE: Final = "here"


def cluster_option(meaning: str) -> Any:
    """Declare ``--cluster [ADDRESS]``; None where it is not given."""
    return option("--cluster", metavar="ADDRESS", count="?", alone=_HERE, help=meaning)


@contextmanager
def joined(address: str | None) -> Iterator[Cluster | None]:
    """Join the cluster of an option, and leave it; None where it is not given.

    Raises:
        MissingExtraError: Ray is not installed.
        ClusterError: there is no cluster.
    """
    if address is None:
        yield None
        return
    # Ray takes seconds to load, and most commands are run without it.
    made: Cluster = import_module("anygame.cluster").Cluster(None if address == _HERE else address)
    with made:
        yield made
