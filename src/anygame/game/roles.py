"""Roles, and joint moves: one legal move per role."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import Any, Final, TypeAlias, TypeVar

from anygame.errors import IllegalMoveError, TermSyntaxError, UnknownRoleError
from anygame.language.diagnostics import counted, did_you_mean, shown
from anygame.language.parser import parse_term
from anygame.language.terms import Term

#: A move for each role, by role or in the order of the roles, as text or as terms.
JointMove: TypeAlias = Mapping[Any, str | Term] | Sequence[str | Term]

_Choice = TypeVar("_Choice")
#: Maximum number of legal moves named in an error.
_SHOWN: Final = 8


class Role(str):
    """A role of a game: a string with the KIF text of the role.

    Attributes:
        term: the role as a term.
        is_random: whether this is the role ``random``, which moves uniformly at random and has no goal.
    """

    __slots__ = ("is_random", "term")
    term: Term
    is_random: bool

    def __new__(cls, term: Term) -> Role:
        """Return the role of a term."""
        role = super().__new__(cls, term)
        role.term = term
        role.is_random = str(term) == "random"
        return role

    def __reduce__(self) -> tuple[type, tuple[Term]]:
        return Role, (self.term,)

    def __str__(self) -> str:
        return str.__str__(self)


def find_role(role: str | Term, index: Mapping[str, int], *, case_sensitive: bool) -> int:
    """Return the index of a role, given as text (in any spacing) or as a term.

    ``index`` maps the text of each role to its index. Raises UnknownRoleError for an unknown role.
    """
    number = index.get(role if isinstance(role, str) else str(role))
    if number is None and isinstance(role, str):
        with suppress(TermSyntaxError):
            number = index.get(str(parse_term(role, case_sensitive=case_sensitive)))
    if number is None:
        near = get_close_matches(str(role), index, n=1)
        raise UnknownRoleError(
            f"no role is called {shown(str(role))}: the roles are {', '.join(index)}{did_you_mean(near)}",
            str(role),
            index,
        )
    return number


def moves_in_order(
    moves: JointMove, roles: Sequence[Role], index: Callable[[str | Term], int]
) -> Sequence[str | Term]:
    """Return one move per role, in the order of the roles. The moves need not be legal.

    The function ``index`` returns the index of a role, or raises UnknownRoleError.
    """
    if isinstance(moves, Mapping):
        return in_order(moves, roles, index, "move")
    if isinstance(moves, str | Term):
        raise IllegalMoveError(
            f"expected one move per role ({', '.join(roles)}) as a list or a mapping, found the single move "
            f"{moves}; `state.play` takes one move",
            move=str(moves),
        )
    given = list(moves)
    if len(given) != len(roles):
        raise IllegalMoveError(
            f"expected {counted(len(roles), 'move')}, one per role ({', '.join(roles)}), found {len(given)}"
        )
    return given


def in_order(
    choices: Mapping[Any, _Choice], roles: Sequence[Role], index: Callable[[str | Term], int], what: str
) -> list[_Choice]:
    """Return the values of a mapping from roles, in the order of the roles; errors call a value ``what``.

    Raises IllegalMoveError if a role has no value, or two values.
    """
    by_index: dict[int, _Choice] = {}
    for role, choice in choices.items():
        number = index(role)
        if number in by_index:
            raise IllegalMoveError(f"two {what}s are given for {roles[number]}", roles[number])
        by_index[number] = choice
    for number, role in enumerate(roles):
        if number not in by_index:
            raise IllegalMoveError(f"no {what} is given for {role}: expected one {what} per role", role)
    return [by_index[number] for number in range(len(roles))]


def legal_move(role: Role, move: str | Term, legal: Sequence[Term], *, case_sensitive: bool) -> Term:
    """Return a legal move as a term; raises IllegalMoveError for an illegal move."""
    if not isinstance(move, str | Term):
        raise IllegalMoveError(
            f"the move of {role} should be text or a term, found {move!r} ({type(move).__name__})",
            role,
            str(move),
        )
    try:
        term = parse_term(move, case_sensitive=case_sensitive) if isinstance(move, str) else move
    except TermSyntaxError as error:
        raise IllegalMoveError(f"the move of {role} cannot be read: {error}", role, str(move)) from None
    if term in legal:
        return term
    names = list(map(str, legal))
    near = get_close_matches(str(term), names, n=3, cutoff=0.5)
    otherwise = f"{role} has no legal move at all"
    if names:
        otherwise = f"legal: {', '.join(names[:_SHOWN])}{', ...' if len(names) > _SHOWN else ''}"
    raise IllegalMoveError(
        f"{shown(str(term), 200)} is not legal for {role} here{did_you_mean(near, otherwise)}",
        role,
        str(term),
        near or names[:_SHOWN],
    )


def illegal_number(
    role: str, action: object, moves: Sequence[Term], legal: Sequence[int], where: str = ""
) -> IllegalMoveError:
    """Return the error for an illegal action. The message begins with ``where``."""
    in_range = isinstance(action, int) and 0 <= action < len(moves)
    move = str(moves[action]) if in_range else ""  # type: ignore[call-overload]
    examples = ", ".join(f"{index} {moves[index]}" for index in legal[:_SHOWN])
    more = ", ..." if len(legal) > _SHOWN else ""
    numbers = f"{'numbers go' if where else 'actions are numbers'} from 0 to {len(moves) - 1}"
    what = f"{action}, {move}," if in_range else f"{action!r:.80} ({numbers})"
    allowed = "; legal:" if where else ": the action mask allows"
    return IllegalMoveError(
        f"{where}{what} is not legal for {role}{allowed} {examples or 'nothing'}{more}",
        role,
        move,
        [str(moves[index]) for index in legal[:_SHOWN]],
    )
