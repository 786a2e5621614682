"""Quick fixes: the mends of what was found at a place, and all of those that are beyond doubt at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from anygame.language_server.conversions import (
    diagnostic,
    finding_edits,
    offset,
    text_edits,
    workspace_edit,
)
from anygame.language_server.reformatting import line_edits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anygame.language_server.checking.findings import Edit, Finding, Fix
    from anygame.language_server.documents import Document
    from anygame.language_server.explanations import Explanations

FIX_ALL = "source.fixAll.anygame"


def code_actions(
    document: Document, params: lsp.CodeActionParams, explanations: Explanations
) -> list[lsp.CodeAction]:
    """Return the mends of a part of a document; none while its latest text has not been examined."""
    if document.findings is None:
        return []
    found = document.findings.findings
    start, end = offset(document.lines, params.range.start), offset(document.lines, params.range.end)
    wanted = [str(getattr(kind, "value", kind)) for kind in params.context.only or ()]
    actions = []
    if not wanted or any("quickfix".startswith(kind) for kind in wanted):
        for finding in found:
            if finding.fixes and finding.start <= end and start <= finding.end:
                shown = diagnostic(document, finding, explanations)
                actions += [_quick_fix(document, shown, fix) for fix in finding.fixes]
    if not wanted or any(FIX_ALL.startswith(kind) for kind in wanted):
        edits = _sure_edits(found)
        if edits:
            edit = workspace_edit(document, finding_edits(document.lines, edits))
            actions.append(
                lsp.CodeAction("Mend all that can be mended beyond doubt", kind=FIX_ALL, edit=edit)
            )
    return actions


def _quick_fix(document: Document, shown: lsp.Diagnostic, fix: Fix) -> lsp.CodeAction:
    action = lsp.CodeAction(fix.title, lsp.CodeActionKind.QuickFix, [shown], is_preferred=fix.sure or None)
    if fix.edits:
        action.edit = workspace_edit(document, finding_edits(document.lines, fix.edits))
    else:
        action.data = {"uri": document.uri, "version": document.version, "kinds": list(fix.kinds)}
    return action


def _sure_edits(found: Iterable[Finding]) -> list[Edit]:
    """Return the edits of all mends that are beyond doubt, without those that overlap others."""
    edits: list[Edit] = []
    for finding in found:
        fix = next((fix for fix in finding.fixes if fix.sure and fix.edits), None)
        if fix is not None and not any(_overlap(edit, other) for edit in fix.edits for other in edits):
            edits += fix.edits
    return edits


def _overlap(edit: Edit, other: Edit) -> bool:
    return edit.start <= other.end and other.start <= edit.end


def resolving(action: lsp.CodeAction) -> tuple[str, int, list[str]] | None:
    """Return address and version of the document of an action without edits, and its kinds of mends."""
    data: Any = action.data
    if action.edit is not None or not isinstance(data, dict):
        return None
    uri, version, kinds = data.get("uri"), data.get("version"), data.get("kinds")
    if not (isinstance(uri, str) and isinstance(version, int) and isinstance(kinds, list)):
        return None
    return uri, version, [kind for kind in kinds if isinstance(kind, str)]


def edit_to(document: Document, text: str) -> lsp.WorkspaceEdit:
    """Return the edit that makes another text of a document's."""
    return workspace_edit(document, text_edits(document.lines, line_edits(document.text, text)))
