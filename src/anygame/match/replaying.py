"""Replaying a record, which checks its states, moves and goals against the rules."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from anygame.errors import AnygameError, RecordError
from anygame.game.loading import loads
from anygame.game.showing import animate
from anygame.markup import paragraph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.match.record import Record

_ERROR: Final = re.compile(r"|TO|CE|IL .*", re.DOTALL)
#: Maximum number of differing facts that a message lists.
_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Replay:
    """Result of replaying a record.

    Attributes:
        record: the record.
        states: states that the rules define, up to the first move that cannot be made.
        faults: disagreements of the record with the rules, one sentence each.
    """

    record: Record
    states: tuple[State, ...]
    faults: tuple[str, ...]

    def _repr_html_(self) -> str:
        faults = "".join(map(paragraph, self.faults))
        return animate(self.states, self.record.moves) + faults + self.record._repr_html_()


def rules_of(record: Record) -> Game:
    """Load the rule sheet in a record. Raises RecordError without a sheet, and RuleSheetError."""
    sheet = record.own.get("rules")
    case_sensitive = record.own.get("caseSensitive", True) is not False
    if isinstance(sheet, str):
        name = record.own.get("game")
        return loads(
            sheet, name=name if isinstance(name, str) else record.match_id, case_sensitive=case_sensitive
        )
    raise RecordError(
        f"the record of {record.match_id} does not contain its rules: give the rule sheet, too"
        + (f" (it was played by {record.game_url})" if record.game_url else "")
    )


def replay(record: Record, game: Game | None = None) -> Replay:
    """Replay the moves of a record, and compare the recorded states and goals with those of the rules.

    Args:
        record: record of a match.
        game: rules of the match; by default, the rules in the record.

    Raises:
        RecordError: ``game`` is None and the record has no rules.
    """
    game = rules_of(record) if game is None else game
    states: list[State] = []
    faults: list[str] = []
    state = game.initial_state()
    for step in range(len(record.states)):
        states.append(state)
        faults += _differences(record, step, state)
        if step == record.step:
            break
        if state.is_terminal:
            faults.append(f"move {step + 1} is made although the game is over")
        try:
            state = state.next(record.moves[step])
        except AnygameError as error:
            faults.append(f"move {step + 1} cannot be made: {error}")
            return Replay(record, tuple(states), tuple(faults))
    faults += [*_errors(record, game), *_ending(record, state)]
    return Replay(record, tuple(states), tuple(faults))


def _differences(record: Record, step: int, state: State) -> Iterator[str]:
    try:
        recorded = state.game.state(record.facts(step)).facts
    except AnygameError as error:
        yield f"state {step} cannot be read: {error}"
        return
    for verb, facts in (("lacks", state.facts - recorded), ("also has", recorded - state.facts)):
        if facts:
            shown = ", ".join(map(str, sorted(facts)[:_SHOWN]))
            more = f" and {len(facts) - _SHOWN} more" if len(facts) > _SHOWN else ""
            yield f"state {step} {verb} {shown}{more}"


def _errors(record: Record, game: Game) -> Iterator[str]:
    if not record.errors:
        return
    if len(record.errors) != len(record.states):
        yield f"the record has {len(record.states)} states, but {len(record.errors)} lists of errors"
    for step, errors in enumerate(record.errors):
        if len(errors) != len(game.roles):
            yield f"step {step} has errors for {len(errors)} roles; the game has {len(game.roles)}"
        for error in errors:
            if not _ERROR.fullmatch(error):
                yield f"step {step} has an error of an unknown kind: {error[:60]!r}"


def _ending(record: Record, state: State) -> Iterator[str]:
    if record.is_completed and not state.is_terminal:
        yield "the match is completed, but the game is not over"
    if record.goals is None:
        if record.is_completed:
            yield "the match is completed, but the record has no goals"
        return
    if len(record.goals) != len(state.game.roles):
        yield f"the record has {len(record.goals)} goals for {len(state.game.roles)} roles"
    for role, recorded in zip(state.game.roles, record.goals, strict=False):
        try:
            goal = state.goal(role)
        except AnygameError as error:
            yield str(error)
            continue
        if goal != recorded and not (role.is_random and goal is None):
            yield f"the goal of {role} is {goal}, but the record says {recorded}"
