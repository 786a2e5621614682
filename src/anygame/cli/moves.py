"""Joint moves as people type them: in the order of the roles, as terms or as numbers of a list."""

from __future__ import annotations

from difflib import get_close_matches
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Final

from anygame.errors import IllegalMoveError, QueryError
from anygame.language.parser import parse_nodes, parse_term

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term

__all__ = ["advised", "format_joint", "legal_by_role", "play_text", "read_joint", "single_moves"]

_CHOICES_LIMIT: Final = 10_000


def format_joint(moves: Sequence[Term]) -> str:
    """Return a joint move as it can be typed again.

    >>> from anygame.language.terms import Constant
    >>> format_joint([Constant("paper"), Constant("rock")])
    'paper rock'
    """
    return " ".join(map(str, moves))


def legal_by_role(state: State) -> dict[Role, tuple[Term, ...]]:
    """Return the legal moves of every role, in the order of the roles."""
    return {role: state.legal_moves(role) for role in state.game.roles}


def single_moves(legal: Mapping[Role, Sequence[Term]]) -> dict[Role, Term]:
    """Return the move of every role that has but one."""
    return {role: moves[0] for role, moves in legal.items() if len(moves) == 1}


def play_text(
    state: State, text: str, draw: Callable[[Sequence[Term]], Term] | None = None
) -> tuple[State, tuple[Term, ...]]:
    """Read a joint move and play it.

    Args:
        state: where it is played.
        text: as for `read_joint`.
        draw: as for `read_joint`.

    Returns:
        The next state and the joint move.

    Raises:
        IllegalMoveError: the game is over, or the move is not legal or not complete.
        TermSyntaxError: the text cannot be read.
    """
    if state.is_terminal:
        raise IllegalMoveError("the game is over: nobody can move any more")
    joint = read_joint(state, text, draw)
    return state.next(joint), joint


def read_joint(
    state: State, text: str, draw: Callable[[Sequence[Term]], Term] | None = None
) -> tuple[Term, ...]:
    """Read one joint move.

    Moves stand in the order of the roles: for all roles, or only for those that can choose, or for some of
    whom the moves can only be; whoever is left out makes its single legal move. A number that is no legal
    move itself stands for the move at that place in the sorted list of the role's legal moves, from 1.
    Capitals count only where they tell two legal moves apart.

    Args:
        state: the state in which the move is made.
        text: terms, divided by blanks.
        draw: chooses for the role ``random``, which may then be left out.

    Raises:
        IllegalMoveError: too few or too many moves, a number that is not in the list, or a move that is not
            legal.
        TermSyntaxError: the text cannot be read.
    """
    given = [node.span.text for node in parse_nodes(text)]
    legal = legal_by_role(state)
    single = single_moves(legal)
    stuck = next((role for role, moves in legal.items() if not moves), None)
    if stuck is not None:
        raise IllegalMoveError(f"{stuck} has no legal move, so that nobody can move here", stuck)
    choosing = [role for role in legal if role not in single]
    asked = [role for role in choosing if not (draw and role.is_random)]
    counted = (roles for roles in (list(legal), choosing, asked) if len(roles) == len(given))
    roles = next(counted, None)
    if roles is None:
        roles = _only_possible(given, legal, single)
    if roles is None:
        raise IllegalMoveError(_count_message(given, legal, asked))
    typed = {role: _chosen(role, word, legal[role]) for role, word in zip(roles, given, strict=True)}
    drawn = {role: draw(legal[role]) for role in choosing if draw and role not in typed}
    return tuple((single | drawn | typed)[role] for role in legal)


def advised(error: QueryError, advice: str) -> QueryError:
    """Return an error with advice how to give a joint move, if that is what the question lacks."""
    return QueryError(f"{error}, {advice}") if "depends on the moves" in str(error) else error


def _only_possible(
    given: Sequence[str], legal: Mapping[Role, Sequence[Term]], single: Mapping[Role, Term]
) -> list[Role] | None:
    """Return the only roles, in order, that can make the given moves while all others have a single one."""
    if comb(len(legal), len(given)) > _CHOICES_LIMIT:
        return None
    texts = {role: set(map(str, moves)) for role, moves in legal.items()}
    possible = [
        list(roles)
        for roles in combinations(legal, len(given))
        if all(word in texts[role] for role, word in zip(roles, given, strict=True))
        and all(role in roles or role in single for role in legal)
    ]
    return possible[0] if len(possible) == 1 else None


def _chosen(role: Role, word: str, legal: Sequence[Term]) -> Term:
    exact = [move for move in legal if str(move) == word]
    if exact:
        return exact[0]
    if word.isascii() and word.isdigit():
        if not 1 <= int(word[:9]) <= len(legal):
            message = f"{role} has no move {word}: its legal moves are numbered 1 to {len(legal)}"
            raise IllegalMoveError(message if legal else f"{role} has no legal move", role, word)
        return legal[int(word) - 1]
    move = parse_term(word)
    if move in legal:
        return move
    folded = [other for other in legal if str(other).lower() == str(move).lower()]
    if len(folded) == 1:
        return folded[0]
    near = get_close_matches(str(move), map(str, legal), n=3, cutoff=0.5)
    raise IllegalMoveError(_illegal_message(role, str(move), legal, near), role, str(move), near)


def _illegal_message(role: Role, move: str, legal: Sequence[Term], near: Sequence[str]) -> str:
    message = f"{move} is not a legal move of {role} here"
    if near:
        return f"{message}; the nearest legal moves are {', '.join(near)}"
    if len(legal) <= 5:
        return f"{message}; legal moves are {', '.join(map(str, legal)) or 'none'}"
    return f"{message}; there are {len(legal)} others, such as {legal[0]}"


def _count_message(given: Sequence[str], legal: Mapping[Role, Sequence[Term]], asked: Sequence[Role]) -> str:
    wanted = f"one move for each role, in the order {', '.join(legal)}" if len(legal) > 1 else "one move"
    if not asked:
        wanted = f"no move at all, since nobody has a choice, or {wanted}"
    elif len(asked) < len(legal):
        wanted = f"a move of {' and one of '.join(asked)} (the others have no choice), or {wanted}"
    return f"expected {wanted}; found {len(given)}"
