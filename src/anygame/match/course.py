"""The course of a match, wherever it is played: its states, the moves between them, and who has to choose."""

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
Told = dict[str, Any]
#: How somebody leaves a match, as its record has it with the role: by giving up, or by running out of time.
LEAVING: Final = ("resigned", "late")


@dataclass(frozen=True, slots=True)
class StateSummary:
    """What a match must know of a state.

    Attributes:
        is_terminal: whether the game is over.
        legal: the legal moves of every role, in order; where the game is over, none that matter.
        goals: of every role, where the game is over and the rules give each one; else none.
        fault: why the rules allow neither a move nor a result here; empty where they do.
    """

    is_terminal: bool
    legal: tuple[tuple[Term, ...], ...]
    goals: tuple[int, ...]
    fault: str = ""

    @property
    def is_over(self) -> bool:
        """Whether nobody can move here."""
        return self.is_terminal or bool(self.fault)


def summary_of(state: State) -> StateSummary:
    """Compute what a match must know of a state."""
    try:
        # Goals are computed at the end alone: some rules take seconds for them.
        goals = tuple(final_goals(state)) if state.is_terminal else ()
        return StateSummary(state.is_terminal, legal_in(state), goals)
    except (GoalError, IllegalMoveError) as error:
        return StateSummary(state.is_terminal, (), (), str(error))


def joint_of(game: Game, texts: Iterable[str], state: State) -> Joint:
    """Return the joint move that texts in the order of the roles mean; raises as `move_of`."""
    return tuple([move_of(text, role, state) for role, text in zip(game.roles, texts, strict=True)])


def move_of(text: str, role: Role, state: State) -> Term:
    """Return the legal move that a text means, however it is spaced.

    Raises:
        IllegalMoveError: it means none.
        TermSyntaxError: it cannot be read.
    """
    legal = state.legal_moves(role)
    found = {str(move): move for move in legal}.get(text)
    if found is not None:
        return found
    term = parse_term(text, case_sensitive=state.game.case_sensitive)
    if term not in legal:
        raise IllegalMoveError(f"{term} is not a legal move of {role} here", role, text)
    return term


class Course:
    """A match so far.

    Args:
        record: of the match, with the states so far; it grows.
        states: those of the record; the initial one at least.

    Attributes:
        line: the joint moves so far.
        summary: of the last state.
        fault: why the match cannot go on; empty where it can.
        live: what is shown of moves that are waited for elsewhere; see `FollowedMatch`.
        chose: the roles that had a choice, at every joint move so far.
        since: since when moves are waited for here, in seconds since 1970; None for elsewhere.
        left: who has left the match, and how: ``resigned`` or ``late``; None where nobody has.
    """

    summary: StateSummary
    live: Mapping[str, Any]
    since: float | None = None

    def __init__(self, game: Game, record: Record, states: Sequence[State]) -> None:
        self.game = game
        self.record = record
        self.states = list(states)
        self.line: list[Joint] = []
        self.fault = str(record.own.get("fault", ""))
        self.left = next(((str(record.own[how]), how) for how in LEAVING if how in record.own), None)
        self.live = {}
        self.chose: list[set[int]] = []
        self._seen: list[Mapping[str, tuple[Term, ...]]] = []
        for step, moves in enumerate(record.moves):
            state = self.states[step]
            self.line.append(joint_of(game, moves, state))
            self.chose.append(_choosing([state.legal_moves(role) for role in game.roles]))

    @property
    def is_over(self) -> bool:
        """Whether nobody can move any more."""
        return self.summary.is_over or bool(self.fault) or self.left is not None

    @property
    def turn(self) -> list[int]:
        """The indices of the roles whose move is waited for from people here."""
        return []

    @property
    def thinking(self) -> list[int]:
        """The indices of the roles whose move is waited for from players."""
        return []

    @property
    def can_take_back(self) -> bool:
        """Whether a person has chosen something so far."""
        return False

    @property
    def choosing(self) -> set[int]:
        """The indices of the roles that have a choice now; all others move by themselves."""
        return _choosing(self.summary.legal)

    @property
    def is_running(self) -> bool:
        """Whether time counts: where a clock holds people, it does when all of them are there."""
        return True

    def time_left(self, index: int) -> float | None:
        """Return the seconds that a person has left; None where no clock holds."""
        return None

    def told(self, step: int) -> list[int]:
        """Return the roles whose moves a list of moves shows: those that had a choice at a joint move."""
        return sorted(self.chose[step]) or self._telling(self.line[step])

    def _telling(self, joint: Joint) -> list[int]:
        """Return the role whose move says most: waiting is one word, as a rule the same for all who wait."""
        roles = [index for index, role in enumerate(self.game.roles) if not role.is_random]
        roles = roles or list(range(len(joint)))
        return [min(roles, key=lambda index: (isinstance(joint[index], Constant), joint.count(joint[index])))]

    async def _follow(self, joint: Joint, verdicts: Sequence[Verdict]) -> None:
        """Make a joint move, and note it in the record with what was made of replies. Raises AnygameError."""
        state = await asyncio.to_thread(self.states[-1].next, joint)
        summary = await asyncio.to_thread(summary_of, state)
        self.line.append(joint)
        self.chose.append(self.choosing)
        self.states.append(state)
        self.summary = summary
        self.record.add_turn(joint, state, verdicts)

    async def _go_back(self, step: int) -> None:
        self.record.take_back_to(step)
        del self.states[step + 1 :]
        del self.line[step:]
        del self.chose[step:]
        del self._seen[step:]
        self.fault = ""
        self.left = None
        for why in ("fault", *LEAVING):
            self.record.own.pop(why, None)
        self.summary = await asyncio.to_thread(summary_of, self.states[-1])

    def _note_result(self) -> None:
        """Note in the record that the match is completed, or why it is given up."""
        record = self.record
        record.is_aborted = bool(self.fault) or self.left is not None
        record.is_completed = not record.is_aborted
        if self.fault:
            record.own["fault"] = self.fault
        record.goals = list(self.summary.goals) if record.is_completed else None

    def seen(self, last: int) -> Sequence[Mapping[str, Collection[Term]]]:
        """Return what each role saw at every joint move up to a state, as the rules have it (GDL-II)."""
        for step in range(len(self._seen), last):
            self._seen.append(self.states[step].percepts(self.line[step]))
        return self._seen[:last]


def _choosing(legal: Sequence[Sequence[Term]]) -> set[int]:
    return {index for index, moves in enumerate(legal) if len(moves) > 1}


class FollowedMatch(Course):
    """A match that others report.

    Its ``live`` holds ``asked``, since when moves are waited for, in seconds since 1970, and ``clock``, the
    seconds that there are for each; nothing where the match has ended.
    """

    async def begin(self) -> None:
        """Summarise the last state."""
        self.summary = await asyncio.to_thread(summary_of, self.states[-1])

    async def follow(
        self,
        start: int,
        turns: Sequence[Told],
        now: Told,
        keep: Callable[[Record], None],
    ) -> None:
        """Make moves that were made elsewhere, as far as the rules allow them.

        Args:
            start: the number of joint moves before them.
            turns: each with ``moves``, texts in the order of the roles, and perhaps with ``errors``,
                ``reasons``, ``said`` and ``seconds`` of every role.
            now: how the match stands: ``live`` and ``fault``; likewise ``opening``, what was said before the
                first move.
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

    async def _turn(self, told: Told) -> None:
        game = self.game
        if len(told["moves"]) != len(game.roles):
            raise RecordError(f"expected {len(game.roles)} moves, found {len(told['moves'])}")
        joint = joint_of(game, told["moves"], self.states[-1])
        errors, reasons = (_of_all(told.get(key), game, "") for key in ("errors", "reasons"))
        said = _of_all(told.get("said"), game, ())
        await self._follow(joint, [*map(Verdict, joint, errors, reasons, said)])
        used = self.record.own.setdefault("seconds", [0.0] * len(game.roles))
        for index, seconds in enumerate(told.get("seconds") or ()):
            used[index] = round(used[index] + seconds, 3)

    @property
    def thinking(self) -> list[int]:
        """The indices of the roles whose choice is waited for."""
        if self.is_over or "asked" not in self.live:
            return []
        roles = self.game.roles
        choosing = sorted(self.choosing)
        if not choosing and not self.game.is_gdl2:
            # Also who has no choice is waited for elsewhere.
            choosing = self._telling(tuple([moves[0] for moves in self.summary.legal]))
        return [index for index in choosing if not roles[index].is_random]


def _of_all(told: Sequence[Any] | None, game: Game, nothing: Any) -> list[Any]:
    """Return what is shown of every role; records of others may have fewer, or none."""
    if told is None or len(told) != len(game.roles):
        return [nothing for _ in game.roles]
    return [nothing if one is None else one for one in told]
