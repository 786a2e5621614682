"""The ``perft`` command: how many sequences of joint moves there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from anygame.cli.options import Command, Status, argument, command_options, flag, natural
from anygame.cli.output import complain, print_json
from anygame.cli.positions import load_game
from anygame.cli.progress import progress
from anygame.cli.shared_options import JsonOption, MachineOption, json_shape
from anygame.game import perft, perft_divide

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anygame.game import Game
    from anygame.language.terms import Term

    JointMove = tuple[Term, ...]

_SHAPE: Final = """\
{"game", "depth", "count", "divide": [{"moves": [MOVE], "count"}], "interrupted"}
  divide only with --divide; interrupted is there, and true, after Ctrl-C: count is null
  then, and divide has the first joint moves whose count is done"""

_DETAILS: Final = f"""\
Ctrl-C ends it, with the counts of the first joint moves that are done.

{json_shape(_SHAPE)}"""


@command_options
class Options(JsonOption, MachineOption):
    """What ``anygame perft`` is asked."""

    depth: int = argument("DEPTH", natural, help="the number of joint moves")
    divide: bool = flag("--divide", help="for each first joint move apart")


def run(options: Options) -> int:
    """Count the sequences of joint moves of a length, with ``--divide`` by their first joint move."""
    game = load_game(options)
    record: dict[str, Any] = {"game": game.name, "depth": options.depth}
    # Sequences of one joint move are counted without playing them, unless they are wanted one by one.
    if options.depth < 1 or (options.depth == 1 and not options.divide):
        _print(record | {"count": perft(game, options.depth)}, options)
        return Status.OK
    counting = _Counting()
    try:
        counting.run(game, options.depth)
    except KeyboardInterrupt:
        complain(f"interrupted: {len(counting.counts):,} of {counting.all:,} first joint moves were counted")
        _print(record | {"count": None, "divide": counting.divided(), "interrupted": True}, options)
        return Status.INTERRUPTED
    divided = {"divide": counting.divided()} if options.divide else {}
    _print(record | {"count": sum(counting.counts.values())} | divided, options)
    return Status.OK


class _Counting:
    """A count by first joint moves; what was counted stays where it is interrupted.

    Attributes:
        counts: by the first joint moves that are done.
        all: the number of first joint moves.
    """

    def __init__(self) -> None:
        self.counts: Mapping[JointMove, int] = {}
        self.all = 0

    def run(self, game: Game, depth: int) -> None:
        """Count, with progress on a terminal."""
        with progress("first moves", counts=True) as show:

            def note(counts: Mapping[JointMove, int], total: int) -> None:
                self.counts, self.all = counts, total
                show(completed=len(counts), total=total)

            perft_divide(game, depth, progress=note)

    def divided(self) -> list[dict[str, Any]]:
        """Return the counts as plain data."""
        return [{"moves": list(map(str, joint)), "count": n} for joint, n in self.counts.items()]


def _print(record: dict[str, Any], options: Options) -> None:
    if options.json:
        print_json(record)
        return
    for part in record.get("divide", ()):
        print(f"{part['count']:>12}  {' '.join(part['moves'])}")
    if record["count"] is not None:
        print(record["count"])


COMMAND = Command(Options, run, _DETAILS)
