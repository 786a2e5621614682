"""The commands of the prompt that search: ``analyse`` and ``hint``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.cli.analysing import analyse
from anygame.cli.progress import compile_game
from anygame.search import Search

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.cli.output import Screen
    from anygame.cli.repl.session import Session
    from anygame.search import Table

__all__ = ["ANALYSIS_SECONDS", "HINT_SECONDS", "Analyses"]

#: Long enough to see the table settle.
ANALYSIS_SECONDS: Final = 5.0
#: Nobody likes to wait for a hint.
HINT_SECONDS: Final = 1.0


class Analyses:
    """Searches the states of a session; what one found the next one knows.

    Args:
        session: whose current state is searched.
        values: exact values that are known.
    """

    def __init__(self, session: Session, values: Table | None = None) -> None:
        self._session = session
        self._values = values
        self._search: Search | None = None

    def _begun(self) -> Search:
        game = self._session.game
        if self._search is None:
            if not game.is_settled:
                compile_game(game)
            self._search = Search(game)
        return self._search

    def show(self, screen: Screen, seconds: float) -> None:
        """Show the table of the current state as it grows, for so many seconds; Ctrl-C ends it early."""
        analyse(self._begun(), self._session.state, screen, seconds=seconds, table=self._values)

    def hints(self, seconds: float) -> Iterator[str]:
        """Yield a line with the best known move of each role that has a choice."""
        state = self._session.state
        found = self._begun().run(state, seconds=seconds)
        if self._values is not None:
            found = self._values.annotate(found, state)
        for role, moves in found.moves.items():
            if len(moves) < 2:
                continue
            best = moves[0]
            if best.proven is not None:
                yield f"{role}: {best.move}   (goal {best.proven:g}, proven)"
            else:
                yield f"{role}: {best.move}" + (
                    "" if best.goal is None else f"   (mean goal {best.goal:.1f})"
                )
