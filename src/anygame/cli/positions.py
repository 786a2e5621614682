"""The game and the state that a command line asks about, and answers as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anygame.cli.moves import play_text
from anygame.cli.progress import compile_game
from anygame.cli.sheets import read_game
from anygame.errors import GoalError, IllegalMoveError, QueryError, TermSyntaxError
from anygame.language.parser import parse_atom
from anygame.language.rules import Atom
from anygame.language.terms import Term, Variable, substitute

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame.cli.shared_options import MachineOption, PositionOptions
    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State


def load_game(options: MachineOption) -> Game:
    """Load the game that a command line names, with the machine it asks for.

    Raises:
        RuleSheetError: there is no such file, or its rules cannot be used.
    """
    game = read_game(options.file, options)
    if options.machine == "network":
        compile_game(game)
    return game


def load_position(options: PositionOptions) -> tuple[Game, State]:
    """Load the game and play the moves of ``--after``.

    Raises:
        RuleSheetError: as `load_game`.
        IllegalMoveError: one of the moves cannot be read or played.
    """
    game = load_game(options)
    states, _ = play_after(game, options)
    return game, states[-1]


def play_after(game: Game, options: PositionOptions) -> tuple[list[State], list[tuple[Term, ...]]]:
    """Return the states to which the moves of ``--after`` lead, the initial one first, and the moves.

    Raises:
        IllegalMoveError: one of the moves cannot be read or played.
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


def describe_position(options: PositionOptions, state: State) -> dict[str, Any]:
    """Return what the JSON of all questions about a state begins with."""
    return {"game": state.game.name, "step": len(options.after), "terminal": state.is_terminal}


#: The goal of every role: a number, None where the rules give none, or several that contradict each other.
Goals = dict["Role", "int | tuple[str, ...] | None"]
#: Names of variables without question marks, and their values.
Binding = tuple[tuple[str, Term], ...]


def goals_of(state: State) -> Goals:
    """Return the goals of a state; in states that are not final, rules often give none or several."""
    goals: Goals = {}
    for role in state.game.roles:
        try:
            goals[role] = state.goal(role)
        except GoalError as error:
            goals[role] = error.values
    return goals


def describe_goal(value: int | tuple[str, ...] | None) -> str:
    """Return a goal as people read it."""
    if isinstance(value, tuple):
        return f"{' and '.join(value)} (the rules contradict each other)"
    return "none" if value is None else str(value)


def advised(error: QueryError, advice: str) -> QueryError:
    """Return an error with advice how to give a joint move, if that is what the question lacks."""
    return QueryError(f"{error}, {advice}") if "depends on the moves" in str(error) else error


def bindings_of(state: State, pattern: str, joint: Sequence[Term] | None, advice: str) -> list[Binding]:
    """Return the bindings for which a pattern holds, in order.

    Args:
        state: which is asked.
        pattern: a sentence with variables.
        joint: the moves on which the answer depends; None where none are given.
        advice: how they are given, for the error that says so.

    Raises:
        QueryError: the pattern cannot be asked.
    """
    try:
        found = state.query(pattern, joint)
        return sorted(
            {tuple(sorted((name.removeprefix("?"), term) for name, term in one.items())) for one in found}
        )
    except QueryError as error:
        raise advised(error, advice) from error


def instances(game: Game, pattern: str, bindings: Iterable[Binding]) -> Iterator[str]:
    """Yield a pattern with its variables replaced, for every binding."""
    atom = parse_atom(pattern, case_sensitive=game.case_sensitive)
    for binding in bindings:
        values = {Variable(name): term for name, term in binding}
        yield str(Atom(atom.predicate, tuple(substitute(argument, values) for argument in atom.arguments)))
