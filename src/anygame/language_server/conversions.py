"""Answers as the protocol's types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

from anygame.language_server.lines import Lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anygame.language_server.checking.findings import Edit, Finding
    from anygame.language_server.completing import Completion, CompletionKind, Signature
    from anygame.language_server.documents import Document
    from anygame.language_server.explanations import Explanations
    from anygame.language_server.outline import Entry
    from anygame.language_server.sheet import Range

_SOURCE: Final = "anygame"
_SEVERITIES: Final = {
    1: lsp.DiagnosticSeverity.Information,
    2: lsp.DiagnosticSeverity.Warning,
    3: lsp.DiagnosticSeverity.Error,
}
#: What could be left out; editors show it dimmed.
_UNNECESSARY: Final = frozenset(
    ("unused-relation", "duplicate-rule", "subsumed-rule", "unread-fluent", "dead-alternative", "never-fires",
     "idle-distinct", "idle-negation")
)  # fmt: skip
_SYMBOLS: Final = {
    "keyword": lsp.SymbolKind.Namespace,
    "fluent": lsp.SymbolKind.Property,
    "move": lsp.SymbolKind.Event,
    "relation": lsp.SymbolKind.Constant,
    "view": lsp.SymbolKind.Function,
    "rule": lsp.SymbolKind.Object,
}
_COMPLETIONS: Final[dict[CompletionKind, lsp.CompletionItemKind]] = {
    "keyword": lsp.CompletionItemKind.Keyword,
    "relation": lsp.CompletionItemKind.Function,
    "fluent": lsp.CompletionItemKind.Property,
    "move": lsp.CompletionItemKind.Event,
    "function": lsp.CompletionItemKind.Struct,
    "constant": lsp.CompletionItemKind.EnumMember,
    "variable": lsp.CompletionItemKind.Variable,
}


def offset(lines: Lines, position: lsp.Position) -> int:
    """Return the offset of a position."""
    return lines.offset((position.line, position.character))


def range_of(lines: Lines, start: int, end: int) -> lsp.Range:
    """Return a part of the text as the editor counts."""
    return lsp.Range(lsp.Position(*lines.place(start)), lsp.Position(*lines.place(end)))


def text_edits(lines: Lines, edits: Iterable[tuple[Range, str]]) -> list[lsp.TextEdit]:
    """Return edits as the protocol has them."""
    return [lsp.TextEdit(range_of(lines, place.start, place.end), text) for place, text in edits]


def workspace_edit(document: Document, edits: Sequence[lsp.TextEdit]) -> lsp.WorkspaceEdit:
    """Return edits of one document."""
    return lsp.WorkspaceEdit(changes={document.uri: list(edits)})


def finding_edits(lines: Lines, edits: Iterable[Edit]) -> list[lsp.TextEdit]:
    """Return the edits of a mend."""
    return [lsp.TextEdit(range_of(lines, edit.start, edit.end), edit.text) for edit in edits]


def diagnostic(document: Document, found: Finding, explanations: Explanations) -> lsp.Diagnostic:
    """Return a finding, with its related places and a link to what its code means."""
    lines = document.lines
    link = explanations.link(found.code)
    return lsp.Diagnostic(
        range=range_of(lines, found.start, found.end),
        message=found.message,
        severity=_SEVERITIES[found.severity],
        code=found.code,
        code_description=lsp.CodeDescription(link) if link else None,
        source=_SOURCE,
        tags=[lsp.DiagnosticTag.Unnecessary] if found.code in _UNNECESSARY else None,
        related_information=[
            lsp.DiagnosticRelatedInformation(
                lsp.Location(document.uri, range_of(lines, each.start, each.end)), each.message
            )
            for each in found.related
        ]
        or None,
    )


def symbol_kind(entry: Entry) -> lsp.SymbolKind:
    """Return the kind of symbol that an entry of an outline is shown as."""
    return _SYMBOLS.get(entry.kind.partition(",")[0], lsp.SymbolKind.Constant)


def document_symbol(lines: Lines, entry: Entry) -> lsp.DocumentSymbol:
    """Return an entry of an outline, with those inside it."""
    return lsp.DocumentSymbol(
        name=entry.name or "?",
        detail=entry.detail,
        kind=symbol_kind(entry),
        range=range_of(lines, entry.range.start, entry.range.end),
        selection_range=range_of(lines, entry.selection.start, entry.selection.end),
        children=[document_symbol(lines, child) for child in entry.children] or None,
    )


def completion_item(lines: Lines, found: Completion) -> lsp.CompletionItem:
    """Return a proposal."""
    form = lsp.InsertTextFormat.Snippet if found.is_snippet else lsp.InsertTextFormat.PlainText
    return lsp.CompletionItem(
        label=found.label,
        kind=_COMPLETIONS[found.kind],
        detail=found.detail,
        sort_text=f"{found.order}{found.label}",
        filter_text=found.label,
        insert_text_format=form,
        text_edit=lsp.TextEdit(range_of(lines, found.range.start, found.range.end), found.text),
    )


def signature_information(found: Signature) -> lsp.SignatureInformation:
    """Return how a sentence or term is written."""
    units = Lines(found.label)  # in UTF-16, whatever the document's encoding
    widths = [
        lsp.ParameterInformation(
            label=(units.width(0, start), units.width(0, end)),
            documentation=said or None,
        )
        for start, end, said in found.arguments
    ]
    return lsp.SignatureInformation(label=found.label, parameters=widths)
