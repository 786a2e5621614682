"""A match so far: its states, its joint moves, and the roles that have a choice."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import AnygameError, GoalError, IllegalMoveError, RecordError
from anygame.game.joint_moves import final_goals
from anygame.language.parser import parse_term
from anygame.language.terms import Constant
from anygame.match.judging import Verdict
from anygame.match.referee import legal_in

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.match.record import Record

Joint = tuple["Term", ...]
Report = dict[str, Any]
#: Keys of the record for the role that left the match, because the role resigned or ran out of time.
LEAVING: Final = ("resigned", "late")


@dataclass(frozen=True, slots=True)
class StateSummary:
    """Summary of a state."""

    is_terminal: bool
    #: Legal moves of every role; empty if the game is over.
    legal: tuple[tuple[Term, ...], ...]
    #: Goal of every role if the game is over; empty otherwise.
    goals: tuple[int, ...]
    #: Error in the rules, which prevents both joint moves and a result; empty without an error.
    fault: str = ""

    @property
    def is_over(self) -> bool:
        """Whether no move is possible."""
        return self.is_terminal or bool(self.fault)


def summary_of(state: State) -> StateSummary:
    """Compute the summary of a state."""
    try:
        # Goals are computed only at the end, because their computation takes seconds in several games.
        goals = tuple(final_goals(state)) if state.is_terminal else ()
        return StateSummary(state.is_terminal, legal_in(state), goals)
    except (GoalError, IllegalMoveError) as error:
        return StateSummary(state.is_terminal, (), (), str(error))


def joint_of(game: Game, texts: Iterable[str], state: State) -> Joint:
    """Parse a joint move from strings in the order of the roles. Raises the errors of `move_of`."""
    return tuple([move_of(text, role, state) for role, text in zip(game.roles, texts, strict=True)])


def move_of(text: str, role: Role, state: State) -> Term:
    """Return the legal move that equals a string, ignoring spacing.

    Raises IllegalMoveError if the move is not legal, and TermSyntaxError if the string is not a term.
    """
    legal = state.legal_moves(role)
    move = {str(move): move for move in legal}.get(text)
    if move is not None:
        return move
    term = parse_term(text, case_sensitive=state.game.case_sensitive)
    if term not in legal:
        raise IllegalMoveError(f"{term} is not a legal move of {role} here", role, text)
    return term


class Course:
    """A match so far, from its record and the states in the record."""

    #: Summary of the last state.
    summary: StateSummary
    #: Clock of a match in another process; see `FollowedMatch`.
    live: Mapping[str, Any]
    #: Start of the current turn, in seconds since 1970; None for a match in another process.
    since: float | None = None

    def __init__(self, game: Game, record: Record, states: Sequence[State]) -> None:
        self.game = game
        self.record = record
        self.states = list(states)
        #: Joint moves so far.
        self.line: list[Joint] = []
        #: Reason why the match cannot continue; empty if it can continue.
        self.fault = str(record.own.get("fault", ""))
        #: Role that has left the match, and the reason ``resigned`` or ``late``; None if no role has left.
        self.left = next(((str(record.own[how]), how) for how in LEAVING if how in record.own), None)
        self.live = {}
        #: Indices of the roles that had a choice, for every joint move so far.
        self.chose: list[set[int]] = []
        self._seen: list[Mapping[str, tuple[Term, ...]]] = []
        for step, moves in enumerate(record.moves):
            state = self.states[step]
            self.line.append(joint_of(game, moves, state))
            self.chose.append(_choosing([state.legal_moves(role) for role in game.roles]))

    @property
    def is_over(self) -> bool:
        """Whether the match has ended."""
        return self.summary.is_over or bool(self.fault) or self.left is not None

    @property
    def turn(self) -> list[int]:
        """The indices of the roles of people who must choose a move in this process."""
        return []

    @property
    def thinking(self) -> list[int]:
        """The indices of the roles whose players are choosing a move."""
        return []

    @property
    def can_take_back(self) -> bool:
        """Whether a person can take a move back."""
        return False

    @property
    def choosing(self) -> set[int]:
        """The indices of the roles that have several legal moves; all other roles move automatically."""
        return _choosing(self.summary.legal)

    @property
    def is_running(self) -> bool:
        """Whether the clocks run. The clocks start when all people have joined."""
        return True

    def time_left(self, index: int) -> float | None:
        """Return the seconds that a person had left at the start of the turn; None without a clock."""
        return None

    def told(self, step: int) -> list[int]:
        """Return the roles whose moves at a step are shown: all roles with a choice, or else one role."""
        return sorted(self.chose[step]) or self._most_informative(self.line[step])

    def _most_informative(self, joint: Joint) -> list[int]:
        """Return the role with the most informative move: a compound move if possible, made by few roles."""
        roles = [index for index, role in enumerate(self.game.roles) if not role.is_random]
        roles = roles or list(range(len(joint)))
        return [min(roles, key=lambda index: (isinstance(joint[index], Constant), joint.count(joint[index])))]

    async def _follow(self, joint: Joint, verdicts: Sequence[Verdict]) -> None:
        """Make a joint move, and record the move with the verdicts on the replies. Raises AnygameError."""
        state = await asyncio.to_thread(self.states[-1].next, joint)
        summary = await asyncio.to_thread(summary_of, state)
        self.line.append(joint)
        self.chose.append(self.choosing)
        self.states.append(state)
        self.summary = summary
        self.record.add_turn(joint, state, verdicts)

    def _note_result(self) -> None:
        record = self.record
        record.is_aborted = bool(self.fault) or self.left is not None
        record.is_completed = not record.is_aborted
        if self.fault:
            record.own["fault"] = self.fault
        record.goals = list(self.summary.goals) if record.is_completed else None

    def seen(self, last: int) -> Sequence[Mapping[str, Collection[Term]]]:
        """Return the percepts of every role (GDL-II) after each of the first ``last`` joint moves."""
        for step in range(len(self._seen), last):
            self._seen.append(self.states[step].percepts(self.line[step]))
        return self._seen[:last]


def _choosing(legal: Sequence[Sequence[Term]]) -> set[int]:
    return {index for index, moves in enumerate(legal) if len(moves) > 1}


class FollowedMatch(Course):
    """A match that another process plays and reports to this process.

    ``live`` has ``asked``, the start of the current turn in seconds since 1970, and ``clock``, the seconds
    for each move. After the end of the match, ``live`` is empty.
    """

    async def begin(self) -> None:
        """Summarise the last state."""
        self.summary = await asyncio.to_thread(summary_of, self.states[-1])

    async def follow(
        self, start: int, turns: Sequence[Report], now: Report, keep: Callable[[Record], None]
    ) -> None:
        """Make the reported moves, up to the first illegal move.

        Args:
            start: number of joint moves before the first report.
            turns: reports with ``moves``, strings in the order of the roles, and optionally ``errors``,
                ``reasons``, ``said`` and ``seconds`` of every role.
            now: current status: ``live`` and ``fault``, and optionally ``opening`` with the ``reasons`` and
                ``said`` before the first move.
            keep: writes the record.
        """
        if "opening" in now and not self.line:
            self.record.explain(_of_all(now["opening"].get("reasons"), self.game, ""))
            self.record.quote(_of_all(now["opening"].get("said"), self.game, ()))
        for turn in turns[max(0, len(self.line) - start) :]:
            if start > len(self.line) or self.fault:
                break
            try:
                await self._turn(turn)
            except AnygameError as error:
                self.fault = f"move {len(self.line) + 1} of the record cannot be made: {error}"
        self.live = now["live"]
        self.fault = self.fault or now["fault"] or self.summary.fault
        if self.is_over:
            self._note_result()
        await asyncio.to_thread(keep, self.record)

    async def _turn(self, report: Report) -> None:
        game = self.game
        if len(report["moves"]) != len(game.roles):
            raise RecordError(f"expected {len(game.roles)} moves, found {len(report['moves'])}")
        joint = joint_of(game, report["moves"], self.states[-1])
        errors, reasons = (_of_all(report.get(key), game, "") for key in ("errors", "reasons"))
        said = _of_all(report.get("said"), game, ())
        await self._follow(joint, [*map(Verdict, joint, errors, reasons, said)])
        used = self.record.own.setdefault("seconds", [0.0] * len(game.roles))
        for index, seconds in enumerate(report.get("seconds") or ()):
            used[index] = round(used[index] + seconds, 3)

    @property
    def thinking(self) -> list[int]:
        """The indices of the roles that must choose a move."""
        if self.is_over or "asked" not in self.live:
            return []
        roles = self.game.roles
        choosing = sorted(self.choosing)
        if not choosing and not self.game.is_gdl2:
            # The referee in the other process also waits for roles without a choice.
            choosing = self._most_informative(tuple([moves[0] for moves in self.summary.legal]))
        return [index for index in choosing if not roles[index].is_random]


def _of_all(values: Sequence[Any] | None, game: Game, default: Any) -> list[Any]:
    """Return the reported value of every role, with a default for each missing value."""
    if values is None or len(values) != len(game.roles):
        return [default for _ in game.roles]
    return [default if value is None else value for value in values]
