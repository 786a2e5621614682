"""Mends that need no knowledge of the game, as edits of a sheet's text.

An edit replaces a part of the text by pieces: new text, and ranges of the old text, which are mended too.
So a literal can be moved and corrected at the same time.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from anygame.analysis.declarations import declarations
from anygame.analysis.normal import TooManyAlternatives, normalise
from anygame.analysis.ordering import binding_order
from anygame.analysis.safety import normal_rules, unsafe_variables
from anygame.errors import RuleSheetError
from anygame.language.comments import comments_of
from anygame.language.forms import COMMENT_MARKS, form_of, infix_variable
from anygame.language.layout import format_rules
from anygame.language.parser import parse_items, parse_program
from anygame.language.rules import Literal, walk
from anygame.language.sentences import fold_head
from anygame.language.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from anygame.language.rules import Formula, Program, Rule
    from anygame.language.source import Node
    from anygame.language.terms import Variable

__all__ = ["MENDS", "Edit", "Mend", "Mended", "apply_edits", "find_mends", "mend_sheet"]

#: The kinds of mends.
MENDS: Final = ("order", "case", "parentheses", "role", "base", "input")

_CLOSING: Final = re.compile(r"\)|;[^\r\n]*")
_OPERATORS: Final = frozenset(("<=", "not", "and", "or", "distinct"))


@dataclass(frozen=True, slots=True)
class Edit:
    """Characters ``start`` (included) to ``end`` (excluded) of a text, and what takes their place.

    Attributes:
        start: where the part starts that is replaced.
        end: where it ends; the same for an insertion.
        pieces: new text, and ranges of the old text inside the part.
    """

    start: int
    end: int
    pieces: tuple[str | tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Mend:
    """One mend.

    Attributes:
        kind: one of `MENDS`.
        message: what is mended.
        span: where; None where something is added to the sheet as a whole.
        edits: how.
    """

    kind: str
    message: str
    span: Span | None
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Mended:
    """A sheet after mending.

    Attributes:
        text: the new text; the old one if there was nothing to mend.
        mends: what was done, in the order of the sheet.
        notes: what could not be done, and why.
    """

    text: str
    mends: tuple[Mend, ...]
    notes: tuple[str, ...]


def mend_sheet(source: Source, kinds: Collection[str] = MENDS) -> Mended:
    """Mend a sheet.

    The result is read again: rules stay what they are, but for the order of their literals and the roles
    and declarations that were added.

    >>> sheet = Source("sheet", "(ROLE x) (<= (goal ?r 100) (not (true (lost ?r))))")
    >>> print(mend_sheet(sheet, ["case", "role"]).text)
    (role x) (<= (goal ?r 100) (role ?r) (not (true (lost ?r))))

    Raises:
        RuleSheetError: the sheet cannot be read; the error has all its faults.
    """
    program = parse_program(source)
    mends = find_mends(program, kinds)
    text = apply_edits(source.text, [edit for mend in mends for edit in mend.edits])
    mended = _verified(program, text)
    added, notes = _missing_declarations(mended, kinds)
    if added:
        rules = [rule for _, found in added for rule in found]
        names = " and ".join(name for name, _ in added)
        title = f"{COMMENT_MARKS[form_of(source)] * 3} {names}: what the rules can make true and legal"
        text = _appended(text, source, f"{title}\n\n{format_rules(rules, form_of(source))}")
        _verified(program, text, len(rules))
        mends += [Mend(name, f"{name} is declared", None) for name, _ in added]
    return Mended(text, tuple(mends), tuple(notes))


def find_mends(program: Program, kinds: Collection[str] = MENDS) -> list[Mend]:
    """Return the mends of a program's rules, in the order of the sheet, without `base` and `input`.

    The program must have been read from a text.
    """
    source = program.source
    assert source is not None
    comments = [(comment.start, comment.end) for comment in comments_of(source, form_of(source))]
    found: list[Mend] = []
    for rule in program.rules:
        if rule.node is None:
            continue
        role = _unbound_role(rule) if "role" in kinds else None
        if "case" in kinds:
            found += _case(rule)
        if "parentheses" in kinds:
            found += _parentheses(rule.node)
        if role is not None:
            found.append(_role(rule, role, comments))
        if "order" in kinds:
            found += _order(rule, role, comments)
    return sorted(found, key=lambda mend: mend.span.start if mend.span else 0)


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with the edits made; they do not overlap, but for edits inside a range that stays."""
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end > edit.start, -edit.end))
    return _rendered(text, 0, len(text), ordered)


def _rendered(text: str, start: int, end: int, edits: Sequence[Edit]) -> str:
    pieces = []
    number = 0
    while number < len(edits):
        edit = edits[number]
        number += 1
        inner = []
        while number < len(edits) and edits[number].start < edit.end:
            inner.append(edits[number])
            number += 1
        pieces.append(text[start : edit.start])
        for piece in edit.pieces:
            if isinstance(piece, str):
                pieces.append(piece)
            else:
                low, high = piece
                inside = [other for other in inner if low <= other.start and other.end <= high]
                pieces.append(_rendered(text, low, high, inside))
        start = edit.end
    pieces.append(text[start:end])
    return "".join(pieces)


def _appended(text: str, source: Source, more: str) -> str:
    """Return the text with more at its end: inside the parentheses round the whole sheet, if it has them."""
    nodes, _ = parse_items(Source(source.name, text))
    last = max(node.end for node in nodes)
    closing = [match for match in _CLOSING.finditer(text, last) if match[0] == ")"]
    end = closing[0].start() if closing and form_of(source) == "kif" else len(text)
    return f"{text[:end].rstrip()}\n\n{more}{text[end:]}"


def _verified(program: Program, text: str, added: int = 0) -> Program:
    """Return the program of a mended text, if it is the one that was meant."""
    source = program.source
    assert source is not None
    again = parse_program(Source(source.name, text))
    same = len(again.rules) == len(program.rules) + added and all(
        old.head == new.head and _only_roles(Counter(new.body), Counter(old.body))
        for old, new in zip(program.rules, again.rules, strict=False)
    )
    if not same:
        message = f"mending {source.name} would change its rules, so nothing is changed"
        raise RuleSheetError(f"{message}; this is a fault of anygame, please report it with the sheet")
    return again


def _only_roles(new: Counter[Formula], old: Counter[Formula]) -> bool:
    more = new - old
    return old <= new and all(
        isinstance(formula, Literal) and formula.atom.key == ("role", 1) for formula in more
    )


# -- the kinds ----------------------------------------------------------------------------------------


def _case(rule: Rule) -> Iterator[Mend]:
    for node in _heads(rule):
        token = node.children[0] if node.children else node
        folded = fold_head(token.text)
        if folded != token.text:
            edit = Edit(token.start, token.end, (folded,))
            yield Mend("case", f"{token.text} becomes {folded}", token.span, (edit,))


def _heads(rule: Rule) -> Iterator[Node]:
    """Yield the nodes of a rule's sentences and formulas."""
    nodes = [rule.head.node, *(getattr(formula, "node", None) for formula, _ in walk(rule.body))]
    yield from filter(None, nodes)


def _parentheses(node: Node) -> Iterator[Mend]:
    pending = [node]
    while pending:
        node = pending.pop()
        children = node.children or ()
        pending += children
        if len(children) != 1 or children[0].children is not None:
            continue
        name = children[0]
        text = node.source.text
        before, after = text[node.start : name.start], text[name.end : node.end]
        if fold_head(name.text) in _OPERATORS or (before + after).strip("() \t\r\n"):
            continue
        # In KIF parentheses may be all that parts a name from its neighbours.
        left = "" if not before or text[max(node.start - 1, 0) : node.start] in {"", *"( \t\r\n"} else " "
        right = "" if not before or text[node.end : node.end + 1] in {"", *") \t\r\n"} else " "
        edits = Edit(node.start, name.start, (left,)), Edit(name.end, node.end, (right,))
        kept = tuple(edit for edit in edits if edit.start < edit.end)
        message = f"{node.span.text} becomes {text[name.start : name.end]}"
        yield Mend("parentheses", " ".join(message.split()), node.span, kept)


def _unbound_role(rule: Rule) -> Variable | None:
    """Return the variable that stands for the role in a head, if nothing binds it."""
    if rule.head.key not in {("legal", 2), ("goal", 2)} or not rule.body:
        return None
    with_role = rule.head.arguments[0]
    try:
        parts = normalise(rule)
    except TooManyAlternatives:
        return None
    unbound = {variable for part in parts for variable, _ in unsafe_variables(part)}
    return next((variable for variable in unbound if variable is with_role), None)


def _role(rule: Rule, role: Variable, comments: Sequence[tuple[int, int]]) -> Mend:
    node = rule.head.node
    first = _node_of(rule.body[0])
    assert node is not None
    assert first is not None
    text = node.source.text
    start = first.start
    between = text[node.end : start]
    if "(" in between and not {"%", ";"} & set(between):  # parentheses round an infix literal
        start = node.end + between.index("(")
    line = max(text.rfind("\n", node.end, start), text.rfind("\r", node.end, start)) + 1
    gap = f"\n{text[line:start]}" if line else " "
    message = f"nothing says what {role} may be: (role {role}) is added"
    if form_of(node.source) == "kif":
        place = _line_end(text, node.end, comments)
        if place > node.end:
            gap = gap if line else "\n    "
        edit = Edit(place, place, (f"{gap}(role {role})",))
    else:
        edit = Edit(start, start, (f"role({infix_variable(role.name)}) &{gap}",))
    return Mend("role", message, node.span, (edit,))


def _order(rule: Rule, role: Variable | None, comments: Sequence[tuple[int, int]]) -> Iterator[Mend]:
    order = binding_order(rule.body, {role} if role else ())
    nodes = [_node_of(formula) for formula in rule.body]
    known = [node for node in nodes if node is not None]
    if order == list(range(len(order))) or len(known) < len(nodes):
        return
    assert rule.node is not None
    moved = next(number for place, number in enumerate(order) if place != number)
    message = f"{known[moved].span.text} goes before what needs its variables"
    inside = [c for c in comments if rule.node.start < c[0] < rule.node.end]
    if inside and form_of(rule.node.source) == "kif":
        edit = _moved_with_comments(rule, known, order, inside)
    else:
        edit = _moved(known, order)
    yield Mend("order", " ".join(message.split()), known[moved].span, (edit,))


def _moved(nodes: Sequence[Node], order: Sequence[int]) -> Edit:
    """Return the edit that puts literals in another order, and leaves what stands between where it is."""
    text = nodes[0].source.text
    pieces: list[str | tuple[int, int]] = []
    for place, number in enumerate(order):
        if place:
            pieces.append(text[nodes[place - 1].end : nodes[place].start])
        pieces.append((nodes[number].start, nodes[number].end))
    return Edit(nodes[0].start, nodes[-1].end, tuple(pieces))


def _moved_with_comments(
    rule: Rule, nodes: Sequence[Node], order: Sequence[int], comments: Sequence[tuple[int, int]]
) -> Edit:
    """Return the edit that moves literals with the comments before them and at the ends of their lines."""
    assert rule.head.node is not None
    text = nodes[0].source.text
    start = _line_end(text, rule.head.node.end, comments)
    chunks: list[tuple[int, int]] = []
    for node in nodes:
        end = _line_end(text, node.end, comments)
        chunks.append((start if not chunks else chunks[-1][1], end))
    pieces: list[str | tuple[int, int]] = []
    in_comment = start > rule.head.node.end
    for number in order:
        low, high = chunks[number]
        if in_comment and not text[low:high].lstrip(" \t").startswith(("\r", "\n")):
            pieces.append("\n    ")
        elif not text[low].isspace():
            pieces.append(" ")
        pieces.append((low, high))
        in_comment = high > nodes[number].end
    if in_comment and not text[chunks[-1][1] :].lstrip(" \t").startswith(("\r", "\n")):
        pieces.append("\n")
    return Edit(start, chunks[-1][1], tuple(pieces))


def _line_end(text: str, end: int, comments: Sequence[tuple[int, int]]) -> int:
    """Return where the comment ends that follows on the same line; ``end`` where none does."""
    number = bisect_left(comments, (end, end))
    if number == len(comments):
        return end
    start, after = comments[number]
    return end if text[end:start].strip(" \t") else after


def _node_of(formula: Formula) -> Node | None:
    node: Node | None = getattr(formula, "node", None)
    return node


def _missing_declarations(
    program: Program, kinds: Collection[str]
) -> tuple[list[tuple[str, list[Rule]]], list[str]]:
    """Return the declarations that a program lacks, and why others could not be made."""
    declared = {rule.head.key for rule in program.rules}
    keys = [("base", 1), ("input", 2)]
    missing = [name for name, arity in keys if name in kinds and (name, arity) not in declared]
    if not missing:
        return [], []
    try:
        rules = normal_rules(program)
    except RuleSheetError:
        names = " and no ".join(missing)
        return [], [f"no {names} can be told while variables are unbound; see `anygame check`"]
    return declarations(program, rules, missing)
