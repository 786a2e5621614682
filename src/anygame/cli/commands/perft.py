"""The ``perft`` command: how many sequences of joint moves there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from anygame.cli.exit_status import OK
from anygame.cli.options import Command, argument, flag, natural
from anygame.cli.output import print_json
from anygame.cli.positions import load_game
from anygame.cli.shared_options import JsonOption, MachineOption, json_shape
from anygame.game import perft, perft_divide

__all__ = ["COMMAND"]

_SHAPE: Final = """\
{"game", "depth", "count", "divide": [{"moves": [MOVE], "count"}]}
  divide only with --divide"""


@dataclass(frozen=True)
class Options(JsonOption, MachineOption):
    """What ``anygame perft`` is asked."""

    depth: int = argument("DEPTH", natural, help="the number of joint moves")
    divide: bool = flag("--divide", help="for each first joint move apart")


def run(options: Options) -> int:
    """Count the sequences of joint moves of a length, with ``--divide`` by their first joint move."""
    game = load_game(options)
    record: dict[str, Any] = {"game": game.name, "depth": options.depth}
    if options.divide and options.depth > 0:
        divided = perft_divide(game, options.depth)
        record["count"] = sum(divided.values())
        record["divide"] = [{"moves": list(map(str, joint)), "count": n} for joint, n in divided.items()]
    else:
        record["count"] = perft(game, options.depth)
    if options.json:
        print_json(record)
        return OK
    for part in record.get("divide", ()):
        print(f"{part['count']:>12}  {' '.join(part['moves'])}")
    print(record["count"])
    return OK


COMMAND = Command(Options, run, json_shape(_SHAPE))
