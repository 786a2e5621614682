"""The commands of the prompt. Each command reads or changes the session, and shows an answer."""

from __future__ import annotations

import os
from argparse import ArgumentTypeError
from contextlib import suppress
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anygame.answers.position import Position
from anygame.boards import Painter
from anygame.cli.options import seconds as read_seconds
from anygame.cli.positions import list_moves
from anygame.cli.repl.analyses import HINT_SECONDS, Analyses
from anygame.cli.repl.manual import ALIASES, COMMANDS, CommandError
from anygame.errors import QueryError
from anygame.game.joint_moves import advised, chosen_moves, format_joint, is_chance, legal_by_role, read_joint
from anygame.game.typed_moves import meant_moves, nearest_moves
from anygame.language.diagnostics import counted, did_you_mean, format_diagnostics, shown
from anygame.language.parser import parse_nodes
from anygame.language.terms import Compound, Constant
from anygame.search.searching import SECONDS
from anygame.sheets.citing import goal_lines
from anygame.sheets.installed import describe_sheet, sheet_heading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from anygame.cli.output import Screen
    from anygame.cli.repl.manual import Command
    from anygame.cli.repl.session import Joint, Session
    from anygame.game.roles import Role
    from anygame.language.terms import Term
    from anygame.search import Table

_PLAYOUT_LIMIT: Final = 10_000


class Shell:
    """Prompt for a session; ``commands`` holds the available commands by name."""

    commands: Mapping[str, Command] = COMMANDS

    def __init__(self, session: Session, screen: Screen, values: Table | None = None) -> None:
        self.session = session
        self.screen = screen
        self._values = values

    def execute(self, line: str) -> bool:
        """Execute a line; return whether to continue. After AnygameError, the session is unchanged."""
        line = line.strip()
        word, _, rest = line.partition(" ")
        name = ALIASES.get(word.lower(), word.lower())
        if not line:
            self._enter()
            return True
        if line[0] == ";" or (line[0] == "#" and not line[1:].isdigit()):
            return True
        if name == "quit":
            return False
        if name in self.commands:
            self._run(name, rest.strip())
        else:
            self._play_unnamed(line)
        return True

    def _run(self, name: str, rest: str) -> None:
        if rest and self.commands[name].usage == name:
            raise CommandError(f"{name} takes no arguments, found {shown(rest, 40)}")
        getattr(self, f"_{name}")(rest)

    def _enter(self) -> None:
        """Execute an empty line: on a terminal, sample a move if only ``random`` has a choice."""
        if self.screen.is_terminal and is_chance(self.session.state):
            self._play("")

    # -- display -----------------------------------------------------------------------------------

    def greet(self, hint: str = "") -> None:
        game = self.session.game
        self.screen.say(f"{Path(game.name).name}: {', '.join(game.roles)}", "bold")
        self.screen.say(f"`help` lists the commands, `quit` leaves.{hint}")
        warnings = len(game.program.warnings)
        if warnings:
            self.screen.say(f"The rule sheet has {counted(warnings, 'warning')}: see `warnings`.")
        with suppress(KeyboardInterrupt):
            self.execute("board")
        self.screen.say(self.status(), "bold")

    @property
    def prompt(self) -> str:
        return f"{self.session.step}> "

    def status(self) -> str:
        state = self.session.state
        step = f"step {self.session.step}"
        if state.is_terminal:
            return f"{step}: the game is over; goals: {', '.join(self._position.goals().lines())}"
        legal = legal_by_role(state)
        stuck = [role for role, moves in legal.items() if not moves]
        if stuck:
            return f"{step}: no legal move for {', '.join(stuck)}, although the game is not over"
        if state.movers:
            enter = " (Enter samples the move)" if self.screen.is_terminal and is_chance(state) else ""
            return f"{step}: {', '.join(state.movers)} to act{enter}"
        only = format_joint([moves[0] for moves in legal.values()])
        return f"{step}: `play` makes the only joint move, {only}"

    def show_board(self) -> None:
        session, screen = self.session, self.screen
        last = session.moves[-1] if session.moves and screen.is_terminal else None
        picture = Painter.of(session.game).picture(session.state, last=last)
        screen.draw(picture)

    def _show_position(self) -> None:
        if self.screen.is_terminal:
            self.show_board()
        self.screen.say(self.status(), "bold")

    def _board(self, rest: str) -> None:
        self.show_board()
        for note in Painter.of(self.session.game).boards.notes:
            self.screen.say(f"({note})")

    @property
    def _position(self) -> Position:
        return Position(self.session.game, self.session.state, self.session.step)

    def _say_lines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.screen.say(line)

    def _state(self, rest: str) -> None:
        self._say_lines(self._position.facts().lines())

    def _roles(self, rest: str) -> None:
        for number, (role, moves) in enumerate(legal_by_role(self.session.state).items(), start=1):
            self.screen.say(f"{number}  {role} ({counted(len(moves), 'legal move')})")

    def _legal(self, rest: str) -> None:
        legal, screen = self.visible_moves(), self.screen
        lines = []
        for role, moves in chosen_moves(self.session.game, legal, rest).items():
            of = f" of {len(legal[role])}" if len(moves) < len(legal[role]) else ""
            lines.append(f"{role}: {len(moves)}{of} legal move{'' if len(moves) == 1 and not of else 's'}")
            lines += list_moves(moves, legal[role], screen.width, grouped=screen.is_terminal)
        screen.page(lines)

    def visible_moves(self) -> Mapping[Role, Sequence[Term]]:
        return legal_by_role(self.session.state)

    def _goals(self, rest: str) -> None:
        self._say_lines(self._position.goals().lines())

    # -- moves -------------------------------------------------------------------------------------

    def _play(self, rest: str) -> None:
        if self.session.state.is_terminal:
            raise CommandError(f"{self.status()}\n`undo` takes back the last move, `restart` starts again")
        self._played(self.session.play(rest, is_spoken=self.screen.is_terminal))

    def _play_unnamed(self, line: str) -> None:
        """Play a line that does not start with a command. Raises CommandError if the line is no move."""
        word = line.split()[0]
        legal = self.visible_moves().values()
        names = {str(move) for moves in legal for move in moves if isinstance(move, Constant)}
        functors = {move.functor for moves in legal for move in moves if isinstance(move, Compound)}
        is_move = line.startswith("(") or word.lstrip("#").isdigit() or word in names | functors
        if is_move or any(meant_moves(line, moves) for moves in legal):
            self._play(line)
            return
        names |= {*self.commands, *ALIASES}
        near = get_close_matches(word.lower(), sorted(names), n=3, cutoff=0.6)
        near = near or [each for moves in legal for each in nearest_moves(line, moves)][:3]
        advice = did_you_mean(near, "`help` lists the commands")
        raise CommandError(f"{shown(word, 40)} is neither a command nor a legal move{advice}")

    def _played(self, joint: Joint) -> None:
        session = self.session
        self.screen.say(f"played {format_joint(joint)}")
        if session.game.is_gdl2:
            for role, percepts in session.states[-2].percepts(joint).items():
                if percepts:
                    self.screen.say(f"{role} sees {' '.join(map(str, percepts))}")
        self._show_position()

    def _undo(self, rest: str) -> None:
        taken = self.session.undo(self._number("undo", rest))
        if not taken:
            raise CommandError("there is no move to take back")
        self.screen.say(f"took back {counted(taken, 'move')}")
        self._show_position()

    def _redo(self, rest: str) -> None:
        if not self.session.redo(self._number("redo", rest)):
            raise CommandError("there is no undone move to play again")
        self._show_position()

    def _restart(self, rest: str) -> None:
        self.session.undo(self.session.step)
        self._show_position()

    def _random(self, rest: str) -> None:
        if self.session.state.is_terminal:
            self._play("")
        count = _PLAYOUT_LIMIT if rest == "end" else self._number("random", rest)
        for number in range(count):
            if self.session.state.is_terminal:
                break
            joint = self.session.play_random()
            if number < 20:
                self.screen.say(f"played {format_joint(joint)}")
            elif number == 20:
                self.screen.say("...")
        self._show_position()

    # -- questions ---------------------------------------------------------------------------------

    def _query(self, rest: str) -> None:
        if not rest:
            raise CommandError(self._usage("query"))
        pattern, joint = self._question(rest)
        bindings = self._position.bindings(pattern, joint, f"as in `query {rest} with MOVE...`")
        self._say_lines(bindings.texts or ["no instance holds"])

    def _why(self, rest: str) -> None:
        negated, atom = rest.startswith("not "), rest.removeprefix("not ").strip()
        if not atom or atom == "not":
            raise CommandError(self._usage("why"))
        sentence, typed = self._question(atom)
        state = self.session.state
        joint = None if typed is None else read_joint(state, typed)
        try:
            explanation = (
                state.explain_failure(sentence, joint) if negated else state.explain(sentence, joint)
            )
        except QueryError as error:
            raise advised(error, f"as in `why {rest} with MOVE...`") from error
        self.screen.say(explanation)

    def _question(self, text: str) -> tuple[str, str | None]:
        """Split a question into the sentence and the joint move after ``with``."""
        nodes = parse_nodes(text)
        if len(nodes) < 2 or nodes[1].text != "with":
            return text, None
        return nodes[0].span.text, text[nodes[1].end :]

    def _analyse(self, rest: str) -> None:
        self._analyses.show(self.screen, self._seconds("analyse", rest, SECONDS))

    def _hint(self, rest: str) -> None:
        hints = list(self._analyses.hints(self._seconds("hint", rest, HINT_SECONDS)))
        self._say_lines(hints or ["no role has a choice here"])

    def _solve(self, rest: str) -> None:
        self._say_lines(self._analyses.solved(rest and self._path("solve", rest)))

    @cached_property
    def _analyses(self) -> Analyses:
        return Analyses(self.session, self._values)

    # -- files -------------------------------------------------------------------------------------

    def _save(self, rest: str) -> None:
        path = self._path("save", rest)
        self.session.save(path)
        self.screen.say(f"saved {counted(self.session.step, 'move')} to {path}")

    def _load(self, rest: str) -> None:
        path = self._path("load", rest)
        self.session.load(path)
        self.screen.say(f"loaded {counted(self.session.step, 'move')} from {path}")
        self._show_position()

    def _history(self, rest: str) -> None:
        width = len(str(self.session.step))
        for step, line in self.past_moves():
            self.screen.say(f"{step + 1:>{width}}  {line}")
        if not self.session.moves:
            self.screen.say("no moves yet")

    def past_moves(self) -> Iterator[tuple[int, str]]:
        """Yield the lines of ``history``, each with the number of joint moves before it."""
        return enumerate(map(format_joint, self.session.moves))

    def _rules(self, rest: str) -> None:
        heading = sheet_heading(self._text())
        goals = goal_lines(self.session.game.program)
        wishes = Painter.of(self.session.game).boards.wishes
        lines = heading.splitlines() if heading else ["the rule sheet does not begin with a description"]
        lines += ["", "The rules for the goals of each role:"] if goals else []
        lines += [f"{number:>5}  {line}" for number, line in goals]
        lines += ["", f"Cells that a role aims at: {'; '.join(map(str, wishes))}"] if wishes else []
        self.screen.page(lines)

    def description(self) -> str:
        return describe_sheet(self._text())[1]

    def _text(self) -> str:
        nodes = (rule.node for rule in self.session.game.program.rules)
        return next((node.source.text for node in nodes if node), "")

    def _warnings(self, rest: str) -> None:
        warnings = self.session.game.program.warnings
        self.screen.say(format_diagnostics(warnings) if warnings else "the rule sheet has no warnings")

    def _help(self, rest: str) -> None:
        if not rest:
            for command in self.commands.values():
                self.screen.say(f"{command.usage:<18} {command.summary}")
            self.screen.say("You can type moves without `play`. `help COMMAND` explains a command.")
            return
        name = ALIASES.get(rest.lower(), rest.lower())
        if name not in self.commands:
            near = get_close_matches(name, self.commands, n=3)
            raise CommandError(f"there is no command {shown(rest, 40)}{did_you_mean(near)}")
        command = self.commands[name]
        aliases = ", ".join([alias for alias, meant in ALIASES.items() if meant == name])
        also = f" (also: {aliases})" if aliases else ""
        self.screen.say(f"{command.usage}: {command.summary}{also}")
        if command.details:
            self.screen.say(command.details)

    def _usage(self, name: str) -> str:
        command = self.commands[name]
        return f"usage: {command.usage}" + (f"\n{command.details}" if command.details else "")

    def _number(self, name: str, rest: str) -> int:
        if not rest:
            return 1
        if not (rest.isascii() and rest.isdigit() and int(rest[:9]) > 0):
            raise CommandError(f"expected a number from 1, found {shown(rest, 40)}\n{self._usage(name)}")
        return int(rest[:9])

    def _seconds(self, name: str, rest: str, usual: float) -> float:
        try:
            return read_seconds(rest) if rest else usual
        except ArgumentTypeError as error:
            raise CommandError(f"{error}\n{self._usage(name)}") from error

    def _path(self, name: str, rest: str) -> str:
        path = rest[1:-1] if len(rest) > 2 and rest[0] == rest[-1] and rest[0] in "\"'" else rest
        if not path:
            raise CommandError(self._usage(name))
        return os.path.expanduser(path)
