"""Ends at which the rules give a role no goal: no match is completed there, wherever it is played."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import pytest
from tests.match.games import NO_GOAL

import anygame
from anygame.match.course import Course, FollowedMatch
from anygame.match.hosted import HostedMatch
from anygame.match.running import Terms, new_record

if TYPE_CHECKING:
    from anygame.match.record import Record

_SEVERAL: Final = f"{NO_GOAL} (goal a 10) (goal a 20)"
#: Chance has no goal here, and needs none.
_CHANCE: Final = f"{NO_GOAL} (goal a 30) (role random) (legal random wait)"
_FAULTS: Final = [(NO_GOAL, "no goal: no (goal a ...) holds"), (_SEVERAL, "2 different goal values")]


def _begun(sheet: str) -> tuple[anygame.Game, Record]:
    game = anygame.loads(sheet)
    record = new_record(game, [], Terms(5, 5, 1), match_id="m")
    record.add_state(game.initial_state(), ["" for _ in game.roles])
    return game, record


def _led(sheet: str) -> Course:
    """Return a match between people that has been led to its end."""

    async def run() -> Course:
        game, record = _begun(sheet)
        match = HostedMatch(
            game, record, [game.initial_state()], {}, keep=lambda _: None, changed=lambda: None
        )
        await match.begin()
        for _ in range(500):
            if match.record.is_completed or match.record.is_aborted:
                break
            await asyncio.sleep(0.01)
        await match.close()
        return match

    return asyncio.run(run())


def _followed(sheet: str) -> Course:
    """Return a match that was played elsewhere to its end."""

    async def run() -> Course:
        game, record = _begun(sheet)
        match = FollowedMatch(game, record, [game.initial_state()])
        await match.begin()
        turn = {"moves": ["go", "wait"][: len(game.roles)]}
        await match.follow(0, [turn], {"live": {}, "fault": ""}, lambda _: None)
        return match

    return asyncio.run(run())


@pytest.mark.parametrize("lead", [_led, _followed])
@pytest.mark.parametrize(("sheet", "fault"), _FAULTS)
def test_a_match_is_given_up_where_a_goal_is_missing(lead, sheet: str, fault: str) -> None:  # type: ignore[no-untyped-def]
    match = lead(sheet)
    assert len(match.line) == 1
    assert (match.record.is_completed, match.record.is_aborted) == (False, True)
    assert match.record.goals is None
    assert fault in match.fault
    assert fault in match.record.own["fault"]


@pytest.mark.parametrize("lead", [_led, _followed])
def test_chance_needs_no_goal(lead) -> None:  # type: ignore[no-untyped-def]
    match = lead(_CHANCE)
    assert match.record.is_completed
    assert (match.record.goals, match.fault) == ([30, 0], "")
