"""What somebody who plays may be shown of the worth of moves in games with hidden information.

It is searched from what the role knows, as the player ``ismcts`` does: hints show nothing that it cannot see.
"""

from __future__ import annotations

from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from anygame.cli.progress import compile_game
from anygame.cli.repl.shell import CommandError
from anygame.errors import LimitError
from anygame.game.role_view import RoleView
from anygame.players.clock import Clock
from anygame.players.ismcts import BeliefSearch
from anygame.search.searching import DEFAULT_MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.cli.repl.session import Session
    from anygame.game.roles import Role


class RoleAnalyses:
    """Searches what roles know of a session; what was found for one turn the next one knows."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._searches: dict[Role, BeliefSearch] = {}

    def hint(self, role: Role, seconds: float) -> str:
        """Return a line with the best known move of a role.

        Raises:
            CommandError: none can be found.
        """
        move, tries, mean = self._searched(role, seconds).known()[0]
        return f"{role}: {move}" + (f"   (mean goal {mean:.1f})" if tries else "")

    def table(self, role: Role, seconds: float) -> Iterator[str]:
        """Yield lines with all moves of a role, the best first.

        Raises:
            CommandError: they cannot be told.
        """
        begin = monotonic()
        search = self._searched(role, seconds)
        yield f"{search.tries:,} tries in {monotonic() - begin:.2f} s, {search.believed}"
        rows = [(str(role), "tries", "goal")]
        rows += [(f"  {move}", f"{tries:,}", f"{mean:.2f}") for move, tries, mean in search.known()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for name, tries, mean in rows:
            yield f"{name.ljust(widths[0])}  {tries.rjust(widths[1])}  {mean.rjust(widths[2])}"

    def _searched(self, role: Role, seconds: float) -> BeliefSearch:
        """Search for a role, for so long; Ctrl-C ends it early."""
        session = self._session
        search = self._begun(role)
        view = RoleView.of(role, session.states, session.moves)
        with suppress(KeyboardInterrupt):
            # Of the state it asks for the legal moves of the role alone, which the role knows.
            for _ in search.moves(session.state, view, Clock.of(seconds, margin=0)):
                pass
        if search.is_lost:
            raise CommandError("no state was found that agrees with all that you saw; more seconds may help")
        return search

    def _begun(self, role: Role) -> BeliefSearch:
        if role not in self._searches:
            game = self._session.game
            if not game.is_settled:
                compile_game(game)
            try:
                seed = self._session.seed
                self._searches[role] = BeliefSearch(game, role, seed, None, DEFAULT_MEMORY, Clock.endless())
            except LimitError as error:
                raise CommandError(f"{error}, so that what you know cannot be searched") from error
        return self._searches[role]
