"""The ``state`` command: the facts of a state."""

from __future__ import annotations

from typing import Final

from anygame.cli.options import Command, Status, command_options, flag
from anygame.cli.output import Screen, print_json, print_lines
from anygame.cli.positions import describe_position, load_position
from anygame.cli.shared_options import AFTER, PositionOptions, json_shape

_SHAPE: Final = '{"game", "step", "terminal", "roles": [ROLE], "facts": [FACT]}'


@command_options
class _Options(PositionOptions):
    board: bool = flag("--board", help="draw boards, list the other facts")


def run(options: _Options) -> int:
    """Print the facts of a state, one a line; with ``--board`` as boards and a short list."""
    game, state = load_position(options)
    facts = sorted(map(str, state.facts))
    if options.json:
        print_json(describe_position(options, state) | {"roles": list(game.roles), "facts": facts})
    elif options.board:
        # Most questions draw nothing, and need not wait for what finds boards.
        from anygame.boards import picture

        Screen().draw(picture(state))
    else:
        print_lines(facts)
    return Status.OK


COMMAND = Command(_Options, run, f"{AFTER}\n{json_shape(_SHAPE)}")
