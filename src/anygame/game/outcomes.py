"""Results of random matches, and the goals that the rules give."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Final

from anygame.errors import GoalError, IllegalMoveError
from anygame.language.diagnostics import counted, shown
from anygame.language.terms import integer_of
from anygame.playouts import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anygame.game.roles import Role
    from anygame.language.terms import Term
    from anygame.playouts import PlayoutRequest

#: Seconds between two progress reports.
_BETWEEN_REPORTS: Final = 0.1
#: Maximum number of characters of a state in a message.
_SHOWN: Final = 300


@dataclass(frozen=True, slots=True)
class Stuck:
    """A match that could not continue: a role had no legal move in a nonterminal state.

    Attributes:
        role: the first role without a legal move.
        facts: the facts of the nonterminal state.
        moves: the joint moves that led to the nonterminal state, each in the order of the roles.
    """

    role: Role
    facts: frozenset[Term]
    moves: tuple[tuple[Term, ...], ...]

    def __str__(self) -> str:
        moves = counted(len(self.moves), "joint move")
        state = shown(" ".join(sorted(map(str, self.facts))), _SHOWN)
        return f"{self.role} had no legal move after {moves}, in a state that is not terminal: ({state})"

    def to_dict(self) -> dict[str, object]:
        """Return the fields as plain data."""
        return {
            "role": str(self.role),
            "facts": sorted(map(str, self.facts)),
            "moves": [list(map(str, joint)) for joint in self.moves],
        }

    def error(self) -> IllegalMoveError:
        """Return the exception for callers that do not accept a stuck match."""
        return no_legal_move(self.role, self.facts)


def no_legal_move(role: Role, facts: Iterable[Term]) -> IllegalMoveError:
    """Return the exception for a role without a legal move in a nonterminal state."""
    state = " ".join(sorted(map(str, facts)))
    return IllegalMoveError(f"{role} has no legal move in a state that is not terminal: ({state})", role)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The course of a random match; see ``Playout``.

    Attributes:
        goals: per role, all goal values in the last state, sorted by text.
        options: per role, the number of its legal moves, summed over all joint moves.
    """

    moves: tuple[tuple[Term, ...], ...]
    goals: tuple[tuple[Term, ...], ...]
    options: tuple[int, ...]
    is_complete: bool
    stuck: Stuck | None = None


def count_outcomes(outcomes: Iterable[Outcome], roles: int, request: PlayoutRequest) -> Tally[Stuck]:
    """Count the outcomes of matches, as they are played. Ctrl-C stops the matches and keeps the counts.

    Raises IllegalMoveError if ``request.strict`` is set and a match cannot continue.
    """
    total: Tally[Stuck] = Tally.empty(roles)
    begin = reported = perf_counter()
    try:
        for number, outcome in enumerate(outcomes, 1):
            if request.strict and outcome.stuck:
                raise outcome.stuck.error()
            _count(outcome, total)
            if request.progress and perf_counter() - reported > _BETWEEN_REPORTS:
                reported = perf_counter()
                request.progress(number)
    except KeyboardInterrupt:
        total.interrupted = True
    total.seconds = perf_counter() - begin
    return total


def _count(outcome: Outcome, total: Tally[Stuck]) -> None:
    length = len(outcome.moves)
    total.states += length
    for role, count in enumerate(outcome.options):
        total.options[role] += count
    if outcome.stuck:
        total.stuck += 1
        total.first_stuck = total.first_stuck or outcome.stuck
    elif not outcome.is_complete:
        total.cut += 1
    else:
        total.playouts += 1
        total.lengths[length] = total.lengths.get(length, 0) + 1
        for role, values in enumerate(outcome.goals):
            goal = usable_goal(values)
            if goal is not None:
                total.goals[role][goal] = total.goals[role].get(goal, 0) + 1
            else:
                (total.double if len(values) > 1 else total.missing)[role] += 1


def goal_of(role: Role, values: Sequence[Term]) -> int | None:
    """Return the goal of a role, given all its goal values; None without values.

    Raises GoalError for several values, or for a value that is not an integer.
    """
    texts = list(map(str, values))
    wrong = next((value for value in values if integer_of(value) is None), None)
    if wrong is not None:
        raise GoalError(f"the goal of {role} should be an integer, but the rules give {wrong}", role, texts)
    if len(texts) > 1:
        raise GoalError(
            f"the rules give {role} {len(texts)} different goal values here: {', '.join(texts)}", role, texts
        )
    return integer_of(values[0]) if values else None


def usable_goal(values: Sequence[Term]) -> int | None:
    """Return the goal of a role like `goal_of`, but return None instead of raising an error."""
    return integer_of(values[0]) if len(values) == 1 else None
