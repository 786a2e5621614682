"""What searches: the seam between `Search`, which knows clocks, and the trees that are grown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.search.analysis import Analysis


class Searcher(Protocol):
    """Grows a tree of states from a root, a little at a time. One thread uses it at a time.

    Laws: the same seed and the same numbers of iterations give the same tree, however they are cut into
    calls; ``best`` is the first move of its role in ``analysis``.
    """

    def begin(self, state: State) -> None:
        """Make a state the root; what is known below it is kept.

        Raises:
            PositionError: this searcher cannot hold the state.
        """

    def advance(self, seconds: float, iterations: int | None = None) -> int:
        """Search for about so many seconds, and return soon after, never much later.

        Args:
            seconds: may be short: what takes longer is gone on with by the next call.
            iterations: about how many leaves to evaluate at most; None for any number.

        Returns:
            how many leaves were evaluated; 0 where there is nothing left to do, or no time for one.
        """

    def analysis(self, *, lines: bool = True) -> Analysis:
        """Return what is known of the root; `Search` puts in iterations and seconds.

        Args:
            lines: whether to give principal variations too.
        """

    def best(self, role: int) -> Term:
        """Return the move that a role, given by its index, should make at the root; at little cost.

        Raises:
            ValueError: the role has no legal move there.
        """

    @property
    def is_done(self) -> bool:
        """Whether going on would change nothing: the root is an end, or proven for all roles."""

    @property
    def bytes(self) -> int:
        """The memory that the tree takes."""
