"""Answers for pages: explanations of atoms, effects of moves, values of moves, diagnostics of sheets."""

from __future__ import annotations

from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from anygame.answers.findings import diagnostic_json
from anygame.boards import Painter
from anygame.doctor.examination import ExaminationSettings, examine
from anygame.errors import AnygameError, QueryError
from anygame.game.loading import read_silently
from anygame.language.source import Source
from anygame.match.course import summary_of
from anygame.search import Search
from anygame.search.model import usable_model
from anygame.sheets.citing import cited_lines
from anygame.web.hosting.views import state_view
from anygame.web.settings import LIMITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.terms import Term


#: Maximum number of lines of an explanation.
_MOST_LINES: Final = 400
#: Maximum number of added facts, and of removed facts, that a page lists for a move.
_MOST_CHANGES: Final = 60
#: Maximum size in bytes of the search tree of a match, an eighth of the memory of its process.
_MEMORY: Final = 512 * 2**20
#: Maximum time in seconds that an answer waits for the compiler, which continues in the background.
_COMPILING: Final = 2.0
#: Maximum number of moves with values on a page.
_MOST_MOVES: Final = 200
#: Maximum number of diagnostics of a sheet.
_MOST_SHOWN: Final = 60

View = dict[str, Any]


def why(state: State, atom: str) -> View:
    """Explain why an atom holds or does not hold in a state. Raises QueryError or TermSyntaxError."""
    holds = next(iter(state.query(atom)), None) is not None
    try:
        text = str(state.explain(atom) if holds else state.explain_failure(atom))
    except QueryError as error:
        text = str(error)
    lines = text.splitlines()
    shown = "\n".join(lines[:_MOST_LINES])
    if len(lines) > _MOST_LINES:
        shown += f"\n... and {len(lines) - _MOST_LINES} more lines"
    return {"atom": atom, "holds": holds, "text": shown, "lines": cited_lines(state.game.program, shown)}


def fired(before: State, joint: Sequence[Term], after: State) -> View:
    """Return the facts that a joint move added and removed, and the lines of the rules that fired."""
    came = sorted(after.facts - before.facts)
    went = sorted(before.facts - after.facts)
    return {
        "came": [_made(before, joint, fact) for fact in came[:_MOST_CHANGES]],
        "went": [str(fact) for fact in went[:_MOST_CHANGES]],
        "more": max(0, len(came) - _MOST_CHANGES) + max(0, len(went) - _MOST_CHANGES),
    }


def _made(before: State, joint: Sequence[Term], fact: Term) -> View:
    try:
        derivation = before.explain(f"(next {fact})", list(joint))
    except AnygameError:
        return {"fact": str(fact), "lines": []}
    return {"fact": str(fact), "lines": cited_lines(before.game.program, derivation.place)}


class StateSearch:
    """Searches states of a game, one at a time. Later searches of a state continue earlier searches."""

    def __init__(self, game: Game) -> None:
        self._search = Search(game, memory=_MEMORY, model=usable_model(game))
        self._lock = Lock()

    def of(self, state: State, seconds: float) -> dict[str, Any]:
        with self._lock:
            self._search.compile(_COMPILING)
            end = monotonic() + seconds
            analysis = self._search.run(state, stop=lambda: monotonic() >= end).to_json()
        # The sum of visits includes the playouts of earlier searches.
        analysis["playouts"] = max(
            [sum(move["visits"] for move in moves) for moves in analysis["moves"].values()], default=0
        )
        for moves in analysis["moves"].values():
            del moves[_MOST_MOVES:]
            for move in moves:
                del move["line"]
        return analysis


def check(name: str, text: str, case_sensitive: bool = True, lenient: bool = False) -> View:
    """Return the diagnostics of a sheet, and the view of its initial state if it can be played."""
    with read_silently():  # the diagnostics replace these warnings
        examination = examine(Source(name, text), ExaminationSettings(case_sensitive, lenient, limits=LIMITS))
        view: View = {"diagnostics": [], "start": None, "fault": ""}
        for finding in examination.worst(_MOST_SHOWN):
            edits = [{"start": at.start, "end": at.end, "text": new} for at, new in finding.replacements]
            view["diagnostics"].append(diagnostic_view(finding.diagnostic, finding.echoes) | {"edits": edits})
        if examination.sheet and not examination.sheet.has_errors:
            try:
                game = examination.sheet.game
                state = game.initial_state()
                shown = state_view(state, summary_of(state), Painter.of(game), before=None, joint=None)
                view["start"] = shown | {"roles": list(game.roles)}
            except AnygameError as error:
                view["fault"] = str(error)[:2000]
    return view


def diagnostic_view(diagnostic: Diagnostic, echoes: str = "") -> View:
    """Return a diagnostic as plain data, with its place as lines and columns from 1, and as offsets."""
    notes = []
    for note in diagnostic.notes:
        line = f" (line {note.span.source.position(note.span.start)[0]})" if note.span else ""
        notes.append(f"{note.message}{line}")
    if echoes:
        notes.append(echoes)
    view = diagnostic_json(diagnostic)
    view |= {"follows": diagnostic.follows, "notes": notes, "excerpt": "", "edits": []}
    if diagnostic.span is not None:
        span = diagnostic.span
        view |= {"start": span.start, "end": span.end, "excerpt": span.source.line(view["line"])[:300]}
    return view
