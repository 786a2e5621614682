"""Roles: text that knows the term it names, and finding the one that is meant."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from anygame.errors import TermSyntaxError, UnknownRoleError
from anygame.language.diagnostics import shown
from anygame.language.parser import parse_term

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anygame.language.terms import Term


class Role(str):
    """A role of a game: its KIF text, so that it compares and hashes as text does.

    Attributes:
        term: the term it names.
        is_random: whether it is the role ``random``, which plays uniformly and wants nothing.
    """

    __slots__ = ("is_random", "term")
    term: Term
    is_random: bool

    def __new__(cls, term: Term) -> Role:
        """Return the role that a term names."""
        role = super().__new__(cls, term)
        role.term = term
        role.is_random = str(term) == "random"
        return role

    def __reduce__(self) -> tuple[type, tuple[Term]]:
        return Role, (self.term,)

    def __str__(self) -> str:
        return str.__str__(self)

    def __repr__(self) -> str:
        return f"Role({str.__str__(self)!r})"


def find_role(role: str | Term, index: Mapping[str, int], *, case_sensitive: bool) -> int:
    """Return the index of a role that is given by its text, however that is spaced, or by its term.

    Args:
        role: what is given.
        index: the indices of the roles of a game, by their text.
        case_sensitive: whether names that differ by case are different names.

    Raises:
        UnknownRoleError: there is no such role.
    """
    found = index.get(role if isinstance(role, str) else str(role))
    if found is None and isinstance(role, str):
        try:
            found = index.get(str(parse_term(role, case_sensitive=case_sensitive)))
        except TermSyntaxError:
            found = None
    if found is None:
        near = get_close_matches(str(role), index, n=1)
        advice = f"; did you mean {near[0]}?" if near else ""
        raise UnknownRoleError(
            f"no role is called {shown(str(role))}: the roles are {', '.join(index)}{advice}",
            str(role),
            index,
        )
    return found
