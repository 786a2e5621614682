"""Send hostile requests to a server of this package, and measure how long an honest visitor waits meanwhile.

    python tools/hostile_requests.py page
    python tools/hostile_requests.py page --requests 1000 --into docs/develop/experiments/security-page.md

Starts the server, and lets an honest visitor use all its functions a few times. Then the tool sends many
simultaneous requests of all kinds of the target, while the visitor continues. Prints the median and maximum
waiting times of the visitor, and the answers to the hostile requests. The exit status is 1 if the visitor got
a wrong answer, a hostile request found a fault of the server, or the server printed an error.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections import Counter, deque
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import median
from threading import Thread
from typing import IO, TYPE_CHECKING, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.arguments import some_count, some_seconds
from tools.hostile_targets import PAGE, PATIENCE, PLAYER, Visit
from tools.tables import aligned, as_markdown, processor, put_into

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from tools.hostile_targets import Address, Hostile, Target

TARGETS: Final = {"page": PAGE, "player": PLAYER}
#: Number of rounds of the honest visitor before the attack.
_QUIET_ROUNDS: Final = 3
#: Statuses that show a fault of the server; 503 means that it is busy.
_FAULTS: Final = ("500", "501", "502", "504")


@dataclass(frozen=True)
class Attack:
    """The parameters of an attack.

    Attributes:
        requests: the number of requests.
        at_once: number of simultaneous requests, without held clients.
        held: seconds after which a silent client disconnects.
        seed: seed of the random requests.
    """

    requests: int
    at_once: int
    held: float
    seed: int

    def on(self, target: str, address: Address) -> dict[str, Counter[str]]:
        """Send hostile requests of all kinds in turn; return the outcomes by kind."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 10_000)), hard))
        return asyncio.run(self._send_all(TARGETS[target].attacks(Visit(address)), address))

    async def _send_all(
        self, kinds: Mapping[str, Callable[[Random], Hostile]], address: Address
    ) -> dict[str, Counter[str]]:
        random = Random(self.seed)
        found: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
        room = asyncio.Semaphore(self.at_once)

        async def send(kind: str, hostile: Hostile) -> None:
            try:
                found[kind][await self._sent(hostile, address)] += 1
            finally:
                if not hostile.is_held:
                    room.release()

        async with asyncio.TaskGroup() as tasks:
            names = list(kinds)
            for number in range(self.requests):
                kind = names[number % len(names)]
                hostile = kinds[kind](random)
                # Held clients do not count as simultaneous requests.
                if not hostile.is_held:
                    await room.acquire()
                tasks.create_task(send(kind, hostile))
                await asyncio.sleep(0)
        return found

    async def _sent(self, hostile: Hostile, address: Address) -> str:
        """Send a request; return the status of the answer, or the way it ended."""
        try:
            reader, writer = await asyncio.open_connection(*address)
        except OSError:
            return "not accepted"
        try:
            async with asyncio.timeout(self.held if hostile.is_held else PATIENCE):
                with suppress(OSError):  # an answer may come before all is sent
                    writer.write(hostile.data)
                    await writer.drain()
                if not hostile.is_taken:
                    await asyncio.sleep(PATIENCE)
                answer = await reader.readline()
        except TimeoutError:
            return "held to the end"
        except (OSError, ValueError):
            answer = b""
        finally:
            writer.transport.abort()
        words = answer.split()
        return words[1].decode() if len(words) > 1 and words[0].startswith(b"HTTP/") else "closed"


# -- the tables ------------------------------------------------------------------------------------


def visitor_table(quiet: Visit, attacked: Visit) -> list[list[str]]:
    """Return the waiting times of the visitor before and during the attack, in milliseconds."""
    rows = [["request", "median alone", "median under attack", "longest", "answers", "503"]]
    for what, seconds in attacked.seconds.items():
        rows.append(_row(what, quiet.seconds[what], seconds, attacked.later[what]))
    before = [second for each in quiet.seconds.values() for second in each]
    everything = [second for each in attacked.seconds.values() for second in each]
    return [*rows, _row("all", before, everything, attacked.later.total())]


def _row(what: str, quiet: Sequence[float], attacked: Sequence[float], later: int) -> list[str]:
    waits = [_ms(wait) for wait in (median(quiet), median(attacked), max(attacked))]
    return [what, *waits, f"{len(attacked):,}", str(later or "")]


def attack_table(found: Mapping[str, Counter[str]]) -> list[list[str]]:
    """Return the outcomes of the hostile requests."""
    rows = [["hostile requests", "sent", "answered"]]
    for kind, answers in found.items():
        told = ", ".join(f"{status} {count:,}" for status, count in sorted(answers.items()))
        rows.append([kind, f"{answers.total():,}", told])
    return rows


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:,.0f} ms"


def run(options: Namespace) -> tuple[list[str], list[str]]:
    """Attack a server; return the lines of a report in Markdown or for a terminal, and the faults."""
    target = TARGETS[options.target]
    with tempfile.TemporaryDirectory() as folder, Path(folder, "complaints").open("w+b") as complaints:
        with _started([part.format(folder=folder) for part in target.command], complaints.fileno()) as server:
            try:
                assert server.stdout is not None
                address = ("127.0.0.1", int(json.loads(server.stdout.readline())["port"]))
                # Further output is not needed, but a full pipe would block the server.
                Thread(target=_drain, args=(server.stdout,), daemon=True).start()
                quiet, attacked, found = _attacked(target, address, options)
                is_alive = server.poll() is None
            finally:
                server.send_signal(signal.SIGINT)
        complaints.seek(0)
        complained = complaints.read().decode(errors="replace")
    wrong = [f"the honest visitor: {each}" for each in quiet.wrong + attacked.wrong]
    for kind, answers in found.items():
        wrong += [f"{kind}: status {status}" for status in _FAULTS if answers[status]]
    wrong += [] if is_alive else ["the server has ended"]
    wrong += [f"the server complained: {line}" for line in complained.splitlines()[:20]]
    lay_out = as_markdown if options.into else lambda rows: list(aligned(rows))
    sent = sum(answers.total() for answers in found.values())
    lines = [
        f"{sent:,} hostile requests, {options.at_once} at once besides the held ones, and an honest visitor, "
        f"on one machine ({processor()}, {os.cpu_count()} cores).",
        "",
        *lay_out(visitor_table(quiet, attacked)),
        "",
        *lay_out(attack_table(found)),
    ]
    return lines, wrong


def _attacked(
    target: Target, address: Address, options: Namespace
) -> tuple[Visit, Visit, dict[str, Counter[str]]]:
    """Return the visitor's results before and during the attack, and the outcomes of hostile requests."""
    quiet, attacked = Visit(address), Visit(address)
    for _ in range(_QUIET_ROUNDS):
        target.visit(quiet)
    attack = Attack(options.requests, options.at_once, options.held, options.seed)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        attacking = pool.submit(attack.on, options.target, address)
        for _ in _rounds(attacking):
            target.visit(attacked)
        return quiet, attacked, attacking.result()


def _drain(lines: IO[str]) -> None:
    """Read lines to the end and drop them."""
    with suppress(ValueError):  # closed meanwhile
        deque(lines, 0)


def _started(command: Sequence[str], complaints: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "anygame", *command], stdout=subprocess.PIPE, stderr=complaints, text=True
    )


def _rounds(attacking: Future[dict[str, Counter[str]]]) -> Iterator[None]:
    """Yield repeatedly until an attack has ended, and then once more."""
    while not attacking.done():
        yield
    yield


def main(arguments: Sequence[str] | None = None) -> int:
    """Attack, print the tables, and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("target", choices=sorted(TARGETS), help="the server to attack")
    parser.add_argument("--requests", type=some_count, default=10_000, help="number of requests (10000)")
    parser.add_argument("--at-once", type=some_count, default=30, help="simultaneous requests (30)")
    parser.add_argument("--held", type=some_seconds, default=30.0, help="seconds of silent clients (30)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the requests (1)")
    parser.add_argument("--into", type=Path, help="write the tables between the marks in a chapter")
    options = parser.parse_args(arguments)
    lines, wrong = run(options)
    if options.into:
        put_into(options.into, "\n".join(lines), "hostile_requests")
    print("\n".join([*lines, *([""] if wrong else []), *wrong]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
