"""What is done in the loop for the bytes of strangers, at their worst and as long as they may be: bounded."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections import Counter
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest
from tests.protocol.loops import RULES, listening, run, say

from anygame.players import LegalPlayer
from anygame.protocol.http import framing, listener
from anygame.protocol.http.framing import HttpError, RequestFraming, mend_request
from anygame.protocol.messages import LONGEST_USUAL, parse_message
from anygame.protocol.player import server as servers
from anygame.protocol.player.server import PlayerServer, Said

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.players.player import Clock

_LONGEST_HEAD = 16_000
_CHUNKED = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"


class _Searched:
    """An expression that counts the bytes that it is given to search."""

    def __init__(self, found: re.Pattern[bytes]) -> None:
        self.found = found
        self.bytes = 0

    def search(self, data: bytearray, start: int = 0) -> re.Match[bytes] | None:
        self.bytes += len(data) - start
        return self.found.search(data, start)


def test_a_head_that_arrives_byte_by_byte_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = _Searched(framing._END_OF_HEAD)
    monkeypatch.setattr(framing, "_END_OF_HEAD", searched)
    request = RequestFraming(1000)
    for _ in range(_LONGEST_HEAD):
        request.receive(b"a", 1.0)
        assert request.poll(1.0) is None
    assert searched.bytes < 4 * _LONGEST_HEAD
    for byte in b"\r\n\r\n":
        with suppress(HttpError):
            request.receive(bytes([byte]), 1.0)
            request.poll(1.0)
    assert request._head is None, "the end was not found"


@pytest.mark.parametrize("blanks", [b" ", b"\t", b" \t"])
@pytest.mark.parametrize("place", ["before the colon", "before the value", "in the value", "after it"])
def test_blanks_of_a_header_are_read_wherever_they_are(blanks: bytes, place: str) -> None:
    many = blanks * 2000
    value = {
        "before the colon": b"X" + many + b": a\x01",
        "before the value": b"X:" + many + b"\x01",
        "in the value": b"X: a" + many + b"\x01",
        "after it": b"X: a" + many,
    }[place]
    mended = mend_request(b"GET / HTTP/1.0\r\n" + value + b"\r\n\r\n")
    assert (b"x: a" in mended) == (place == "after it")


def test_blanks_of_a_header_are_read_one_way_alone() -> None:
    # What could be split in many ways would be tried in all of them: no blank begins a value.
    blanks, _, value = framing._HEADER.pattern.rpartition(rb"[ \t]*")
    assert blanks.endswith(rb"[ \t]*:")
    assert value.startswith(rb"((?:[^\x00-\x20\x7f]")


def test_chunks_of_a_body_are_bounded() -> None:
    most = framing._MOST_CHUNKS
    request = RequestFraming(4 * 2**20)
    request.receive(_CHUNKED, 1.0)
    assert request.poll(1.0) is None
    taken = 0

    def send_all(count: int) -> None:
        nonlocal taken
        for _ in range(count):
            request.receive(b"1\r\n(\r\n" * 1000, 1.0)
            request.poll(1.0)
            taken += 1000

    send_all(most // 1000)
    with pytest.raises(HttpError, match="chunks") as told:
        send_all(2)
    assert told.value.status == 413
    assert taken == most


def test_packets_are_no_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "_MOST_CHUNKS", 10)
    request = RequestFraming(1000)
    request.receive(b"POST / HTTP/1.0\r\nContent-Length: 100\r\n\r\n", 1.0)
    for number in range(100):
        assert request.poll(1.0) is None, number
        request.receive(b"(" if number < 50 else b")", 1.0)
    found = request.poll(1.0)
    assert found is not None
    assert len(found.content) == 100


def test_streams_are_read_in_small_pieces() -> None:
    asked: list[int] = []

    class Reader(asyncio.StreamReader):
        async def read(self, count: int = -1) -> bytes:
            asked.append(count)
            return await super().read(count)

    async def main() -> None:
        reader = Reader()
        reader.feed_data(b"POST / HTTP/1.0\r\nContent-Length: 100000\r\n\r\n" + b"a" * 100_000)
        reader.feed_eof()
        assert len((await listener.read_request(reader, 200_000, lambda: None)).content) == 100_000

    asyncio.run(main())
    assert max(asked) <= 16_384


@contextmanager
def _parsed(patch: pytest.MonkeyPatch) -> Iterator[dict[bool, list[int]]]:
    """Note the lengths of messages that are read, in the loop and beside it."""
    found: dict[bool, list[int]] = {True: [], False: []}
    parse = parse_message
    loop = threading.current_thread()

    def noted(text: str) -> Any:
        found[threading.current_thread() is loop].append(len(text))
        return parse(text)

    patch.setattr(servers, "parse_message", noted)
    yield found


_WORST: dict[str, Callable[[int], str]] = {
    "open": lambda n: "(PLAY m " + "(" * n,
    "nested": lambda n: "(PLAY m (" + ("(" * 100 + "a " + ")" * 100) * (n // 200) + "))",
    "lists": lambda n: "(PLAY m (" + "(a) " * (n // 4) + "))",
    "atoms": lambda n: "(PLAY m (" + "a " * (n // 2) + "))",
    "comments": lambda n: "(PLAY m (" + ";\n" * (n // 2) + "))",
    "a term": lambda n: "(PLAY m 1 " + "(f " * (n // 4) + "a" + ")" * (n // 4) + " ())",
    "rules": lambda n: "(START n a (" + "(f a) " * (n // 6) + ") 1 1)",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", _WORST)
@pytest.mark.parametrize("length", [1_000, 10_000, 60_000, 200_000, 4_000_000])
def test_long_messages_are_read_beside_the_loop_or_not_at_all(
    kind: str, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        server = PlayerServer("legal")
        assert await server.respond(f"(START m a {RULES} 60 60)") == "ready"
        with _parsed(monkeypatch) as found:
            assert await server.respond(_WORST[kind](length)) in ("nil", "busy", "go", "( Put 1 X )")
        assert max(found[True], default=0) <= servers._LONG
        # While a match is played, no rules are wanted, and nothing else is as long as rules are.
        assert max(found[False], default=0) <= LONGEST_USUAL
        await server.close()

    run(main, 60)


def test_long_messages_of_strangers_keep_no_match_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    parse = parse_message
    may_end = threading.Event()

    def slow(text: str) -> Any:
        if "stranger" in text:
            may_end.wait(60)
        return parse(text)

    async def main() -> None:
        server = PlayerServer("legal")
        assert await server.respond(f"(START m a {RULES} 60 60)") == "ready"
        monkeypatch.setattr(servers, "parse_message", slow)
        tell = f"(PLAY stranger ({'a ' * 5000}))"
        strangers = [asyncio.create_task(server.respond(tell)) for _ in range(20)]
        await asyncio.sleep(0)
        # The list is long for its blanks alone.
        assert await server.respond(f"(PLAY m {' ' * 5000}NIL)") in ("go", "( Put 1 X )")
        assert not any(task.done() for task in strangers)
        may_end.set()
        assert set(await asyncio.gather(*strangers)) == {"busy"}
        await server.close()

    run(main, 60)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such bounds")
def test_an_honest_manager_plays_on_among_1100_slow_connections() -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4000:
        pytest.skip("too few files may be open")
    said: list[Said] = []

    async def main() -> Counter[str]:
        found: Counter[str] = Counter()
        async with listening("legal", log=said.append) as (server, port):
            assert await say(port, f"(START m a {RULES} 60 60)") == "ready"
            writers = []
            for _ in range(11):
                connections = [asyncio.open_connection("127.0.0.1", port) for _ in range(100)]
                # All at once, and the manager among them.
                asking = asyncio.create_task(say(port, "(PLAY m NIL)"))
                opened = await asyncio.gather(*connections, return_exceptions=True)
                for one in opened:
                    if not isinstance(one, BaseException):
                        writers.append(one[1])
                        one[1].write(b"POST / HTTP/1.0\r\n")
                found[await asking] += 1
                found[await say(port, "(PLAY m NIL)")] += 1
                assert len(server._listener._connections) <= 51
            for writer in writers:
                writer.transport.abort()
        return found

    resource.setrlimit(resource.RLIMIT_NOFILE, (4000, hard))
    try:
        found = run(main, 120)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert found == {"( Put 1 X )": 22}
    assert not any("too many" in one.note for one in said)


def test_those_of_the_most_usual_address_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with listening() as (server, _):
            listener = server._listener
            tasks = [asyncio.create_task(asyncio.sleep(60)) for _ in range(50)]
            for number, task in enumerate(tasks):
                listener._connections[task] = "1.1.1.1" if number == 0 else "2.2.2.2"
            assert listener._make_room()
            assert [task for task in tasks if task.cancelling()] == [tasks[1]]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            listener._connections.clear()

    run(main)


def test_messages_that_wait_for_one_match_leave_connections_to_others() -> None:
    async def main() -> None:
        may_move = threading.Event()

        class Thinking(LegalPlayer):
            def move(self, state: State, clock: Clock) -> Term:
                may_move.wait(60)
                return super().move(state, clock)

        async with listening(Thinking, parallel=2) as (_, port):
            assert await say(port, f"(START m a {RULES} 50 50)") == "ready"
            asked = [asyncio.create_task(say(port, "(PLAY m NIL)")) for _ in range(60)]
            async with asyncio.timeout(30):
                while sum(task.done() for task in asked) < 52:
                    await asyncio.sleep(0.01)
            assert await say(port, f"(START n a {RULES} 50 50)") == "ready"
            may_move.set()
            assert Counter(await asyncio.gather(*asked)) == {"busy": 52, "( Put 1 X )": 8}

    run(main, 120)
