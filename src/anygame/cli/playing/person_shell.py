"""The prompt of people who play: their moves, questions about the visible state, hints."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from anygame.boards import COLOURS, Painter, said_colours
from anygame.cli.positions import list_moves
from anygame.cli.repl.analyses import HINT_SECONDS
from anygame.cli.repl.manual import COMMANDS, Command, CommandError
from anygame.cli.repl.shell import Shell
from anygame.errors import LimitError
from anygame.game.state import RoleView
from anygame.language.diagnostics import counted
from anygame.search.hidden.knowledge import Knowledge
from anygame.search.searching import SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from anygame.cli.output import Screen
    from anygame.cli.repl.session import Session
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term


#: Maximum number of lines that list a person's moves. A longer list is replaced by the number of moves.
_LINES_OF_MOVES: Final = 3
#: Commands that show the whole state, including hidden information.
_REVEALING: Final = ("state", "roles", "goals", "query", "why", "why not", "save")
_OWN: Final = (
    Command(
        "play MOVE",
        "make your move",
        "The word `play` can be left out. MOVE can be abbreviated: `d 4`, `d4` or `move d 4` for\n"
        "(move d 4), or any part that occurs in no other legal move. A number stands for the move with\n"
        "that number in `legal`. `#3` is the third move even if 3 is part of another move.",
    ),
    Command("hint [SECONDS]", "search for SECONDS (default 1), and show your best move"),
)


def chosen_commands(*names: str, own: Sequence[Command] = ()) -> dict[str, Command]:
    """Return the commands ``play`` and ``hint``, the commands in ``own``, and the commands ``names``."""
    commands = {command.name: command for command in (*_OWN, *own)}
    return commands | {name: COMMANDS[name] for name in names if name not in commands}


class PersonShell(Shell):
    """Prompt for a match with people; with ``reveals``, it shows the whole state, including hidden facts."""

    def __init__(
        self, session: Session, screen: Screen, people: Sequence[Role], *, reveals: bool = False
    ) -> None:
        super().__init__(session, screen)
        self.people = tuple(people)
        self.reveals = reveals
        self._knowledge: dict[Role, Knowledge] = {}

    @property
    def choosers(self) -> Sequence[Role]:
        return [role for role in self.people if len(self.session.state.legal_moves(role)) > 1]

    @property
    def is_over(self) -> bool:
        return self.session.state.is_terminal

    @property
    def is_hidden(self) -> bool:
        """Whether the prompt must hide information from the people (GDL-II)."""
        return self.session.game.is_gdl2 and not self.reveals and not self.is_over

    @property
    def prompt(self) -> str:
        choosers = self.choosers
        return f"{choosers[0]}> " if choosers else f"{self.session.step}> "

    def _run(self, name: str, rest: str) -> None:
        if self.is_hidden and name in _REVEALING:
            raise CommandError("commands that show hidden information need `anygame play --reveal`")
        super()._run(name, rest)

    def visible_moves(self) -> Mapping[Role, Sequence[Term]]:
        """Return the legal moves of the person whose turn it is, or of all people if it is nobody's turn."""
        people = self.choosers[:1] or self.people
        return {role: self.session.state.legal_moves(role) for role in people}

    def show_state(self) -> None:
        """On a terminal, draw what the person may see of the board."""
        if self.screen.is_terminal:
            with suppress(CommandError):
                self.show_board()

    def show_board(self) -> None:
        """Show boards and other facts; if information is hidden, only what the role knows."""
        if not self.is_hidden:
            super().show_board()
            return
        session = self.session
        game, role = session.game, (*self.choosers, *self.people)[0]
        try:
            if role not in self._knowledge:
                self._knowledge[role] = Knowledge(game, role)
            known = self._knowledge[role].of(RoleView.of(role, session.states, session.moves))
        except LimitError as error:
            raise CommandError(str(error)) from None
        made = [(role, joint[game.role_index(role)]) for joint in session.moves[-1:]]
        self.screen.draw(
            Painter.of(game).known_picture(game.name, known.facts, known.open, legal={}, made=made)
        )

    def show_turn(self) -> None:
        choosers = self.choosers
        style = role_style(choosers[0], self.session.state) if choosers else "bold"
        self.screen.say(self.status(), style)
        if choosers:
            legal = self.session.state.legal_moves(choosers[0])
            lines = list(list_moves(legal, legal, self.screen.width, grouped=False))
            if len(lines) > _LINES_OF_MOVES:
                lines = [f"  {counted(len(legal), 'move')}, such as {legal[0]}; `legal` lists them"]
            self._say_lines(lines)

    def show_percepts(self) -> None:
        for role, percepts in self._percepts(self.session.step - 1):
            self.screen.say(f"{role} sees {percepts}")

    def _percepts(self, step: int) -> Iterator[tuple[Role, str]]:
        session = self.session
        for role, percepts in session.states[step].percepts(session.moves[step]).items():
            if role in self.people:
                yield (
                    session.game.roles[session.game.role_index(role)],
                    " ".join(map(str, percepts)) or "nothing",
                )

    def past_moves(self) -> Iterator[tuple[int, str]]:
        if not self.is_hidden:
            yield from super().past_moves()
            return
        for step, joint in enumerate(self.session.moves):
            for role, percepts in self._percepts(step):
                yield step, f"{role} {joint[self.session.game.role_index(role)]}, sees {percepts}"

    def _chooser(self) -> Role:
        if not self.choosers:
            raise CommandError("you have no choice here, so there is nothing to search")
        return self.choosers[0]

    def _analyse(self, rest: str) -> None:
        if not self.is_hidden:
            super()._analyse(rest)
            return
        seconds = self._seconds("analyse", rest, SECONDS)
        self._say_lines(self._analyses.table_of(self._chooser(), seconds))

    def _hint(self, rest: str) -> None:
        if self.is_hidden:
            seconds = self._seconds("hint", rest, HINT_SECONDS)
            self.screen.say(self._analyses.hint_of(self._chooser(), seconds))
            return
        self._chooser()
        heads = tuple([f"{role}: " for role in self.choosers])
        hints = self._analyses.hints(self._seconds("hint", rest, HINT_SECONDS))
        self._say_lines(hint for hint in hints if hint.startswith(heads))


#: Replacements for colours that are hard to read on terminals.
_SHOWN: Final = {"black": "bold", "white": "bold", "red": "bright_red", "blue": "bright_blue"}
_KNOWN: Final = frozenset({"red", "green", "blue", "yellow", "cyan", "magenta", "black", "white"})
#: Styles of roles without a colour, by role index modulo the number of styles.
_OTHERS: Final = ("bright_cyan", "bright_yellow", "bright_magenta", "bright_green")


def role_style(role: Role, state: State) -> str:
    """Return the style in which rich shows a role."""
    word = str(role).lower()
    # If information is hidden, a colour that depends on the state could reveal hidden facts.
    if word not in COLOURS and not state.game.is_gdl2:
        word = said_colours(state.facts, state.game.roles).get(role, "")
    if word in _KNOWN:
        return f"bold {_SHOWN.get(word, word)}".replace("bold bold", "bold")
    return f"bold {_OTHERS[state.game.role_index(role) % len(_OTHERS)]}"
