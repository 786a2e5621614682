"""Which diagnostics `anygame mend` takes care of, and the edits it would make, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from anygame.analysis.lenient import LENIENT_MENDS
from anygame.analysis.lenient.reading import read_leniently
from anygame.analysis.safety import normal_rules
from anygame.doctor import CODES
from anygame.doctor.mending.mends import find_mends
from anygame.errors import AnygameError
from anygame.language.diagnostics import Severity
from anygame.language.forms import form_of
from anygame.language.parser import parse_program
from anygame.language.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anygame.analysis.edits import Mend
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Program
    from anygame.language.source import Source

#: Codes of variables that nothing binds: several kinds of mends take care of them, each of other cases.
_UNBOUND: Final = frozenset(("unsafe-variable", "variable-in-fact"))


@dataclass(frozen=True, slots=True)
class Remedy:
    """What `anygame mend` does about a diagnostic, or `anygame translate` where mending knows KIF alone.

    Attributes:
        kinds: the kinds of mends, as its option ``--select`` knows them; none where the sheet is translated.
        edits: places of the source and what stands there afterwards; empty where more is added than an edit.
    """

    kinds: tuple[str, ...]
    edits: tuple[tuple[Span, str], ...]

    @property
    def command(self) -> str:
        """The command that does it, with its options."""
        if not self.kinds:
            return "anygame translate --lenient --to infix"
        return f"anygame mend --select {','.join(self.kinds)}"

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"command": self.command, "edits": [_edit(span, text) for span, text in self.edits]}


def _edit(span: Span, text: str) -> dict[str, Any]:
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return {"line": line, "column": column, "end_line": end_line, "end_column": end_column, "text": text}


def remedies_for(program: Program, diagnostics: Iterable[Diagnostic]) -> dict[Diagnostic, Remedy]:
    """Return the remedies of those diagnostics of a program that have one."""
    wanted = [found for found in diagnostics if CODES[found.code].mends]
    source = program.source
    if not wanted or source is None:
        return {}
    mends = find_mends(program, {kind for found in wanted for kind in CODES[found.code].mends})
    remedies = {}
    for found in wanted:
        kinds = CODES[found.code].mends
        if found.code == "no-declarations":
            remedies[found] = Remedy(tuple(kind for kind in kinds if kind in found.message), ())
            continue
        mend = next((mend for mend in mends if mend.kind in kinds and _concerns(mend, found.span)), None)
        if mend is not None:
            kinds = (mend.kind,) if found.code in _UNBOUND else kinds
            remedies[found] = Remedy(kinds, _resolved(mend, source))
    if form_of(source) == "infix":
        # Readings are written into KIF alone; `anygame translate` writes such a sheet anew.
        left = [found for found in wanted if found.code in _UNBOUND and found not in remedies]
        remedies |= dict.fromkeys(left, Remedy((), ())) if left and _binds_all(program) else {}
    return remedies


def as_read_leniently(
    program: Program, diagnostics: Iterable[Diagnostic], told: str = ""
) -> dict[Diagnostic, None]:
    """Return diagnostics with warnings for the errors that lenient reading takes care of, each once.

    Args:
        program: what they were found in.
        diagnostics: what was found.
        told: what stands before the messages of these warnings.
    """
    found = list(diagnostics)
    read = _read_away(program, found)
    return dict.fromkeys(
        replace(each, severity=Severity.WARNING, message=told + each.message) if each in read else each
        for each in found
    )


def _read_away(program: Program, diagnostics: Iterable[Diagnostic]) -> frozenset[Diagnostic]:
    """Return the errors of a program that are none where it is read leniently."""
    found = list(diagnostics)
    unbound = frozenset(each for each in found if each.code in _UNBOUND)
    if unbound and _binds_all(program):
        return unbound
    lenient = {"role", *LENIENT_MENDS}
    return frozenset(
        each for each, remedy in remedies_for(program, found).items() if lenient.issuperset(remedy.kinds)
    )


def _binds_all(program: Program) -> bool:
    """Return whether lenient reading leaves no variable of a program unbound."""
    try:
        source, mends = read_leniently(program)
        return bool(mends and normal_rules(parse_program(source)))
    except AnygameError:
        return False


def _concerns(mend: Mend, span: Span | None) -> bool:
    if span is None:
        return False
    ranges = [(edit.start, edit.end) for edit in mend.edits]
    if mend.span is not None:
        ranges.append((mend.span.start, mend.span.end))
    return any(start <= span.start and span.end <= end for start, end in ranges)


def _resolved(mend: Mend, source: Source) -> tuple[tuple[Span, str], ...]:
    return tuple(
        (
            Span(source, edit.start, edit.end),
            "".join(
                piece if isinstance(piece, str) else source.text[piece[0] : piece[1]] for piece in edit.pieces
            ),
        )
        for edit in mend.edits
    )
