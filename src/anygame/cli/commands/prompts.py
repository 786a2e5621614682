"""The commands that open a prompt: ``repl`` to explore a game, ``play`` to play against others."""

from __future__ import annotations

from contextlib import suppress
from random import SystemRandom
from typing import TYPE_CHECKING, Final

from anygame.cli.matches.seating import HUMAN, PLAYERS, make_seat, named
from anygame.cli.options import Command, Status, argument, command_options, flag, option, seconds, several
from anygame.cli.output import Screen
from anygame.cli.playing.shell import PlayShell
from anygame.cli.playing.table import Seating, Table
from anygame.cli.positions import load_game
from anygame.cli.repl.conversation import converse, is_conversation, run_script
from anygame.cli.repl.session import Session
from anygame.cli.repl.shell import Shell
from anygame.cli.shared_options import SHEET_HELP, MachineOption, seed_option
from anygame.cli.sheets import record_path, state_folder
from anygame.errors import AnygameError, PlayerError
from anygame.language.diagnostics import counted
from anygame.search import load_table

if TYPE_CHECKING:
    from anygame.game.game import Game
    from anygame.match.record import Record

# -- repl ----------------------------------------------------------------------------------------------

_REPL_DETAILS: Final = """\
The prompt reads commands from standard input; `help` lists them. On a terminal, the extra
`terminal` adds editing and completion of lines: pip install 'anygame[terminal]'. If standard
input is not a terminal, its lines are executed as a script. If a line fails, the script
continues, but the exit status is 1.
"""


@command_options
class _ReplOptions(MachineOption):
    file: str = argument("FILE", help=SHEET_HELP)
    seed: int | None = seed_option()
    table: str | None = option(
        "--table", "FILE", "file of exact values for `analyse` and `hint`, written by `anygame solve --table`"
    )
    echo: bool = flag("--echo", "print each line of the input, after `> `")


def _repl(options: _ReplOptions) -> int:
    if options.file == "-":
        raise AnygameError("standard input is for commands: give the rule sheet as a file")
    game = load_game(options)
    screen = Screen()
    values = None if options.table is None else load_table(options.table, game)
    shell = Shell(Session(game, options.seed), screen, values)
    if is_conversation(screen):
        converse(shell)
        return Status.OK
    return Status.ANSWER_IS_NO if run_script(shell, echo=options.echo) else Status.OK


# -- play ----------------------------------------------------------------------------------------------

_PLAY_DETAILS: Final = f"""\
You play the first role, or the roles of --as. The players of --against play the other roles,
in the order of the roles. By default, `mcts` plays all of them. Try `--against easy` first.

You can type the move (move d 4) as `d 4`, `d4`, `move d 4`, an unambiguous prefix, or the
number of the move in `legal`. `undo` takes back your move and the replies to it, `hint` suggests
a move, `resign` ends the game, and `help` lists all commands. If only the role `random` has a
choice, Enter samples its move.

{PLAYERS}
On a terminal, the record of the game is written to ~/.local/state/anygame/matches, or to
the folder of --record. `anygame replay` steps through it. If standard input is not a terminal,
its lines are executed as a script, and a record is written only with --record. If a line
fails, the script continues, but the exit status is 1.

In games with hidden information (GDL-II), you see only facts that your role perceives or can
deduce. --reveal shows everything.
"""


@command_options
class _PlayOptions(MachineOption):
    file: str = argument("FILE", help=SHEET_HELP)
    roles: list[str] = several("--as", "ROLE", "role that you play (default: the first)")
    against: list[str] = several(
        "--against", "PLAYER", "player for all other roles, or a player for each other role (default mcts)"
    )
    clock: float = option(
        "--play-clock",
        "SECONDS",
        "seconds that players have for each move",
        seconds,
        default=3.0,
        former="--clock",
    )
    seed: int | None = seed_option()
    record: str | None = option(
        "--record",
        "DIR",
        "folder for the record of the game (default: ~/.local/state/anygame/matches; with a script, none)",
    )
    thinking: bool = flag("--thinking", "show the comments of players on their moves")
    reveal: bool = flag("--reveal", "show the whole state, even in a game with hidden information")
    echo: bool = flag("--echo", "print each line of the input, after `> `")


def _play(options: _PlayOptions) -> int:
    if options.file == "-":
        raise AnygameError("standard input is for moves: give the rule sheet as a file")
    game = load_game(options)
    screen = Screen()
    is_live = is_conversation(screen)
    seed = SystemRandom().randrange(2**32) if options.seed is None else options.seed
    seating = _seated(options, game, seed)

    def path_of(record: Record) -> str | None:
        if options.record is not None:
            return record_path(options.record, record)
        # If the default folder is not writable, the game is played without a record.
        with suppress(AnygameError, RuntimeError):
            return record_path(str(state_folder("matches")), record) if is_live else None
        return None

    table = Table(Session(game, seed), seating, path_of)
    shell = PlayShell(table, screen, thinks_aloud=options.thinking, reveals=options.reveal)
    try:
        if is_live:
            converse(shell)
            return Status.OK
        shell.start()
        return Status.ANSWER_IS_NO if run_script(shell, echo=options.echo) else Status.OK
    finally:
        table.leave()


def _seated(options: _PlayOptions, game: Game, seed: int) -> Seating:
    roles = [role for role in game.roles if not role.is_random]
    if not roles:
        raise PlayerError(f"{game.name} has no role to play, only `random`")
    asked = options.roles or ([] if HUMAN in options.against else [roles[0]])
    people = {game.roles[game.role_index(role)] for role in asked}
    if any(role.is_random for role in people):
        raise PlayerError("nobody can play the role `random`, whose moves are sampled")
    others = [role for role in roles if role not in people]
    specs = options.against or ["mcts"]
    if len(specs) == 1:
        specs = specs * len(others)
    if len(specs) != len(others):
        raise PlayerError(
            f"expected one player for all other roles, or one for each of {', '.join(others) or 'no roles'}; "
            f"found {counted(len(specs), 'player')}"
        )
    waiting = iter(specs)
    names = named([HUMAN if role in people else next(waiting) for role in roles])
    players = dict(zip(roles, names, strict=True))
    seats = {
        role: make_seat(player, seed + index, aloud=True)
        for index, (role, player) in enumerate(players.items())
        if player[1] != HUMAN
    }
    return Seating(players, seats, options.clock)


COMMANDS: Final = {
    "repl": Command(_ReplOptions, _repl, _REPL_DETAILS),
    "play": Command(_PlayOptions, _play, _PLAY_DETAILS),
}
