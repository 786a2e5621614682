"""HTML for notebooks, with escaped text, without scripts, and in the colours of the notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from anygame.language.diagnostics import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Markup(str):
    """A string of HTML, which `html` does not escape."""

    __slots__ = ()


def html(text: object, width: int = 200) -> str:
    """Return a text as HTML: escaped, and shortened to ``width`` characters.

    >>> html("<b>"), html(Markup("<b>"))
    ('&lt;b&gt;', '<b>')
    """
    return text if isinstance(text, Markup) else escape(shown(str(text), width))


def table(header: Sequence[object], rows: Iterable[Sequence[Any]], caption: object = "") -> Markup:
    """Return a table."""
    lines = [f"<caption>{html(caption)}</caption>"] if caption else []
    lines.append(f"<thead><tr>{''.join(f'<th>{html(cell)}</th>' for cell in header)}</tr></thead>")
    lines += [f"<tr>{''.join(f'<td>{html(cell)}</td>' for cell in row)}</tr>" for row in rows]
    return Markup(f"<table>{''.join(lines)}</table>")


def paragraph(text: object) -> Markup:
    """Return a paragraph."""
    return Markup(f"<p>{html(text, 1000)}</p>")


def folded(summary: object, inner: str, *, is_open: bool = False) -> Markup:
    """Return content under a summary line that folds and unfolds it."""
    return Markup(f"<details{' open' * is_open}><summary>{html(summary)}</summary>{inner}</details>")


def code(text: object) -> Markup:
    """Return a part of a rule sheet as code."""
    return Markup(f"<code>{html(text)}</code>")


def meter(value: float, text: str) -> Markup:
    """Return a text over a bar whose length is ``value`` percent of the width."""
    # For nan, max(0.0, nan) returns 0.0: every comparison with nan is false.
    share = min(max(0.0, value), 100.0)
    bar = f"linear-gradient(to right, rgba(63, 142, 207, 0.35) {share:.1f}%, transparent {share:.1f}%)"
    style = f"display: block; min-width: 5em; padding: 0 0.3em; text-align: right; background: {bar}"
    return Markup(f'<span style="{style}">{html(text)}</span>')
