"""The ``query`` command: all instances of a pattern that hold in a state."""

from __future__ import annotations

from typing import Final

from anygame.cli.options import Command, Status, argument, command_options, option
from anygame.cli.output import print_json, print_lines
from anygame.cli.positions import describe_position, load_position
from anygame.cli.shared_options import AFTER, PositionOptions, json_shape
from anygame.game.joint_moves import bindings_of, instances, read_joint

_SHAPE: Final = '{"game", "step", "terminal", "pattern", "bindings": [{"?VARIABLE": TERM}]}'


@command_options
class _Options(PositionOptions):
    pattern: str = argument("PATTERN", help='such as "(legal ?role (move ?row ?n))" or terminal')
    moves: str | None = option(
        "--moves", metavar="MOVES", help="the joint move on which the answer depends, as for (next ?fact)"
    )


def run(options: _Options) -> int:
    """Print every instance that holds; without any, print nothing and return Status.ANSWER_IS_NO."""
    game, state = load_position(options)
    joint = read_joint(state, options.moves) if options.moves is not None else None
    found = bindings_of(state, options.pattern, joint, "with --moves")
    if options.json:
        bindings = [{f"?{name}": str(term) for name, term in binding} for binding in found]
        answer = {"pattern": options.pattern, "bindings": bindings}
        print_json(describe_position(options, state) | answer)
    else:
        print_lines(instances(game, options.pattern, found))
    return Status.OK if found else Status.ANSWER_IS_NO


COMMAND = Command(_Options, run, f"{AFTER}\n{json_shape(_SHAPE)}")
