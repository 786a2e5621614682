"""Completion at the cursor: keywords, relations, possible terms, variables.

The parentheses around the cursor can be unbalanced.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal

from anygame.language.forms import infix_variable
from anygame.language.rules import KEYWORDS
from anygame.language.sentences import OPERATORS
from anygame.language_server.findings import LIMITS, Values
from anygame.language_server.meanings import (
    KEYWORD_TEXTS,
    argument_names,
    argument_values,
    kind_of,
    pattern,
    values_text,
)
from anygame.language_server.reading import OpenItem, starts_item, tokens_of
from anygame.language_server.sheet import Range, Symbol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from anygame.language_server.findings import DomainTable
    from anygame.language_server.reading import Token
    from anygame.language_server.sheet import WrittenSheet


#: Syntactic category of a place: a rule or fact, a head, a formula of a body, a term.
Slot = Literal["item", "head", "formula", "term"]


@dataclass(frozen=True, slots=True)
class TypingContext:
    """Syntactic context of the cursor.

    Attributes:
        slot: the syntactic category of a name at the cursor.
        prefix: the part of a name before the cursor; ``range`` is the place of this part.
        opened: whether ``prefix`` directly follows an opening parenthesis, where KIF expects a name.
        steps: path to the term at the cursor: a relation, then functions, each with the index of an argument.
    """

    slot: Slot
    prefix: str
    range: Range
    opened: bool = False
    steps: tuple[tuple[str, int], ...] = field(default=())


def typing_context(sheet: WrittenSheet, offset: int) -> TypingContext | None:
    """Return the context of an offset; None in a comment, or if the text or its nesting exceeds a limit."""
    if len(sheet.text) > LIMITS.reading.bytes:
        return None
    start = starts_item(sheet.source, sheet.form, max(0, offset - 1))
    tokens: list[Token] = []
    last: Token | None = None
    for token in tokens_of(sheet.source, sheet.form, start):
        if token.start >= offset:
            break
        if token.kind == "comment" and token.end >= offset:
            return None
        if token.kind == "name" and token.end >= offset:
            last = token
            break
        tokens.append(token)
    item = OpenItem(sheet.source, sheet.form, tokens)
    lists = list(item.lists())
    if len(lists) >= LIMITS.reading.depth:
        return None
    slot: Slot = "formula" if item.is_in_body else "item"
    steps: tuple[tuple[str, int], ...] = ()
    opened = False
    for name, index in lists:
        if name is None:
            opened = True
            break
        if name == "<=" and slot in ("item", "formula"):
            slot = "formula" if index else "head"
        elif slot != "term" and (not name or name in OPERATORS):
            slot = "term" if name == "distinct" else "formula"
        elif slot != "term":
            slot, steps = "term", ((name, index),)
        elif steps and name:
            steps = (*steps, (name, index))
    begin = last.start if last else offset
    return TypingContext(slot, sheet.text[begin:offset], Range(begin, offset), opened, steps)


CompletionKind = Literal["keyword", "relation", "fluent", "move", "function", "constant", "variable"]

#: Maximum number of proposals; the editor filters the proposals further.
_MOST: Final = 300
_OF_SLOT: Final[dict[Slot, tuple[str, ...]]] = {
    "item": ("role", "init", "next", "legal", "goal", "terminal", "base", "input", "sees", "percept"),
    "head": ("next", "legal", "goal", "terminal", "init", "base", "input", "sees", "percept"),
    "formula": ("true", "does", "role", "legal", "goal", "terminal", "not", "or", "distinct"),
    "term": (),
}


#: Placeholder for each argument name of keywords; for any other argument, its name is the placeholder.
_HOLES: Final = {"role": "?role", "move": "?move", "term": "?term", "value": "100"}


@dataclass(frozen=True, slots=True)
class Completion:
    """A proposal to replace ``range`` by ``text``, which is a snippet with placeholders if ``is_snippet``.

    The editor shows ``label`` and ``detail``, and sorts the proposals by ``order``.
    """

    label: str
    kind: CompletionKind
    detail: str
    text: str
    is_snippet: bool
    range: Range
    order: int


def complete(
    sheet: WrittenSheet, offset: int, table: DomainTable, *, snippets: bool = True
) -> list[Completion]:
    """Return the proposals for an offset."""
    context = typing_context(sheet, offset)
    if context is None:
        return []
    write = partial(_proposal, sheet, context, snippets)
    is_term = context.slot == "term"
    proposals = _terms(sheet, context, table, write) if is_term else _formulas(sheet, context, write)
    typed = context.prefix.lstrip("('?").lower()
    return list(islice((each for each in proposals if typed in each.label.lower()), _MOST))


def _proposal(
    sheet: WrittenSheet,
    context: TypingContext,
    snippets: bool,
    symbol: Symbol,
    kind: CompletionKind,
    detail: str,
    order: int,
    arguments: Sequence[str] = (),
) -> Completion:
    name, is_infix = sheet.spelled(symbol), sheet.form == "infix"
    opening, closing = ("", "") if context.opened else ("(", ")")
    is_snippet = snippets and bool(arguments)
    if not arguments:
        text = name
    elif not is_snippet:
        text = f"{name}(" if is_infix else f"{opening}{name} "
    else:
        spelled = [infix_variable(each[1:]) if is_infix and each[0] == "?" else each for each in arguments]
        holes = [f"${{{number}:{_escaped(each)}}}" for number, each in enumerate(spelled, 1)]
        start = _escaped(name)
        text = f"{start}({','.join(holes)})" if is_infix else f"{opening}{start} {' '.join(holes)}{closing}"
    return Completion(name, kind, detail, text, is_snippet, context.range, order)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")


def _formulas(
    sheet: WrittenSheet, context: TypingContext, write: Callable[..., Completion]
) -> Iterator[Completion]:
    for name in _OF_SLOT[context.slot]:
        keyword = KEYWORD_TEXTS[name]
        arguments = [_HOLES.get(word, word) for word in keyword.arguments if word != "..."]
        if sheet.form == "infix" and name in ("not", "or"):
            continue
        if arguments or not context.opened:
            symbol = Symbol("relation", name, len(arguments))
            yield write(symbol, "keyword", keyword.text.partition(".")[0], 2, arguments)
    if context.slot == "item" and sheet.form == "kif":
        yield write(Symbol("operator", "<=", 2), "keyword", "a rule", 1, ["head", "body"])
    for symbol in sorted(
        {each.symbol for each in sheet.occurrences if each.symbol.kind == "relation"},
        key=lambda each: (each.name, each.arity),
    ):
        # A relation that has no rule and occurs once is probably the name that is being typed.
        is_typed = symbol not in sheet.heads and len(sheet.by_symbol[symbol]) < 2
        if symbol.name in KEYWORDS or is_typed or (context.opened and not symbol.arity):
            continue
        names = [f"?{each}" for each in argument_names(sheet, symbol)]
        detail = f"{pattern(sheet, symbol)} {kind_of(sheet, symbol)}"
        yield write(symbol, "relation", detail, 1, names)


def _terms(
    sheet: WrittenSheet, context: TypingContext, table: DomainTable, write: Callable[..., Completion]
) -> Iterator[Completion]:
    if not context.opened:
        for name in _variables(sheet, context):
            yield write(Symbol("variable", name, 0), "variable", "variable of this rule", 0)
    if context.prefix.startswith("?"):
        return
    values = Values()
    for known in (table, sheet.written):
        for place in known.resolve(context.steps):
            values = values.merged(known.at(place))
    if not values:
        terms = [symbol for symbol in sheet.by_symbol if symbol.kind == "term"]
        constants = {each.name for each in terms if not each.arity}
        values = Values(constants, {(each.name, each.arity) for each in terms if each.arity})
    for name, arity in sorted(values.functors):
        symbol = Symbol("term", name, arity)
        holes = [f"?{each}" for each in argument_names(sheet, symbol)]
        kind = kind_of(sheet, symbol)
        shown_kind: CompletionKind = (
            "fluent" if kind.startswith("fluent") else "move" if kind.startswith("move") else "function"
        )
        yield write(symbol, shown_kind, f"{pattern(sheet, symbol)} {kind}", 1, holes)
    if not context.opened:
        for name in sorted(values.constants):
            symbol = Symbol("term", name, 0)
            yield write(symbol, "constant", kind_of(sheet, symbol), 2)


def _variables(sheet: WrittenSheet, context: TypingContext) -> Iterator[str]:
    """Yield the variables of the rule around the cursor, except the variable that is being typed."""
    start = starts_item(sheet.source, sheet.form, max(0, context.range.start))
    end = min(
        (item.start for item in sheet.items if item.start > context.range.start), default=len(sheet.text)
    )
    names = dict.fromkeys(
        each.symbol.name
        for each in sheet.occurrences
        if each.symbol.kind == "variable" and start <= each.start < end and each.start != context.range.start
    )
    yield from (name for name in names if name and not name.startswith("_any"))


@dataclass(frozen=True, slots=True)
class Signature:
    """The pattern of a sentence or term.

    Attributes:
        label: the whole pattern.
        arguments: start and end of each argument in the label, and its possible values.
        active: index of the argument at the cursor, from 0.
    """

    label: str
    arguments: tuple[tuple[int, int, str], ...]
    active: int


def signature(sheet: WrittenSheet, offset: int, table: DomainTable) -> list[Signature]:
    """Return the patterns of the sentence or term around an offset, the most likely pattern first."""
    context = typing_context(sheet, offset)
    if context is None or not context.steps or context.opened:
        return []
    name, active = context.steps[-1]
    kind: Literal["relation", "term"] = "relation" if len(context.steps) == 1 else "term"
    if kind == "relation" and name in KEYWORDS:
        arities = [KEYWORDS[name]]
    else:
        written = {each.arity for each in sheet.by_symbol if each.kind == kind and each.name == name}
        # The head of a rule has all its arguments, while an unfinished sentence lacks some arguments.
        defined = {arity for arity in written if Symbol("relation", name, arity) in sheet.heads}
        arities = sorted(arity for arity in (kind == "relation" and defined) or written if arity)
    symbols = [Symbol(kind, name, arity) for arity in arities]
    symbols.sort(key=lambda each: (each.arity <= active, -len(sheet.by_symbol.get(each, ()))))
    return [_signature(sheet, symbol, active, table) for symbol in symbols]


def _signature(sheet: WrittenSheet, symbol: Symbol, active: int, table: DomainTable) -> Signature:
    label = pattern(sheet, symbol)
    place = len(sheet.spelled(symbol)) + (sheet.form == "kif") + 1
    arguments = []
    values = argument_values(sheet, symbol, table)
    for name, value in zip(argument_names(sheet, symbol), values, strict=True):
        width = len(sheet.spelled(Symbol("variable", name, 0)))
        arguments.append((place, place + width, values_text(value) if value else ""))
        place += width + 1
    return Signature(label, tuple(arguments), active)
