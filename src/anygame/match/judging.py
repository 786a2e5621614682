"""Judging: what a reply to PLAY means, and what the record says of it.

As in the reference manager, the first expression of a reply counts and what follows is ignored; names must be
spelled exactly; what is no move becomes ``IL`` and the expression, ``IL null`` where there is none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from anygame.language.terms import Compound, Constant, Variable
from anygame.match.seats import LONGEST_REPLY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.language.terms import Term
    from anygame.match.seats import Reply

__all__ = ["Verdict", "first_expression", "judge", "spaced"]

_DEEPEST: Final = 100
_LONGEST_SHOWN: Final = 200
_TOKEN: Final = re.compile(r";[^\n\r]*|[()]|[^\s();]+")
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")

#: An expression as it is recorded, and the term it is, if it is one.
Expression = tuple[str, "Term | None"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the referee makes of a reply.

    Attributes:
        move: the legal move that was replied; None where there is none.
        error: as in match records: empty, ``TO``, ``CE``, or ``IL`` and what was replied instead of a move.
        detail: what happened, for people.
    """

    move: Term | None
    error: str = ""
    detail: str = ""


def judge(reply: Reply, legal: Sequence[Term], *, case_sensitive: bool = True) -> Verdict:
    """Judge a reply to PLAY.

    >>> from anygame.match.seats import Reply
    >>> judge(Reply("( mark 1 2 ) and more"), [Compound("mark", (Constant("1"), Constant("2")))]).error
    ''
    >>> [judge(Reply(text), [Constant("noop")]).error for text in ("NOOP", "( noop )", "", "( mark 1")]
    ['IL NOOP', 'IL ( noop )', 'IL null', 'IL null']
    """
    if reply.error or reply.text is None:
        return Verdict(None, reply.error or "CE", reply.detail)
    found = first_expression(reply.text)
    if found is None:
        return Verdict(None, "IL null", reply.detail or "the reply holds no readable expression")
    text, term = found
    if term in legal:
        return Verdict(term, "", reply.detail)
    if term is not None and not case_sensitive:
        folded = [move for move in legal if str(move).lower() == str(term).lower()]
        if folded:
            return Verdict(folded[0], "", reply.detail)
    return Verdict(None, f"IL {_shortened(text)}", reply.detail)


def first_expression(text: str) -> Expression | None:
    """Read the first expression of a text; return it with blanks between all its parts.

    None where there is none: an empty text, a list that is not closed, is empty, or starts with a list.

    >>> first_expression("(put 1  2) junk")
    ('( put 1 2 )', Compound('put', (Constant('1'), Constant('2'))))
    >>> first_expression("( go )"), first_expression("( ( go ) )")
    (('( go )', None), None)
    """
    lists: list[list[Expression]] = []
    for token in _TOKEN.findall(text[:LONGEST_REPLY]):
        if token.startswith(";"):
            continue
        if token == "(":
            lists.append([])
            if len(lists) > _DEEPEST or (len(lists) > 1 and not lists[-2]):
                return None
            continue
        found: Expression | None = _atom(token) if token != ")" or not lists else _closed(lists.pop())
        if found is None or not lists:
            return found
        lists[-1].append(found)
    return None


def _atom(token: str) -> Expression:
    return token, Variable(token[1:]) if token.startswith("?") else Constant(token)


def _closed(items: list[Expression]) -> Expression | None:
    """Return the list of some items; not every list is a term, and the empty one is nothing."""
    if not items:
        return None
    text = f"( {' '.join(text for text, _ in items)} )"
    terms = tuple([term for _, term in items if term is not None])
    head = items[0][1]
    if len(items) < 2 or len(terms) < len(items) or not isinstance(head, Constant):
        return text, None
    return text, Compound(head.name, terms[1:])


def spaced(term: Term) -> str:
    """Return a term as match records and messages write it.

    >>> spaced(Compound("mark", (Constant("1"), Constant("2"))))
    '( mark 1 2 )'
    """
    return str(term).replace("(", "( ").replace(")", " )")


def _shortened(text: str) -> str:
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
    return _UNPRINTABLE.sub("\ufffd", shown)
