"""The five documented games written directly in Python, to compare the rule files with.

Nothing here knows GDL or anygame: each module was written from the description of its game alone. What a
rule file and its simulator must agree on is spoken in KIF text: moves, pieces, the turn, goals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from tests.simulators.capture_chess import CaptureChess
from tests.simulators.copolymer import Copolymer
from tests.simulators.hex_pie import HexPie
from tests.simulators.line_chess import LineChess
from tests.simulators.six_in_a_row import SixInARow

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

__all__ = ["SIMULATORS", "Simulator"]

State = TypeVar("State", bound="Hashable")


class Simulator(Protocol[State]):
    """A game over immutable, hashable states; every role moves at every step."""

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles in the order of the rule file."""

    def initial(self) -> State:
        """Return the state before the first step."""

    def legal(self, state: State) -> dict[str, tuple[str, ...]]:
        """Return the moves of each role, sorted by text; meaningful while the state is not terminal."""

    def next(self, state: State, joint: Mapping[str, str]) -> State:
        """Return the state after a legal joint move."""

    def is_terminal(self, state: State) -> bool:
        """Whether the game is over."""

    def goals(self, state: State) -> dict[str, int]:
        """Return what each role scores in a terminal state."""

    def cells(self, state: State) -> frozenset[str]:
        """Return the pieces, as in ``(cell a 1 red)``."""

    def control(self, state: State) -> frozenset[str] | None:
        """Return the turn, as in ``(control red)``, or None where the description does not fix who has it."""


#: One simulator for each rule file, under the name of the file.
SIMULATORS: Final[Mapping[str, Simulator[Any]]] = {
    "copolymer": Copolymer(),
    "six_in_a_row": SixInARow(),
    "capture_chess": CaptureChess(),
    "hex_pie": HexPie(),
    "line_chess": LineChess(),
}
