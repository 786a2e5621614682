"""Where somebody types: inside which sentence or term, at which argument; parentheses need not match."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from anygame.language.sentences import fold_head
from anygame.language_server.limits import LIMITS
from anygame.language_server.names import OPERATORS
from anygame.language_server.reading import starts_item, tokens_of
from anygame.language_server.sheet import Range

if TYPE_CHECKING:
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
