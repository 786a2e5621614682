"""Match records, in the JSON format of the reference manager.

A state is a list of facts, and a joint move is a list of one move for each role, as strings with blanks
between all tokens. Times are milliseconds since 1970. There is one more state than there are joint moves.
Each state has a time and a list of errors; the first list is about START. The key ``anygame`` holds data that
the reference format lacks: the rule sheet for replaying and resuming, roles, the seed, comments of players,
and reasons of errors.
"""

from __future__ import annotations

import json
import string
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import RecordError, TermSyntaxError
from anygame.files import file_faults, read_bounded, write_whole
from anygame.language.diagnostics import counted, shown
from anygame.language.parser import parse_nodes
from anygame.markup import folded, html, paragraph, table
from anygame.match.judging import Verdict, spaced

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    from anygame.game.state import State
    from anygame.language.terms import Term

#: Maximum size of a record file in bytes.
_FILE_LIMIT: Final = 256 * 2**20
#: Upper bound of the absolute value of numbers in a record.
_BIGGEST: Final = 1e18
_OWN: Final = "anygame"
#: Maximum number of characters of a reason, enough for the last line of a traceback or a parser error.
_LONGEST_REASON: Final = 500
#: Maximum number of joint moves of a record that a notebook shows.
_MOST_SHOWN: Final = 500


def _step_text(moves: Sequence[str], errors: Sequence[str]) -> str:
    joint = ", ".join(moves)
    wrong = ", ".join([error for error in errors if error])
    return f"{joint} (replaced: {wrong})" if wrong else joint


@dataclass(slots=True, repr=False)
class Record:
    """Record of a match so far.

    Attributes:
        match_id: name of the match.
        start_clock: seconds to get ready.
        play_clock: seconds for each move.
        names: names of the players in the order of the roles.
        states: all states so far, from the initial state.
        moves: joint moves between the states.
        errors: for each state, the error of each role in the turn before (see `anygame.match.judging`).
        reasons: for each state, an explanation of each error; None without an error. The list is empty if
            there are no explanations.
        said: for each state, the lines of comments of each player in the turn before.
        state_times: time of each state.
        goals: goals in the order of the roles; None until the match is completed.
        start_time: time at which the match was created.
        token: random secret.
        game_url: address of the rules; empty for unpublished rules.
        tournament: name of the tournament; empty without a tournament.
        preview_clock: seconds to study the game before the match; -1 without such a clock.
        humans: whether each player is a person; None if unknown.
        is_completed: whether the game reached a final state.
        is_aborted: whether the match was aborted.
        is_scrambled: whether the rules for remote players had scrambled names.
        own: data under the key ``anygame``, such as the rule sheet.
        others: values of unknown keys, which are written unchanged.
    """

    match_id: str
    start_clock: float
    play_clock: float
    names: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    moves: list[list[str]] = field(default_factory=list)
    errors: list[list[str]] = field(default_factory=list)
    reasons: list[list[str | None]] = field(default_factory=list)
    said: list[list[list[str]]] = field(default_factory=list)
    state_times: list[int] = field(default_factory=list)
    goals: list[int] | None = None
    start_time: int = field(default_factory=lambda: int(time.time() * 1000))
    token: str = field(default_factory=lambda: token_hex(16))
    game_url: str = ""
    tournament: str = ""
    preview_clock: float = -1
    humans: list[bool] | None = None
    is_completed: bool = False
    is_aborted: bool = False
    is_scrambled: bool = False
    own: dict[str, Any] = field(default_factory=dict)
    others: dict[str, Any] = field(default_factory=dict)

    @property
    def step(self) -> int:
        """The number of joint moves so far."""
        return len(self.moves)

    def __repr__(self) -> str:
        goals = f", goals {' '.join(map(str, self.goals))}" if self.goals else ""
        return f"<Record of {shown(self.match_id)}: {self._status()}{goals}>"

    def _status(self) -> str:
        ended = "completed" if self.is_completed else "given up" if self.is_aborted else "not completed"
        return f"{counted(self.step, 'joint move')}, {ended}"

    def _repr_html_(self) -> str:
        roles = self.own.get("roles")
        columns = [roles if isinstance(roles, list) else [], self.names, self.goals or []]
        players = table(("role", "player", "goal"), zip_longest(*columns, fillvalue=""))
        parts = [players, paragraph(self._status())]
        steps = [*zip(self.moves, self.errors[1:], strict=False)]
        if steps:
            items = "".join([f"<li>{html(_step_text(*step))}</li>" for step in steps[:_MOST_SHOWN]])
            more = f"<p>and {len(steps) - _MOST_SHOWN:,} more</p>" if len(steps) > _MOST_SHOWN else ""
            parts.append(folded("moves", f"<ol>{items}</ol>{more}"))
        return "".join(parts)

    @property
    def failed(self) -> list[str]:
        """The names of the players whose moves were all replaced."""
        turns = self.errors[1:]
        return [name for place, name in enumerate(self.names) if turns and all(turn[place] for turn in turns)]

    def add_state(self, state: State, errors: Sequence[str], reasons: Sequence[str] = ()) -> None:
        """Add a state, and the explained error of each role in the turn before this state."""
        self.states.append(format_state(state.facts))
        self.state_times.append(int(time.time() * 1000))
        self.errors.append(list(errors))
        self.explain(reasons)

    def explain(self, reasons: Sequence[str]) -> None:
        """Explain the error of each role before the last state; an empty string means no explanation."""
        shortened = [shown(reason, _LONGEST_REASON) or None for reason in reasons]
        self._set_last(self.reasons, shortened, [None] * len(self.errors[-1]))

    def quote(self, said: Sequence[Sequence[str]]) -> None:
        """Set the comments of each role in the turn before the last state."""
        self._set_last(self.said, [list(lines) for lines in said], [[] for _ in said])

    def _set_last(self, steps: list[Any], values: list[Any], nothing: list[Any]) -> None:
        if steps or any(values):
            last = len(self.states) - 1
            del steps[last:]
            steps += [list(nothing) for _ in range(last - len(steps))]
            steps.append(values or nothing)

    def verdicts(self, step: int, roles: int) -> list[Verdict]:
        """Return a verdict for each role in the turn before a state; the verdict is empty without data."""
        lists: tuple[list[Any], ...] = self.errors, self.reasons, self.said
        of_step = [[*(steps[step] if step < len(steps) else ()), *[None] * roles][:roles] for steps in lists]
        return [
            Verdict(None, error or "", reason or "", tuple(said or ()))
            for error, reason, said in zip(*of_step, strict=True)
        ]

    def add_turn(self, joint: Iterable[Term], state: State, verdicts: Sequence[Verdict]) -> None:
        """Add a joint move, the next state, and the verdicts on the replies of all roles."""
        self.moves.append([spaced(move) for move in joint])
        self.add_state(
            state, [verdict.error for verdict in verdicts], [verdict.detail for verdict in verdicts]
        )
        self.quote([verdict.said for verdict in verdicts])

    def take_back_to(self, step: int) -> None:
        """Remove everything after a state."""
        del self.moves[step:]
        for of_states in (self.states, self.state_times, self.errors, self.reasons, self.said):
            del of_states[step + 1 :]
        self.goals = None
        self.is_completed = self.is_aborted = False

    def facts(self, step: int) -> list[str]:
        """Return the facts of a state as strings. Raises RecordError if the state cannot be parsed."""
        try:
            nodes = parse_nodes(self.states[step])
        except TermSyntaxError as error:
            raise RecordError(f"state {step} of {self.match_id} cannot be read: {error}") from error
        if len(nodes) != 1 or nodes[0].children is None:
            text = self.states[step][:60]
            raise RecordError(f"state {step} of {self.match_id} should be a list of facts, found {text!r}")
        return [node.span.text for node in nodes[0].children]

    def to_json(self) -> dict[str, Any]:
        """Return the record in the reference format."""
        data = {}
        for key, (attribute, shape) in _KEYS.items():
            value = getattr(self, attribute)
            if key == _OWN:
                value = {name: steps for name in _OWN_KEYS if (steps := getattr(self, name))}
                value = self.own | value
            if key not in _WRITTEN_IF_ANY or value not in (None, "", {}):
                is_whole = shape == "a number" and value == int(value)
                data[key] = int(value) if is_whole else value
        return data | self.others


def new_match_id(name: str) -> str:
    """Return a unique match id, one atom that begins with the name of the game."""
    stem = Path(name).stem
    kept = "".join(character if character in _SAFE else "_" for character in stem)[:60]
    return f"{kept or 'match'}.{int(time.time() * 1000)}.{token_hex(3)}"


def format_state(facts: Iterable[Term]) -> str:
    """Return sorted facts in the notation of records.

    >>> from anygame.language.parser import parse_term
    >>> format_state([parse_term("(control x)"), parse_term("(cell 1 1 b)")])
    '( ( cell 1 1 b ) ( control x ) )'
    """
    return " ".join(["(", *[spaced(fact) for fact in sorted(facts)], ")"])


def read_record(path: str | os.PathLike[str]) -> Record:
    """Read a record from a file. Raises RecordError if the file cannot be read or is not a match record."""
    return parse_record(read_bounded(path, _FILE_LIMIT, "a match record", RecordError), name=str(path))


def parse_record(text: str | bytes, *, name: str = "the text") -> Record:
    """Parse a record. Raises RecordError."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{name} is not a match record: invalid JSON ({error})") from error
    return _from_json(data, name)


def write_record(record: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write the result of `Record.to_json` to a file, atomically. Raises RecordError if writing fails."""
    with file_faults("write", path, RecordError):
        write_whole(Path(path), json.dumps(record, ensure_ascii=False) + "\n")


#: For each key of the reference format, the attribute of `Record` and the expected type.
_KEYS: Final = {
    "matchId": ("match_id", "a string"),
    "randomToken": ("token", "a string"),
    "startTime": ("start_time", "a number"),
    "gameMetaURL": ("game_url", "a string"),
    "isCompleted": ("is_completed", "true or false"),
    "isAborted": ("is_aborted", "true or false"),
    "states": ("states", "a list of strings"),
    "moves": ("moves", "lists of strings"),
    "stateTimes": ("state_times", "a list of numbers"),
    "errors": ("errors", "lists of strings"),
    "previewClock": ("preview_clock", "a number"),
    "startClock": ("start_clock", "a number"),
    "playClock": ("play_clock", "a number"),
    "playerNamesFromHost": ("names", "a list of strings"),
    "scrambled": ("is_scrambled", "true or false"),
    "goalValues": ("goals", "a list of goals"),
    "isPlayerHuman": ("humans", "a list of booleans (true or false)"),
    "tournamentNameFromHost": ("tournament", "a string"),
    _OWN: ("own", "an object"),
}
#: Attributes of `Record` that are written under the key ``anygame``, and their expected types.
_OWN_KEYS: Final = {"reasons": "lists of strings or null", "said": "lists of lists of strings"}
_WRITTEN_IF_ANY: Final = ("goalValues", "isPlayerHuman", "tournamentNameFromHost", _OWN)
_NEEDED: Final = ("matchId", "startClock", "playClock", "states", "moves", "stateTimes")
_SAFE: Final = frozenset(string.ascii_letters + string.digits + "_-")


def _from_json(data: object, name: str) -> Record:
    if not isinstance(data, dict):
        raise RecordError(f"{name} is not a match record: expected an object with matchId, states, moves")
    missing = [key for key in _NEEDED if key not in data]
    if missing:
        raise RecordError(f"{name} is not a match record: it has no {', '.join(missing)}")
    values: dict[str, Any] = {}
    others = {}
    for key, value in data.items():
        if key not in _KEYS:
            others[key] = value
            continue
        attribute, wanted = _KEYS[key]
        if not _SHAPES[wanted](value):
            raise RecordError(f"{name} is damaged: {key} should be {wanted}, found {str(value)[:60]!r}")
        values[attribute] = value
    if "own" in values:
        values["own"] = dict(values["own"])
        for key, wanted in _OWN_KEYS.items():
            values[key] = values["own"].pop(key, [])
            if not _SHAPES[wanted](values[key]):
                raise RecordError(f"{name} is damaged: {key} should be {wanted}")
    defaults: dict[str, Any] = {"token": "", "start_time": 0, "others": others}
    record = Record(**defaults | values)
    _check_lengths(record, name)
    return record


def _check_lengths(record: Record, name: str) -> None:
    count = len(record.states)
    if count != len(record.moves) + 1 or count != len(record.state_times):
        raise RecordError(
            f"{name} is damaged: {count} states, {len(record.moves)} moves, {len(record.state_times)} times; "
            "expected one state more than moves, and as many times as states"
        )
    widths = {len(joint) for joint in record.moves} | ({len(record.goals)} if record.goals else set())
    if len(widths) > 1:
        raise RecordError(f"{name} is damaged: its moves and goals have different numbers of roles")


_Check = Callable[[Any], bool]


def _is(kind: type) -> _Check:
    return lambda value: isinstance(value, kind)


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and abs(value) < _BIGGEST  # type: ignore[arg-type]


def _list_of(check: _Check) -> _Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


#: Function that checks a value, by the name of the expected type.
_SHAPES: Final[dict[str, _Check]] = {
    "a string": _is(str),
    "a number": _is_number,
    "true or false": _is(bool),
    "an object": _is(dict),
    "a list of strings": _list_of(_is(str)),
    "a list of numbers": _list_of(_is_number),
    # Goals can be integers of any size. JSON stores them exactly.
    "a list of goals": _list_of(lambda goal: type(goal) is int or _is_number(goal)),
    "a list of booleans (true or false)": _list_of(_is(bool)),
    "lists of strings": _list_of(_list_of(_is(str))),
    "lists of strings or null": _list_of(_list_of(lambda value: value is None or isinstance(value, str))),
    "lists of lists of strings": _list_of(_list_of(_list_of(_is(str)))),
}
