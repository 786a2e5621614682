"""The ``replay`` command: shows a match record on the board, and checks the record against the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from anygame.boards import animation, match_pictures, picture, svg
from anygame.cli.matches.watching import show_fault, show_said
from anygame.cli.options import Command, Status, argument, command_options, flag, option
from anygame.cli.output import Screen, complain, print_json
from anygame.cli.repl.conversation import is_conversation
from anygame.cli.shared_options import JsonOption, ReadingOptions
from anygame.cli.sheets import make_folder, read_game, write_text
from anygame.errors import AnygameError, MissingExtraError, RecordError
from anygame.match import replaying
from anygame.match.record import read_record
from anygame.match.signing import is_signed, verify

if TYPE_CHECKING:
    from pathlib import Path

    from anygame.match.record import Record
    from anygame.match.replaying import Replay

#: Maximum number of states in an animation, which contains a drawing of each state.
_ANIMATED: Final = 500

_DETAILS: Final = """\
On a terminal, you step through the record: Enter goes forward, b goes back, a number goes to
that step, e goes to the end, and q quits. Without a terminal, all moves are printed; with
--board, all states, too. The moves and goals of the record are checked against the rules, and
its signature is verified. The exit status is 1 if the record disagrees with the rules, or if
its signature is invalid. --svg writes step-000.svg, step-001.svg, ... and the animation
match.svg.

With --json, one object is printed:
  {"match", "game", "players": [NAME], "steps", "completed", "aborted", "goals",
   "signed": true or false, "faults": [TEXT]}
"""


@command_options
class _Options(JsonOption, ReadingOptions):
    record: str = argument("RECORD", help="match record, a JSON file in the format of GGP servers")
    file: str | None = argument("FILE", nargs="?", help="rule sheet (default: the rules in the record)")
    board: bool = flag("--board", "draw every state, even if the output is not a terminal")
    check: bool = flag("--check", "check the record, and print only errors")
    svg: str | None = option(
        "--svg", "DIR", "write a picture of each state, and an animation, to this folder"
    )


def _replay(options: _Options) -> int:
    if not options.record:
        raise AnygameError("expected the name of a match record, found an empty one")
    record = read_record(options.record)
    game = replaying.rules_of(record) if options.file is None else read_game(options.file, options)
    replayed = replaying.replay(record, game)
    signed, faults = _signature(record)
    faults += replayed.faults
    screen = Screen()
    if options.svg is not None:
        _write_pictures(replayed, make_folder(options.svg))
    if options.json:
        print_json(_described(replayed, signed=signed, faults=faults))
        return Status.ANSWER_IS_NO if faults else Status.OK
    if not options.check:
        asks = is_conversation(screen)
        _Shown(replayed, screen).show(boards=options.board or asks, asks=asks)
    if not options.check or faults:
        _conclude(screen, record, signed=signed, faults=faults)
    return Status.ANSWER_IS_NO if faults else Status.OK


def _write_pictures(replayed: Replay, folder: Path) -> None:
    pictures = match_pictures(replayed.states, replayed.record.moves)
    width = max(3, len(str(len(pictures) - 1)))
    for step, drawn in enumerate(pictures):
        write_text(folder / f"step-{step:0{width}}.svg", svg(drawn, dark=False))
    write_text(folder / "match.svg", animation(pictures[:_ANIMATED], dark=False))


def _signature(record: Record) -> tuple[bool, list[str]]:
    """Return whether a record is signed, and what is wrong with its signature."""
    data = record.to_json()
    if not is_signed(data):
        return False, []
    try:
        verify(data)
    except RecordError as error:
        return True, [str(error)]
    except MissingExtraError as error:
        complain(f"the signature could not be verified: {error}")
    return True, []


def _described(replayed: Replay, *, signed: bool, faults: list[str]) -> dict[str, Any]:
    record = replayed.record
    goals = (
        zip(replayed.states[0].game.roles, record.goals, strict=False) if record.goals is not None else None
    )
    return {
        "match": record.match_id,
        "game": replayed.states[0].game.name,
        "players": record.names,
        "steps": record.step,
        "completed": record.is_completed,
        "aborted": record.is_aborted,
        "goals": None if goals is None else dict(goals),
        "signed": signed,
        "faults": faults,
    }


def _conclude(screen: Screen, record: Record, *, signed: bool, faults: list[str]) -> None:
    for fault in faults:
        screen.say(f"wrong: {fault}", "red")
    if not faults:
        agrees = "the record agrees with the rules"
        screen.say(f"{agrees}, and is signed" if signed else agrees, "green")
    if not record.is_completed:
        screen.say("the match was aborted" if record.is_aborted else "the match is not completed")


class _Shown:
    def __init__(self, replayed: Replay, screen: Screen) -> None:
        self.replay = replayed
        self.record = replayed.record
        self.screen = screen
        self.roles = replayed.states[0].game.roles

    def show(self, *, boards: bool, asks: bool) -> None:
        """Show all states in order; with ``asks``, a person chooses which state is shown next."""
        last = len(self.replay.states) - 1
        step: int | None = 0
        self._say_players()
        while step is not None:
            if step:
                self._say_moves(step)
            if boards:
                self._draw(step)
            if step == last:
                self._say_goals()
            following = step + 1 if step < last else None
            step = self._asked_step(step, last) if asks else following

    def _asked_step(self, step: int, last: int) -> int | None:
        while True:
            try:
                word = input(f"{step} of {last} > ").strip()
            except EOFError:
                self.screen.say()
                return None
            if word in ("q", "quit"):
                return None
            if word in ("b", "back"):
                return max(0, step - 1)
            if word in ("e", "end"):
                return last
            if word.isascii() and word.isdigit():
                return min(last, int(word[:9]))
            if not word:
                return step + 1 if step < last else None
            self.screen.say(
                f"Enter: next step, b: previous step, 0 to {last}: that step, e: last step, q: quit"
            )

    def _say_players(self) -> None:
        names = self.record.names
        players = (
            [f"{role}: {name}" for role, name in zip(self.roles, names, strict=True)]
            if len(names) == len(self.roles)
            else [*map(str, self.roles)]
        )
        self.screen.say(f"{self.record.match_id}  {', '.join(players)}", "bold")

    def _say_moves(self, step: int) -> None:
        moves = self.record.moves[step - 1]
        self.screen.say(f"{step:>3}  {'  '.join(map(_tight, moves))}")
        verdicts = self.record.verdicts(step, len(self.roles))
        for role, move, verdict in zip(self.roles, moves, verdicts, strict=False):
            show_said(self.screen, f"{role} said", verdict)
            show_fault(self.screen, role, verdict, _tight(move))

    def _say_goals(self) -> None:
        goals = self.record.goals
        if goals is not None and len(self.replay.states) == len(self.record.states):
            shown = ", ".join(f"{role} {goal}" for role, goal in zip(self.roles, goals, strict=False))
            self.screen.say(f"goals: {shown}", "bold")

    def _draw(self, step: int) -> None:
        screen, states = self.screen, self.replay.states
        last = self.record.moves[step - 1] if step and screen.is_terminal else None
        screen.draw(picture(states[step], last=last, before=states[step - 1] if last else None))
        screen.say()


def _tight(move: str) -> str:
    """Return a move without blanks next to parentheses; some records contain such blanks."""
    return move.replace("( ", "(").replace(" )", ")")


COMMANDS: Final = {"replay": Command(_Options, _replay, _DETAILS)}
