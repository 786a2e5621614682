"""Findings in a sheet: a diagnostic with the play that shows it, and the edits that mend it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anygame.language.source import Span

if TYPE_CHECKING:
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.terms import Term
    from anygame.proving import Verdict
    from anygame.sheets.edits import Edit

#: Joint moves from the initial state, each in the order of the roles.
Line = tuple[tuple["Term", ...], ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding in a sheet.

    Attributes:
        diagnostic: the diagnostic, which also says whether it follows from another one.
        line: the joint moves that show it, if play did; its notes list them.
        kinds: the kinds of edits that mend it, as ``anygame mend --select`` knows them; none where
            translating the sheet does; None where no command mends it.
        edits: these edits; empty where more is added than an edit.
        meant: edits that write what was probably meant; nobody but the author can be sure.
        echoes: the findings that follow from it, in a few words; empty if there are none.
        verdict: of the property that it breaks, where a proof was looked for.
    """

    diagnostic: Diagnostic
    line: Line | None = None
    kinds: tuple[str, ...] | None = None
    edits: tuple[Edit, ...] = ()
    meant: tuple[Edit, ...] = ()
    echoes: str = ""
    verdict: Verdict | None = None

    @property
    def command(self) -> str:
        """The command that mends it; empty where none does."""
        if self.kinds is None:
            return ""
        if not self.kinds:
            return "anygame translate --lenient --to infix"
        return f"anygame mend --select {','.join(self.kinds)}"

    @property
    def replacements(self) -> list[tuple[Span, str]]:
        """The edits as places of the sheet, each with its new text."""
        if self.diagnostic.span is None:
            return []
        source = self.diagnostic.span.source
        return [(Span(source, each.start, each.end), each.written(source.text)) for each in self.edits]
