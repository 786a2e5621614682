"""Loops that must leave nothing behind, players and managers made of raw sockets, and a few small games."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import time
from contextlib import asynccontextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from anygame.match.seats import Reply
from anygame.players import LegalPlayer, Player
from anygame.protocol.player.server import PlayerServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine

    from anygame.protocol.player.hosts import Host

_Result = TypeVar("_Result")
#: Processes that were there before the loop that runs now.
_EARLIER: set[int] = set()

#: Two roles move at once; after turn 3 it is over.
RULES = """(
  (role a) (role b) (init (s 1)) (succ 1 2) (succ 2 3) (succ 3 4)
  (<= (next (s ?n)) (true (s ?m)) (succ ?m ?n))
  (<= (legal ?r go) (role ?r)) (<= (legal ?r (Put 1 X)) (role ?r)) (<= (legal b wait) (true (s 2)))
  (<= terminal (true (s 4))) (goal a 100) (goal b 0) )"""


def run(main: Callable[[], Coroutine[Any, Any, _Result]], seconds: float = 30) -> _Result:
    """Run a coroutine in a loop of its own; nothing may be left: no task, thread, process, socket."""
    _forget_what_was_there()
    before = set(threading.enumerate())
    _EARLIER.clear()
    _EARLIER.update(processes())
    troubles: list[dict[str, Any]] = []

    async def watched() -> _Result:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: troubles.append(context))
        async with asyncio.timeout(seconds):
            result = await main()
        # What has been told to end may need a moment for that.
        for _ in range(20):
            left = asyncio.all_tasks() - {asyncio.current_task()}
            if not left:
                break
            await asyncio.sleep(0.01)
        assert not left, f"tasks are left: {left}"
        return result

    result = asyncio.run(watched())
    gc.collect()
    assert not troubles, troubles
    late = time.monotonic() + 20
    while (threads := set(threading.enumerate()) - before) and time.monotonic() < late:
        time.sleep(0.01)
    assert not threads, f"threads are left: {threads}"
    assert not processes(), "processes are left"
    return result


def processes(parent: int | None = None) -> set[int]:
    """Return the processes that a process has started, by default this one; none where nobody can tell.

    Without those of earlier tests, such as servers that several of them use.
    """
    tasks = Path(f"/proc/{parent or os.getpid()}/task")
    found: set[int] = set()
    for task in tasks.glob("*/children"):
        with suppress(OSError):
            found |= set(map(int, task.read_text().split()))
    return found - _EARLIER


@cache
def _forget_what_was_there() -> None:
    """Let the collections of garbage after each run look at what is new alone: they are many."""
    gc.collect()
    gc.freeze()


async def started(host: Host) -> None:
    """Wait until a session that plays no match answers, or has ended."""
    answered = asyncio.Event()
    former, host.on_event = host.on_event, lambda _: answered.set()
    host.send("best", 0)
    await answered.wait()
    host.on_event = former


@asynccontextmanager
async def listening(
    player: Callable[[], Player] | str = LegalPlayer, **options: Any
) -> AsyncIterator[tuple[PlayerServer, int]]:
    """A player server on loopback, and its port."""
    server = PlayerServer(player, **options)
    port = await server.listen("127.0.0.1", 0)
    try:
        yield server, port
    finally:
        await server.close()


async def send(
    port: int, *pieces: bytes, pause: float = 0.0, half_close: bool = False, seconds: float = 15
) -> bytes:
    """Send bytes as an old client does; return all that comes until the other side closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    reading = asyncio.create_task(_read_all(reader))
    try:
        async with asyncio.timeout(seconds):
            with suppress(ConnectionError):
                for piece in pieces:
                    if reading.done():
                        break
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(pause)
                if half_close:
                    writer.write_eof()
            return await reading
    finally:
        reading.cancel()
        writer.transport.abort()
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def _read_all(reader: asyncio.StreamReader) -> bytes:
    data = b""
    with suppress(ConnectionError):
        while piece := await reader.read(65_536):
            data += piece
    return data


async def say(port: int, message: str) -> str:
    """Send a message as the reference manager does; return the reply."""
    body = message.encode()
    head = f"POST / HTTP/1.0\r\nSender: GAMESERVER\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    return reply_of(await send(port, head + body))


def reply_of(response: bytes) -> str:
    """Return the body of a response, read to its end as the oldest clients do."""
    head, _, body = response.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.0 200 OK\r\n"), response[:200]
    assert f"Content-length: {len(body)}".encode() in head.split(b"\r\n")
    return body.decode()


@asynccontextmanager
async def fake_player(
    answer: Callable[[asyncio.StreamReader, asyncio.StreamWriter, str], Awaitable[None]],
) -> AsyncIterator[int]:
    """A player made of a raw socket: takes each request as text, then does what it is told to; its port."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split()[0])
            await answer(reader, writer, (await reader.readexactly(length)).decode())
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            tasks.discard(task)
            writer.transport.abort()
            writer.close()
            with suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


def raw(data: bytes) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter, str], Awaitable[None]]:
    """Answer every request with the same bytes, and close."""

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter, __: str) -> None:
        writer.write(data)
        await writer.drain()
        writer.write_eof()
        await asyncio.sleep(0.05)

    return answer


def http(body: str) -> bytes:
    return f"HTTP/1.0 200 OK\r\nContent-length: {len(body.encode())}\r\n\r\n{body}".encode()


class LocalTransport:
    """A player of this process, reached without a wire."""

    def __init__(self, respond: Callable[[str], Awaitable[str]]) -> None:
        self._respond = respond

    async def exchange(self, text: str, clock: float, *, retry: float = 0.0) -> Reply:
        async with asyncio.timeout(clock):
            return Reply(await self._respond(text))
