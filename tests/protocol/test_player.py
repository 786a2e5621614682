"""Players under bad managers, bad rules and their own faults: answers in time, and nothing is left."""

from __future__ import annotations

import asyncio
import threading
from time import sleep
from typing import TYPE_CHECKING, Any

import pytest
from tests.protocol.loops import RULES, listening, run, say, send
from tests.tools.chapters import told

import anygame
from anygame.cli.commands.player import LIMITS
from anygame.players import Clock, LegalPlayer, Player, RandomPlayer
from anygame.protocol.http.listener import Bounds
from anygame.protocol.messages import parse_info
from anygame.protocol.player.played_game import PlayerSettings
from anygame.protocol.player.server import PlayerServer, Said

if TYPE_CHECKING:
    from anygame.game.state import State
    from anygame.language.terms import Term

SHORT = PlayerSettings(margin=0.2)


class Hanging(Player):
    """Hangs wherever it is told to, until it is let go."""

    def __init__(self, *where: str, best: bool = False) -> None:
        super().__init__()
        self.where = where
        self.free = threading.Event()
        self._best = best

    def _hang(self, what: str) -> None:
        if what in self.where:
            self.free.wait(120)  # longer than any test

    def start(self, clock: Clock) -> None:
        super().start(clock)
        self._hang("start")

    def move(self, state: State, clock: Clock) -> Term:
        if self._best:
            self.best = state.legal_moves(self.role)[0]
        self._hang("move")
        return state.legal_moves(self.role)[-1]

    def stop(self, goals: Any) -> None:
        self._hang("stop")

    def abort(self) -> None:
        self._hang("abort")


def start(match_id: str = "m", role: str = "b", start_clock: float = 1, play_clock: float = 1) -> str:
    return f"(START {match_id} {role} {RULES} {start_clock} {play_clock})"


@pytest.mark.slow
@pytest.mark.parametrize("best", [True, False])
def test_a_player_that_hangs_has_its_best_move_played_or_any(best: bool) -> None:
    player = Hanging("move", "stop", best=best)

    async def main() -> None:
        async with listening(lambda: player, settings=SHORT) as (_, port):
            assert await say(port, start(play_clock=1)) == "ready"
            for message in ["(PLAY m NIL)", "(PLAY m (go go))", "(PLAY m (go wait))"]:
                reply = await say(port, message)
                assert reply in (
                    ["( Put 1 X )"] if best and message == "(PLAY m NIL)" else ["( Put 1 X )", "go", "wait"]
                )
            assert await say(port, "(STOP m (go go))") == "done"
            assert await say(port, start("m2", start_clock=2)) == "ready"
            player.free.set()

    run(main)


@pytest.mark.parametrize("where", ["start", "move"])
def test_abort_is_answered_at_once_and_ends_open_requests(where: str) -> None:
    player = Hanging(where)

    async def main() -> None:
        async with listening(lambda: player) as (_, port):
            asked = asyncio.create_task(say(port, start(start_clock=100, play_clock=100)))
            if where == "move":
                assert await asked == "ready"
                asked = asyncio.create_task(say(port, "(PLAY m NIL)"))
            await asyncio.sleep(0.3)
            assert await say(port, "(ABORT m)") == "aborted"
            assert await asked in ("busy", "nil")
            assert parse_info(await say(port, "(INFO)")).status == "available"
            player.free.set()

    run(main)


def test_thinking_by_the_clock_ends_with_the_match() -> None:
    class Thorough(LegalPlayer):
        def move(self, state: State, clock: Clock) -> Term:
            while not clock.is_up:
                sleep(0.01)
            assert clock.remaining() == 0
            return super().move(state, clock)

    async def main() -> None:
        async with listening(Thorough) as (server, port):
            await say(port, start(play_clock=600))
            asked = asyncio.create_task(say(port, "(PLAY m NIL)"))
            await asyncio.sleep(0.3)
            assert await say(port, "(STOP m NIL)") == "done"
            assert await asked == "nil"
            while not server._sessions._idle:
                await asyncio.sleep(0.01)

    run(main)


@pytest.mark.parametrize("fault", [ValueError("oops"), None, "no move", "(Put 1 X)"])
def test_players_that_fail_are_stood_in_for(fault: Any) -> None:
    class Faulty(LegalPlayer):
        def move(self, state: State, clock: Clock) -> Any:
            if isinstance(fault, Exception):
                raise fault
            return fault

    said: list[Said] = []

    async def main() -> None:
        async with listening(Faulty, log=said.append) as (_, port):
            await say(port, start(play_clock=5))
            reply = await say(port, "(PLAY m NIL)")
            assert reply in ("go", "( Put 1 X )")

    run(main)
    assert bool(said[-1].note) == (fault not in (None, "(Put 1 X)"))


@pytest.mark.parametrize("what", ["making", "start"])
def test_players_that_cannot_start_are_busy_and_free_again(what: str) -> None:
    class Faulty(LegalPlayer):
        def __init__(self) -> None:
            if what == "making":
                raise RuntimeError("no book of openings")
            super().__init__()

        def start(self, *_: Any) -> None:
            raise RuntimeError("no book of openings")

    said: list[Said] = []

    async def main() -> None:
        async with listening(Faulty, log=said.append) as (_, port):
            assert await say(port, start()) == "busy"
            assert await say(port, "(PLAY m NIL)") == "busy"
            assert parse_info(await say(port, "(INFO)")).status == "available"

    run(main)
    assert "no book of openings" in said[0].note


@pytest.mark.parametrize(
    "rules",
    [
        "((role a) (init (n 0)) (<= (n (s ?x)) (n ?x)) (n 0) (legal a go) (<= terminal (n 1)))",
        "((role a) "
        + " ".join(f"(d {i})" for i in range(300))
        + " (<= (p ?a ?b ?c ?d) (d ?a) (d ?b) (d ?c) (d ?d)) "
        "(<= (legal a go) (p ?a ?b ?c ?d)))",
        "((role a) " + "(" * 3000 + "x" + ")" * 3000 + ")",
        "((role a) (<= (legal a go) " + "(not " * 150 + "(x)" + ")" * 150 + "))",
        "((role a) (legal a (f " + "x " * 50_000 + ")))",
        "(" + "(role a)" * 20_000 + ")",
        "((role a) (legal a \x00\x01) (legal a ü))",
    ],
    ids=["infinite", "explosive", "deep", "nested", "wide", "many roles", "odd characters"],
)
def test_rules_of_strangers_are_answered_in_time(rules: str) -> None:
    limits = anygame.Limits(facts=50_000, terms=50_000, seconds=2)
    settings = PlayerSettings(limits=limits, margin=0.4)

    async def main() -> None:
        async with listening(settings=settings) as (_, port):
            replies = [await say(port, f"(START m a {rules} 2 2)")]
            if replies == ["ready"]:
                replies.append(await say(port, "(PLAY m NIL)"))
            assert replies in (["busy"], ["ready", "nil"], ["ready", "busy"], ["ready", "go"])
            assert await say(port, "(PING)") == "ready"
            if replies[0] == "ready":
                assert await say(port, "(ABORT m)") in ("aborted", "busy")
            assert await say(port, start("n")) == "ready"
            assert await say(port, "(PLAY n NIL)") in ("go", "( Put 1 X )")

    run(main, 40)


@pytest.mark.parametrize(
    ("begin", "reply"),
    [(b"()", b"nil"), (b"(PLAY m (", b"nil"), (b"(START other a (", b"busy"), (b"(PREVIEW (", b"busy")],
)
def test_unwanted_long_messages_are_answered_early(begin: bytes, reply: bytes) -> None:
    async def main() -> None:
        async with listening() as (_, port):
            assert await say(port, start()) == "ready"
            head = b"POST / HTTP/1.0\r\nContent-Length: 4000000\r\n\r\n"
            response = await send(port, head, begin + b"()" * 40_000)
            assert response.startswith(b"HTTP/1.0 200 OK\r\n")
            assert response.endswith(b"\r\n\r\n" + reply)

    run(main)


def test_long_rules_are_read_where_they_are_wanted() -> None:
    rules = RULES.rstrip()[:-1] + " ".join(f"(unused {number})" for number in range(10_000)) + ")"

    async def main() -> None:
        async with listening() as (_, port):
            message = start(start_clock=20, play_clock=20).replace(RULES, rules)
            assert len(message) > 100_000
            # The same START again is the same match; another one is not.
            assert [await say(port, message) for _ in range(2)] == ["ready", "ready"]
            assert await say(port, message.replace("START m", "START n")) == "busy"
            assert await say(port, "(PLAY m NIL)") == "( Put 1 X )"

    run(main)


@pytest.mark.slow
def test_a_match_without_manager_is_given_up() -> None:
    said: list[Said] = []

    async def main() -> None:
        async with listening(settings=PlayerSettings(patience=1.5), log=said.append) as (_, port):
            assert await say(port, start("dead", start_clock=9, play_clock=9)) == "ready"
            assert await say(port, start("next")) == "busy"
            for _ in range(2):
                await asyncio.sleep(0.8)
                assert await say(port, "(PLAY dead NIL)") == "( Put 1 X )"
            while parse_info(await say(port, "(INFO)")).status == "busy":
                await asyncio.sleep(0.1)
            assert await say(port, "(PLAY dead (go go))") == "busy"
            assert await say(port, start("next")) == "ready"

    run(main)
    assert [each.note for each in said if each.message == "?"] == [
        "match abandoned after 1.5 s without a message"
    ]


def test_a_match_is_not_given_up_while_its_manager_waits() -> None:
    player = Hanging("move")

    async def main() -> None:
        async with listening(lambda: player, settings=PlayerSettings(patience=0.3, margin=0.1)) as (_, port):
            assert await say(port, start(play_clock=1.5)) == "ready"
            assert await say(port, "(PLAY m NIL)") in ("go", "( Put 1 X )")
            player.free.set()

    run(main)


def test_patience_goes_by_the_clocks() -> None:
    class Begun:
        start_clock, play_clock = 30.0, 10.0

    assert PlayerSettings().patience_with(Begun()) == 140  # type: ignore[arg-type]
    assert [PlayerSettings().margin_of(clock) for clock in (1, 4, 30)] == [0.2, 0.8, 1.0]
    assert [PlayerSettings(margin=3).margin_of(clock) for clock in (1, 30)] == [1, 3]


def test_managers_that_hang_up_leave_the_match_alone() -> None:
    async def main() -> None:
        async with listening() as (_, port):
            assert await say(port, start()) == "ready"
            for _ in range(5):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(b"POST / HTTP/1.0\r\nContent-Length: 12\r\n\r\n(PLAY m NIL)")
                writer.transport.abort()
            assert await say(port, "(PLAY m NIL)") == "( Put 1 X )"
            assert await say(port, "(STOP m (go go))") == "done"

    run(main)


def test_a_player_learns_how_matches_end_and_plays_the_next() -> None:
    told: list[Any] = []

    class Listening(LegalPlayer):
        def start(self, clock: Clock) -> None:
            super().start(clock)
            told.append((id(self), str(self.role)))

        def stop(self, goals: Any) -> None:
            told.append(dict(goals))

        def abort(self) -> None:
            told.append("aborted")

    async def main() -> None:
        async with listening(Listening) as (_, port):
            for match_id in ("one", "two"):
                assert await say(port, start(match_id)) == "ready"
                for message in ("NIL", "(go go)", "(go wait)"):
                    await say(port, f"(PLAY {match_id} {message})")
                assert await say(port, f"(STOP {match_id} (go go))") == "done"
            await say(port, start("three"))
            await say(port, "(ABORT three)")

    run(main)
    goals = {"a": 100, "b": 0}
    first = told[0]
    assert told == [first, goals, first, goals, first, "aborted"]


def test_a_repeated_message_waits_for_the_same_answer() -> None:
    player = Hanging("move")

    async def main() -> None:
        async with listening(lambda: player) as (_, port):
            await say(port, start(play_clock=20))
            asked = [asyncio.create_task(say(port, "(PLAY m NIL)")) for _ in range(3)]
            await asyncio.sleep(0.2)
            player.free.set()
            assert {await task for task in asked} == {"go"}

    run(main)


def test_the_log_shows_short_printable_text() -> None:
    said: list[Said] = []

    async def main() -> None:
        server = PlayerServer(RandomPlayer, log=said.append)
        assert await server.respond("(ping \x1b[31m" + "x" * 5000, peer="someone") == "nil"
        assert await server.respond("(play \x1b[31m nil)") == "busy"
        await server.close()

    run(main)
    assert [each.peer for each in said] == ["someone", ""]
    assert all(
        text.isprintable() and len(text) <= 200 for each in said for text in (each.text, each.match_id)
    )


def test_only_one_of_many_simultaneous_starts_succeeds() -> None:
    async def main() -> None:
        async with listening() as (_, port):
            replies = await asyncio.gather(*[say(port, start(f"m{i}", start_clock=5)) for i in range(30)])
            assert sorted(replies) == ["busy"] * 29 + ["ready"]
            infos = await asyncio.gather(*[send(port, b"GET / HTTP/1.0\r\n\r\n") for _ in range(40)])
            assert {info[-9:] for info in infos} == {b" busy ) )"}

    run(main)


def test_threads_that_hang_do_not_become_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anygame.protocol.player.server._MOST_LEAVING", 0)
    free = threading.Event()

    stuck: list[Player] = []

    class Stuck(LegalPlayer):
        def start(self, clock: Clock) -> None:
            stuck.append(self)
            free.wait(20)

    said: list[Said] = []

    async def main() -> None:
        async with listening(Stuck, log=said.append) as (server, port):
            for number in range(5):
                asked = asyncio.create_task(say(port, start(f"m{number}", start_clock=30)))
                while len(stuck) <= number and not asked.done():
                    await asyncio.sleep(0.01)
                await say(port, f"(ABORT m{number})")
                assert await asked == "busy"
            assert len(stuck) == 3
            assert "earlier matches" in said[-2].note
            free.set()
            sessions = server._sessions
            while sessions._leaving or not all(host.is_gone for host in sessions._ended):
                await asyncio.sleep(0.01)
            assert await say(port, start("next")) == "ready"

    run(main)


def test_percepts_without_a_matching_state_give_a_guess() -> None:
    rules = """((role a) (role random) (init (s 1)) (legal a go) (legal random heads) (legal random tails)
        (<= (sees a ?c) (does random ?c)) (<= (next (was ?c)) (does random ?c))
        (<= terminal (true (was x))))"""

    async def main() -> None:
        server = PlayerServer(LegalPlayer)
        said = [
            "(PLAY m 0 NIL NIL)",
            "(PLAY m 1 go (HEADS))",
            "(PLAY m 2 go (edge))",
            "(PLAY m 3 fly (heads))",
        ]
        replies = [await server.respond(text) for text in [f"(START m a {rules} 5 5)", *said]]
        # What it is said to have done it cannot have done: any move is better than none.
        assert replies == ["ready", "go", "go", "go", "go"]
        await server.close()

    run(main)


def test_documented_limits_of_the_server_are_right() -> None:
    text = told().replace("\n ", "")
    bounds = Bounds()
    assert f"at most {bounds.bytes // 2**20} MiB and 5,000 chunks" in text
    assert f"must arrive within {bounds.seconds:.0f} seconds" in text
    assert f"At most {bounds.connections} connections are open" in text
    assert "A relation has at most a million facts" in text
    assert LIMITS.facts == 10**6


def test_after_an_error_of_the_log_the_next_message_is_answered() -> None:
    def log(said: Said) -> None:
        if said.message == "INFO":
            raise RuntimeError("the disk is full")
        heard.append(said)

    heard: list[Said] = []

    async def main() -> None:
        async with listening(log=log) as (_, port):
            assert await send(port, b"GET / HTTP/1.0\r\n\r\n") == b""
            assert await say(port, "(PING)") == "ready"

    run(main)
    assert heard[0].note == "no answer: RuntimeError: the disk is full"
