"""Commands that answer one question and end. Each returns its exit status.

The shapes of ``--json`` are told by ``--help`` (`anygame.cli.arguments`); their keys are stable.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from anygame.boards import find_boards
from anygame.cli.drawing import picture
from anygame.cli.machines import compile_game, game_of
from anygame.cli.moves import advised, legal_by_role, play_text, read_joint
from anygame.cli.output import Screen, goals_of, print_json
from anygame.errors import AnygameError, IllegalMoveError, QueryError, TermSyntaxError
from anygame.game.playouts import perft as count_sequences
from anygame.game.playouts import perft_divide as count_by_first
from anygame.language.parser import parse_atom
from anygame.language.rules import Atom
from anygame.language.terms import Term, Variable, substitute

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Iterator, Mapping

    from anygame.game.game import Game
    from anygame.game.state import State

__all__ = ["ANSWER_IS_NO", "OK", "Binding", "bare", "describe_goal", "explain", "goals", "instances", "legal"]
__all__ += ["perft", "position", "query", "state"]

OK: Final = 0
ANSWER_IS_NO: Final = 1

#: Names of variables without question marks, and their values.
Binding = tuple[tuple[str, Term], ...]


def state(options: Namespace) -> int:
    """Print the facts of a state, one a line; with ``--board`` as boards and a short list."""
    game, now = position(options)
    if options.json:
        print_json(_header(options, now) | {"roles": list(game.roles), "facts": sorted(map(str, now.facts))})
    elif options.board:
        screen = Screen()
        screen.show(picture(find_boards(game), now.facts, width=screen.width, stones=screen.stones))
    else:
        _print_lines(sorted(map(str, now.facts)))
    return OK


def legal(options: Namespace) -> int:
    """Print legal moves: of one role the moves alone, of all roles each with its role before it."""
    game, now = position(options)
    moves = legal_by_role(now)
    if options.role is not None:
        role = game.roles[game.role_index(options.role)]
        moves = {role: moves[role]}
    if options.json:
        print_json(
            _header(options, now) | {"legal": {role: list(map(str, found)) for role, found in moves.items()}}
        )
    elif options.role is not None:
        _print_lines(str(move) for found in moves.values() for move in found)
    else:
        _print_lines(f"{role} {move}" for role, found in moves.items() for move in found)
    return OK


def goals(options: Namespace) -> int:
    """Print the goal of every role, and whether the game is over."""
    _, now = position(options)
    found = goals_of(now)
    if options.json:
        conflicts = {role: list(values) for role, values in found.items() if isinstance(values, tuple)}
        plain = {role: None if isinstance(value, tuple) else value for role, value in found.items()}
        print_json(_header(options, now) | {"goals": plain, "conflicts": conflicts})
    else:
        _print_lines(f"{role} {describe_goal(value)}" for role, value in found.items())
    return OK


def describe_goal(value: int | tuple[str, ...] | None) -> str:
    """Return a goal as people read it."""
    if isinstance(value, tuple):
        return f"{' and '.join(value)} (the rules contradict each other)"
    return "none" if value is None else str(value)


def query(options: Namespace) -> int:
    """Print every instance of a pattern that holds; without any, print nothing and return ANSWER_IS_NO."""
    game, now = position(options)
    joint = read_joint(now, options.moves) if options.moves is not None else None
    try:
        found = sorted({bare(binding) for binding in now.query(options.pattern, joint)})
    except QueryError as error:
        raise advised(error, "with --moves") from error
    if options.json:
        bindings = [{f"?{name}": str(term) for name, term in binding} for binding in found]
        print_json(_header(options, now) | {"pattern": options.pattern, "bindings": bindings})
    else:
        _print_lines(instances(game, options.pattern, found))
    return OK if found else ANSWER_IS_NO


def bare(binding: Mapping[str, Term]) -> Binding:
    """Return the bindings of variables, by names without question marks, in order of the names."""
    return tuple(sorted((name.removeprefix("?"), term) for name, term in binding.items()))


def instances(game: Game, pattern: str, bindings: Iterable[Binding]) -> Iterator[str]:
    """Yield a pattern with its variables replaced, for every binding."""
    atom = parse_atom(pattern, case_sensitive=game.case_sensitive)
    for binding in bindings:
        values = {Variable(name): term for name, term in binding}
        yield str(Atom(atom.predicate, tuple(substitute(argument, values) for argument in atom.arguments)))


def perft(options: Namespace) -> int:
    """Count the sequences of joint moves of a length, with ``--divide`` by their first joint move."""
    game = game_of(options)
    record: dict[str, Any] = {"game": game.name, "depth": options.depth}
    if options.divide and options.depth > 0:
        divided = count_by_first(game, options.depth)
        record["count"] = sum(divided.values())
        record["divide"] = [{"moves": list(map(str, joint)), "count": n} for joint, n in divided.items()]
    else:
        record["count"] = count_sequences(game, depth=options.depth)
    if options.json:
        print_json(record)
        return OK
    for part in record.get("divide", ()):
        print(f"{part['count']:>12}  {' '.join(part['moves'])}")
    print(record["count"])
    return OK


def explain(options: Namespace) -> int:
    """Print how the rules are understood: strata, the plan of their joins, domains, or the network."""
    game = game_of(options)
    if options.what == "network":
        compile_game(game)
    if options.dot is not None:
        return _draw(game, options)
    if options.json:
        described = getattr(game, f"describe_{options.what}")()
        print_json({"game": game.name, options.what: described})
    else:
        print(getattr(game, f"explain_{options.what}")().rstrip())
    return OK


def _draw(game: Game, options: Namespace) -> int:
    """Write a picture of the network."""
    if options.what != "network":
        raise AnygameError("--dot draws the network: give --network too")
    drawn = game.draw_network()
    if options.dot == "-":
        print(drawn, end="")
        return OK
    try:
        Path(options.dot).write_text(drawn, encoding="utf-8")
    except OSError as error:
        raise AnygameError(f"cannot write {options.dot}: {error.strerror}") from error
    return OK


def position(options: Namespace) -> tuple[Game, State]:
    """Load the game and play the moves of ``--after``."""
    game = game_of(options)
    now = game.initial_state()
    for number, moves in enumerate(options.after, start=1):
        try:
            now, _ = play_text(now, moves)
        except (IllegalMoveError, TermSyntaxError) as error:
            raise IllegalMoveError(f'--after "{moves}" (number {number}): {error}') from error
    return game, now


def _header(options: Namespace, now: State) -> dict[str, Any]:
    return {"game": now.game.name, "step": len(options.after), "terminal": now.is_terminal}


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)
