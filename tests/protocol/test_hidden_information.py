"""Games with hidden information over the protocol: players are told their moves and percepts alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.match.test_hiding import SECRET
from tests.protocol.loops import listening, run

import anygame
from anygame.match.record import parse_record
from anygame.match.referee import Referee
from anygame.match.running import Terms, new_record, resume, seated
from anygame.match.seats import Reply
from anygame.players import Player
from anygame.players.mcts import IsmctsPlayer
from anygame.protocol.messages import PlayII, Start, StopII, parse_message
from anygame.protocol.seat import RemoteSeat

if TYPE_CHECKING:
    from anygame.game.state import RoleView
    from anygame.match.record import Record
    from anygame.players import Clock
    from anygame.protocol.messages import Message

_GDL = Path(__file__).parents[2] / "gdl"


class Wire:
    """A player elsewhere that makes its first legal move; keeps what it is told."""

    def __init__(self, move: str) -> None:
        self.told: list[Message] = []
        self._move = move

    async def exchange(self, message: str, clock: float, *, retry: float = 0.0) -> Reply:
        del clock, retry
        self.told.append(parse_message(message))
        told = self.told[-1]
        return Reply(self._move if isinstance(told, PlayII) and told.turn else "noop")


class Follower(Player):
    """Draws its moves, and keeps what it knew."""

    views: list[RoleView]

    def start(self, clock: Clock) -> None:
        super().start(clock)
        self.views = []

    def move(self, state: anygame.State, clock: Clock) -> anygame.Term:
        assert self.view is not None
        self.views.append(self.view)
        return self.random.choice(state.legal_moves(self.role))


def _stopped(record: Record, step: int) -> Record:
    """Return the record of a match as if it had been stopped after some joint moves."""
    record = parse_record(json.dumps(record.to_json()))
    record.take_back_to(step)
    return record


async def _played(game: anygame.Game, ports: list[int], seed: int, *, scramble: bool = False) -> Record:
    seats = seated(game, [RemoteSeat("127.0.0.1", port) for port in ports])
    terms = Terms(60, 60, seed, scramble)
    return await Referee(game, seats, new_record(game, seats, terms, match_id=f"m.{seed}")).play()


def test_a_resumed_match_starts_again_and_sends_past_percepts() -> None:
    game = anygame.loads(SECRET)

    async def main() -> None:
        wire = Wire("(guess 7)")
        seats = seated(game, [RemoteSeat(transport=wire)])
        terms = Terms(5, 5, 1)
        record = await Referee(game, seats, new_record(game, seats, terms, match_id="m")).play()
        whole = wire.told
        again = Wire("(guess 8)")
        await resume(game, seated(game, [RemoteSeat(transport=again)]), _stopped(record, 2))
        begun = next(message for message in again.told if isinstance(message, Start))
        assert isinstance(whole[0], Start)
        assert begun.rules == whole[0].rules
        turns = [message for message in again.told if isinstance(message, PlayII | StopII)]
        # The first two moves as they were, then its own.
        told = [(message.turn, message.move and str(message.move)) for message in turns]
        assert told == [(0, None), (1, "noop"), (2, "(guess 7)"), (3, "(guess 8)")]
        seen = [message.percepts for message in whole if isinstance(message, PlayII | StopII)]
        assert [message.percepts for message in turns[:3]] == seen[:3]

    run(main)


@pytest.mark.parametrize("scramble", [False, True])
def test_remote_players_know_as_much_as_local_players(scramble: bool) -> None:
    game = anygame.load(_GDL / "dark_hex.kif")
    players: list[Follower] = []

    def made() -> Follower:
        players.append(Follower(seed=len(players)))
        return players[-1]

    async def main() -> Record:
        async with listening(made) as (_, one), listening(made) as (_, other):
            return await _played(game, [one, other], 1, scramble=scramble)

    record = run(main, 120)
    assert record.is_completed
    assert {error for step in record.errors for error in step} == {""}
    if scramble:
        return
    states = [game.initial_state()]
    for joint in record.moves:
        states.append(states[-1].next(joint))
    for player in players:
        index = game.role_index(str(player.role))
        known = [(str(one.move), [*map(str, one.percepts)]) for one in player.views[-1].observations]
        assert len(known) == len(record.moves) - 1
        for step, (move, percepts) in enumerate(known):
            assert move.replace("(", "( ").replace(")", " )") == record.moves[step][index]
            seen = states[step].percepts(record.moves[step])[game.roles[index]]
            assert percepts == [*map(str, seen)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dark_hex", "kuhn_poker", "liars_dice", "monty_hall"])
def test_ismcts_makes_only_legal_moves_from_percepts(name: str) -> None:
    game = anygame.load(_GDL / f"{name}.kif")
    count = sum(not role.is_random for role in game.roles)

    def made() -> Player:
        return IsmctsPlayer(seed=1, iterations=64)

    async def main() -> list[Record]:
        async with listening(made) as (_, first), listening("random") as (_, other):
            ports = [first, other][:count]
            return [await _played(game, ports, 1), await _played(game, ports[::-1], 2, scramble=True)]

    for record in run(main, 300):
        assert record.is_completed
        assert {error for step in record.errors for error in step} == {""}
