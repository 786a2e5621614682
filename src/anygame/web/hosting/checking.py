"""What is wrong or odd in a sheet that somebody writes, with mends; and where it can be played, its start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from anygame.boards import Painter
from anygame.doctor import check_program, read_sheet
from anygame.doctor.mending.remedies import as_read_leniently, remedies_for
from anygame.errors import AnygameError
from anygame.game.loading import game_of, read_silently
from anygame.language.diagnostics import Diagnostic, Severity
from anygame.language.source import Source
from anygame.web.hosting.course import look_at
from anygame.web.hosting.views import state_view
from anygame.web.settings import LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anygame.doctor.mending.remedies import Remedy
    from anygame.game.game import Game
    from anygame.language.source import Span

#: Diagnostics of a sheet that are shown: nobody reads more.
_MOST_SHOWN: Final = 60

View = dict[str, Any]


def check(name: str, text: str, *, lenient: bool = False) -> View:
    """Return the diagnostics of a sheet and what its page shows where it can be played, as plain data."""
    source = Source(name, text)
    reading = read_sheet(source, limits=LIMITS.reading)
    found = dict.fromkeys([*reading.diagnostics, *check_program(reading.program, complete=reading.complete)])
    if lenient and reading.complete:
        found = as_read_leniently(reading.program, found)
    remedies = remedies_for(reading.program, found)
    view: View = {"diagnostics": _views(found, remedies), "start": None, "fault": ""}
    if not any(one.severity is Severity.ERROR for one in found):
        try:
            with read_silently():  # the diagnostics tell
                view["start"] = _start(game_of(reading.program, lenient=lenient, limits=LIMITS))
        except AnygameError as error:
            view["fault"] = str(error)[:2000]
    return view


def _start(game: Game) -> View:
    state = game.initial_state()
    shown = state_view(state, look_at(state), Painter.of(game), before=None, joint=None)
    return shown | {"roles": list(game.roles)}


def _views(found: Iterable[Diagnostic], remedies: dict[Diagnostic, Remedy]) -> list[View]:
    worst_first = sorted(sorted(found), key=lambda one: -one.severity)[:_MOST_SHOWN]
    return [
        diagnostic_view(one) | {"edits": _edits(remedies[one].edits) if one in remedies else []}
        for one in sorted(worst_first)
    ]


def _edits(edits: Iterable[tuple[Span, str]]) -> list[View]:
    return [{"start": span.start, "end": span.end, "text": text} for span, text in edits]


def diagnostic_view(found: Diagnostic) -> View:
    """Return a diagnostic as plain data, with its place in lines and columns from 1, and in characters."""
    view: View = {
        "severity": str(found.severity),
        "code": found.code,
        "message": found.message,
        "hint": found.hint,
        "line": 0,
        "excerpt": "",
        "edits": [],
    }
    if found.span is not None:
        source = found.span.source
        view["line"], view["column"] = source.position(found.span.start)
        view["start"], view["end"] = found.span.start, found.span.end
        view["excerpt"] = source.line(view["line"])[:300]
    return view
