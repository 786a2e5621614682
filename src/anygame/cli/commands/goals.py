"""The ``goals`` command: the goal of every role in a state."""

from __future__ import annotations

from typing import Final

from anygame.cli.options import Command, Status, command_options
from anygame.cli.output import print_json, print_lines
from anygame.cli.positions import describe_position, load_position
from anygame.cli.shared_options import AFTER, PositionOptions, json_shape
from anygame.game.joint_moves import describe_goal, goals_of

_SHAPE: Final = """\
{"game", "step", "terminal", "goals": {ROLE: NUMBER or null},
   "conflicts": {ROLE: [VALUE]}}
  conflicts holds the roles to which the rules give several goals at once;
  these have null in goals"""


@command_options
class _Options(PositionOptions):
    """What ``anygame goals`` is asked."""


def run(options: _Options) -> int:
    """Print the goal of every role."""
    _, state = load_position(options)
    found = goals_of(state)
    if options.json:
        conflicts = {role: list(values) for role, values in found.items() if isinstance(values, tuple)}
        plain = {role: None if isinstance(value, tuple) else value for role, value in found.items()}
        print_json(describe_position(options, state) | {"goals": plain, "conflicts": conflicts})
    else:
        print_lines(f"{role} {describe_goal(value)}" for role, value in found.items())
    return Status.OK


COMMAND = Command(_Options, run, f"{AFTER}\n{json_shape(_SHAPE)}")
