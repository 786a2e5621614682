"""Players of a match in which moves may be taken back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import anygame
from anygame.match.local import LocalSeat
from anygame.match.opponents import Opponent
from anygame.players import Player

if TYPE_CHECKING:
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.players.player import Clock

_SHEET = """
(role me) (role other) (init (step 1)) (hand near) (hand far)
(<= (legal ?r (put ?h)) (role ?r) (hand ?h)) (<= (next (coin ?r ?h)) (does ?r (put ?h)))
(<= (sees me there) (does other (put near))) (goal me 50) (goal other 50) (<= terminal (true never))
(<= (next never) (true never))
"""
_SEEN: list[list[tuple[str, list[str]]]] = []


class Noting(Player):
    """Notes what its role knows."""

    def move(self, state: State, clock: Clock) -> Term:
        """Return the first legal move."""
        assert self.view is not None
        _SEEN.append([(str(one.move), list(map(str, one.percepts))) for one in self.view.observations])
        return state.legal_moves(self.role)[0]


def test_a_player_that_joins_late_gets_only_percepts() -> None:
    game = anygame.loads(_SHEET)
    first = game.initial_state()
    joint = (first.legal_moves("me")[0], first.legal_moves("other")[1])

    async def play() -> None:
        opponent = Opponent(LocalSeat(Noting()), game.roles[0], 5.0)
        states = [first, first.next(joint), first.next(joint).next(joint)]
        await opponent.reply("one", game, [joint], states[1])
        await opponent.reply("one", game, [joint, joint], states[2])
        await opponent.reply("one", game, [], first)
        await opponent.close()

    asyncio.run(play())
    assert _SEEN == [[("(put far)", ["there"])], [("(put far)", ["there"])] * 2, []]
