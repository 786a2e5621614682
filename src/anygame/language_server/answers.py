"""Answers requests about a document with the types of `lsprotocol`."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types as lsp

from anygame.doctor import CODES
from anygame.language_server.completing import complete, signature
from anygame.language_server.documents import Lines, layout_edits
from anygame.language_server.meanings import hover
from anygame.language_server.navigating import (
    MODIFIERS,
    TYPES,
    can_rename,
    colours,
    definitions,
    folds,
    outline,
    references,
    rename,
)
from anygame.language_server.sheet import Range

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anygame.doctor.mending import Fix
    from anygame.language_server.documents import Document, Part
    from anygame.language_server.findings import Finding
    from anygame.language_server.navigating import Entry
    from anygame.sheets.edits import Edit

FIX_ALL = "source.fixAll.anygame"
_SOURCE: Final = "anygame"
_SEVERITIES: Final = {
    1: lsp.DiagnosticSeverity.Information,
    2: lsp.DiagnosticSeverity.Warning,
    3: lsp.DiagnosticSeverity.Error,
}
#: Codes of diagnostics about superfluous parts, which editors dim.
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
_COMPLETIONS: Final = {
    "keyword": lsp.CompletionItemKind.Keyword,
    "relation": lsp.CompletionItemKind.Function,
    "fluent": lsp.CompletionItemKind.Property,
    "move": lsp.CompletionItemKind.Event,
    "function": lsp.CompletionItemKind.Struct,
    "constant": lsp.CompletionItemKind.EnumMember,
    "variable": lsp.CompletionItemKind.Variable,
}


@dataclass(frozen=True, slots=True)
class Question:
    """A request about a document, and the capabilities of the editor."""

    document: Document
    params: Any
    client: lsp.ClientCapabilities

    @property
    def place(self) -> tuple[Any, int]:
        """The sheet, and the offset of the cursor."""
        return self.document.sheet, self.document.offset(self.params.position)

    @property
    def part(self) -> Range:
        """The requested part of the text."""
        part = self.params.range
        return Range(self.document.offset(part.start), self.document.offset(part.end))

    def locations(self, parts: Iterable[Part]) -> list[lsp.Location]:
        """Return parts of the document as locations of the protocol."""
        return [lsp.Location(self.document.uri, self.document.range(part)) for part in parts]


def _hover(asked: Question) -> lsp.Hover | None:
    info = hover(*asked.place, asked.document.domains)
    if info is None:
        return None
    text = asked.client.text_document
    formats = text.hover.content_format if text and text.hover else None
    is_markdown = formats is None or lsp.MarkupKind.Markdown in formats
    kind = lsp.MarkupKind.Markdown if is_markdown else lsp.MarkupKind.PlainText
    content = lsp.MarkupContent(kind, info.markdown if is_markdown else info.plain)
    return lsp.Hover(content, asked.document.range(info.range))


def _highlights(asked: Question) -> list[lsp.DocumentHighlight]:
    kinds = {True: lsp.DocumentHighlightKind.Write, False: lsp.DocumentHighlightKind.Read}
    return [
        lsp.DocumentHighlight(asked.document.range(name), kinds[name.in_head])
        for name in references(*asked.place)
    ]


def _completion(asked: Question) -> lsp.CompletionList:
    text = asked.client.text_document
    item = text.completion.completion_item if text and text.completion else None
    snippets = bool(item and item.snippet_support)
    forms = {True: lsp.InsertTextFormat.Snippet, False: lsp.InsertTextFormat.PlainText}
    items = [
        lsp.CompletionItem(
            label=proposal.label,
            kind=_COMPLETIONS[proposal.kind],
            detail=proposal.detail,
            sort_text=f"{proposal.order}{proposal.label}",
            filter_text=proposal.label,
            insert_text_format=forms[proposal.is_snippet],
            text_edit=lsp.TextEdit(asked.document.range(proposal.range), proposal.text),
        )
        for proposal in complete(*asked.place, asked.document.domains, snippets=snippets)
    ]
    return lsp.CompletionList(is_incomplete=False, items=items)


def _signature(asked: Question) -> lsp.SignatureHelp | None:
    patterns = signature(*asked.place, asked.document.domains)
    if not patterns:
        return None
    signatures = []
    for each in patterns:
        units = Lines(each.label)  # the protocol counts characters of labels in UTF-16
        parameters = [
            lsp.ParameterInformation((units.width(0, start), units.width(0, end)), values or None)
            for start, end, values in each.arguments
        ]
        signatures.append(lsp.SignatureInformation(each.label, parameters=parameters))
    first = patterns[0]
    return lsp.SignatureHelp(signatures, 0, min(first.active, max(0, len(first.arguments) - 1)))


def _can_rename(asked: Question) -> lsp.PrepareRenamePlaceholder:
    sheet, offset = asked.place
    name = can_rename(sheet, offset)
    text = name.symbol.name if name.symbol.kind != "variable" else sheet.spelled(name.symbol)
    return lsp.PrepareRenamePlaceholder(asked.document.range(name), text)


def symbol_kind(entry: Entry) -> lsp.SymbolKind:
    """Return the protocol's symbol kind for an entry of the outline."""
    return _SYMBOLS.get(entry.kind.partition(",")[0], lsp.SymbolKind.Constant)


def _symbol(document: Document, entry: Entry) -> lsp.DocumentSymbol:
    return lsp.DocumentSymbol(
        name=entry.name or "?",
        detail=entry.detail,
        kind=symbol_kind(entry),
        range=document.range(entry.range),
        selection_range=document.range(entry.selection),
        children=[_symbol(document, child) for child in entry.children] or None,
    )


def _colours(asked: Question) -> lsp.SemanticTokens:
    part = asked.part if hasattr(asked.params, "range") else Range(0, len(asked.document.text))
    return lsp.SemanticTokens(list(colours(asked.document.sheet, asked.document.lines, part.start, part.end)))


_LEGEND: Final = lsp.SemanticTokensLegend(token_types=list(TYPES), token_modifiers=list(MODIFIERS))
#: Requests about a document, their handlers, and the options that the server announces. A handler can raise
#: AnygameError.
REQUESTS: Final = (
    (lsp.TEXT_DOCUMENT_HOVER, _hover, None),
    (lsp.TEXT_DOCUMENT_DEFINITION, lambda asked: asked.locations(definitions(*asked.place)), None),
    (
        lsp.TEXT_DOCUMENT_REFERENCES,
        lambda asked: asked.locations(
            references(*asked.place, declaration=asked.params.context.include_declaration)
        ),
        None,
    ),
    (lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, _highlights, None),
    (
        lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL,
        lambda asked: [_symbol(asked.document, entry) for entry in outline(asked.document.sheet)],
        None,
    ),
    (
        lsp.TEXT_DOCUMENT_FOLDING_RANGE,
        lambda asked: [
            lsp.FoldingRange(first, last, kind=lsp.FoldingRangeKind.Comment if is_comment else None)
            for first, last, is_comment in folds(asked.document.sheet, asked.document.lines)
        ],
        None,
    ),
    (
        lsp.TEXT_DOCUMENT_COMPLETION, _completion,
        lsp.CompletionOptions(trigger_characters=["(", "?", " ", ","]),
    ),
    (
        lsp.TEXT_DOCUMENT_SIGNATURE_HELP, _signature,
        lsp.SignatureHelpOptions(trigger_characters=["(", " ", ","]),
    ),
    (
        lsp.TEXT_DOCUMENT_RENAME,
        lambda asked: edit_of(asked.document, rename(asked.place[0], asked.place[1], asked.params.new_name)),
        lsp.RenameOptions(prepare_provider=True),
    ),
    (lsp.TEXT_DOCUMENT_PREPARE_RENAME, _can_rename, None),
    (
        lsp.TEXT_DOCUMENT_FORMATTING,
        lambda asked: _text_edits(asked.document, layout_edits(asked.document.sheet)),
        None,
    ),
    (
        lsp.TEXT_DOCUMENT_RANGE_FORMATTING,
        lambda asked: _text_edits(asked.document, layout_edits(asked.document.sheet, asked.part)),
        None,
    ),
    (lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, _colours, _LEGEND),
    (lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, _colours, _LEGEND),
)  # fmt: skip


class Explanations:
    """Temporary folder with the explanations of diagnostic codes. `link` writes each explanation once."""

    def __init__(self) -> None:
        self._folder: TemporaryDirectory[str] | None = None
        self._links: dict[str, str] = {}

    def link(self, code: str) -> str | None:
        """Return the URI of a code's explanation; None without an explanation or after a failure to write."""
        if code not in self._links and code in CODES:
            with suppress(OSError):
                if self._folder is None:
                    self._folder = TemporaryDirectory(prefix="anygame-codes-")
                path = Path(self._folder.name) / f"{code}.txt"
                path.write_text(f"{CODES[code].text}\n", encoding="utf-8")
                self._links[code] = path.as_uri()
        return self._links.get(code)

    def close(self) -> None:
        """Remove the folder."""
        if self._folder is not None:
            self._folder.cleanup()


def diagnostic(document: Document, finding: Finding, explanations: Explanations) -> lsp.Diagnostic:
    """Convert a finding to a diagnostic of the protocol, with a link to the explanation of its code."""
    link = explanations.link(finding.code)
    related = [
        lsp.DiagnosticRelatedInformation(lsp.Location(document.uri, document.range(each)), each.message)
        for each in finding.related
    ]
    return lsp.Diagnostic(
        range=document.range(finding),
        message=finding.message,
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=lsp.CodeDescription(link) if link else None,
        source=_SOURCE,
        tags=[lsp.DiagnosticTag.Unnecessary] if finding.code in _UNNECESSARY else None,
        related_information=related or None,
    )


def code_actions(asked: Question, explanations: Explanations) -> list[lsp.CodeAction]:
    """Return an action for each fix in a part of a document, and one action for all safe fixes.

    The list is empty until the latest text has been examined.
    """
    document = asked.document
    if document.findings is None:
        return []
    findings, part = document.findings.findings, asked.part
    wanted = [str(getattr(kind, "value", kind)) for kind in asked.params.context.only or ()]
    actions = []
    if not wanted or any("quickfix".startswith(kind) for kind in wanted):
        for finding in findings:
            if finding.fixes and finding.start <= part.end and part.start <= finding.end:
                shown = diagnostic(document, finding, explanations)
                actions += [_quick_fix(document, shown, fix) for fix in finding.fixes]
    if not wanted or any(FIX_ALL.startswith(kind) for kind in wanted):
        edits = _sure_edits(findings)
        if edits:
            actions.append(lsp.CodeAction("Apply all safe fixes", FIX_ALL, edit=edit_of(document, edits)))
    return actions


def _quick_fix(document: Document, shown: lsp.Diagnostic, fix: Fix) -> lsp.CodeAction:
    action = lsp.CodeAction(fix.title, lsp.CodeActionKind.QuickFix, [shown], is_preferred=fix.sure or None)
    if fix.edits:
        action.edit = edit_of(document, [(edit, edit.text) for edit in fix.edits])
    else:
        action.data = {"uri": document.uri, "version": document.version, "kinds": list(fix.kinds)}
    return action


def _sure_edits(findings: Iterable[Finding]) -> list[tuple[Edit, str]]:
    """Return the edits of all safe fixes, except fixes that overlap an earlier fix."""
    edits: list[Edit] = []
    for finding in findings:
        fix = next((fix for fix in finding.fixes if fix.sure and fix.edits), None)
        if fix is not None and not any(
            edit.start <= other.end and other.start <= edit.end for edit in fix.edits for other in edits
        ):
            edits += fix.edits
    return [(edit, edit.text) for edit in edits]


def resolving(action: lsp.CodeAction) -> tuple[str, int, list[str]] | None:
    """For an action without edits, return the URI and version of its document, and its mends; else None."""
    data: Any = action.data
    if action.edit is not None or not isinstance(data, dict):
        return None
    uri, version, kinds = data.get("uri"), data.get("version"), data.get("kinds")
    if not (isinstance(uri, str) and isinstance(version, int) and isinstance(kinds, list)):
        return None
    return uri, version, [kind for kind in kinds if isinstance(kind, str)]


def edit_of(document: Document, edits: Iterable[tuple[Part, str]]) -> lsp.WorkspaceEdit:
    """Convert edits of a document to an edit of the protocol."""
    return lsp.WorkspaceEdit(changes={document.uri: _text_edits(document, edits)})


def _text_edits(document: Document, edits: Iterable[tuple[Part, str]]) -> list[lsp.TextEdit]:
    return [lsp.TextEdit(document.range(part), text) for part, text in edits]
