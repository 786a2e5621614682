"""What a machine must answer: the seam between games as people use them and the ways to compute them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, overload

from anygame.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from random import Random

    from anygame.datalog.derivations import Derivation, Failure
    from anygame.game.outcomes import Outcome, Stuck
    from anygame.language.rules import Atom
    from anygame.language.terms import Term, Variable
    from anygame.playouts import PlayoutRequest, Tally

#: A state as a machine holds it: hashable, and equal exactly when the facts are.
Position = Any
#: A position together with what has been computed about it so far.
View = Any


class FallbackWarning(UserWarning):
    """A game has no network, or not for this question: the reasoner answers. The same answers, later."""


@overload
def reason_of(error: Exception) -> str: ...
@overload
def reason_of(error: None) -> None: ...
@overload
def reason_of(error: Exception | None) -> str | None: ...
def reason_of(error: Exception | None) -> str | None:
    """Return what stands in the way of something fast, in words for people; None where nothing does."""
    if error is None:
        return None
    reason = error.message if isinstance(error, LimitError) else str(error)
    return reason or type(error).__name__


class Machine(Protocol):
    """Computes the game: all that a state may be asked.

    Every machine gives the same answers; speed and memory differ, and which positions a machine can hold. It
    answers for positions and views that it has made itself.

    Laws: ``legal`` is sorted by text and holds no move twice; ``next`` changes neither position nor
    view; ``position(facts(p)) == p``.

    Attributes:
        name: what it is called in results: ``reasoner``, ``network``.
        roles: in the order of the sheet.
    """

    name: str
    roles: tuple[Term, ...]

    # -- positions ---------------------------------------------------------------------------------

    def initial(self) -> Position:
        """Return the initial position."""

    def position(self, facts: Iterable[Term]) -> Position | None:
        """Return the position of some ground facts; None where this machine cannot hold it.

        Raises:
            PositionError: a fact is not ground.
        """

    def facts(self, position: Position) -> frozenset[Term]:
        """Return the facts of a position."""

    def view(self, position: Position) -> View:
        """Return a view in which nothing has been computed yet."""

    def derived(self, view: View) -> int:
        """Return how many rows have been derived for a view so far: a measure of the work it took."""

    # -- what the rules say of one -----------------------------------------------------------------

    def legal(self, view: View) -> tuple[tuple[Term, ...], ...]:
        """Return the legal moves per role, in the order of roles."""

    def is_terminal(self, view: View) -> bool:
        """Return whether the position is terminal."""

    def goals(self, view: View, role: Term) -> list[Term]:
        """Return every goal value the rules give a role, sorted by text."""

    def next(self, view: View, joint: Sequence[Term]) -> Position:
        """Return the position after a joint move that is legal."""

    def percepts(self, view: View, joint: Sequence[Term]) -> dict[Term, tuple[Term, ...]]:
        """Return what each role sees of a joint move, sorted by text."""

    def query(
        self, view: View, atom: Atom, joint: Sequence[Term] | None
    ) -> Iterator[Mapping[Variable, Term]]:
        """Yield the bindings under which an atom holds, sorted by the text of its arguments.

        Raises:
            QueryError: there is no such relation, or it depends on moves and none are given.
        """

    def explain(self, view: View, atom: Atom, joint: Sequence[Term] | None) -> Derivation | Failure:
        """Return a derivation of an atom, or why nothing gives it. Raises QueryError."""

    # -- play at random ----------------------------------------------------------------------------

    def play_out(self, position: Position, random: Random, limit: int) -> Outcome:
        """Play uniformly random moves to the end, or until there were so many, or a role has none.

        What is drawn depends on ``random`` and not on the machine.
        """

    def blocks(self, playouts: int) -> int:
        """Return into how many blocks so many playouts are divided, each with random numbers of its own."""

    def simulate(self, position: Position, request: PlayoutRequest) -> Tally[Stuck]:
        """Play out so often and count; see ``Game.simulate``.

        The same request gives the same tally by the same machine.

        Raises:
            IllegalMoveError: a role has no legal move, though the match is not over, and that was to end all.
        """
