"""The ``perft`` command: counts the sequences of joint moves of a given length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from anygame.cli.options import Command, Status, argument, command_options, flag, natural
from anygame.cli.output import complain, print_json
from anygame.cli.positions import load_game
from anygame.cli.progress import progress
from anygame.cli.shared_options import JsonOption, MachineOption, json_shape
from anygame.errors import LimitError
from anygame.game import perft, perft_divide

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anygame.language.terms import Term

    JointMove = tuple[Term, ...]

#: Maximum number of printed digits (Python's default limit), because printing takes quadratic time.
_MOST_DIGITS: Final = 4_300

_SHAPE: Final = """\
{"game", "depth", "count", "divide": [{"moves": [MOVE], "count"}], "interrupted"}
  divide exists with --divide and after Ctrl-C. After Ctrl-C, interrupted is true, count is null,
  and divide lists the initial joint moves whose counts are complete."""

_DETAILS: Final = f"""\
Ctrl-C stops the count, and prints the counts of those initial joint moves that are complete.

{json_shape(_SHAPE)}"""


@command_options
class _Options(JsonOption, MachineOption):
    depth: int = argument("DEPTH", natural, help="number of joint moves, at most 100,000")
    divide: bool = flag("--divide", "count separately for each first joint move")


def _perft(options: _Options) -> int:
    game = load_game(options)
    record: dict[str, Any] = {"game": game.name, "depth": options.depth}
    # At depth 1, without --divide, joint moves are counted without generating them.
    if options.depth < 1 or (options.depth == 1 and not options.divide):
        _print(record | {"count": perft(game, options.depth)}, options)
        return Status.OK
    counts: Mapping[JointMove, int] = {}
    planned = 0
    with progress("first moves", counts=True) as show:

        def note(counted: Mapping[JointMove, int], total: int) -> None:
            nonlocal counts, planned
            counts, planned = counted, total
            show(completed=len(counted), total=total)

        try:
            perft_divide(game, options.depth, progress=note)
            is_whole = True
        except KeyboardInterrupt:
            is_whole = False
    divided = [{"moves": list(map(str, joint)), "count": number} for joint, number in counts.items()]
    if not is_whole:
        complain(f"interrupted: {len(counts):,} of {planned:,} first joint moves were counted")
        _print(record | {"count": None, "divide": divided, "interrupted": True}, options)
        return Status.INTERRUPTED
    record["count"] = sum(counts.values())
    _print(record | ({"divide": divided} if options.divide else {}), options)
    return Status.OK


def _print(record: dict[str, Any], options: _Options) -> None:
    divided = record.get("divide", ())
    if max([record["count"] or 0, *(part["count"] for part in divided)]) >= 10**_MOST_DIGITS:
        raise LimitError(
            f"the count has more than {_MOST_DIGITS:,} digits: choose a smaller DEPTH",
            limit="digits",
            bound=_MOST_DIGITS,
        )
    if options.json:
        print_json(record)
        return
    for part in divided:
        print(f"{part['count']:>12}  {' '.join(part['moves'])}")
    if record["count"] is not None:
        print(record["count"])


COMMANDS: Final = {"perft": Command(_Options, _perft, _DETAILS)}
