"""The commands that rewrite rule sheets: ``format``, ``translate`` and ``mend``."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anygame.analysis.mends import MENDS, mend_sheet
from anygame.cli.files import sheet_source
from anygame.cli.output import complain
from anygame.errors import QueryError, RuleSheetError
from anygame.language.diagnostics import shown
from anygame.language.forms import form_of
from anygame.language.layout import format_sheet
from anygame.language.source import Source

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable

__all__ = ["format_files", "mend_file", "translate_file"]

_OK: Final = 0
_WOULD_CHANGE: Final = 1
_COULD_NOT_RUN: Final = 2


def format_files(options: Namespace) -> int:
    """Lay files out; return the exit status. A file that cannot be read does not stop the others."""
    if options.write and "-" in options.files:
        raise RuleSheetError("standard input cannot be written; leave out --write")
    status = _OK
    for name in options.files:
        try:
            changed = _format_file(name, options)
        except RuleSheetError as error:
            complain(error)
            status = _COULD_NOT_RUN
        else:
            status = max(status, _WOULD_CHANGE if changed and options.check else _OK)
    return status


def _format_file(name: str, options: Namespace) -> bool:
    """Lay one file out; return whether that changes it."""
    source = sheet_source(name)
    text = format_sheet(source)
    changed = text != source.text
    if changed and options.check:
        print(source.name)
    if changed and options.diff:
        _print_diff(source, text)
    if changed and options.write:
        _replace(name, text)
    if not (options.check or options.diff or options.write):
        _print_text(text)
    return changed


def translate_file(options: Namespace) -> int:
    """Write a sheet in another form; return the exit status."""
    source = sheet_source(options.file)
    text = format_sheet(source, options.to)
    if options.output is None:
        _print_text(text)
        return _OK
    read_as = form_of(Source(options.output, text))
    if read_as != options.to:
        suffix = ".hrf" if options.to == "infix" else ".kif"
        raise RuleSheetError(
            f"{options.output} would be read as {read_as} because of its name; call it something{suffix}"
        )
    _replace(options.output, text)
    return _OK


def mend_file(options: Namespace) -> int:
    """Mend a sheet; print what was mended, and without ``--write`` the changes; return the exit status."""
    if options.write and options.file == "-":
        raise RuleSheetError("standard input cannot be written; leave out --write")
    kinds = _kinds(options.select)
    source = sheet_source(options.file)
    mended = mend_sheet(source, kinds)
    for mend in mended.mends:
        place = mend.span.place if mend.span else source.name
        print(f"{place}: mended[{mend.kind}]: {shown(mend.message, 200)}")
    for note in mended.notes:
        print(f"{source.name}: {note}")
    if not mended.mends:
        print(f"{source.name}: there is nothing to mend")
    elif options.write:
        _replace(options.file, mended.text)
    else:
        _print_diff(source, mended.text)
    return _OK


def _kinds(texts: Iterable[str]) -> list[str]:
    """Return the kinds of mends that are asked for; all by default. Raises QueryError for an unknown one."""
    asked = [kind.strip().lower() for text in texts for kind in text.split(",") if kind.strip()]
    for kind in asked:
        if kind not in MENDS:
            raise QueryError(f"there is no mend called {shown(kind)}; there are {', '.join(MENDS)}")
    return asked or list(MENDS)


def _print_text(text: str) -> None:
    """Print a sheet as UTF-8 with plain line ends, whatever the system's habits are."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def _print_diff(source: Source, text: str) -> None:
    before, after = (part.splitlines(keepends=True) for part in (source.text, text))
    for line in unified_diff(before, after, source.name, source.name):
        print(line.rstrip("\r\n"))


def _replace(name: str, text: str) -> None:
    """Write a file as a whole or not at all; an existing one keeps its mode, and a link its target.

    Raises:
        RuleSheetError: it cannot be written.
    """
    path = Path(os.path.realpath(name))
    try:
        if path.exists() and not (path.is_file() and os.access(path, os.W_OK)):
            raise RuleSheetError(f"cannot write {name}: it is no file that may be changed")
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(mode)
            Path(temporary).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(temporary).unlink()
            raise
    except (OSError, ValueError) as error:
        if isinstance(error, RuleSheetError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise RuleSheetError(f"cannot write {name[:200]!r}: {reason}") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
