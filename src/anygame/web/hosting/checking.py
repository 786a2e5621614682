"""What is wrong or odd in a sheet that somebody writes, with mends; and where it can be played, its start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from anygame.boards import Painter
from anygame.doctor.checked_sheet import Wanted
from anygame.doctor.examination import examine
from anygame.errors import AnygameError
from anygame.game.loading import read_silently
from anygame.language.source import Source
from anygame.web.hosting.course import look_at
from anygame.web.hosting.views import state_view
from anygame.web.settings import LIMITS

if TYPE_CHECKING:
    from anygame.doctor.finding import Finding
    from anygame.game.game import Game
    from anygame.language.diagnostics import Diagnostic, Note

#: Diagnostics of a sheet that are shown: nobody reads more.
_MOST_SHOWN: Final = 60

View = dict[str, Any]


def check(name: str, text: str, *, lenient: bool = False) -> View:
    """Return the diagnostics of a sheet and what its page shows where it can be played, as plain data."""
    with read_silently():  # the diagnostics show it
        examination = examine(Source(name, text), Wanted(lenient=lenient, limits=LIMITS))
        found = examination.worst(_MOST_SHOWN)
        views = [diagnostic_view(each.diagnostic, each.echoes) | {"edits": _edits(each)} for each in found]
        view: View = {"diagnostics": views, "start": None, "fault": ""}
        if examination.sheet and not examination.sheet.has_errors:
            try:
                view["start"] = _start(examination.sheet.game)
            except AnygameError as error:
                view["fault"] = str(error)[:2000]
    return view


def _start(game: Game) -> View:
    state = game.initial_state()
    shown = state_view(state, look_at(state), Painter.of(game), before=None, joint=None)
    return shown | {"roles": list(game.roles)}


def _edits(finding: Finding) -> list[View]:
    return [{"start": span.start, "end": span.end, "text": text} for span, text in finding.replacements]


def diagnostic_view(found: Diagnostic, echoes: str = "") -> View:
    """Return a diagnostic as plain data, with its place in lines and columns from 1, and in characters.

    Args:
        found: the diagnostic.
        echoes: what follows from it, in a few words.
    """
    view: View = {
        "severity": str(found.severity),
        "code": found.code,
        "message": found.message,
        "hint": found.hint,
        "follows": found.follows,
        "notes": [*map(_note, found.notes), *filter(None, [echoes])],
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


def _note(note: Note) -> str:
    where = f" (line {note.span.source.position(note.span.start)[0]})" if note.span else ""
    return f"{note.message}{where}"
