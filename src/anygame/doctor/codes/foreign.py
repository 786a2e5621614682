"""Elements of other languages: comments, brackets, words between the rules, sums and comparisons."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Final

from anygame.analysis.groups import grouped
from anygame.doctor.code import CODES, check
from anygame.language.diagnostics import Note, counted, shown
from anygame.language.forms import form_of
from anygame.language.rules import KEYWORDS
from anygame.language.source import Span
from anygame.language.terms import Constant
from anygame.language.text import foreign_marks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.source import Node


#: Opening and closing marks of block comments in other languages.
_BLOCKS: Final = {"#|": "|#", "/*": "*/"}
#: Marks at the start of comments in other languages.
_COMMENTS: Final = ("//", "#", "--", "/*", "%", '"""')
#: Words in square or curly brackets.
_BRACKETS: Final = re.compile(r"[\[{]([^\[\]{}]+)[\]}]")


@check("stray-text")
def _stray_text(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report unused words between the rules, with one diagnostic per line."""
    stray: list[Span] = []
    for rule in sheet.program.rules:
        node, key = rule.node, rule.head.key
        if node is None or key[1] or rule.body or KEYWORDS.get(key[0]) == 0:
            continue
        if key in sheet.reads or node.children:
            continue
        if stray and not node.source.text[stray[-1].end : node.start].strip(" \t"):  # same line
            stray[-1] = Span(node.source, stray[-1].start, node.end)
        else:
            stray.append(node.span)
    end = 0
    for span in stray:
        if span.start >= end:
            diagnostic = _block(sheet, span) or _words(span)
            end = diagnostic.span.end if diagnostic.span else 0
            yield diagnostic


def _block(sheet: Sheet, span: Span) -> Diagnostic | None:
    """Return the diagnostic of a block comment of another language; None if no comment starts at the span."""
    text, closing = span.source.text, _BLOCKS.get(span.text[:2], "")
    end = text.find(closing, span.start + 2) if closing else -1
    if end < 0:
        return None
    inside = [rule for rule in sheet.program.rules if rule.span and span.start < rule.span.start < end]
    rules = [rule.span for rule in inside if rule.body or rule.head.arguments]
    message = f"`{span.text[:2]}` does not start a comment in GDL"
    if rules:
        are = "are" if rules[1:] else "is"
        message += f": {counted(len(rules), 'rule')} before `{closing}` {are} in effect"
    notes = [Note("the first rule", rules[0])] if rules else []
    hint = "start each line of a comment with a semicolon"
    return CODES["stray-text"].found(message, Span(span.source, span.start, end + 2), *notes, hint=hint)


@check("quoted-words")
def _quoted_words(sheet: Sheet) -> Iterator[Diagnostic]:
    source = sheet.program.source
    if source is None or form_of(source) != "kif" or '"' not in source.text:
        return
    spans = [span for kind, span in foreign_marks(source) if kind == "string"]
    if spans:
        message = f"GDL has no strings: {shown(spans[0].text)} is read as separate words"
        message += ", and `;` starts a comment" if ";" in spans[0].text else ""
        more = [Note(f"and {counted(len(spans) - 1, 'more time')}")] if spans[1:] else []
        yield CODES["quoted-words"].found(
            message, spans[0], *more, hint="_".join(re.findall(r"\w+", spans[0].text))
        )


def _words(span: Span) -> Diagnostic:
    text = span.text
    comment = next((mark for mark in _COMMENTS if text.startswith(mark)), None)
    if comment:
        message = f"`{comment}` does not start a comment in GDL: these words are facts, which no rule reads"
        return CODES["stray-text"].found(message, span, hint="a comment starts with a semicolon")
    if bracketed := _BRACKETS.fullmatch(text):
        message = f"GDL lists need parentheses: {shown(text, 40)!r} is read as words, not as a fact"
        return CODES["stray-text"].found(message, span, hint=f"({bracketed[1].strip()})")
    facts = "a fact" if len(text.split()) == 1 else "facts"
    message = f"{shown(text, 40)!r} between the rules is parsed as {facts} that no rule reads"
    hint = "delete the text, or start the line with a semicolon"
    return CODES["stray-text"].found(message, span, hint=hint)


SUMS: Final = frozenset(("+", "-", "*", "/", "%", "^", "**", "++", "--", "1+", "is"))
#: Functors that mean arithmetic if an argument is a number.
_WORDS: Final = frozenset(("plus", "minus", "add", "sub", "times", "mod", "div"))
COMPARISONS: Final = frozenset(("<", ">", ">=", "=<", "=", "==", "!=", "/="))
_FEWEST_STEPS: Final = 2


@check("arithmetic", needs_all=False)
def _arithmetic(sheet: Sheet) -> Iterator[Diagnostic]:
    functions = [name for name in sheet.names if name.kind == "function"]
    sums = grouped((name.text, name) for name in functions if _is_sum(name.text, name.node))
    for text, (first, *others) in sums.items():
        term = " ".join(first.node.span.text.split())
        message = f"GDL has no arithmetic: {shown(term)} is an ordinary term, and {text} computes nothing"
        more = [Note(f"and {counted(len(others), 'more time')}")] if others else []
        yield CODES["arithmetic"].found(message, first.node.span, *more, hint=_advice(sheet))


def _is_sum(text: str, node: Node) -> bool:
    if text in SUMS:
        return True
    has_number = any(child.text.isdecimal() for child in (node.children or ())[1:])
    return text.lower() in _WORDS and has_number


def _advice(sheet: Sheet) -> str:
    counter = _counting_relation(sheet)
    if counter:
        return f"write ({counter} ?n ?next) in the body, and ?next here"
    return "add facts such as (succ 1 2); write (succ ?n ?next) in the body, and ?next here"


def _counting_relation(sheet: Sheet) -> str:
    """Return the name of a relation with facts such as (succ 1 2); an empty string if there is none."""
    for (name, arity), rules in sheet.heads.items():
        pairs = [rule.head.arguments for rule in rules if not rule.body] if arity == 2 else []
        numbers = [
            term.name for term in chain(*pairs) if isinstance(term, Constant) and term.name.isdecimal()
        ]
        if len(pairs) >= _FEWEST_STEPS and len(numbers) == 2 * len(pairs):
            counted = zip(numbers[::2], numbers[1::2], strict=True)
            if all(int(second) - int(first) == 1 for first, second in counted):
                return name
    return ""
