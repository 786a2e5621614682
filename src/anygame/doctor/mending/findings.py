"""Which diagnostics `anygame mend` takes care of, and the edits it would make."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from anygame.analysis.lenient import LENIENT_MENDS
from anygame.analysis.lenient.reading import read_leniently
from anygame.analysis.safety import normal_rules
from anygame.doctor import CODES
from anygame.doctor.finding import Finding
from anygame.doctor.mending.mends import find_mends
from anygame.errors import AnygameError
from anygame.language.diagnostics import Severity
from anygame.language.forms import form_of
from anygame.language.parser import parse_program

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anygame.analysis.edits import Mend
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Program
    from anygame.language.source import Span

#: Codes of variables that nothing binds: several kinds of mends take care of them, each of other cases.
_UNBOUND: Final = frozenset(("unsafe-variable", "variable-in-fact"))


def with_edits(program: Program, diagnostics: Iterable[Diagnostic]) -> list[Finding]:
    """Return diagnostics of a program as findings, with the edits that `anygame mend` would make."""
    found = list(diagnostics)
    source = program.source
    wanted = {kind for each in found for kind in CODES[each.code].mends}
    if not wanted or source is None:
        return [Finding(each) for each in found]
    mends = find_mends(program, wanted)
    # Readings are written into KIF alone; `anygame translate` writes such a sheet anew.
    unbound = form_of(source) == "infix" and any(each.code in _UNBOUND for each in found)
    is_translated = unbound and _binds_all(program)
    return [_with_edits(each, mends, is_translated) for each in found]


def _with_edits(found: Diagnostic, mends: Iterable[Mend], is_translated: bool) -> Finding:
    kinds = CODES[found.code].mends
    if found.code == "no-declarations":
        return Finding(found, None, tuple(kind for kind in kinds if kind in found.message))
    mend = next((mend for mend in mends if mend.kind in kinds and _concerns(mend, found.span)), None)
    if mend is not None:
        return Finding(found, None, (mend.kind,) if found.code in _UNBOUND else kinds, mend.edits)
    return Finding(found, None, () if is_translated and found.code in _UNBOUND else None)


def as_read_leniently(program: Program, diagnostics: Iterable[Diagnostic]) -> dict[Diagnostic, None]:
    """Return diagnostics of a program, with warnings for the errors that lenient reading takes care of."""
    found = list(diagnostics)
    read = frozenset(each for each in found if each.code in _UNBOUND)
    if not read or not _binds_all(program):
        lenient = {"role", *LENIENT_MENDS}
        mended = (each for each in with_edits(program, found) if each.kinds is not None)
        read = frozenset(each.diagnostic for each in mended if lenient.issuperset(each.kinds or ()))
    return dict.fromkeys(replace(each, severity=Severity.WARNING) if each in read else each for each in found)


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
