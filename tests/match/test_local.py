"""Players in threads: what they do wrong stays their own business, and clocks hold."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest
from tests.match import games

import anygame
from anygame.errors import PlayerError
from anygame.match import run
from anygame.match.local import LocalSeat
from anygame.match.seats import MatchInfo, Reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from anygame.players import Clock, Player


async def _played(player: Player, *, play_clock: float = 0.05) -> list[Reply]:
    """Return what a player replies to START and the first PLAY."""
    game = anygame.loads(games.COUNTDOWN)
    seat = LocalSeat(player)
    match = MatchInfo("m", game, game.roles[0], 5, play_clock)
    try:
        return [await seat.start(match), await seat.play("m", None, play_clock)]
    finally:
        await seat.close()


def test_players_get_ready_before_clocks_run() -> None:
    told: list[str] = []

    class Preparing(games.Witness):
        @classmethod
        def prepare(cls) -> None:
            told.append("prepared")

        def start(self, clock: Clock) -> None:
            told.append(f"started with {clock.seconds:g} seconds")

    found = run(anygame.loads(games.COUNTDOWN), [Preparing(), "legal"], start_clock=2, play_clock=1)
    assert found.goals is not None
    assert told == ["prepared", "started with 2 seconds"]


def test_a_player_that_cannot_get_ready() -> None:
    class Failing(games.Witness):
        @classmethod
        def prepare(cls) -> None:
            raise OSError("no room")

    with pytest.raises(PlayerError, match="cannot get ready: no room"):
        run(anygame.loads(games.COUNTDOWN), ["legal", Failing()])


def test_a_match_from_the_seat_of_a_player() -> None:
    game = anygame.loads(games.COUNTDOWN)
    player = games.Witness()
    first = game.initial_state()
    joint = ("(say yes)", "(say no)")

    async def play() -> list[Reply]:
        seat = LocalSeat(player, name="me")
        terms = tuple(
            [first.legal_moves(role)[place] for place, role in zip((1, 0), game.roles, strict=True)]
        )
        assert tuple(map(str, terms)) == joint
        replies = [await seat.start(MatchInfo("m", game, game.roles[0], 5, 5))]
        replies.append(await seat.play("m", None, 5))
        replies.append(await seat.play("m", terms, 5))
        await seat.play("m", terms, 5)
        await seat.stop("m", terms)
        replies.append(await seat.play("m", terms, 5))
        await seat.close()
        return replies

    replies = asyncio.run(play())
    assert [reply.text for reply in replies] == ["ready", "(say no)", "(say no)", "busy"]
    second = first.next(joint)
    assert player.told == [
        ("start", "a", 5),
        ("move", str(first)),
        ("move", str(second)),
        ("move", str(second.next(joint))),
        ("stop", {"a": 100, "b": 0}),
    ]


def test_abort_reaches_the_player_once() -> None:
    player = games.Witness()

    async def play() -> None:
        game = anygame.loads(games.COUNTDOWN)
        seat = LocalSeat(player)
        await seat.start(MatchInfo("m", game, game.roles[1], 5, 5))
        await seat.abort("other")
        await seat.abort("m")
        await seat.abort("m")
        await seat.close()

    asyncio.run(play())
    assert player.told == [("start", "b", 5), "abort"]


@pytest.mark.parametrize(
    ("player", "start", "text", "error", "detail"),
    [
        (games.Raising, "busy", "nil", None, "KeyboardInterrupt"),
        (games.Nothing, "ready", "nil", None, "NoneType"),
        (games.Illegal, "ready", "fly", None, ""),
    ],
)
def test_faults_of_players_become_replies(
    player: Callable[[], Player], start: str, text: str, error: str | None, detail: str
) -> None:
    first, second = asyncio.run(_played(player(), play_clock=5))
    assert first.text == start
    assert (second.text, second.error) == (text, error)
    assert detail in second.detail


def test_the_best_move_of_a_player_that_fails_is_played_where_it_is_legal() -> None:
    _, reply = asyncio.run(_played(games.Torn("(say yes)"), play_clock=5))
    assert (reply.text, reply.error) == ("(say yes)", None)
    assert "ValueError: no more; the best move so far is played" in reply.detail
    _, reply = asyncio.run(_played(games.Torn("fly"), play_clock=5))
    assert (reply.text, reply.error) == ("nil", None)


def test_a_reply_is_kept_short() -> None:
    _, reply = asyncio.run(_played(games.Huge(), play_clock=5))
    assert reply.text is not None
    assert len(reply.text) == 65_536


def test_a_hanging_player_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anygame.match.local.PLAY_GRACE", 0)
    _, reply = asyncio.run(_played(games.Hanging()))
    assert (reply.text, reply.error) == (None, "TO")


def test_a_late_player_plays_its_best_move_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anygame.match.local.PLAY_GRACE", 0.5)
    _, reply = asyncio.run(_played(games.Late()))
    assert (reply.text, reply.error) == ("(say yes)", None)


def test_threads_end_with_their_seats() -> None:
    others = set(threading.enumerate())
    asyncio.run(_played(games.Witness(), play_clock=5))
    for thread in set(threading.enumerate()) - others:
        thread.join(5)
    assert set(threading.enumerate()) <= others


def test_an_old_best_move_is_not_taken_for_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a player still thinks about the last turn, its best move is one for the last turn."""
    monkeypatch.setattr("anygame.match.local.PLAY_GRACE", 0.2)

    async def play() -> list[Reply]:
        game = anygame.loads(games.COUNTDOWN)
        seat = LocalSeat(games.Late())
        await seat.start(MatchInfo("m", game, game.roles[0], 5, 5))
        asked: list[Awaitable[Reply]] = [seat.play("m", None, 0.1), seat.play("m", None, 0.1)]
        found = [await each for each in asked]
        await seat.close()
        return found

    first, second = asyncio.run(play())
    assert first.text == "(say yes)"
    assert second.error == "TO"
