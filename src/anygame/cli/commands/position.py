"""The commands about one state: ``state``, ``legal``, ``goals`` and ``query``."""

from __future__ import annotations

from typing import Final

from anygame.answers.position import BINDINGS_SHAPE, FACTS_SHAPE, GOALS_SHAPE, LEGAL_SHAPE
from anygame.cli.options import Command, Status, argument, command_options, flag, option
from anygame.cli.output import Screen, print_answer
from anygame.cli.positions import load_position
from anygame.cli.shared_options import AFTER, PositionOptions, json_shape


@command_options
class _StateOptions(PositionOptions):
    board: bool = flag("--board", "draw the boards, and list the remaining facts")


def _state(options: _StateOptions) -> None:
    position = load_position(options)
    if options.board and not options.json:
        # This import is local because the other commands start faster without it.
        from anygame.boards import picture

        Screen().draw(picture(position.state))
    else:
        print_answer(position.facts(), options)


@command_options
class _LegalOptions(PositionOptions):
    role: str | None = argument("ROLE", nargs="?", help="role whose moves are listed (default: all roles)")


def _legal(options: _LegalOptions) -> None:
    print_answer(load_position(options).legal(options.role), options)


def _goals(options: PositionOptions) -> None:
    print_answer(load_position(options).goals(), options)


@command_options
class _QueryOptions(PositionOptions):
    pattern: str = argument(
        "PATTERN", help='atom, usually with variables, such as "(legal ?role (move ?row ?n))"'
    )
    moves: str | None = option(
        "--moves", "MOVES", "joint move for patterns that depend on moves, such as (next ?fact)"
    )


def _query(options: _QueryOptions) -> int:
    bindings = load_position(options).bindings(options.pattern, options.moves, "with --moves")
    print_answer(bindings, options)
    return Status.OK if bindings.texts else Status.ANSWER_IS_NO


COMMANDS: Final = {
    "state": Command(_StateOptions, _state, f"{AFTER}\n{json_shape(FACTS_SHAPE)}"),
    "legal": Command(_LegalOptions, _legal, f"{AFTER}\n{json_shape(LEGAL_SHAPE)}"),
    "goals": Command(PositionOptions, _goals, f"{AFTER}\n{json_shape(GOALS_SHAPE)}"),
    "query": Command(_QueryOptions, _query, f"{AFTER}\n{json_shape(BINDINGS_SHAPE)}"),
}
