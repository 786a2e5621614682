"""The ``legal`` command: the legal moves of all roles, or of one."""

from __future__ import annotations

from typing import Final

from anygame.cli.options import Command, Status, argument, command_options
from anygame.cli.output import print_json, print_lines
from anygame.cli.positions import describe_position, load_position
from anygame.cli.shared_options import AFTER, PositionOptions, json_shape
from anygame.game.joint_moves import legal_by_role

_SHAPE: Final = '{"game", "step", "terminal", "legal": {ROLE: [MOVE]}}'


@command_options
class _Options(PositionOptions):
    role: str | None = argument("ROLE", nargs="?", help="of this role only, one a line")


def run(options: _Options) -> int:
    """Print legal moves: of one role the moves alone, of all roles each with its role before it."""
    game, state = load_position(options)
    moves = legal_by_role(state)
    if options.role is not None:
        role = game.roles[game.role_index(options.role)]
        moves = {role: moves[role]}
    if options.json:
        legal = {role: list(map(str, found)) for role, found in moves.items()}
        print_json(describe_position(options, state) | {"legal": legal})
    elif options.role is not None:
        print_lines(str(move) for found in moves.values() for move in found)
    else:
        print_lines(f"{role} {move}" for role, found in moves.items() for move in found)
    return Status.OK


COMMAND = Command(_Options, run, f"{AFTER}\n{json_shape(_SHAPE)}")
