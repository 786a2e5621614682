"""Remote seats and players of every kind of badness: what comes back, when, and how much of it."""

from __future__ import annotations

import asyncio
import socket
import sys
from time import sleep
from typing import TYPE_CHECKING

import pytest
from tests.protocol.loops import RULES, LocalTransport, fake_player, http, listening, raw, run

import anygame
from anygame.language.parser import parse_term
from anygame.match.judging import judge
from anygame.match.referee import Referee
from anygame.match.running import Terms, new_record
from anygame.match.seats import LONGEST_REPLY, MatchInfo, Reply
from anygame.players import Clock, LegalPlayer, RandomPlayer
from anygame.protocol import seat as seat_module
from anygame.protocol.messages import Message, PlayerInfo, PlayII, Start, Stop, StopII, parse_message
from anygame.protocol.player.played_game import PlayerSettings
from anygame.protocol.player.server import PlayerServer
from anygame.protocol.seat import HttpTransport, RemoteSeat, ask_info

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter, str], Awaitable[None]]

GAME = anygame.loads(RULES)
GO = parse_term("go")


def match(
    clock: float = 1, game: anygame.Game = GAME, role: int = 0, scramble: int | None = None
) -> MatchInfo:
    return MatchInfo("m", game, game.roles[role], clock, clock, scramble)


def dripping(data: bytes, pause: float) -> Answer:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter, __: str) -> None:
        for byte in data:
            writer.write(bytes([byte]))
            await asyncio.sleep(pause)

    return answer


def late(data: bytes, seconds: float) -> Answer:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter, __: str) -> None:
        await asyncio.sleep(seconds)
        writer.write(data)

    return answer


async def hang(_: asyncio.StreamReader, __: asyncio.StreamWriter, ___: str) -> None:
    await asyncio.sleep(60)


class Flood:
    """A player that answers with 50 MB, as long as somebody takes them."""

    def __init__(self) -> None:
        self.taken = 0

    async def __call__(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter, __: str) -> None:
        writer.write(b"HTTP/1.0 200 OK\r\nContent-length: 50000000\r\n\r\n")
        for _count in range(500):
            writer.write(b"x" * 100_000)
            await writer.drain()
            self.taken += 100_000


async def endless_head(_: asyncio.StreamReader, writer: asyncio.StreamWriter, __: str) -> None:
    writer.write(b"HTTP/1.0 200 OK\r\n")
    for count in range(500):
        writer.write(f"X-{count}: {'x' * 10_000}\r\n".encode())
        await writer.drain()


async def half(_: asyncio.StreamReader, writer: asyncio.StreamWriter, __: str) -> None:
    writer.write(http("( Put 1 X )")[:-3])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "error", "verdict"),
    [
        (raw(http("go")), None, ""),
        (raw(http("fly")), None, "IL fly"),
        (raw(http("")), None, "IL null"),
        (raw(http('"go"')), None, 'IL "go"'),
        (late(http("go"), 1.1), None, ""),  # within the second of grace
        (late(http("go"), 9), "TO", "TO"),
        (hang, "TO", "TO"),
        (dripping(http("go" + " " * 200), 0.05), "TO", "TO"),
        (dripping(http("go")[:-1], 0.001), "CE", "CE"),
        (half, "CE", "CE"),
        (raw(b""), "CE", "CE"),
        (raw(b"go"), "CE", "CE"),
        (raw(b"\x16\x03\x01\x00\xff" * 100), "CE", "CE"),
        (Flood(), None, f"IL {'x' * 200}..."),
        (endless_head, "CE", "CE"),
    ],
    ids=[
        "legal", "illegal", "empty", "quote", "grace", "late", "hang", "drip", "drip and break off", "half",
        "nothing", "no http", "garbage", "50 MB", "endless head",
    ],
)  # fmt: skip
def test_every_answer_of_a_player_gets_a_verdict_in_time(
    answer: Answer, error: str | None, verdict: str
) -> None:
    async def ask(_: asyncio.StreamReader, writer: asyncio.StreamWriter, text: str) -> None:
        if "START" in text:
            writer.write(http("ready"))
        else:
            await answer(_, writer, text)

    async def main() -> Reply:
        async with fake_player(ask) as port:
            seat = RemoteSeat("127.0.0.1", port)
            assert (await seat.start(match())).text == "ready"
            reply = await seat.play("m", None, 1)
            await seat.close()
        return reply

    reply = run(main)
    assert (reply.error, judge(reply, [GO]).error) == (error, verdict)
    assert bool(reply.detail) == (error is not None or "..." in verdict)
    assert len(reply.text or "") <= LONGEST_REPLY


def test_reading_stops_at_a_reply_that_is_too_long() -> None:
    flood = Flood()

    async def main() -> None:
        async with fake_player(flood) as port:
            seat = RemoteSeat("127.0.0.1", port)
            await seat.start(match())
            await seat.close()

    run(main)
    assert flood.taken < 50_000_000


def test_start_and_stop_have_no_grace() -> None:
    async def main() -> None:
        async with fake_player(hang) as port:
            seat = RemoteSeat("127.0.0.1", port)
            for what in (seat.start(match(0.4)), seat.stop("m", (GO, GO)), seat.abort("m")):
                await what

    run(main)


def test_a_missing_player_is_a_connection_error() -> None:
    async def main() -> list[Reply]:
        async with fake_player(hang) as port:
            pass
        seats = [RemoteSeat("127.0.0.1", port), RemoteSeat("no.such.host.invalid", 1), RemoteSeat("a b", 1)]
        return [await seat.start(match()) for seat in seats]

    replies = run(main)
    assert [reply.error for reply in replies] == ["CE"] * 3
    assert all(reply.detail for reply in replies)


def test_a_player_that_begins_to_listen_late_is_started() -> None:
    async def main() -> Reply:
        async with fake_player(hang) as port:
            pass
        starting = asyncio.create_task(RemoteSeat("127.0.0.1", port).start(match(5)))
        await asyncio.sleep(0.3)
        server = PlayerServer(LegalPlayer)
        await server.listen("127.0.0.1", port)
        reply = await starting
        await server.close()
        return reply

    assert run(main).text == "ready"


@pytest.mark.skipif(sys.platform != "linux", reason="how full queues are treated differs")
def test_a_connection_that_is_never_made_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seat_module, "REACH_CLOCK", 0.3)

    async def main() -> Reply:
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            server.listen(0)
            address = server.getsockname()
            waiting = [socket.socket() for _ in range(4)]
            for each in waiting:
                each.setblocking(False)
                each.connect_ex(address)
            try:
                return await HttpTransport(*address).exchange("( INFO )", 20)
            finally:
                for each in waiting:
                    each.close()

    reply = run(main, 10)
    assert (reply.error, reply.detail.partition(": ")[2]) == ("CE", "no connection within 0.3 seconds")


def test_a_cancelled_call_leaves_the_seat_usable() -> None:
    async def main() -> None:
        async with listening(LegalPlayer) as (_, port):
            seat = RemoteSeat("127.0.0.1", port)
            await seat.start(match(30))
            asking = asyncio.create_task(seat.play("m", None, 30))
            await asyncio.sleep(0)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            await seat.abort("m")
            info = await ask_info("127.0.0.1", port)
            assert info == PlayerInfo("anygame", "available")

    run(main)


def test_info_of_a_missing_player_is_none() -> None:
    async def main() -> PlayerInfo | None:
        async with fake_player(hang) as port:
            return await ask_info("127.0.0.1", port, 0.2)

    assert run(main) is None


class Hearing:
    """A transport that keeps what is said, and answers the same to everything."""

    def __init__(self, reply: str = "ready") -> None:
        self.reply = reply
        self.heard: list[Message] = []

    async def exchange(self, text: str, clock: float, *, retry: float = 0.0) -> Reply:
        self.heard.append(parse_message(text))
        return Reply(self.reply)


def test_scrambled_names_are_sent_and_translated_back() -> None:
    async def main() -> None:
        hearing = Hearing()
        seat = RemoteSeat(transport=hearing)
        await seat.start(match(scramble=5))
        start = hearing.heard[0]
        assert isinstance(start, Start)
        told = anygame.loads(start.rules)
        assert not {"a", "b", "go", "Put", "succ"} & set(
            start.rules.replace("(", " ").replace(")", " ").split()
        )
        assert start.match_id == "m"
        assert str(start.role) == told.roles[0]
        moves = told.initial_state().legal_moves(start.role)
        hearing.reply = "( " + " ".join(str(moves[0]).strip("()").split()) + " )"
        ours = [(await seat.play("m", None, 1)).text]
        hearing.reply = str(moves[1])
        ours.append((await seat.play("m", None, 1)).text)
        assert {str(parse_term(each or "")) for each in ours} == {"go", "(Put 1 X)"}
        await seat.stop("m", tuple(map(parse_term, ("go", "(Put 1 X)"))))
        stop = hearing.heard[-1]
        assert isinstance(stop, Stop)
        assert set(map(str, stop.moves or ())) == {str(move) for move in moves}

    run(main)


def test_gdl2_players_receive_turns_moves_and_percepts() -> None:
    game = anygame.loads("""(role a) (role random) (init (s 1)) (succ 1 2) (succ 2 3)
      (<= (legal random (roll ?n)) (succ ?n ?m)) (<= (legal a (say ?n)) (succ ?n ?m))
      (<= (sees a (rolled ?n)) (does random (roll ?n)) (true (s 1)))
      (<= (next (s ?m)) (true (s ?n)) (succ ?n ?m)) (<= terminal (true (s 3)))
      (goal a 50) (goal random 50)""")
    say, roll = parse_term("(say 1)"), parse_term("(roll 2)")

    async def main() -> None:
        hearing = Hearing()
        seat = RemoteSeat(transport=hearing)
        await seat.start(match(game=game))
        await seat.play("m", None, 1)
        await seat.play("m", (say, roll), 1)
        await seat.stop("m", (say, roll))
        assert hearing.heard[1:] == [
            PlayII("m", 0, None, ()),
            PlayII("m", 1, say, (parse_term("(rolled 2)"),)),
            StopII("m", 2, say, ()),
        ]
        plain = Hearing()
        seat = RemoteSeat(transport=plain, gdl2=True)
        await seat.start(match())
        await seat.play("m", None, 1)
        await seat.play("m", (GO, GO), 1)
        start = plain.heard[0]
        assert isinstance(start, Start)
        assert anygame.loads(start.rules).is_gdl2
        assert plain.heard[2] == PlayII("m", 1, GO, (parse_term("(did a go)"), parse_term("(did b go)")))

    run(main)


@pytest.mark.parametrize("scramble", [None, 7])
@pytest.mark.parametrize("gdl2", [False, True])
def test_our_manager_and_our_players_understand_each_other(gdl2: bool, scramble: int | None) -> None:
    async def main() -> None:
        servers = [PlayerServer(lambda: RandomPlayer(3)) for _ in range(2)]
        seats = [
            RemoteSeat(transport=LocalTransport(server.respond), gdl2=gdl2, name=f"p{place}")
            for place, server in enumerate(servers)
        ]
        terms = Terms(5, 5, 1, scramble=scramble is not None)
        record = await Referee(GAME, seats, new_record(GAME, seats, terms)).play()
        assert record.errors == [["", ""]] * 4
        assert record.goals == [100, 0]
        for server in servers:
            await server.close()

    run(main)


def test_a_hidden_game_is_played_without_errors() -> None:
    game = anygame.loads("""(role a) (role b) (init (turn 1)) (succ 1 2) (succ 2 3) (succ 3 4)
      (coin heads) (coin tails)
      (<= (legal ?r (put ?c)) (role ?r) (coin ?c) (true (turn 1)))
      (<= (legal a (guess ?c)) (coin ?c) (true (turn 2))) (<= (legal b noop) (true (turn 2)))
      (<= (legal a noop) (true (turn 3))) (<= (legal b (show ?c)) (true (put b ?c)) (true (turn 3)))
      (<= (next (put ?r ?c)) (does ?r (put ?c))) (<= (next (put ?r ?c)) (true (put ?r ?c)))
      (<= (next (turn ?m)) (true (turn ?n)) (succ ?n ?m)) (<= terminal (true (turn 4)))
      (<= (sees ?r (own ?c)) (does ?r (put ?c))) (goal a 50) (goal b 50)""")

    async def main() -> None:
        for seed in range(5):
            servers = [PlayerServer(lambda seed=seed: RandomPlayer(seed)) for _ in range(2)]  # type: ignore[misc]
            seats = [RemoteSeat(transport=LocalTransport(server.respond)) for server in servers]
            terms = Terms(5, 5, seed)
            record = await Referee(game, seats, new_record(game, seats, terms)).play()
            assert record.errors == [["", ""]] * 4
            for server in servers:
                await server.close()

    run(main)


def test_moves_of_a_match_that_was_not_started_are_not_asked_for() -> None:
    async def main() -> None:
        hearing = Hearing()
        seat = RemoteSeat(transport=hearing)
        reply = await seat.play("m", None, 1)
        assert (reply.error, reply.detail) == ("CE", "no match m was started here")
        await seat.stop("m", None)
        assert hearing.heard == []

    run(main)


def test_previews_are_sent_when_they_are_asked_for() -> None:
    async def main() -> None:
        looked: list[int] = []

        class Looking(LegalPlayer):
            def preview(self, game: anygame.Game, clock: Clock) -> None:
                looked.append(len(game.program.rules))
                while len(looked) > 1 and not clock.is_up:
                    sleep(0.01)

        server = PlayerServer(Looking, settings=PlayerSettings(margin=0.3))
        seat = RemoteSeat(transport=LocalTransport(server.respond))
        assert (await seat.preview(GAME, 5)).text == "ready"
        assert (await seat.preview(GAME, 0.5)).text == "ready"
        assert looked == [len(GAME.program.rules)] * 2
        await server.close()

    run(main)
