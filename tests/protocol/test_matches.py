"""Many matches over loopback, one after the other and at once: none is lost, nothing is left behind.

ANYGAME_LONG=1 plays a hundred in a row rather than a dozen.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.protocol.loops import RULES, fake_player, http, listening, run, say

import anygame
from anygame.match.referee import Referee
from anygame.match.running import Terms, new_record, seated
from anygame.players import GreedyPlayer, LegalPlayer, RandomPlayer
from anygame.protocol.seat import RemoteSeat

if TYPE_CHECKING:
    from anygame.match.record import Record

GAME = anygame.loads(RULES)
_IN_A_ROW = 100 if os.environ.get("ANYGAME_LONG") else 12


async def played(game: anygame.Game, ports: list[int], number: int, terms: Terms) -> Record:
    seats = seated(game, [RemoteSeat("127.0.0.1", port, name=f"p{port}") for port in ports])
    return await Referee(game, seats, new_record(game, seats, terms, match_id=f"m.{number}")).play()


def _files() -> int:
    return len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0


def test_many_matches_in_sequence_keep_no_files_open() -> None:
    async def main() -> None:
        async with listening(RandomPlayer) as (_, one), listening(RandomPlayer) as (_, other):
            open_files = 0
            for number in range(_IN_A_ROW):
                record = await played(
                    GAME, [one, other], number, Terms(10, 10, number, scramble=number % 2 > 0)
                )
                assert record.errors == [["", ""]] * 4
                assert record.goals == [100, 0]
                open_files = open_files or _files()
            assert _files() <= open_files

    run(main, 300)


def test_ten_matches_run_at_the_same_time() -> None:
    async def main() -> None:
        async with (
            listening(RandomPlayer, parallel=10) as (_, one),
            listening(LegalPlayer, parallel=10) as (_, other),
        ):
            records = await asyncio.gather(
                *[played(GAME, [one, other], number, Terms(10, 10, number)) for number in range(10)]
            )
            assert [record.errors for record in records] == [[["", ""]] * 4] * 10

    run(main, 120)


def test_one_player_cannot_have_two_roles_of_a_match() -> None:
    # Nothing in a message says for which role it is.
    async def main() -> None:
        async with listening(RandomPlayer, parallel=2) as (_, port):
            record = await played(GAME, [port, port], 1, Terms(5, 5, 1))
            assert record.is_completed
            assert await say(port, "(INFO)") == "( ( name anygame ) ( status available ) )"

    run(main, 60)


@pytest.mark.parametrize("name", ["tic_tac_toe", "pig"])
def test_sheets_are_played_with_greedy_players(name: str) -> None:
    game = anygame.load(Path(__file__).parents[2] / "gdl" / f"{name}.kif")
    count = sum(not role.is_random for role in game.roles)

    async def main() -> None:
        async with listening(GreedyPlayer) as (_, one), listening(RandomPlayer) as (_, other):
            record = await played(game, [one, other][:count], 1, Terms(5, 2, 1))
            assert {error for step in record.errors for error in step} == {""}
            assert record.is_completed

    run(main, 120)


def test_a_faulty_player_does_not_abort_the_match() -> None:
    replies = iter(range(10_000))

    async def odd(_: asyncio.StreamReader, writer: asyncio.StreamWriter, text: str) -> None:
        number = next(replies)
        if number % 4 == 0:
            writer.write(http("( fly away )"))
        elif number % 4 == 1:
            writer.write(b"garbage")
        elif number % 4 == 2:
            await asyncio.sleep(30)
        else:
            writer.write(http("( ( busy"))

    async def main() -> Record:
        async with listening(RandomPlayer) as (_, one), fake_player(odd) as other:
            return await played(GAME, [one, other], 1, Terms(1, 0.5, 1))

    record = run(main, 60)
    assert record.is_completed
    assert [step[0] for step in record.errors] == [""] * 4
    assert [step[1] for step in record.errors] == ["", "CE", "TO", "IL null"]
