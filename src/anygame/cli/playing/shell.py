"""The prompt of ``anygame play``, with its own commands."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Final

from anygame.cli.matches.watching import Ticker, show_fault, show_said
from anygame.cli.playing.person_shell import PersonShell, chosen_commands
from anygame.cli.repl.manual import Command, CommandError
from anygame.game.joint_moves import format_joint, is_chance
from anygame.game.typed_moves import typed_move
from anygame.language.diagnostics import counted
from anygame.match.judging import outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.cli.output import Screen
    from anygame.cli.playing.table import Table
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.match.referee import Turn

#: Maximum number of successive turns without a choice that are played before Enter must be pressed.
_MOST_FORCED: Final = 1_000

_OWN: Final = (
    Command("undo [N]", "take back your last move and the replies to it, or your last N moves"),
    Command("thinking", "show or hide the comments of players on their moves"),
    Command("resign", "end the game by resignation"),
    Command("restart", "play again from the initial state"),
)


class PlayShell(PersonShell):
    """Prompt of a `Table`; with ``thinks_aloud``, it shows the comments of players on their moves."""

    commands = chosen_commands(
        *("board", "state", "roles", "legal", "goals", "query", "why", "why not", "analyse"),
        *("save", "load", "history", "rules", "warnings", "help", "quit"),
        own=_OWN,
    )

    def __init__(
        self, table: Table, screen: Screen, *, thinks_aloud: bool = False, reveals: bool = False
    ) -> None:
        super().__init__(table.session, screen, table.seating.people, reveals=reveals)
        self.table = table
        self.thinks_aloud = thinks_aloud

    # -- display -----------------------------------------------------------------------------------

    @property
    def choosers(self) -> Sequence[Role]:
        return self.table.choosers

    @property
    def is_over(self) -> bool:
        return self.table.is_over

    def greet(self, hint: str = "") -> None:
        seating = self.table.seating
        pairs = [
            f"{role}: {'you' if seating.people == (role,) else name}"
            for role, (name, _) in seating.players.items()
        ]
        self.screen.say(f"{Path(self.session.game.name).name}: {', '.join(pairs)}", "bold")
        if description := self.description():
            is_wide = not self.screen.is_terminal
            self.screen.say(description if is_wide else fill(description, self.screen.width))
        self.screen.say(
            f"Type a move; `rules` shows the rules, `help` lists the commands, `quit` leaves.{hint}"
        )
        self.start()

    def start(self) -> None:
        self.show_state()
        with suppress(KeyboardInterrupt):
            self._play_on()

    def status(self) -> str:
        table, state = self.table, self.session.state
        if table.resigned is not None:
            return f"The game is over. {table.resigned} resigned"
        if table.record.goals is not None:
            goals = zip(state.game.roles, table.record.goals, strict=True)
            reached = {str(role): goal for role, goal in goals if not role.is_random}
            return f"The game is over. {outcome(reached, table.seating.people)}"
        if fault := table.record.own.get("fault"):
            return f"The match has no result because of an error in the rule sheet: {fault}"
        choosers = table.choosers
        if choosers:
            whose = ", your turn" if len(table.seating.people) == 1 else " to move"
            return f"move {self.session.step + 1}: {choosers[0]}{whose}"
        return (
            f"move {self.session.step + 1}: Enter {'samples the move' if is_chance(state) else 'continues'}"
        )

    def _show_played(self, turn: Turn, before: State) -> None:
        is_hidden = self.session.game.is_gdl2 and not self.reveals
        for role, verdict, move in zip(self.session.game.roles, turn.verdicts, turn.joint, strict=True):
            if is_hidden and role not in self.people:
                # The fault would reveal the move, and comments would reveal what the player knows.
                if verdict.error:
                    self.screen.say(f"     {role}: a random move was played instead", "red")
                continue
            show_fault(self.screen, role, verdict, move)
            if self.thinks_aloud:
                show_said(self.screen, f"{role} says", verdict)
        if is_hidden:
            self.show_percepts()
            return
        made = zip(before.game.roles, turn.joint, strict=True)
        choices = [f"{role} {move}" for role, move in made if role in before.movers]
        self.screen.say(f"{turn.step:>3}  {'  '.join(choices) or format_joint(turn.joint)}")

    # -- moves -------------------------------------------------------------------------------------

    def _enter(self) -> None:
        if not self.table.is_over and not self.table.choosers:
            self._play_on(draws=True)

    def _play(self, rest: str) -> None:
        table = self.table
        if table.is_over:
            raise CommandError(f"{self.status()}\n`undo` takes back the last move, `restart` starts again")
        role = self._chooser()
        table.chosen[role] = typed_move(rest, self.session.state.legal_moves(role), role)
        self._play_on()

    def _play_unnamed(self, line: str) -> None:
        if not self.table.is_over:
            self._chooser()
        super()._play_unnamed(line)

    def _chooser(self) -> Role:
        choosers = self.table.choosers
        if not choosers:
            does = "samples the move" if is_chance(self.session.state) else "continues"
            raise CommandError(f"no person has a choice here; Enter {does}, `help` lists the commands")
        return choosers[0]

    def _play_on(self, *, draws: bool = False) -> None:
        table = self.table
        for _ in range(_MOST_FORCED):
            if table.is_over or table.choosers:
                break
            if is_chance(self.session.state) and self.screen.is_terminal and not draws:
                break
            draws = False
            before = self.session.state
            turn = self._asked()
            self._show_played(turn, before)
            self.show_state()
        self.show_turn()
        if table.is_over:
            self._say_record()

    def _asked(self) -> Turn:
        table = self.table
        waiting = ", ".join(one.name for one in table.opponents.values())
        if not waiting or not self.screen.is_terminal:
            return table.play_turn()
        ticker = Ticker(self.screen, f"{waiting} to move", table.seating.clock)
        try:
            return table.play_turn()
        finally:
            ticker.stop()

    def _undo(self, rest: str) -> None:
        taken = self.table.undo(self._number("undo", rest))
        if not taken:
            raise CommandError("there is no move to take back")
        self.screen.say(f"took back {counted(taken, 'move')}")
        self.show_state()
        self._play_on()

    def _restart(self, rest: str) -> None:
        self.table.restart()
        self.start()

    def _load(self, rest: str) -> None:
        self.table.load(self._path("load", rest))
        self.start()

    def _resign(self, rest: str) -> None:
        if self.table.is_over:
            raise CommandError(self.status())
        self.table.resign((self.table.choosers or self.table.seating.people)[0])
        self.show_turn()
        self._say_record()

    def _say_record(self) -> None:
        if self.table.path is not None:
            self.screen.say(f"record: {self.table.path}")

    def _thinking(self, rest: str) -> None:
        self.thinks_aloud = not self.thinks_aloud
        self.screen.say(f"comments of players are {'shown' if self.thinks_aloud else 'hidden'}")
