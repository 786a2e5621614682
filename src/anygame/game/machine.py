"""The interface of machines, which answer questions about states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from anygame.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from random import Random

    from anygame.datalog.derivations import Derivation, Failure
    from anygame.game.outcomes import Outcome, Stuck
    from anygame.language.rules import Atom
    from anygame.language.terms import Term, Variable
    from anygame.playouts import PlayoutRequest, Tally

#: A machine's representation of a state: hashable. Positions are equal if and only if their facts are equal.
Position = Any
#: A position, with a cache of the answers about it.
View = Any


class FallbackWarning(UserWarning):
    """The network cannot compute an answer, so the slower reasoner computes it."""


def reason_of(error: Exception | None) -> str | None:
    """Return why a game has no network, as text for people; None without an error."""
    if error is None:
        return None
    reason = error.message if isinstance(error, LimitError) else str(error)
    return reason or type(error).__name__


class Machine(Protocol):
    """Answers all questions about states.

    All machines give the same answers. Machines differ in speed, memory, and the positions that they can
    represent. A machine accepts only its own positions and views. For every position ``p`` of a machine,
    ``position(facts(p)) == p``.

    Attributes:
        name: ``reasoner`` or ``network``.
        roles: the roles in the order of the sheet.
    """

    name: str
    roles: tuple[Term, ...]

    def initial(self) -> Position:
        """Return the initial position."""

    def position(self, facts: Iterable[Term]) -> Position | None:
        """Return the position with the given facts; None if this machine cannot represent the position.

        Raises PositionError if a fact is not ground.
        """

    def facts(self, position: Position) -> frozenset[Term]:
        """Return the facts of a position."""

    def view(self, position: Position) -> View:
        """Return a view of a position, with an empty cache."""

    def derived(self, view: View) -> int:
        """Return the number of rows derived for a view so far: a measure of the work."""

    def legal(self, view: View) -> tuple[tuple[Term, ...], ...]:
        """Return the legal moves of each role, sorted by text, without duplicates."""

    def is_terminal(self, view: View) -> bool:
        """Return whether the position is terminal."""

    def goals(self, view: View, role: Term) -> list[Term]:
        """Return every goal value that the rules give a role, sorted by text."""

    def next(self, view: View, joint: Sequence[Term]) -> Position:
        """Return the position after a legal joint move."""

    def percepts(self, view: View, joint: Sequence[Term]) -> dict[Term, tuple[Term, ...]]:
        """Return the percepts of each role from a joint move, sorted by text."""

    def query(
        self, view: View, atom: Atom, joint: Sequence[Term] | None
    ) -> Iterator[Mapping[Variable, Term]]:
        """Yield the bindings under which an atom holds, sorted by the text of the instances.

        Raises QueryError if the relation is unknown, or depends on moves while ``joint`` is None.
        """

    def explain(self, view: View, atom: Atom, joint: Sequence[Term] | None) -> Derivation | Failure:
        """Return a derivation of an atom, or the reason why there is none; raises the errors of ``query``."""

    def play_out(self, position: Position, random: Random, limit: int) -> Outcome:
        """Play uniformly random moves until the end, the limit, or a state where a role has no legal move.

        The sampled moves depend on ``random`` only, not on the machine.
        """

    def blocks(self, playouts: int) -> int:
        """Return the number of blocks of a simulation; each block has its own random numbers."""

    def simulate(self, position: Position, request: PlayoutRequest) -> Tally[Stuck]:
        """Run playouts and count their results; see ``Game.simulate``.

        Raises IllegalMoveError if ``request.strict`` is set and a nonterminal state has a stuck role.
        """
