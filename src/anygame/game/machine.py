"""What a machine must answer: the seam between games as people use them and the ways to compute them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from random import Random

    from anygame.language.rules import Atom
    from anygame.language.terms import Term, Variable

__all__ = ["FallbackWarning", "Machine", "Outcome", "Position", "View"]

#: A state as a machine holds it: hashable, and equal exactly when the facts are.
Position = Any
#: A position together with what has been computed about it so far.
View = Any


class FallbackWarning(UserWarning):
    """A game has no network, or not for this question: the reasoner answers. The same answers, later."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A random match, as a machine played it.

    Attributes:
        moves: the joint moves, each in the order of the roles.
        goals: per role every goal value the rules give in the last state, sorted by text.
        options: per role its number of legal moves, added up over the joint moves.
        is_complete: whether the end was reached.
    """

    moves: tuple[tuple[Term, ...], ...]
    goals: tuple[tuple[Term, ...], ...]
    options: tuple[int, ...]
    is_complete: bool


class Machine(Protocol):
    """Computes the game. Every machine gives the same answers; only speed and memory differ.

    Laws: ``legal`` is sorted by text and holds no move twice; ``next`` changes neither position nor
    view; ``position(facts(p)) == p``.
    """

    roles: tuple[Term, ...]

    def initial(self) -> Position:
        """Return the initial position."""

    def position(self, facts: Iterable[Term]) -> Position:
        """Return the position of some ground facts. Raises PositionError for others."""

    def facts(self, position: Position) -> frozenset[Term]:
        """Return the facts of a position."""

    def view(self, position: Position) -> View:
        """Return a view in which nothing has been computed yet."""

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

    def play_out(self, position: Position, random: Random, limit: int) -> Outcome:
        """Play uniformly random moves to the end, or until there were so many.

        What is drawn depends on ``random`` and not on the machine. Raises IllegalMoveError where a role has
        no legal move.
        """

    def query(
        self, view: View, atom: Atom, joint: Sequence[Term] | None
    ) -> Iterator[Mapping[Variable, Term]]:
        """Yield the bindings under which an atom holds. Raises QueryError."""
