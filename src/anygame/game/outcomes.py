"""What random matches came to: one of them, or many of them counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Final

from anygame.errors import IllegalMoveError
from anygame.game.goals import usable_goal
from anygame.language.diagnostics import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from anygame.game.roles import Role
    from anygame.language.terms import Term

#: Seconds between two reports of progress: often enough for a bar, too seldom to cost anything.
_BETWEEN_REPORTS: Final = 0.1
#: Characters of a state that are shown in a line about it.
_SHOWN: Final = 300


@dataclass(frozen=True, slots=True)
class Stuck:
    """Where a match could not go on: a role had no legal move in a state that is not terminal.

    Attributes:
        role: the first such role.
        facts: what was true there.
        moves: the joint moves that led there, each in the order of the roles.
    """

    role: Role
    facts: frozenset[Term]
    moves: tuple[tuple[Term, ...], ...]

    def __str__(self) -> str:
        moves = f"{len(self.moves)} joint move{'s' * (len(self.moves) != 1)}"
        state = shown(" ".join(sorted(map(str, self.facts))), _SHOWN)
        return f"{self.role} had no legal move after {moves}, in a state that is not terminal: ({state})"

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data."""
        return {
            "role": str(self.role),
            "facts": sorted(map(str, self.facts)),
            "moves": [list(map(str, joint)) for joint in self.moves],
        }

    def error(self) -> IllegalMoveError:
        """Return the error for those who need every match to come to an end."""
        return no_legal_move(self.role, self.facts)


def no_legal_move(role: Role, facts: Iterable[Term]) -> IllegalMoveError:
    """Return the error that a role has no legal move, though the match is not over."""
    state = " ".join(sorted(map(str, facts)))
    return IllegalMoveError(f"{role} has no legal move in a state that is not terminal: ({state})", role)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A random match, as a machine played it.

    Attributes:
        moves: the joint moves, each in the order of the roles.
        goals: per role every goal value the rules give in the last state, sorted by text.
        options: per role its number of legal moves, added up over the joint moves.
        is_complete: whether the end was reached.
        stuck: where the match could not go on, if that is why it did not reach the end.
    """

    moves: tuple[tuple[Term, ...], ...]
    goals: tuple[tuple[Term, ...], ...]
    options: tuple[int, ...]
    is_complete: bool
    stuck: Stuck | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """Random matches counted; lists are in the order of the roles.

    Attributes:
        playouts: how many came to an end; goals and lengths are about these alone.
        states: joint moves made, in all playouts.
        goals: how many ended with which value as the only one.
        missing: how many ended without a usable goal value: none, or none that is an integer.
        double: how many ended with several.
        lengths: how many ended after so many joint moves.
        options: numbers of legal moves, added up over the joint moves made.
        cut: how many were given up for their length.
        stuck: how many could not go on.
        first_stuck: the first of these, where it is known.
        interrupted: whether it was ended early.
        seconds: how long it took.
        threads: how many cores were used.
    """

    playouts: int
    states: int
    goals: list[dict[int, int]]
    missing: list[int]
    double: list[int]
    lengths: dict[int, int]
    options: list[int]
    cut: int
    stuck: int
    first_stuck: Stuck | None
    interrupted: bool
    seconds: float
    threads: int = 1


def added_up(tallies: Iterable[Tally], roles: int) -> Tally:
    """Return the tally of the matches of several ones, which are given in the order of their blocks."""
    goals: list[Counter[int]] = [Counter() for _ in range(roles)]
    missing, double, options = [0] * roles, [0] * roles, [0] * roles
    lengths: Counter[int] = Counter()
    playouts = states = cut = stuck = 0
    first_stuck: Stuck | None = None
    for tally in tallies:
        for role in range(roles):
            goals[role].update(tally.goals[role])
            missing[role] += tally.missing[role]
            double[role] += tally.double[role]
            options[role] += tally.options[role]
        lengths.update(tally.lengths)
        playouts += tally.playouts
        states += tally.states
        cut += tally.cut
        stuck += tally.stuck
        first_stuck = first_stuck or tally.first_stuck
    return Tally(
        playouts=playouts,
        states=states,
        goals=[dict(each) for each in goals],
        missing=missing,
        double=double,
        lengths=dict(lengths),
        options=options,
        cut=cut,
        stuck=stuck,
        first_stuck=first_stuck,
        interrupted=False,
        seconds=0.0,
    )


def count_outcomes(
    outcomes: Iterable[Outcome], roles: int, strict: bool, progress: Callable[[int], None] | None
) -> Tally:
    """Count matches as they are played; Ctrl-C ends it, with those that were.

    Args:
        outcomes: the matches, of so many roles each.
        roles: how many roles there are.
        strict: whether a match that cannot go on ends all.
        progress: called about ten times a second with the number of matches so far.

    Raises:
        IllegalMoveError: a match could not go on, and that was to end all.
    """
    counts = _Counts(roles)
    begin = reported = perf_counter()
    interrupted = False
    try:
        for number, outcome in enumerate(outcomes, 1):
            if strict and outcome.stuck:
                raise outcome.stuck.error()
            counts.add(outcome)
            if progress and perf_counter() - reported > _BETWEEN_REPORTS:
                reported = perf_counter()
                progress(number)
    except KeyboardInterrupt:
        interrupted = True
    return counts.tally(interrupted, perf_counter() - begin)


class _Counts:
    """What has been counted so far."""

    def __init__(self, roles: int) -> None:
        self._goals: list[Counter[int]] = [Counter() for _ in range(roles)]
        self._missing, self._double, self._options = [0] * roles, [0] * roles, [0] * roles
        self._lengths: Counter[int] = Counter()
        self._cut = self._stuck = self._states = 0
        self._first_stuck: Stuck | None = None

    def add(self, outcome: Outcome) -> None:
        length = len(outcome.moves)
        self._states += length
        for role, count in enumerate(outcome.options):
            self._options[role] += count
        if outcome.stuck:
            self._stuck += 1
            self._first_stuck = self._first_stuck or outcome.stuck
        elif not outcome.is_complete:
            self._cut += 1
        else:
            self._lengths[length] += 1
            for role, values in enumerate(outcome.goals):
                self._add_goal(role, values)

    def _add_goal(self, role: int, values: tuple[Term, ...]) -> None:
        goal = usable_goal(values)
        if goal is not None:
            self._goals[role][goal] += 1
        elif len(values) > 1:
            self._double[role] += 1
        else:
            self._missing[role] += 1

    def tally(self, interrupted: bool, seconds: float) -> Tally:
        return Tally(
            playouts=self._lengths.total(),
            states=self._states,
            goals=[dict(goals) for goals in self._goals],
            missing=self._missing,
            double=self._double,
            lengths=dict(self._lengths),
            options=self._options,
            cut=self._cut,
            stuck=self._stuck,
            first_stuck=self._first_stuck,
            interrupted=interrupted,
            seconds=seconds,
        )
