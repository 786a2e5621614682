"""Work that is divided among processes, wherever they are: what a game asks of those who have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_Shared = TypeVar("_Shared")
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Workers(Protocol):
    """Processes that make calls, on this machine or on others; see ``anygame.cluster``.

    Attributes:
        count: how many calls they make at a time.
    """

    @property
    def count(self) -> int:
        """How many calls are made at a time."""

    def map(
        self,
        call: Callable[[_Shared, _Item], _Result],
        shared: _Shared,
        items: Sequence[_Item],
        prepare: Callable[[_Shared], object] | None = None,
    ) -> Iterator[tuple[int, _Result]]:
        """Make a call for each item, and yield each number of an item with its result, as they come.

        Everything is pickled. A call whose process dies is made again elsewhere; each item has one result.

        Args:
            call: a function of a module that the processes can import.
            shared: what all calls are given; sent to each machine once.
            items: what each call is given.
            prepare: called once on each machine before the calls.

        Raises:
            ClusterError: there is nobody left to make calls.
        """
