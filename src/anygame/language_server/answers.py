"""What is answered to each request about a document, in the protocol's types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from anygame.language_server.colouring import colours
from anygame.language_server.completing import complete, signature
from anygame.language_server.conversions import (
    completion_item,
    document_symbol,
    offset,
    range_of,
    signature_information,
    text_edits,
    workspace_edit,
)
from anygame.language_server.hovering import hover
from anygame.language_server.navigating import definitions, highlights, references
from anygame.language_server.outline import folds, outline
from anygame.language_server.reformatting import layout_edits
from anygame.language_server.renaming import can_rename, rename
from anygame.language_server.sheet import Range

if TYPE_CHECKING:
    from anygame.language_server.documents import Document


class Answers:
    """Answers requests; each method is called with a document and the parameters of the request.

    Args:
        client: what the editor can do.
    """

    def __init__(self, client: lsp.ClientCapabilities) -> None:
        text = client.text_document
        item = text.completion.completion_item if text and text.completion else None
        self._snippets = bool(item and item.snippet_support)
        formats = text.hover.content_format if text and text.hover else None
        self._markdown = formats is None or lsp.MarkupKind.Markdown in formats

    def hover(self, document: Document, params: lsp.HoverParams) -> lsp.Hover | None:
        """Return what is told about the name at a place."""
        found = hover(document.sheet, offset(document.lines, params.position), document.domains)
        if found is None:
            return None
        kind = lsp.MarkupKind.Markdown if self._markdown else lsp.MarkupKind.PlainText
        content = lsp.MarkupContent(kind, found.markdown if self._markdown else found.plain)
        return lsp.Hover(content, range_of(document.lines, found.range.start, found.range.end))

    def definition(self, document: Document, params: lsp.DefinitionParams) -> list[lsp.Location]:
        """Return where the name at a place is defined."""
        return self._locations(document, definitions(document.sheet, offset(document.lines, params.position)))

    def references(self, document: Document, params: lsp.ReferenceParams) -> list[lsp.Location]:
        """Return all places of what is meant at a place."""
        return self._locations(
            document,
            references(
                document.sheet,
                offset(document.lines, params.position),
                declaration=params.context.include_declaration,
            ),
        )

    @staticmethod
    def _locations(document: Document, found: list[Range]) -> list[lsp.Location]:
        return [lsp.Location(document.uri, range_of(document.lines, each.start, each.end)) for each in found]

    def highlights(
        self, document: Document, params: lsp.DocumentHighlightParams
    ) -> list[lsp.DocumentHighlight]:
        """Return all places of what is meant at a place, with what is done there."""
        return [
            lsp.DocumentHighlight(
                range_of(document.lines, each.start, each.end),
                lsp.DocumentHighlightKind.Write if is_written else lsp.DocumentHighlightKind.Read,
            )
            for each, is_written in highlights(document.sheet, offset(document.lines, params.position))
        ]

    def symbols(self, document: Document, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        """Return the outline."""
        return [document_symbol(document.lines, entry) for entry in outline(document.sheet)]

    def folding(self, document: Document, params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        """Return what can be folded."""
        return [
            lsp.FoldingRange(first, last, kind=lsp.FoldingRangeKind.Comment if is_comment else None)
            for first, last, is_comment in folds(document.sheet, document.lines)
        ]

    def completion(self, document: Document, params: lsp.CompletionParams) -> lsp.CompletionList:
        """Return what can stand at a place."""
        place = offset(document.lines, params.position)
        found = complete(document.sheet, place, document.domains, snippets=self._snippets)
        items = [completion_item(document.lines, each) for each in found]
        return lsp.CompletionList(is_incomplete=False, items=items)

    def signature(self, document: Document, params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
        """Return how the sentence or term around a place is written."""
        found = signature(document.sheet, offset(document.lines, params.position), document.domains)
        if not found:
            return None
        active = min(found[0].active, max(0, len(found[0].arguments) - 1))
        return lsp.SignatureHelp(list(map(signature_information, found)), 0, active)

    def rename(self, document: Document, params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        """Return the edits that change a name. Raises RenamingError."""
        found = rename(document.sheet, offset(document.lines, params.position), params.new_name)
        return workspace_edit(document, text_edits(document.lines, found))

    def can_rename(self, document: Document, params: lsp.PrepareRenameParams) -> lsp.PrepareRenamePlaceholder:
        """Return the name at a place. Raises RenamingError where it cannot be changed."""
        found = can_rename(document.sheet, offset(document.lines, params.position))
        place = range_of(document.lines, found.start, found.end)
        name = found.symbol.name if found.symbol.kind != "variable" else document.sheet.spelled(found.symbol)
        return lsp.PrepareRenamePlaceholder(place, name)

    def formatting(self, document: Document, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        """Return the edits that lay a sheet out. Raises RuleSheetError where it cannot be read."""
        return text_edits(document.lines, layout_edits(document.sheet))

    def range_formatting(
        self, document: Document, params: lsp.DocumentRangeFormattingParams
    ) -> list[lsp.TextEdit]:
        """Return the edits that lay a part of a sheet out. Raises RuleSheetError."""
        lines = document.lines
        part = Range(offset(lines, params.range.start), offset(lines, params.range.end))
        return text_edits(lines, layout_edits(document.sheet, part))

    def semantic_tokens(self, document: Document, params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        """Return what each token is."""
        return lsp.SemanticTokens(list(colours(document.sheet, document.lines)))

    def semantic_tokens_range(
        self, document: Document, params: lsp.SemanticTokensRangeParams
    ) -> lsp.SemanticTokens:
        """Return what each token of a part of the text is."""
        lines = document.lines
        start, end = offset(lines, params.range.start), offset(lines, params.range.end)
        return lsp.SemanticTokens(list(colours(document.sheet, lines, start, end)))
