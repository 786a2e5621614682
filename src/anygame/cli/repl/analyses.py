"""The commands of the prompt that search: ``analyse``, ``hint`` and ``solve``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.cli.output import table_lines
from anygame.cli.progress import analyse, compile_game, compile_search
from anygame.cli.repl.manual import CommandError
from anygame.game.state import RoleView
from anygame.language.diagnostics import counted
from anygame.search import Search, load_table, solve
from anygame.search.model import usable_model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.cli.output import Screen
    from anygame.cli.repl.session import Session
    from anygame.game import Role, State
    from anygame.search import Analysis, Bounds, MoveAnalysis, Table

#: Default number of seconds of the search for a hint.
HINT_SECONDS: Final = 1.0
#: Maximum memory in bytes for solving at a prompt, enough for about ten million states.
_SOLVING_MEMORY: Final = 1 << 30


class Analyses:
    """Searches the states of a session. Each search reuses the results of earlier searches."""

    def __init__(self, session: Session, values: Table | None = None) -> None:
        self._session = session
        self._values = values
        self._searches: dict[Role | None, Search] = {}

    def _search_of(self, role: Role | None = None) -> Search:
        """Return the search that knows the full state, or only what a role knows."""
        session = self._session
        if role not in self._searches:
            if not session.game.is_settled:
                compile_game(session.game)
            if role is None:
                self._searches[role] = Search(session.game, model=usable_model(session.game))
            else:
                self._searches[role] = Search(session.game, role=role, seed=session.seed)
        search = self._searches[role]
        search.table = self._values
        compile_search(search)
        return search

    def show(self, screen: Screen, seconds: float) -> None:
        analyse(self._search_of(), self._session.state, screen, seconds=seconds)

    def hints(self, seconds: float) -> Iterator[str]:
        analysis = self._search_of().run(self._session.state, seconds=seconds)
        for role, moves in analysis.moves.items():
            if len(moves) > 1:
                yield _hint(role, moves[0])

    # With hidden information, a search from the full state would reveal hidden facts. The next two methods
    # search from the knowledge of the role, as the player ``ismcts`` does.

    def hint_of(self, role: Role, seconds: float) -> str:
        """Return a line with the best move found for a role. Raises CommandError if no search is possible."""
        return _hint(role, self._analysis_of(role, seconds).moves[role][0])

    def table_of(self, role: Role, seconds: float) -> Iterator[str]:
        """Yield a table of all moves of a role, best first. Raises CommandError as `hint_of` does."""
        analysis = self._analysis_of(role, seconds)
        yield f"{counted(analysis.iterations, 'try')} in {analysis.seconds:.2f} s, {analysis.believed}"
        rows = [(str(role), "tries", "goal")]
        rows += [
            (f"  {each.move}", f"{each.visits:,}", "" if each.goal is None else f"{each.goal:.2f}")
            for each in analysis.moves[role]
        ]
        yield from table_lines(rows, "<>>")

    def _analysis_of(self, role: Role, seconds: float) -> Analysis:
        session, search = self._session, self._search_of(role)
        if search.no_beliefs is not None:
            raise CommandError(f"{search.no_beliefs}: a search from your knowledge is not possible")
        # From the state, the search reads only the legal moves of the role, which the role knows.
        analysis = search.run(
            session.state, seconds=seconds, view=RoleView.of(role, session.states, session.moves)
        )
        if search.is_lost:
            raise CommandError("no state was found that agrees with your percepts; allow more seconds")
        return analysis

    # -- exact values ------------------------------------------------------------------------------

    def solved(self, path: str) -> Iterator[str]:
        """Yield lines with the exact values of the current state, and of the legal moves there.

        The values are read from the file at ``path``, or computed if ``path`` is empty. Raises TableError.
        """
        game, state = self._session.game, self._session.state
        if path:
            self._values = load_table(path, game)
        if self._values is None or state not in self._values:
            solution = solve(game, state, table=True, memory=_SOLVING_MEMORY)
            if solution.table is None:
                yield f"not solved: {solution.reason}"
                return
            self._values = solution.table
        yield from _values(self._values, state)


def _hint(role: Role, best: MoveAnalysis) -> str:
    goal = "" if best.goal is None else f"   (mean goal {best.goal:.1f})"
    return f"{role}: {best.move}" + (goal if best.proven is None else f"   (goal {best.proven:g}, proven)")


def _values(table: Table, state: State) -> Iterator[str]:
    distance = table.distance(state)
    end = "" if distance is None else f"   (the end after {counted(distance, 'joint move')})"
    for role, bounds in (table.value(state) or {}).items():
        yield f"{role}: {_text(bounds)}{end}"
    best = table.best_moves(state)
    for role, moves in table.moves(state).items():
        worse = sorted((m for m in moves if m not in best[role]), key=lambda move: -moves[move].least)
        for move in [*best[role], *worse]:
            yield f"  {move}   {_text(moves[move])}"


def _text(bounds: Bounds) -> str:
    least, most = bounds
    return f"{least:g}" if least == most else f"between {least:g} and {most:g}"
