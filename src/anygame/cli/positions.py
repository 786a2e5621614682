"""Loading the game and the state of a command line, and listing moves."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from anygame.answers.position import Position
from anygame.cli.output import columns_of
from anygame.cli.progress import compile_game
from anygame.cli.sheets import read_game
from anygame.errors import IllegalMoveError, TermSyntaxError
from anygame.game.joint_moves import play_text
from anygame.language.terms import Compound, Term

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.cli.shared_options import MachineOption, PositionOptions
    from anygame.game.game import Game
    from anygame.game.state import State


def list_moves(
    moves: Sequence[Term], all_moves: Sequence[Term], width: int, *, grouped: bool
) -> Iterator[str]:
    """Yield lines that list moves with their numbers in ``all_moves``; ``grouped`` groups moves by name."""
    numbers = {move: number for number, move in enumerate(all_moves, start=1)}
    digits = len(str(len(all_moves)))
    names: dict[Term, str] = {move: move.functor for move in moves if grouped and isinstance(move, Compound)}
    groups = [(name, list(group)) for name, group in groupby(moves, key=lambda move: names.get(move, ""))]
    for name, group in groups:
        indent = "  "
        if len(groups) > 1 and name:
            yield f"  {name} ({len(group)})"
            indent = "    "
        cells = [f"{numbers[move]:>{digits}}  {move}" for move in group]
        for line in columns_of(cells, width - len(indent)):
            yield indent + line


def load_game(options: MachineOption) -> Game:
    """Load the game of a command line, and compile it for ``--machine network``. Raises RuleSheetError."""
    game = read_game(options.file, options)
    if options.machine == "network":
        compile_game(game)
    return game


def load_position(options: PositionOptions) -> Position:
    """Load the game, and make the moves of ``--after``. Raises RuleSheetError or IllegalMoveError."""
    game = load_game(options)
    states, _ = play_after(game, options)
    return Position(game, states[-1], len(options.after))


def load_compiled_position(options: PositionOptions, compile_seconds: float | None = None) -> Position:
    """Load a position as `load_position` does, and compile its game unless ``--machine`` is the reasoner."""
    position = load_position(options)
    if options.machine != "reasoner" and not position.game.is_settled:
        compile_game(position.game, seconds=compile_seconds)
    return position


def play_after(game: Game, options: PositionOptions) -> tuple[list[State], list[tuple[Term, ...]]]:
    """Return the states from the initial state through the joint moves of ``--after``, and these moves.

    Raises IllegalMoveError.
    """
    states = [game.initial_state()]
    joint_moves = []
    for number, moves in enumerate(options.after, start=1):
        try:
            state, joint = play_text(states[-1], moves)
        except (IllegalMoveError, TermSyntaxError) as error:
            raise IllegalMoveError(f'--after "{moves}" (number {number}): {error}') from error
        states.append(state)
        joint_moves.append(tuple(joint))
    return states, joint_moves
