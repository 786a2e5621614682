"""Joint moves as text, in which forced moves can be omitted."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Final

from anygame.errors import GoalError, IllegalMoveError, QueryError, UnknownRoleError
from anygame.game.typed_moves import filtered_moves, meant_moves, typed_move
from anygame.language.diagnostics import shown
from anygame.language.parser import parse_nodes
from anygame.language.terms import Compound

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term


#: Maximum number of subsets of the roles that are tried for a text with fewer moves than roles.
_CHOICES_LIMIT: Final = 10_000


def format_joint(moves: Sequence[Term]) -> str:
    """Return a joint move as text that `read_joint` can read.

    >>> from anygame.language.terms import Constant
    >>> format_joint([Constant("paper"), Constant("rock")])
    'paper rock'
    """
    return " ".join(map(str, moves))


def legal_by_role(state: State) -> dict[Role, tuple[Term, ...]]:
    """Return the legal moves of every role, in the order of the roles."""
    return {role: state.legal_moves(role) for role in state.game.roles}


def single_moves(legal: Mapping[Role, Sequence[Term]]) -> dict[Role, Term]:
    """Return the legal move of each role that has exactly one legal move."""
    return {role: moves[0] for role, moves in legal.items() if len(moves) == 1}


def is_chance(state: State) -> bool:
    """Return whether `random` is the only role with a choice in a state."""
    return bool(state.movers) and all(role.is_random for role in state.movers)


def play_text(
    state: State, text: str, draw: Callable[[Sequence[Term]], Term] | None = None, *, is_spoken: bool = False
) -> tuple[State, tuple[Term, ...]]:
    """Read a joint move like `read_joint`, and make the move; return the next state and the joint move."""
    if state.is_terminal:
        raise IllegalMoveError("the game is over: nobody can move any more")
    joint = read_joint(state, text, draw, is_spoken=is_spoken)
    return state.next(joint), joint


def read_joint(
    state: State, text: str, draw: Callable[[Sequence[Term]], Term] | None = None, *, is_spoken: bool = False
) -> tuple[Term, ...]:
    """Read one joint move; raises IllegalMoveError, or TermSyntaxError for an unreadable text.

    Moves are in the order of the roles. The text has the moves of all roles, or of the roles with a choice.
    The text can also omit some forced moves, if exactly one set of roles fits. Every other role makes its
    only legal move. A number that is not a legal move is an index, from 1, into the sorted legal moves of the
    role. Case matters only between moves that differ by case. `anygame.game.typed_moves` reads abbreviations.

    Args:
        state: the state in which the move is made.
        text: terms, separated by blanks.
        draw: function that samples a move of the role ``random``; the text can then omit this move.
        is_spoken: whether a person types the text. If so, `2 1` is the move ``(mark 2 1)`` of the only role
            with a choice. Otherwise, `2 1` is the second move of one role and the first move of another role.
    """
    legal = legal_by_role(state)
    single = single_moves(legal)
    stuck = next((role for role, moves in legal.items() if not moves), None)
    if stuck is not None:
        raise IllegalMoveError(f"{stuck} has no legal move, so nobody can move here", stuck)
    choosing = [role for role in legal if role not in single]
    asked = [role for role in choosing if not (draw and role.is_random)]
    typed = _typed(text, legal, asked, is_spoken=is_spoken)
    sampled = {role: draw(legal[role]) for role in choosing if draw and role not in typed}
    return tuple((single | sampled | typed)[role] for role in legal)


def _typed(
    text: str, legal: Mapping[Role, Sequence[Term]], asked: Sequence[Role], *, is_spoken: bool
) -> dict[Role, Term]:
    """Return the moves in a text, by role. If ``asked`` has a single role, the whole text can be its move."""
    only = asked[0] if len(asked) == 1 else None
    if only and is_spoken and meant_moves(text, legal[only]):
        return {only: typed_move(text, legal[only], only)}
    try:
        return _typed_in_order(text, legal, asked)
    except IllegalMoveError:
        if only and text.strip() and (is_spoken or _names_a_move(text, legal[only])):
            return {only: typed_move(text, legal[only], only)}
        raise


def _names_a_move(text: str, legal: Sequence[Term]) -> bool:
    """Return whether a text can mean a move, or has the name and the number of arguments of a move."""
    words = text.split()
    shapes = {(move.functor, len(move.arguments)) for move in legal if isinstance(move, Compound)}
    return (words[0], len(words) - 1) in shapes or bool(meant_moves(text, legal))


def _typed_in_order(
    text: str, legal: Mapping[Role, Sequence[Term]], asked: Sequence[Role]
) -> dict[Role, Term]:
    given = [node.span.text for node in parse_nodes(text)]
    single = single_moves(legal)
    choosing = [role for role in legal if role not in single]
    counted = (roles for roles in (list(legal), choosing, asked) if len(roles) == len(given))
    roles = next(counted, None)
    if roles is None:
        roles = _only_possible(given, legal, single)
    if roles is None:
        raise IllegalMoveError(_count_message(given, legal, asked))
    return {role: _chosen(role, word, legal[role]) for role, word in zip(roles, given, strict=True)}


def _only_possible(
    given: Sequence[str], legal: Mapping[Role, Sequence[Term]], single: Mapping[Role, Term]
) -> list[Role] | None:
    """Return the roles to which the given moves belong; None unless exactly one choice of roles fits."""
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
    """Return the move that a text means. An index takes precedence over an abbreviation."""
    if word.isascii() and word.isdigit() and not any(str(move) == word for move in legal):
        if not 1 <= int(word[:9]) <= len(legal):
            message = f"{role} has no move {word}: its legal moves are numbered 1 to {len(legal)}"
            raise IllegalMoveError(message if legal else f"{role} has no legal move", role, word)
        return legal[int(word) - 1]
    return typed_move(word, legal, role)


def _count_message(given: Sequence[str], legal: Mapping[Role, Sequence[Term]], asked: Sequence[Role]) -> str:
    wanted = f"one move for each role, in the order {', '.join(legal)}" if len(legal) > 1 else "one move"
    if not asked:
        wanted = f"no move, because nobody has a choice, or else {wanted}"
    elif len(asked) < len(legal):
        wanted = f"a move of {' and a move of '.join(asked)} (no other role has a choice), or {wanted}"
    return f"expected {wanted}; found {len(given)}"


def chosen_moves(game: Game, legal: Mapping[Role, Sequence[Term]], asked: str) -> dict[Role, Sequence[Term]]:
    """Return the moves that a text selects: ``ROLE``, ``PATTERN`` or ``ROLE PATTERN``.

    Raises UnknownRoleError if the text is not a role and no move fits the pattern.
    """
    role = next(
        (role for role in sorted(legal, key=len, reverse=True) if f"{asked} ".startswith(f"{role} ")), None
    )
    pattern = asked[len(role) :].strip() if role else asked.strip()
    within = {role: legal[role]} if role else dict(legal)
    if not pattern:
        return within
    matching = {role: filtered_moves(pattern, moves) for role, moves in within.items()}
    if not any(matching.values()):
        if role is None and " " not in pattern:
            game.role_index(pattern)
        raise UnknownRoleError(f"no legal move fits {shown(pattern, 40)}; `legal` lists them all", pattern)
    return {role: moves for role, moves in matching.items() if moves}


def final_goals(state: State) -> list[int]:
    """Return the goals of a terminal state; 0 for `random` if the rules give `random` no goal.

    Raises GoalError if a role other than `random` has no goal, or if any role has several goals.
    """
    goals = []
    for role in state.game.roles:
        goal = state.goal(role)
        if goal is None and not role.is_random:
            text = f"the game is over, and the rules give {role} no goal: no (goal {role} ...) holds here"
            raise GoalError(text, str(role))
        goals.append(goal or 0)
    return goals


def advised(error: QueryError, advice: str) -> QueryError:
    """Return the error of a query; if the query needs a joint move, append ``advice`` to the message."""
    return QueryError(f"{error}, {advice}") if "depends on the moves" in str(error) else error
