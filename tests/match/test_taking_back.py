"""Moves of people taken back in a match that its process leads."""

from __future__ import annotations

import asyncio

import anygame
from anygame.match.hosted import HostedMatch
from anygame.match.local import LocalSeat
from anygame.match.opponents import Opponent
from anygame.match.running import Terms, new_record
from anygame.players import make_player

_SHEET = """
(role a) (role b) (role c) (init (step 1)) (<= (legal ?r left) (role ?r)) (<= (legal ?r right) (role ?r))
(<= (next (step 2)) (true (step 1))) (<= terminal (true (step 2))) (<= (goal ?r 50) (role ?r))
"""


def test_a_player_keeps_its_move_if_a_person_chooses_again() -> None:
    async def run() -> list[tuple[str, ...]]:
        game = anygame.loads(_SHEET)
        first = game.initial_state()
        record = new_record(game, [], Terms(5, 5, 1), match_id="m")
        record.add_state(first, ["", "", ""])
        opponent = Opponent(LocalSeat(make_player("legal")), game.roles[2], 5.0)
        match = HostedMatch(game, record, [first], {2: opponent}, keep=lambda _: None, changed=lambda: None)
        await match.begin()
        await match.choose(0, "left", 0)
        for _ in range(1000):
            if 2 in match.chosen:
                break
            await asyncio.sleep(0.01)
        await match.take_back([0])
        await match.choose(0, "right", 0)
        await match.choose(1, "left", 0)
        for _ in range(200):
            if match.line:
                break
            await asyncio.sleep(0.01)
        await match.close()
        return [tuple(map(str, joint)) for joint in match.line]

    assert asyncio.run(run()) == [("right", "left", "left")]
