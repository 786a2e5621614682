"""What tools answer, as types from which their schemas are made."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

Line = list[list[str]]


class Listed(TypedDict):
    """A game in a list."""

    game: str
    title: str
    description: str


class Games(TypedDict):
    """Games by name."""

    games: list[Listed]
    loaded: list[str]


class Loaded(TypedDict):
    """A sheet that was read."""

    game: str
    title: str
    description: str
    roles: list[str]
    rules: int
    hidden_information: bool
    warnings: int


class Edit(TypedDict):
    """What takes the place of a part of the text; lines and columns from 1, start and end from 0."""

    line: int
    column: int
    end_line: int
    end_column: int
    start: int
    end: int
    text: str


class Fix(TypedDict):
    """How a finding is mended; sure where that is beyond doubt."""

    title: str
    sure: bool
    edits: list[Edit]


class Note(TypedDict):
    """What else belongs to a finding; line and column are 0 where it has no place of its own."""

    message: str
    line: int
    column: int


class Finding(TypedDict):
    """What is wrong or odd; the last note counts the findings that follow from it."""

    number: int
    code: str
    severity: Literal["error", "warning", "info"]
    message: str
    line: int
    column: int
    end_line: int
    end_column: int
    shown: str
    hint: str
    follows: bool
    notes: list[Note]
    play: Line | None
    mends: list[str]
    fixes: list[Fix]


class Checked(TypedDict):
    """What was found in a sheet."""

    playable: bool
    errors: int
    warnings: int
    infos: int
    findings: list[Finding]
    left_out: int


class Mended(TypedDict):
    """A sheet after mending."""

    sheet: str
    changed: bool
    done: list[str]
    notes: list[str]


class Formatted(TypedDict):
    """A sheet laid out."""

    sheet: str


class Standing(TypedDict):
    """How a match stands; goals are null where the rules give none or several."""

    step: int
    terminal: bool
    goals: dict[str, int | None]
    to_act: list[str]
    without_a_move: str | None


class StateFacts(Standing):
    """A state."""

    facts: list[str]
    facts_left_out: int


class RoleMoves(TypedDict):
    """The legal moves of a role."""

    role: str
    count: int
    moves: list[str]
    left_out: int


class Legal(Standing):
    """The legal moves of a state."""

    legal: list[RoleMoves]


class Played(Standing):
    """A joint move that was made; `moves` names the state after it."""

    joint: list[str]
    moves: list[str | list[str]]
    came: list[str]
    went: list[str]
    left_out: int
    sees: dict[str, list[str]]


class Instances(TypedDict):
    """Instances of a pattern."""

    count: int
    instances: list[str]
    left_out: int


class Explanation(TypedDict):
    """Why something holds or not."""

    atom: str
    holds: bool
    explanation: str


class Drawn(TypedDict):
    """Boards."""

    boards: int
    text: str
    svg: str | None


class Length(TypedDict):
    """Lengths of matches in joint moves."""

    mean: float | None
    least: int | None
    most: int | None


class RoleGoals(TypedDict):
    """What a role got in random matches."""

    role: str
    mean: float | None
    error: float | None
    goals: dict[str, int]
    without_goal: int
    legal_moves: float | None


class Simulated(TypedDict):
    """Random matches; `cut` are those given up for their length, `stuck` those without a legal move."""

    playouts: int
    cut: int
    stuck: int
    first_stuck: str | None
    length: Length
    roles: list[RoleGoals]
    example: Line
    example_length: int


class MoveValue(TypedDict):
    """What a move is worth."""

    move: str
    visits: int
    goal: float | None
    error: float | None
    proven: float | None
    bounds: list[float]
    line: Line


class RoleValues(TypedDict):
    """The moves of a role, the best first."""

    role: str
    moves: list[MoveValue]
    left_out: int


class Analysed(TypedDict):
    """What a search knows."""

    seconds: float
    iterations: int
    solved: bool
    reason: str
    goals: dict[str, float | None]
    proven: dict[str, float | None]
    roles: list[RoleValues]


class Solved(TypedDict):
    """An exact value, or why there is none."""

    solved: bool
    method: str | None
    goals: dict[str, float | None]
    bounds: dict[str, list[float] | None]
    reason: str | None
    states: int
    line: Line
    line_length: int


class Verdict(TypedDict):
    """What was found out about a property."""

    property: str
    claim: str
    verdict: Literal["proved", "refuted", "open"]
    match: Line | None
    match_length: int | None
    shortest: bool
    depth: int | None
    lemmas: int
    note: str
    invariant: list[str]
    invariant_left_out: int
    found: list[str]
    found_left_out: int
    seconds: float


class Proved(TypedDict):
    """Verdicts in the order asked."""

    verdicts: list[Verdict]
