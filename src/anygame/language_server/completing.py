"""What can stand where somebody types: keywords, relations, terms of a domain, variables.

Parentheses need not match there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal

from anygame.language.forms import infix_variable
from anygame.language.rules import KEYWORDS
from anygame.language.sentences import fold_head
from anygame.language_server.domains import Values
from anygame.language_server.meanings import (
    KEYWORD_TEXTS,
    argument_names,
    argument_values,
    kind_of,
    pattern,
    values_text,
)
from anygame.language_server.reading import starts_item, tokens_of
from anygame.language_server.settings import LIMITS
from anygame.language_server.sheet import OPERATORS, Range, Symbol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.language_server.domains import DomainTable
    from anygame.language_server.reading import Token
    from anygame.language_server.sheet import WrittenSheet


#: What can stand somewhere: a rule or fact, a head, a formula of a body, a term.
Slot = Literal["item", "head", "formula", "term"]


@dataclass(slots=True)
class _Frame:
    """A list that is open at the place.

    Attributes:
        name: its first token, as programs spell it; None where it has none yet.
        index: how many arguments stand before the place, whole or begun.
        begun: whether the last of them is still being typed.
    """

    name: str | None
    index: int = 0
    begun: bool = False


@dataclass(frozen=True, slots=True)
class TypingContext:
    """Where somebody types.

    Attributes:
        slot: what can stand there.
        prefix: what is typed of it so far.
        range: where that stands.
        opened: whether a parenthesis has been typed right before, so that a name must follow (in KIF).
        steps: of a term, where it stands: a relation and the number of an argument, then functions with
            theirs.
    """

    slot: Slot
    prefix: str
    range: Range
    opened: bool = False
    steps: tuple[tuple[str, int], ...] = field(default=())


def typing_context(sheet: WrittenSheet, offset: int) -> TypingContext | None:
    """Return where somebody types who is at an offset; None inside a comment, and where nobody reads on."""
    if len(sheet.text) > LIMITS.reading.bytes:
        return None
    start = starts_item(sheet.source, sheet.form, max(0, offset - 1))
    frames: list[_Frame] = [_Frame("")]
    in_body = False
    before: Token | None = None
    last: Token | None = None
    for token in tokens_of(sheet.source, sheet.form, start):
        if token.start >= offset:
            break
        if token.kind == "comment":
            if token.end >= offset and token.start < offset:
                return None
            continue
        if token.kind == "name" and token.end >= offset:
            last = token
            break
        if token.text == ":-":
            in_body, frames = True, [_Frame("")]
        _step(frames, token, before, sheet.form == "infix")
        if len(frames) > LIMITS.reading.depth:
            return None
        before = token
    prefix = sheet.text[last.start : offset] if last else ""
    range_ = Range(last.start if last else offset, offset)
    slot, steps, opened = _infix_slot(frames, in_body) if sheet.form == "infix" else _kif_slot(frames)
    return TypingContext(slot, prefix, range_, opened, steps)


def _step(frames: list[_Frame], token: Token, before: Token | None, infix: bool) -> None:
    top = frames[-1]
    if token.kind == "open":
        if infix:
            is_call = before is not None and before.kind == "name" and before.end == token.start
            frames.append(_Frame(fold_head(before.text.strip("'")) if is_call and before else ""))
        else:
            frames.append(_Frame(None))
    elif token.kind == "close":
        if len(frames) > 1:
            frames.pop()
            if not infix:
                _count(frames[-1])
    elif token.kind == "mark":
        top.index += token.text == ","
    elif not infix:
        if top.name is None:
            top.name = fold_head(token.text)
        else:
            _count(top)


def _count(frame: _Frame) -> None:
    if frame.name is None:
        frame.name = "("  # a list where a name should be
    else:
        frame.index += 1


def _kif_slot(frames: list[_Frame]) -> tuple[Slot, tuple[tuple[str, int], ...], bool]:
    slot: Slot = "item"
    steps: tuple[tuple[str, int], ...] = ()
    for frame in frames[1:]:
        name, index = frame.name, frame.index
        if name is None:
            return slot, steps, True
        if name == "<=" and slot in ("item", "formula"):
            slot = "formula" if index else "head"
        elif slot != "term" and name in OPERATORS:
            slot = "term" if name == "distinct" else "formula"
        elif slot != "term":
            slot, steps = "term", ((name, index),)
        elif steps:
            steps = (*steps, (name, index))
    return slot, steps, False


def _infix_slot(frames: list[_Frame], in_body: bool) -> tuple[Slot, tuple[tuple[str, int], ...], bool]:
    slot: Slot = "formula" if in_body else "item"
    steps: tuple[tuple[str, int], ...] = ()
    for frame in frames[1:]:
        name = frame.name or ""
        if slot != "term" and (not name or name in OPERATORS):
            slot = "term" if name == "distinct" else "formula"
        elif slot != "term":
            slot, steps = "term", ((name, frame.index),)
        elif steps and name:
            steps = (*steps, (name, frame.index))
    return slot, steps, False


CompletionKind = Literal["keyword", "relation", "fluent", "move", "function", "constant", "variable"]

#: Proposals at a time: an editor filters them, and nobody looks through more.
_MOST: Final = 300
_OF_SLOT: Final[dict[Slot, tuple[str, ...]]] = {
    "item": ("role", "init", "next", "legal", "goal", "terminal", "base", "input", "sees", "percept"),
    "head": ("next", "legal", "goal", "terminal", "init", "base", "input", "sees", "percept"),
    "formula": ("true", "does", "role", "legal", "goal", "terminal", "not", "or", "distinct"),
    "term": (),
}


@dataclass(frozen=True, slots=True)
class Completion:
    """A proposal.

    Attributes:
        label: what is shown, and what typed letters are compared with.
        kind: what it is.
        detail: a few words beside it.
        text: what is written; as a snippet, with places to fill in, where ``is_snippet``.
        is_snippet: whether ``$`` and braces in the text are those of a snippet.
        range: what is replaced.
        order: proposals with a lower one are shown first.
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
    """Return what can stand at an offset."""
    context = typing_context(sheet, offset)
    if context is None:
        return []
    writer = _Writer(sheet, context, snippets)
    found = (
        _terms(sheet, context, table, writer) if context.slot == "term" else _formulas(sheet, context, writer)
    )
    typed = context.prefix.lstrip("('?").lower()
    fitting = (each for each in found if typed in each.label.lower())
    return list(islice(fitting, _MOST))


class _Writer:
    """Makes proposals of symbols."""

    def __init__(self, sheet: WrittenSheet, context: TypingContext, snippets: bool) -> None:
        self._sheet = sheet
        self._context = context
        self._snippets = snippets

    def proposal(
        self, symbol: Symbol, kind: CompletionKind, detail: str, order: int, arguments: list[str]
    ) -> Completion:
        """Return the proposal of a name with so many arguments."""
        name = self._sheet.spelled(symbol)
        range_ = self._context.range
        if not arguments:
            return Completion(name, kind, detail, name, False, range_, order)
        if not self._snippets:
            opening = "" if self._context.opened else "("
            text = f"{name}(" if self._sheet.form == "infix" else f"{opening}{name} "
            return Completion(name, kind, detail, text, False, range_, order)
        if self._sheet.form == "infix":
            spelled = [infix_variable(each[1:]) if each[0] == "?" else each for each in arguments]
            holes = [f"${{{number}:{_escaped(each)}}}" for number, each in enumerate(spelled, 1)]
            return Completion(name, kind, detail, f"{_escaped(name)}({','.join(holes)})", True, range_, order)
        holes = [f"${{{number}:{_escaped(each)}}}" for number, each in enumerate(arguments, 1)]
        text = f"{_escaped(name)} {' '.join(holes)}"
        if not self._context.opened:
            text = f"({text})"
        return Completion(name, kind, detail, text, True, range_, order)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")


def _formulas(sheet: WrittenSheet, context: TypingContext, writer: _Writer) -> Iterator[Completion]:
    """Yield the keywords and relations of a slot."""
    needs_list = context.opened
    for name in _OF_SLOT[context.slot]:
        keyword = KEYWORD_TEXTS[name]
        arguments = [_hole(each) for each in keyword.arguments if each != "..."]
        if sheet.form == "infix" and name in ("not", "or"):
            continue
        if arguments or not needs_list:
            symbol = Symbol("relation", name, len(arguments))
            yield writer.proposal(symbol, "keyword", keyword.text.partition(".")[0], 2, arguments)
    if context.slot == "item" and sheet.form == "kif":
        yield writer.proposal(Symbol("operator", "<=", 2), "keyword", "a rule", 1, ["head", "body"])
    for symbol in sorted(
        {each.symbol for each in sheet.occurrences if each.symbol.kind == "relation"},
        key=lambda each: (each.name, each.arity),
    ):
        known = KEYWORDS.get(symbol.name)
        is_typed = symbol not in sheet.heads and len(sheet.by_symbol[symbol]) < 2
        if known is not None or is_typed or (needs_list and not symbol.arity):
            continue
        names = [f"?{each}" for each in argument_names(sheet, symbol)]
        detail = f"{pattern(sheet, symbol)} {kind_of(sheet, symbol)}"
        yield writer.proposal(symbol, "relation", detail, 1, names)


def _hole(word: str) -> str:
    return {"role": "?role", "move": "?move", "fluent": "fluent", "term": "?term", "value": "100"}.get(
        word, word
    )


def _terms(
    sheet: WrittenSheet, context: TypingContext, table: DomainTable, writer: _Writer
) -> Iterator[Completion]:
    """Yield the rule's variables, then what the domain of the place has."""
    if not context.opened:
        for name in _variables(sheet, context):
            yield writer.proposal(Symbol("variable", name, 0), "variable", "variable of this rule", 0, [])
    if context.prefix.startswith("?"):
        return
    values = _at(table, context).merged(_at(sheet.written, context))
    if not values:
        values = _everything(sheet)
    for name, arity in sorted(values.functors):
        symbol = Symbol("term", name, arity)
        holes = [f"?{each}" for each in argument_names(sheet, symbol)]
        kind = kind_of(sheet, symbol)
        shown_kind: CompletionKind = (
            "fluent" if kind.startswith("fluent") else "move" if kind.startswith("move") else "function"
        )
        yield writer.proposal(symbol, shown_kind, f"{pattern(sheet, symbol)} {kind}", 1, holes)
    if not context.opened:
        for name in sorted(values.constants):
            symbol = Symbol("term", name, 0)
            yield writer.proposal(symbol, "constant", kind_of(sheet, symbol), 2, [])


def _at(table: DomainTable, context: TypingContext) -> Values:
    result = Values()
    for place in table.resolve(context.steps):
        result = result.merged(table.at(place))
    return result


def _everything(sheet: WrittenSheet) -> Values:
    terms = [symbol for symbol in sheet.by_symbol if symbol.kind == "term"]
    constants = {each.name for each in terms if not each.arity}
    return Values(constants, {(each.name, each.arity) for each in terms if each.arity})


def _variables(sheet: WrittenSheet, context: TypingContext) -> Iterator[str]:
    """Yield the variables of the rule that is being typed, but for one that begins at the place itself."""
    start = starts_item(sheet.source, sheet.form, max(0, context.range.start))
    after = [item.start for item in sheet.items if item.start > context.range.start]
    end = min(after, default=len(sheet.text))
    seen: dict[str, None] = {}
    around = [each for each in sheet.occurrences if start <= each.start < end]
    for each in around:
        if each.symbol.kind == "variable" and each.start != context.range.start:
            seen[each.symbol.name] = None
    yield from (name for name in seen if name and not name.startswith("_any"))


# -- signatures ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Signature:
    """How a sentence or term is written, and at which argument somebody is.

    Attributes:
        label: the whole of it.
        arguments: start and end of each argument in the label, and what it may be.
        active: the number of the argument, from 0.
    """

    label: str
    arguments: tuple[tuple[int, int, str], ...]
    active: int


def signature(sheet: WrittenSheet, offset: int, table: DomainTable) -> list[Signature]:
    """Return the sentences or terms that an offset may be inside of, the likeliest first."""
    context = typing_context(sheet, offset)
    if context is None or not context.steps or context.opened:
        return []
    name, active = context.steps[-1]
    kind: Literal["relation", "term"] = "relation" if len(context.steps) == 1 else "term"
    if kind == "relation" and name in KEYWORDS:
        arities = [KEYWORDS[name]]
    else:
        found = {each.arity for each in sheet.by_symbol if each.kind == kind and each.name == name}
        # What is being typed has too few arguments yet; what is defined has all of them.
        defined = {arity for arity in found if Symbol("relation", name, arity) in sheet.heads}
        arities = sorted(arity for arity in (kind == "relation" and defined) or found if arity)
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
