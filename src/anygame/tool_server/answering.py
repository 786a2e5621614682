"""The answers of tools, as plain data; lists are bounded, with the number of what was left out."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from anygame.boards import Painter
from anygame.doctor.checked_sheet import ExaminationSettings
from anygame.doctor.examination import Examination
from anygame.doctor.fixes import fixes_of
from anygame.doctor.mending import EVERY_MEND, MENDS, mend_sheet
from anygame.errors import IllegalMoveError, LimitError, QueryError
from anygame.game.joint_moves import (
    bindings_of,
    chosen_moves,
    goals_of,
    instances,
    legal_by_role,
    play_text,
    read_joint,
)
from anygame.game.loading import loads, read_silently
from anygame.language.diagnostics import Severity, shown
from anygame.language.source import Source
from anygame.proving import each_verdict, equal
from anygame.search import Search, solve
from anygame.sheets.installed import describe_sheet
from anygame.sheets.layout import format_sheet
from anygame.tool_server.bounds import LIMITS, LONGEST_TEXT, SEARCH_MEMORY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from anygame.doctor.finding import Finding
    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.source import Span
    from anygame.language.terms import Term

View = dict[str, Any]
#: A joint move: a text, or a list with a move for each role.
Joint = "str | list[str]"
#: Games that a process keeps.
_MOST_GAMES: Final = 8
#: Moves of a role, and joint moves of a line, that analyses show.
_ROWS: Final = 10
_LINE: Final = 60
_WIDTH: Final = 100


class Sheets:
    """The games that a process has read.

    Args:
        report: is told what is done, of how much, and a phrase.
    """

    def __init__(self, report: Callable[[float, float, str], None] = lambda *_: None) -> None:
        self.report = report
        self._games: OrderedDict[tuple[str, str], Game] = OrderedDict()

    def game(self, name: str, text: str) -> Game:
        """Return the game of a sheet. Raises AnygameError."""
        found = self._games.pop((name, text), None)
        if found is None:
            with read_silently():
                found = loads(text, name=name, limits=LIMITS)
        self._games[name, text] = found
        if len(self._games) > _MOST_GAMES:
            self._games.popitem(last=False)
        return found

    def position(self, name: str, text: str, moves: list[Any], facts: list[str] | None) -> Position:
        """Return the state that moves lead to, from the start or from facts. Raises AnygameError."""
        game = self.game(name, text)
        state = game.initial_state() if facts is None else game.state(facts)
        for number, joint in enumerate(moves, 1):
            try:
                state, _ = play_text(state, _text(joint))
            except IllegalMoveError as error:
                raise IllegalMoveError(f"joint move {number}, {_text(joint)!r}: {error}") from error
        return Position(game, state, moves, self.report)


class Position(NamedTuple):
    """A state that is asked about."""

    game: Game
    state: State
    moves: list[str | list[str]]
    report: Callable[[float, float, str], None]


def _text(joint: str | list[str]) -> str:
    return joint if isinstance(joint, str) else " ".join(joint)


def _few(items: Sequence[object], most: int) -> tuple[list[str], int]:
    """Return the texts of the first items, and the number of those left out."""
    return list(map(str, items[:most])), max(0, len(items) - most)


def _line(joints: Iterable[Iterable[Term]]) -> list[list[str]]:
    return [list(map(str, joint)) for joint in joints][:_LINE]


def _cut(text: str) -> str:
    left = len(text) - LONGEST_TEXT
    return text if left <= 0 else f"{text[:LONGEST_TEXT]}\n... and {left:,} more characters"


# -- sheets -------------------------------------------------------------------------------------------


def load(sheets: Sheets, name: str, text: str) -> View:
    """Read a sheet; return what kind of game it is."""
    game = sheets.game(name, text)
    title, description = describe_sheet(text)
    warnings = [each for each in game.program.warnings if each.severity >= Severity.WARNING]
    return {
        "game": name,
        "title": shown(title, 200),
        "description": shown(description, 500),
        "roles": list(map(str, game.roles)),
        "rules": len(game.program.rules),
        "hidden_information": game.is_gdl2,
        "warnings": len(warnings),
    }


def check(sheets: Sheets, name: str, text: str, infos: bool, everything: bool, most: int) -> View:
    """Return what is wrong or odd in a sheet, causes first."""
    findings = _examined(sheets, name, text)
    wanted = [
        (number, each)
        for number, each in enumerate(findings, 1)
        if (everything or not each.diagnostic.follows) and (infos or each.diagnostic.severity > Severity.INFO)
    ]
    counts = dict.fromkeys(Severity, 0)
    for each in findings:
        counts[each.diagnostic.severity] += 1
    return {
        "playable": not counts[Severity.ERROR],
        "errors": counts[Severity.ERROR],
        "warnings": counts[Severity.WARNING],
        "infos": counts[Severity.INFO],
        "findings": [_finding(number, each, name, text) for number, each in wanted[:most]],
        "left_out": len(wanted[most:]),
    }


def _examined(sheets: Sheets, name: str, text: str) -> list[Finding]:
    examination = Examination(Source(name, text), ExaminationSettings(limits=LIMITS))
    with read_silently():
        examination.run(lambda states, played: sheets.report(played, 0, f"playing: {states:,} states"))
    return examination.findings


def _finding(number: int, finding: Finding, name: str, text: str) -> View:
    found = finding.diagnostic
    source = Source(name, text)
    end_line, end_column = found.span.source.position(found.span.end) if found.span else (0, 0)
    return {
        "number": number,
        "code": found.code,
        "severity": str(found.severity),
        "message": found.message,
        **_place(found.span),
        "end_line": end_line,
        "end_column": end_column,
        "shown": _cut(str(found)),
        "hint": found.hint,
        "follows": found.follows,
        "notes": [
            *({"message": note.message.strip(), **_place(note.span)} for note in found.notes),
            *({"message": text, "line": 0, "column": 0} for text in filter(None, [finding.echoes])),
        ],
        "play": None if finding.line is None else _line(finding.line),
        "mends": list(finding.kinds or ()),
        "fixes": [
            {
                "title": fix.title,
                "sure": fix.sure,
                "edits": [_edit(source, edit.start, edit.end, edit.text) for edit in fix.edits],
            }
            for fix in fixes_of(finding, source)
        ],
    }


def _place(span: Span | None) -> View:
    line, column = span.source.position(span.start) if span else (0, 0)
    return {"line": line, "column": column}


def _edit(source: Source, start: int, end: int, text: str) -> View:
    (line, column), (end_line, end_column) = source.position(start), source.position(end)
    return {
        "line": line, "column": column, "end_line": end_line, "end_column": end_column,
        "start": start, "end": end, "text": text,
    }  # fmt: skip


def mend(sheets: Sheets, name: str, text: str, fixes: list[int], kinds: list[str]) -> View:
    """Return the text of a sheet after mending: by findings of `check`, or by kinds of mends."""
    unknown = [kind for kind in kinds if kind not in EVERY_MEND]
    if unknown:
        raise QueryError(f"no kind of mend {shown(unknown[0])}; there are {', '.join(EVERY_MEND)}")
    if fixes:
        mended, done = _fixed(sheets, name, text, fixes)
        notes: list[str] = []
    else:
        found = mend_sheet(Source(name, text), kinds or list(MENDS))
        mended, notes = found.text, list(found.notes)
        done = [shown(each.message, 200) for each in found.mends]
    return {"sheet": mended, "changed": mended != text, "done": done[:100], "notes": notes[:100]}


def _fixed(sheets: Sheets, name: str, text: str, fixes: list[int]) -> tuple[str, list[str]]:
    findings = _examined(sheets, name, text)
    edits: list[tuple[int, int, str]] = []
    done = []
    for number in dict.fromkeys(fixes):
        if not 0 < number <= len(findings):
            raise QueryError(f"`check` finds {len(findings)} things here; there is no number {number}")
        finding = findings[number - 1]
        fix = next((each for each in fixes_of(finding, Source(name, text)) if each.edits), None)
        if fix is None:
            code, kinds = finding.diagnostic.code, ", ".join(finding.kinds or ())
            how = f"mend it by kinds: {kinds}" if kinds else "mend it as its message and hint say"
            raise QueryError(f"finding {number} ({code}) has no edits: {how}")
        if any(each.start < end and start < each.end for each in fix.edits for start, end, _ in edits):
            raise QueryError(f"the edits of finding {number} overlap others: mend those first, and check")
        edits += [(each.start, each.end, each.text) for each in fix.edits]
        done.append(f"{fix.title} (finding {number}, {finding.diagnostic.code})")
    for start, end, new in sorted(set(edits), reverse=True):
        text = text[:start] + new + text[end:]
    return text, done


def format_(sheets: Sheets, name: str, text: str, to: Any) -> View:
    """Return a sheet laid out, in KIF or infix."""
    return {"sheet": format_sheet(Source(name, text), to or None, limits=LIMITS.reading)}


# -- states -------------------------------------------------------------------------------------------


def state(at: Position, most: int) -> View:
    """Return the facts of a state, and whether it is the end."""
    listed, more = _few(sorted(map(str, at.state.facts)), most)
    return {**_standing(at.state, len(at.moves)), "facts": listed, "facts_left_out": more}


def _standing(state: State, step: int) -> View:
    goals: View = {}
    for role, goal in goals_of(state).items():
        goals[str(role)] = goal if isinstance(goal, int) else None
    stuck = state.stuck_role
    return {
        "step": step,
        "terminal": state.is_terminal,
        "goals": goals,
        "to_act": list(map(str, state.movers)),
        "without_a_move": None if stuck is None else str(stuck),
    }


def legal(at: Position, matching: str, most: int) -> View:
    """Return the legal moves of each role."""
    by_role = legal_by_role(at.state)
    chosen = chosen_moves(at.game, by_role, matching) if matching else by_role
    listed = []
    for role, all_moves in chosen.items():
        few, more = _few(all_moves, most)
        listed.append({"role": str(role), "count": len(all_moves), "moves": few, "left_out": more})
    return {**_standing(at.state, len(at.moves)), "legal": listed}


def play(at: Position, joint: Any, most: int) -> View:
    """Make one joint move; return what it was in full, what it changed, and how things stand."""
    before, moves = at.state, at.moves
    after, made = play_text(before, _text(joint))
    came, came_more = _few(sorted(map(str, after.facts - before.facts)), most)
    went, went_more = _few(sorted(map(str, before.facts - after.facts)), most)
    sees = before.percepts(made) if before.game.is_gdl2 else {}
    return {
        **_standing(after, len(moves) + 1),
        "joint": list(map(str, made)),
        "moves": [*([each] if isinstance(each, str) else each for each in moves), list(map(str, made))],
        "came": came,
        "went": went,
        "left_out": came_more + went_more,
        "sees": {str(role): _few(percepts, most)[0] for role, percepts in sees.items()},
    }


def query(at: Position, pattern: str, joint: Any, most: int) -> View:
    """Return the instances of a pattern that hold."""
    bindings = bindings_of(at.state, pattern, _joint(at.state, joint), "as `joint`")
    listed = list(instances(at.game, pattern, bindings[:most]))
    return {"count": len(bindings), "instances": listed, "left_out": max(0, len(bindings) - most)}


def _joint(state: State, joint: Any) -> tuple[Term, ...] | None:
    return read_joint(state, _text(joint)) if joint else None


def why(at: Position, atom: str, joint: Any, fails: bool) -> View:
    """Return why an atom holds, or why it does not."""
    made = _joint(at.state, joint)
    told = at.state.explain_failure(atom, made) if fails else at.state.explain(atom, made)
    return {"atom": atom, "holds": not fails, "explanation": _cut(str(told))}


def board(at: Position, svg: bool) -> View:
    """Return the boards of a state as text, and as SVG where that is asked for."""
    view = at.state.board()
    drawn = view.svg(dark=False) if svg else None
    if drawn is not None and len(drawn) > 50 * LONGEST_TEXT:
        raise LimitError(f"the drawing has {len(drawn):,} characters: ask for the text")
    boards = len(Painter.of(at.game).boards.layouts)
    return {"boards": boards, "text": _cut(view.text(_WIDTH)), "svg": drawn}


# -- what takes long ----------------------------------------------------------------------------------


def simulate(at: Position, playouts: int, seed: int, limit: int) -> View:
    """Return what random matches have in common, and the moves of one."""
    game, start = at.game, at.state
    found = game.simulate(
        playouts, seed, state=start, limit=limit,
        progress=lambda done: at.report(done, playouts, "playouts"),
    )  # fmt: skip
    example = game.playout(seed, state=start, limit=limit)
    return {
        "playouts": found.playouts,
        "cut": found.cut,
        "stuck": found.stuck,
        "first_stuck": None if found.first_stuck is None else str(found.first_stuck)[:1000],
        "length": {
            "mean": found.mean_length,
            "least": min(found.lengths, default=None),
            "most": max(found.lengths, default=None),
        },
        "roles": [
            {
                "role": str(role),
                "mean": found.mean_goals[role],
                "error": found.goal_error[role],
                "goals": {str(goal): count for goal, count in list(found.goal_counts[role].items())[:101]},
                "without_goal": found.missing_goals[role] + found.double_goals[role],
                "legal_moves": found.branching[role],
            }
            for role in game.roles
        ],
        "example": _line(example.moves),
        "example_length": example.length,
    }


def analyse(at: Position, seconds: float) -> View:
    """Return what search finds the moves of a state to be worth."""
    at.report(0, seconds, "compiling")
    at.game.compile_if_worth_it()
    search = Search(at.game, memory=SEARCH_MEMORY, seed=0)
    search.compile(seconds)
    found = search.run(
        at.state, seconds=seconds,
        progress=lambda known: at.report(known.seconds, seconds, f"{known.iterations:,} leaves"),
    ).to_json()  # fmt: skip
    listed = []
    for role, ranked in found["moves"].items():
        best = [{**each, "line": each["line"][:_ROWS]} for each in ranked[:_ROWS]]
        listed.append({"role": str(role), "moves": best, "left_out": max(0, len(ranked) - _ROWS)})
    return {
        "seconds": found["seconds"],
        "iterations": found["iterations"],
        "solved": found["solved"],
        "reason": found["reason"],
        "goals": {str(role): goal for role, goal in found["goals"].items()},
        "proven": {str(role): goal for role, goal in found["proven"].items()},
        "roles": listed,
    }


def solve_(at: Position, seconds: float) -> View:
    """Return the exact value of a state, if it can be found."""
    at.game.compile_if_worth_it()
    found = solve(
        at.game, at.state, memory=SEARCH_MEMORY, seconds=seconds,
        progress=lambda expanded, known: at.report(expanded, known, f"{known:,} states"),
        proving=lambda known: at.report(known.iterations, 0, "looking for a proof"),
    )  # fmt: skip
    return {
        "solved": found.solved,
        "method": found.method,
        "goals": {str(role): goal for role, goal in found.goals.items()},
        "bounds": {str(role): None if each is None else list(each) for role, each in found.bounds.items()},
        "reason": found.reason,
        "states": found.states,
        "line": _line(found.line),
        "line_length": len(found.line),
    }


def prove_(sheets: Sheets, name: str, text: str, properties: list[str], seconds: float, most: int) -> View:
    """Prove or refute what is true of a game in every match."""
    game = _compiled(sheets, name, text)
    found: list[View] = []
    for verdict in each_verdict(
        game, properties, seconds=seconds, report=lambda doing: sheets.report(len(found), 0, doing)
    ):
        found.append(_verdict(verdict.to_json(), most))  # noqa: PERF401 (it is counted meanwhile)
    return {"verdicts": found}


def equal_(
    sheets: Sheets, name: str, text: str, other: list[str], moves: str, up_to: int | None, seconds: float
) -> View:
    """Prove that two sheets are the same game, or return a match in which they differ."""
    first, second = _compiled(sheets, name, text), _compiled(sheets, *other)
    verdict = equal(
        first, second, moves=moves, up_to=up_to, seconds=seconds,
        report=lambda doing: sheets.report(0, 0, doing),
    )  # fmt: skip
    return _verdict(verdict.to_json(), _ROWS)


def _verdict(verdict: View, most: int) -> View:
    invariant, found = verdict.pop("invariant") or [], verdict.pop("found")
    match = verdict.pop("match")
    return verdict | {
        "match": None if match is None else match[:_LINE],
        "match_length": None if match is None else len(match),
        "invariant": invariant[:most],
        "invariant_left_out": len(invariant[most:]),
        "found": found[:most],
        "found_left_out": len(found[most:]),
    }


def _compiled(sheets: Sheets, name: str, text: str) -> Game:
    game = sheets.game(name, text)
    if not game.compile():
        raise LimitError(f"{name} has no network, which this needs: {game.fallback}")
    return game


#: What answers questions about a sheet, and about a state.
_OF_SHEETS: Final[dict[str, Callable[..., View]]] = {
    "load": load, "check": check, "mend": mend, "format": format_, "prove": prove_, "equal": equal_,
}  # fmt: skip
_OF_STATES: Final[dict[str, Callable[..., View]]] = {
    "state": state, "legal": legal, "play": play, "query": query, "why": why, "board": board,
    "simulate": simulate, "analyse": analyse, "solve": solve_,
}  # fmt: skip


def answer(sheets: Sheets, do: str, name: str, text: str, **given: Any) -> View:
    """Return the answer to a question about a sheet, or about the state that moves and facts name in it."""
    if do in _OF_SHEETS:
        return _OF_SHEETS[do](sheets, name, text, **given)
    at = sheets.position(name, text, given.pop("moves"), given.pop("facts"))
    return _OF_STATES[do](at, **given)
