"""Findings: diagnostics of a sheet, with the play that shows them and the edits that mend them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anygame.language.source import Span

if TYPE_CHECKING:
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.terms import Term
    from anygame.proving import Verdict
    from anygame.sheets.edits import Edit

#: A line of play: joint moves from the initial state, each in the order of the roles.
Line = tuple[tuple["Term", ...], ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding in a sheet."""

    diagnostic: Diagnostic
    #: The joint moves that show the fault; None unless play found the fault.
    line: Line | None = None
    #: The kinds of edits that mend the fault, as in ``anygame mend --select``. Empty if ``anygame translate``
    #: mends the fault, and None if no command mends the fault.
    kinds: tuple[str, ...] | None = None
    #: The edits that mend the fault; empty if the mend appends declarations instead.
    edits: tuple[Edit, ...] = ()
    #: Edits that write the text that the author probably meant.
    meant: tuple[Edit, ...] = ()
    #: A summary of the findings that follow from this finding; empty if no findings follow.
    echoes: str = ""
    #: The verdict about the violated property; None without a proof.
    verdict: Verdict | None = None

    @property
    def command(self) -> str:
        """The command that mends the fault; an empty string if no command does."""
        if self.kinds is None:
            return ""
        if not self.kinds:
            return "anygame translate --lenient --to infix"
        return f"anygame mend --select {','.join(self.kinds)}"

    @property
    def replacements(self) -> list[tuple[Span, str]]:
        """The edits as spans of the sheet, each with its new text."""
        if self.diagnostic.span is None:
            return []
        source = self.diagnostic.span.source
        return [(Span(source, each.start, each.end), each.written(source.text)) for each in self.edits]
