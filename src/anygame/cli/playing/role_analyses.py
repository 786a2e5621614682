"""What somebody who plays may be shown of the worth of moves in games with hidden information.

It is searched from what the role knows, as the player ``ismcts`` does: hints show nothing that it cannot see.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from anygame.cli.progress import compile_game
from anygame.cli.repl.shell import CommandError
from anygame.game.role_view import RoleView
from anygame.search import Search

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.cli.repl.session import Session
    from anygame.game.roles import Role
    from anygame.search import Analysis


class RoleAnalyses:
    """Searches what roles know of a session; what was found for one turn the next one knows."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._searches: dict[Role, Search] = {}

    def hint(self, role: Role, seconds: float) -> str:
        """Return a line with the best known move of a role.

        Raises:
            CommandError: none can be found.
        """
        best = self._searched(role, seconds).moves[role][0]
        return f"{role}: {best.move}" + ("" if best.goal is None else f"   (mean goal {best.goal:.1f})")

    def table(self, role: Role, seconds: float) -> Iterator[str]:
        """Yield lines with all moves of a role, the best first.

        Raises:
            CommandError: nothing is known of them.
        """
        found = self._searched(role, seconds)
        yield f"{found.iterations:,} tries in {found.seconds:.2f} s, {found.believed}"
        rows = [(str(role), "tries", "goal")]
        rows += [
            (f"  {each.move}", f"{each.visits:,}", "" if each.goal is None else f"{each.goal:.2f}")
            for each in found.moves[role]
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for name, tries, mean in rows:
            yield f"{name.ljust(widths[0])}  {tries.rjust(widths[1])}  {mean.rjust(widths[2])}"

    def _searched(self, role: Role, seconds: float) -> Analysis:
        """Search for a role, for so long; Ctrl-C ends it early."""
        session = self._session
        search = self._begun(role)
        view = RoleView.of(role, session.states, session.moves)
        # Of the state it asks for the legal moves of the role alone, which the role knows.
        found = search.run(session.state, seconds=seconds, view=view)
        if search.is_lost:
            raise CommandError("no state was found that agrees with all that you saw; more seconds may help")
        return found

    def _begun(self, role: Role) -> Search:
        session = self._session
        if role not in self._searches:
            if not session.game.is_settled:
                compile_game(session.game)
            search = self._searches[role] = Search(session.game, role=role, seed=session.seed)
            search.compile(inf)
        if (search := self._searches[role]).no_beliefs is not None:
            raise CommandError(f"{search.no_beliefs}, so that what you know cannot be searched")
        return search
