"""Judging replies to PLAY, and the outcome of a match in words.

As in the reference manager, only the first expression of a reply counts, and names must be spelled exactly.
If the expression is not a legal move, the error in the record is ``IL`` and the expression. For a reply
without an expression, the error is ``IL null``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from anygame.errors import TermSyntaxError
from anygame.language.limits import ReadingLimits
from anygame.language.parser import parse_nodes
from anygame.language.terms import Compound, Constant, Variable
from anygame.match.seats import LONGEST_REPLY

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from anygame.language.source import Node
    from anygame.language.terms import Term
    from anygame.match.seats import Reply


#: Limits of parsed replies. No game has moves with more than 100 levels of parentheses.
_REPLY: Final = ReadingLimits(depth=100, token_length=LONGEST_REPLY, arity=LONGEST_REPLY)
#: Maximum number of characters of an illegal reply in a record.
_LONGEST_SHOWN: Final = 200
_EXPLAINED: Final = {"TO": "late", "CE": "no answer"}
_TOKEN: Final = re.compile(r";[^\n\r]*|[()]|[^\s();]+")
#: Characters that rule sheets and moves must not contain.
_NOT_TEXT: Final = re.compile("[\0-\x08\x0e-\x1b\x7f\ud800-\udfff]")
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")

#: An expression in the notation of records, and its term; None if the expression is not a term.
Expression = tuple[str, "Term | None"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The referee's verdict on a reply, and the comments that the player ``said``."""

    #: Legal move in the reply; None without a legal move.
    move: Term | None
    #: Error for match records: empty, ``TO``, ``CE``, or ``IL`` and the illegal reply.
    error: str = ""
    #: Explanation of the error for people.
    detail: str = ""
    said: tuple[str, ...] = ()


def describe_fault(error: str, detail: str | None) -> str:
    """Describe the fault of a reply for people; return an empty string if there is no fault.

    >>> describe_fault("TO", ""), describe_fault("IL fly", "no such move"), describe_fault("", "slow")
    ('TO, late', 'IL fly (no such move)', 'slow')
    """
    if not error:
        return detail or ""
    kind, _, reply = error.partition(" ")
    fault = f"{kind} {reply}" if reply else f"{kind}, {_EXPLAINED.get(kind, kind)}"
    return f"{fault} ({detail})" if detail else fault


def judge(reply: Reply, legal: Sequence[Term], *, case_sensitive: bool = True) -> Verdict:
    """Judge a reply to PLAY.

    >>> from anygame.match.seats import Reply
    >>> judge(Reply("( mark 1 2 ) and more"), [Compound("mark", (Constant("1"), Constant("2")))]).error
    ''
    >>> [judge(Reply(text), [Constant("noop")]).error for text in ("NOOP", "( noop )", "", "( mark 1")]
    ['IL NOOP', 'IL ( noop )', 'IL null', 'IL null']
    """
    if reply.error or reply.text is None:
        return Verdict(None, reply.error or "CE", reply.detail, reply.said)
    expression = first_expression(reply.text)
    if expression is None:
        detail = reply.detail or "the reply contains no valid expression"
        return Verdict(None, "IL null", detail, reply.said)
    text, term = expression
    move = term if term in legal else None
    if term is not None and not case_sensitive:
        move = match_ignoring_case(term, legal)
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
    error = "" if move is not None else "IL " + _UNPRINTABLE.sub("\ufffd", shown)
    return Verdict(move, error, reply.detail, reply.said)


def match_ignoring_case(term: Term, legal: Sequence[Term]) -> Term | None:
    """Return the legal move that equals a term, or else the only legal move that differs just in case.

    Case can differ because some managers change the case of names.

    >>> from anygame.language.parser import parse_term
    >>> str(match_ignoring_case(parse_term("(MARK 1 X)"), [parse_term("(mark 1 x)"), parse_term("noop")]))
    '(mark 1 x)'
    """
    if term in legal:
        return term
    lower = str(term).lower()
    near = [move for move in legal if str(move).lower() == lower]
    return near[0] if len(near) == 1 else None


def first_expression(text: str) -> Expression | None:
    """Return the first expression of a string, with blanks between all tokens.

    Returns None for an empty string, an empty list, a list that starts with a list, and an unclosed list.

    >>> first_expression("(put 1  2) junk")
    ('( put 1 2 )', (put 1 2))
    >>> first_expression("( go )"), first_expression("( ( go ) )")
    (('( go )', None), None)
    """
    depth = 0
    start: int | None = None
    for match in _TOKEN.finditer(text[:LONGEST_REPLY]):
        if match[0][0] == ";":
            continue
        start = match.start() if start is None else start
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth < 0:
            return match[0], Constant(match[0])
        if not depth:
            return _read(text[start : match.end()])
    return None


def _read(text: str) -> Expression | None:
    try:
        (node,) = parse_nodes(_NOT_TEXT.sub("\ufffd", text), limits=_REPLY)
    except TermSyntaxError:
        return None
    return _expression(node)


def _expression(node: Node) -> Expression | None:
    """Return the expression of a node; None for an empty list."""
    if node.children is None:
        is_variable = node.text.startswith("?")
        return node.text, Variable(node.text[1:]) if is_variable else Constant(node.text)
    items = [item for item in map(_expression, node.children) if item is not None]
    if not items or len(items) < len(node.children) or node.children[0].children is not None:
        return None
    text = f"( {' '.join(text for text, _ in items)} )"
    head, *arguments = [term for _, term in items]
    terms = tuple([term for term in arguments if term is not None])
    if not terms or len(terms) < len(arguments) or not isinstance(head, Constant):
        return text, None
    return text, Compound(head.name, terms)


def spaced(text: Term | str) -> str:
    """Return a term, or a string in KIF, with the spacing of match records and messages.

    >>> spaced(Compound("mark", (Constant("1"), Constant("2"))))
    '( mark 1 2 )'
    """
    return " ".join(str(text).replace("(", " ( ").replace(")", " ) ").split())


#: Highest goal that GDL allows.
_HIGHEST: Final = 100


def outcome(goals: Mapping[str, int], people: Collection[str]) -> str:
    """Return the outcome of a match in words.

    >>> outcome({"x": 100, "o": 0}, ["x"]), outcome({"x": 50, "o": 50}, [])
    ('You win: x 100, o 0', 'It is a draw: x 50, o 50')

    Args:
        goals: goals of all roles except ``random``.
        people: roles of the readers, whom the outcome addresses as "you".
    """
    if not goals:
        return "Only chance played"
    shown = ", ".join(f"{role} {goal}" for role, goal in goals.items())
    best = max(goals.values())
    winners = [role for role, goal in goals.items() if goal == best]
    only = next(iter(people)) if len(people) == 1 else None
    if len(goals) == 1:
        if not people:
            return f"{shown} of {_HIGHEST}"
        return f"You reach {best}" + (", the highest goal" if best == _HIGHEST else f" of {_HIGHEST}")
    if len(winners) == len(goals):
        words = "It is a draw"
    elif only in winners:
        others = " and ".join(role for role in winners if role != only)
        words = f"You share the win with {others}" if others else "You win"
    else:
        plural = "s" if len(winners) == 1 else ""
        words = f"{' and '.join(winners)} win{plural}" + (f", {only} (you) do not" if only else "")
    return f"{words}: {shown}"
