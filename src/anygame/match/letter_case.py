"""Capitals that got lost: managers of the field write names in other cases than the rules they sent.

A player answers with the names it was given in START, whatever the case of PLAY.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.language.terms import Term

_TOKEN: Final = re.compile(r"[^\s();]+")


class OriginalNames:
    """The names of a sheet as START spelled them; games know some of them, or all, in lower case only.

    >>> OriginalNames("(ROLE X) (LEGAL X (Mark 1))").restore("(mark 1)")
    '(Mark 1)'
    """

    def __init__(self, rules: str) -> None:
        tokens = dict.fromkeys(_TOKEN.findall(rules))
        self._exact = frozenset(tokens)
        self._names: dict[str, str] = {}
        for token in tokens:
            self._names.setdefault(token.lower(), token)

    def restore(self, text: str) -> str:
        """Return a term's text with every name as it stands in the sheet, or first stood there."""
        return _TOKEN.sub(lambda token: self._restored(token[0]), text)

    def _restored(self, name: str) -> str:
        return name if name in self._exact else self._names.get(name.lower(), name)


def match_ignoring_case(term: Term, legal: Sequence[Term]) -> Term | None:
    """Return the legal move that a term from a message means: the same, or the only one but for case.

    >>> from anygame.language.parser import parse_term
    >>> str(match_ignoring_case(parse_term("(MARK 1 X)"), [parse_term("(mark 1 x)"), parse_term("noop")]))
    '(mark 1 x)'
    """
    if term in legal:
        return term
    lower = str(term).lower()
    found = [move for move in legal if str(move).lower() == lower]
    return found[0] if len(found) == 1 else None
