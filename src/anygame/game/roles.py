"""Roles: text that knows the term it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anygame.language.terms import Term

__all__ = ["Role"]


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
