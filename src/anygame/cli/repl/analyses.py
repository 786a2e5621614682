"""The commands of the prompt that search: ``analyse``, ``hint`` and ``solve``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.cli.analysing import analyse
from anygame.cli.progress import compile_game, compile_search
from anygame.search import Search, load_table, solve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.cli.output import Screen
    from anygame.cli.repl.session import Session
    from anygame.game import State
    from anygame.search import Bounds, Table

#: Long enough to see the table settle.
ANALYSIS_SECONDS: Final = 5.0
#: Nobody likes to wait for a hint.
HINT_SECONDS: Final = 1.0
#: What a prompt may take on most machines without being asked: some ten million states.
_SOLVING_MEMORY: Final = 1 << 30


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
        compile_search(self._search)
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

    # Exact values

    def solved(self, path: str) -> Iterator[str]:
        """Yield lines with the exact value of the current state and of its moves.

        Args:
            path: a file with the values of all states; empty to compute them, if they are not known yet.

        Raises:
            TableError: the file cannot be used.
        """
        game, state = self._session.game, self._session.state
        if path:
            self._values = load_table(path, game)
        if self._values is None or state not in self._values:
            found = solve(game, state, table=True, memory=_SOLVING_MEMORY)
            if found.table is None:
                yield f"not solved: {found.reason}"
                return
            self._values = found.table
        yield from _values(self._values, state)


def _values(table: Table, state: State) -> Iterator[str]:
    """Yield what a table says of a state, and of the moves of the role that chooses."""
    distance = table.distance(state)
    end = "" if distance is None else f"   (the end after {distance} joint moves)"
    for role, bounds in (table.value(state) or {}).items():
        yield f"{role}: {_text(bounds)}{end}"
    best = table.best_moves(state)
    for role, moves in table.moves(state).items():
        others = sorted((m for m in moves if m not in best[role]), key=lambda move: -moves[move].least)
        for move in [*best[role], *others]:
            yield f"  {move}   {_text(moves[move])}"


def _text(bounds: Bounds) -> str:
    least, most = bounds
    return f"{least:g}" if least == most else f"between {least:g} and {most:g}"
