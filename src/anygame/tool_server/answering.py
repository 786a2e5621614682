"""The tools, whose signatures and docstrings describe them to programs, and a process that answers questions.

Answers are plain data in the form of ``--json``. Lists are bounded, and ``left_out`` counts missing items. A
tool about a state has two further arguments, which determine the state (`Sheet.position`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple

from pydantic import Field

from anygame.answers import findings, position, proof, simulation, solution
from anygame.answers.findings import Found, line_json, place_json
from anygame.answers.position import Position as AnsweredPosition
from anygame.answers.simulation import Simulation
from anygame.answers.solution import Solved
from anygame.boards import Painter
from anygame.doctor.examination import Examination, ExaminationSettings
from anygame.doctor.mending import EVERY_MEND, MENDS, fixes_of, mend_sheet
from anygame.errors import IllegalMoveError, LimitError, QueryError
from anygame.game.joint_moves import chosen_moves, play_text, read_joint
from anygame.game.loading import loads, read_silently
from anygame.language.diagnostics import Severity, shown
from anygame.language.source import Source, Span
from anygame.processes.inside import answer_questions, encode_message, set_up
from anygame.proving import each_verdict
from anygame.proving import equal as prove_equal
from anygame.search import Search
from anygame.search import solve as solve_state
from anygame.sheets.installed import describe_sheet
from anygame.sheets.layout import format_sheet
from anygame.tool_server.sheets import (
    LIMITS,
    LONGEST_ANSWER,
    LONGEST_TEXT,
    MOST,
    MOST_MOVES,
    MOST_PLAYOUTS,
    MOST_SECONDS,
    SEARCH_MEMORY,
    USUAL,
)

if TYPE_CHECKING:
    from anygame.doctor.finding import Finding
    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term

View = dict[str, Any]
#: A function that takes the work done, the total work, and a description.
Report = Callable[[float, float, str], None]
JointMove = Annotated[
    str | list[str],
    Field(
        description="One joint move: a move for each role in order, as a list or as one string such as "
        "'(mark 1 1) noop'; roles with a single legal move can be omitted"
    ),
]
Most = Annotated[int, Field(ge=1, le=MOST, description="Maximum length of lists in the answer")]
Seconds = Annotated[float, Field(gt=0, le=MOST_SECONDS, description="Time limit in seconds")]
_USUAL_PROPERTIES: Final = ["playable", "ends", "goals", "turn-taking", "zero-sum", "winnable"]
#: Maximum number of cached games in a process.
_MOST_GAMES: Final = 8
#: Maximum number of characters in a line of a board.
_WIDTH: Final = 100
#: Minimum number of seconds between two progress reports.
_BETWEEN: Final = 0.5
_NICENESS: Final = 5


@lru_cache(_MOST_GAMES)
def _game(name: str, text: str) -> Game:
    with read_silently():
        return loads(text, name=name, limits=LIMITS)


class Sheet(NamedTuple):
    """The sheet of a question, and the function that receives progress."""

    name: str
    text: str
    report: Report

    @property
    def source(self) -> Source:
        """The named text of the sheet."""
        return Source(self.name, self.text)

    @property
    def game(self) -> Game:
        """The game of the sheet."""
        return _game(self.name, self.text)

    def compiled(self) -> Game:
        """Return the compiled game; raises LimitError if it cannot be compiled."""
        self.game.backends.needed_network()
        return self.game

    def findings(self) -> list[Finding]:
        """Return the findings of the sheet, causes first."""
        examination = Examination(self.source, ExaminationSettings(limits=LIMITS))
        with read_silently():
            examination.run(lambda states, played: self.report(played, 0, f"playing: {states:,} states"))
        return examination.findings

    def position(self, moves: list[str | list[str]], facts: list[str] | None) -> Position:
        """Return the state after joint moves from the initial state, or from a state given as facts."""
        game = self.game
        state = game.initial_state() if facts is None else game.state(facts)
        for number, joint in enumerate(moves, 1):
            try:
                state, _ = play_text(state, _text(joint))
            except IllegalMoveError as error:
                raise IllegalMoveError(f"joint move {number}, {_text(joint)!r}: {error}") from error
        return Position(game, state, moves, self.report)


class Position(NamedTuple):
    """The state of a question."""

    game: Game
    state: State
    moves: list[str | list[str]]
    report: Report

    @property
    def answered(self) -> AnsweredPosition:
        """The answers about the state, in the form of ``--json``."""
        return AnsweredPosition(self.game, self.state, len(self.moves))

    def with_standing(self, answer: View) -> View:
        """Add to an answer: the goals (null for none), the roles with a choice, any role without a move."""
        stuck = self.state.stuck_role
        return answer | {
            "goals": self.answered.goals().data["goals"],
            "to_act": list(map(str, self.state.movers)),
            "without_a_move": None if stuck is None else str(stuck),
        }


def _text(joint: str | list[str]) -> str:
    return joint if isinstance(joint, str) else " ".join(joint)


def _cut(text: str) -> str:
    more = len(text) - LONGEST_TEXT
    return text if more <= 0 else f"{text[:LONGEST_TEXT]}\n... and {more:,} more characters"


def bounded(answer: View, most: int) -> View:
    """Cut all lists in an answer, at any depth, to at most ``most`` items.

    The result has an item ``left_out``, which maps the path of each cut list to the number of missing items.

    >>> bounded({"legal": {"x": ["a", "b", "c"]}}, 2)
    {'legal': {'x': ['a', 'b']}, 'left_out': {'legal.x': 1}}
    """
    left_out: dict[str, int] = {}

    def few(value: Any, path: str) -> Any:
        if isinstance(value, dict):
            return {key: few(each, f"{path}.{key}".lstrip(".")) for key, each in [*value.items()][:MOST]}
        if not isinstance(value, list):
            return value
        if len(value) > most:
            left_out[path] = len(value) - most
        return [few(each, f"{path}.{number}") for number, each in enumerate(value[:most])]

    cut: View = few(answer, "")
    return cut | {"left_out": left_out}


# -- sheets -------------------------------------------------------------------------------------------


def load(sheet: Sheet) -> View:
    """Read a sheet, and give it a name for the other tools. For a sheet with errors, the tool fails."""
    game = sheet.game
    title, description = describe_sheet(sheet.text)
    return {
        "game": sheet.name,
        "title": shown(title, 200),
        "description": shown(description, 500),
        "roles": list(map(str, game.roles)),
        "rules": len(game.program.rules),
        "hidden_information": game.is_gdl2,
        "warnings": sum(found.severity >= Severity.WARNING for found in game.program.warnings),
    }


def check(sheet: Sheet, infos: bool = False, everything: bool = False, most: Most = 20) -> View:
    """Report errors and suspicious rules in a sheet, causes first, with places, lines of play and edits.

    The check also plays a few matches. `infos` adds findings about style. `everything` adds findings that are
    consequences of other findings. Fix finding 1 first. To apply edits, give `mend` the numbers of findings.
    """
    findings = sheet.findings()
    counts = dict.fromkeys(Severity, 0)
    wanted = []
    for number, finding in enumerate(findings, 1):
        severity, follows = finding.diagnostic.severity, finding.diagnostic.follows
        counts[severity] += 1
        if (everything or not follows) and (infos or severity > Severity.INFO):
            wanted.append((number, finding))
    return {
        "playable": not counts[Severity.ERROR],
        "errors": counts[Severity.ERROR],
        "warnings": counts[Severity.WARNING],
        "infos": counts[Severity.INFO],
        "diagnostics": [_finding(number, finding, sheet.source) for number, finding in wanted[:most]],
        "left_out": {"diagnostics": len(wanted[most:])} if wanted[most:] else {},
    }


def _finding(number: int, finding: Finding, source: Source) -> View:
    fixes = [
        {
            "title": fix.title,
            "sure": fix.sure,
            "edits": [
                place_json(Span(source, edit.start, edit.end), with_end=True)
                | {"start": edit.start, "end": edit.end, "text": edit.text}
                for edit in fix.edits
            ],
        }
        for fix in fixes_of(finding, source)
    ]
    return Found(source.name, finding).to_json() | {
        "number": number,
        "shown": _cut(str(finding.diagnostic)),
        "follows": finding.diagnostic.follows,
        "fixes": fixes,
    }


def mend(
    sheet: Sheet,
    fixes: Annotated[list[int], Field(max_length=MOST, description="Numbers of findings of check")] = [],  # noqa: B006
    kinds: Annotated[
        list[str], Field(max_length=20, description="Kinds of mends (default: all safe kinds)")
    ] = [],  # noqa: B006
) -> View:
    """Return the text of a sheet after the edits of the findings in `fixes`, or after all safe mends."""
    unknown = [kind for kind in kinds if kind not in EVERY_MEND]
    if unknown:
        raise QueryError(f"there is no kind of mend {shown(unknown[0])}; expected {', '.join(EVERY_MEND)}")
    if fixes:
        mended, done = _fixed(sheet, fixes)
        notes: list[str] = []
    else:
        result = mend_sheet(sheet.source, kinds or list(MENDS))
        mended, notes = result.text, list(result.notes)
        done = [shown(change.message, 200) for change in result.mends]
    return {"sheet": mended, "changed": mended != sheet.text, "done": done[:100], "notes": notes[:100]}


def _fixed(sheet: Sheet, fixes: list[int]) -> tuple[str, list[str]]:
    findings, text = sheet.findings(), sheet.text
    edits: list[tuple[int, int, str]] = []
    done = []
    for number in dict.fromkeys(fixes):
        if not 0 < number <= len(findings):
            raise QueryError(f"there is no finding {number}: `check` lists {len(findings)} for this sheet")
        finding = findings[number - 1]
        fix = next((each for each in fixes_of(finding, sheet.source) if each.edits), None)
        if fix is None:
            code, kinds = finding.diagnostic.code, ", ".join(finding.kinds or ())
            how = f"call `mend` with kinds: {kinds}" if kinds else "edit the sheet as the message says"
            raise QueryError(f"finding {number} ({code}) has no edits: {how}")
        if any(edit.start < end and start < edit.end for edit in fix.edits for start, end, _ in edits):
            raise QueryError(
                f"the edits of finding {number} overlap the edits of an earlier finding in `fixes`: mend the "
                "earlier findings first, then check again"
            )
        edits += [(edit.start, edit.end, edit.text) for edit in fix.edits]
        done.append(f"{fix.title} (finding {number}, {finding.diagnostic.code})")
    for start, end, new in sorted(set(edits), reverse=True):
        text = text[:start] + new + text[end:]
    return text, done


def format_(sheet: Sheet, to: Literal["", "kif", "infix"] = "") -> View:
    """Format a sheet, or translate it into KIF or infix, with its comments."""
    return {"sheet": format_sheet(sheet.source, to or None, limits=LIMITS.reading)}


# -- states -------------------------------------------------------------------------------------------


def state(at: Position, most: Most = 200) -> View:
    """Return the facts of a state, the roles with a choice, and the goals."""
    return bounded(at.with_standing(at.answered.facts().to_json()), most)


def legal(
    at: Position,
    matching: Annotated[str, Field(description="A role, or words of a move such as 'mark 1 *'")] = "",
    most: Most = USUAL,
) -> View:
    """Return the legal moves of each role in a state."""
    answer = at.answered.legal().to_json()
    if matching:
        by_role = {role: at.state.legal_moves(role) for role in at.game.roles}
        chosen = chosen_moves(at.game, by_role, matching)
        answer["legal"] = {str(role): list(map(str, moves)) for role, moves in chosen.items()}
    return bounded(at.with_standing(answer), most)


def play(at: Position, joint: JointMove, most: Most = USUAL) -> View:
    """Make one joint move in a state; return the added and removed facts, and the roles with a choice.

    For questions about the new state, pass the `moves` of the answer.
    """
    before = at.state
    after, made = play_text(before, _text(joint))
    texts = list(map(str, made))
    moves: list[str | list[str]] = [*at.moves, texts]
    sees = before.percepts(made) if before.game.is_gdl2 else {}
    reached = at._replace(state=after, moves=moves)
    answer = reached.with_standing(reached.answered.to_json()) | {
        "joint": texts,
        "came": sorted(map(str, after.facts - before.facts)),
        "went": sorted(map(str, before.facts - after.facts)),
        "sees": {str(role): list(map(str, percepts)) for role, percepts in sees.items()},
    }
    return bounded(answer, most) | {"moves": moves}


def query(
    at: Position,
    pattern: Annotated[str, Field(description="Atom with variables, such as (true (cell ?x ?y b))")],
    joint: JointMove = "",
    most: Most = USUAL,
) -> View:
    """Return the instances of a pattern that hold in a state. Patterns with `next` need `joint`."""
    answer = at.answered.bindings(pattern, _text(joint) or None, "as `joint`")
    return bounded({"pattern": pattern, "count": len(answer.texts), "instances": answer.texts}, most)


def why(
    at: Position,
    atom: Annotated[str, Field(description="Atom that holds, such as (legal white noop) or terminal")],
    joint: JointMove = "",
) -> View:
    """Return why an atom holds in a state: the rules and facts that derive it, with their lines."""
    return {"atom": atom, "holds": True, "explanation": _cut(str(at.state.explain(atom, _made(at, joint))))}


def why_not(
    at: Position,
    atom: Annotated[str, Field(description="Atom that does not hold, such as (next (control white))")],
    joint: JointMove = "",
) -> View:
    """Return why an atom does not hold in a state: the condition that fails in each rule for the atom."""
    failure = at.state.explain_failure(atom, _made(at, joint))
    return {"atom": atom, "holds": False, "explanation": _cut(str(failure))}


def _made(at: Position, joint: str | list[str]) -> tuple[Term, ...] | None:
    return read_joint(at.state, _text(joint)) if joint else None


def board(at: Position, svg: bool = False) -> View:
    """Draw the boards of a state as text, and as SVG if `svg` is true."""
    view = at.state.board()
    drawn = view.svg(dark=False) if svg else None
    if drawn is not None and len(drawn) > 50 * LONGEST_TEXT:
        raise LimitError(f"the drawing has {len(drawn):,} characters, which is too long: set `svg` to false")
    boards = len(Painter.of(at.game).boards.layouts)
    return {"boards": boards, "text": _cut(view.text(_WIDTH)), "svg": drawn}


# -- long computations ----------------------------------------------------------------------------------


def simulate(
    at: Position,
    playouts: Annotated[int, Field(ge=1, le=MOST_PLAYOUTS)] = 10_000,
    seed: int = 0,
    limit: Annotated[
        int, Field(ge=1, le=10_000, description="Maximum number of joint moves of a match")
    ] = 1_000,
) -> View:
    """Play random matches; return mean goals, lengths, numbers of unfinished matches, and one match."""
    result = at.game.simulate(
        playouts, seed, state=at.state, limit=limit,
        progress=lambda done: at.report(done, playouts, "playouts"),
    )  # fmt: skip
    example = at.game.playout(seed, state=at.state, limit=limit)
    answer = Simulation(at.game, result, playouts).to_json()
    return bounded(answer | {"example": line_json(example.moves)}, USUAL)


def analyse(at: Position, seconds: Seconds = 5.0) -> View:
    """Search a state within a time limit; return the moves of each role with their values, best first."""
    at.report(0, seconds, "compiling")
    at.game.compile_if_worth_it()
    search = Search(at.game, memory=SEARCH_MEMORY, seed=0)
    search.compile(seconds)
    analysis = search.run(
        at.state, seconds=seconds,
        progress=lambda known: at.report(known.seconds, seconds, f"{known.iterations:,} leaves"),
    )  # fmt: skip
    return bounded(at.answered.to_json() | analysis.to_json(), 10)


def solve(at: Position, seconds: Seconds = 20.0) -> View:
    """Return the exact value of a state and a line of best play, or why the value is unknown."""
    at.game.compile_if_worth_it()
    solution = solve_state(
        at.game, at.state, memory=SEARCH_MEMORY, seconds=seconds,
        progress=lambda expanded, known: at.report(expanded, known, f"{known:,} states"),
        proving=lambda known: at.report(known.iterations, 0, "looking for a proof"),
    )  # fmt: skip
    return bounded(Solved(at.answered, solution).to_json(), USUAL)


def prove(
    sheet: Sheet,
    properties: Annotated[
        list[str],
        Field(
            max_length=20,
            description="playable, ends, goals, turn-taking, zero-sum, winnable, constant-players, "
            "mutex, latched, monotone, dead; or formulas, such as (never (and (line x) (line o)))",
        ),
    ] = _USUAL_PROPERTIES,
    seconds: Annotated[
        float, Field(gt=0, le=MOST_SECONDS, description="Time limit in seconds, for each property")
    ] = 10.0,
    most: Most = USUAL,
) -> View:
    """For each property, prove that it holds in all matches of a game, or return a match that refutes it."""
    verdicts: list[View] = []
    for verdict in each_verdict(
        sheet.compiled(), properties, seconds=seconds,
        report=lambda doing: sheet.report(len(verdicts), 0, doing),
    ):  # fmt: skip
        verdicts.append(verdict.to_json())  # noqa: PERF401 (progress reports the length of the list)
    return bounded({"verdicts": verdicts}, most)


def equal(
    sheet: Sheet,
    other: Sheet,
    move_map: Annotated[str, Field(description="Pairs of terms: (mark ?x ?y) (place ?y ?x)")] = "",
    up_to: Annotated[int | None, Field(ge=0, le=MOST_MOVES)] = None,
    seconds: Seconds = 30.0,
) -> View:
    """Prove that two sheets describe the same game, or return a match after which the games differ."""
    verdict = prove_equal(
        sheet.compiled(), other.compiled(), moves=move_map, up_to=up_to, seconds=seconds,
        report=lambda doing: sheet.report(0, 0, doing),
    )  # fmt: skip
    return bounded(verdict.to_json(), USUAL)


#: The tools about sheets, by name.
OF_SHEETS: Final[dict[str, Callable[..., View]]] = {
    "load": load, "check": check, "mend": mend, "format": format_, "prove": prove, "equal": equal,
}  # fmt: skip
#: The tools about states, by name.
OF_STATES: Final[dict[str, Callable[..., View]]] = {
    "state": state, "legal": legal, "play": play, "query": query, "why": why, "why_not": why_not,
    "board": board, "simulate": simulate, "analyse": analyse, "solve": solve,
}  # fmt: skip

#: The shape of the answer of a tool, as in the help of the command line.
SHAPES: Final = {
    "check": f'{{"diagnostics": [{findings.SHAPE}]}}',
    "state": position.FACTS_SHAPE,
    "legal": position.LEGAL_SHAPE,
    "simulate": simulation.SHAPE,
    "solve": solution.SHAPE,
    "prove": f'{{"verdicts": [VERDICT]}}; a VERDICT is {proof.SHAPE}',
    "equal": proof.SHAPE,
}


def answer(report: Report, do: str, name: str, text: str, **given: Any) -> View:
    """Return the answer of the tool ``do``, with its arguments ``given``."""
    sheet = Sheet(name, text, report)
    if "other" in given:
        other_name, other_text = given["other"]
        given["other"] = Sheet(other_name, other_text, report)
    if do in OF_SHEETS:
        return OF_SHEETS[do](sheet, **given)
    at = sheet.position(given.pop("moves"), given.pop("facts"))
    return OF_STATES[do](at, **given)


def main(memory: int) -> None:
    """Answer questions until standard input ends, within ``memory`` bytes of address space."""
    write = set_up(memory, _NICENESS)
    last = 0.0

    def report(done: float, total: float, doing: str) -> None:
        nonlocal last
        now = monotonic()
        if now - last >= _BETWEEN:
            last = now
            write(encode_message({"done": done, "total": total, "doing": doing}))

    answer_questions(write, lambda question: answer(report, **question), LONGEST_ANSWER)
