"""The ``player`` command: plays for managers until it is told to end."""

from __future__ import annotations

import asyncio
import json
import signal
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from anygame import Limits
from anygame.errors import PlayerError
from anygame.players.loading import is_address, make_player
from anygame.protocol.habits import Habits
from anygame.protocol.server import PlayerServer

if TYPE_CHECKING:
    from argparse import Namespace

    from anygame.protocol.server import Said

__all__ = ["LIMITS", "player"]

_OK: Final = 0
_USUAL_PORT: Final = 9147
_PORTS_TRIED: Final = 10
#: Rules come from strangers here; no game of the field needs as much.
LIMITS: Final = Limits(facts=1_000_000, terms=1_000_000, seconds=60.0)


def player(options: Namespace) -> int:
    """Play until Ctrl-C or SIGTERM."""
    if is_address(options.strategy):
        raise PlayerError(f"expected a player of this machine, found the address {options.strategy}")
    make_player(options.strategy, seed=options.seed)
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(options))
    return _OK


async def _serve(options: Namespace) -> None:
    over = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        # Elsewhere than in the main thread of a POSIX system, Ctrl-C interrupts the loop instead.
        with suppress(NotImplementedError, RuntimeError, ValueError):
            asyncio.get_running_loop().add_signal_handler(number, over.set)
    log = _Log(over, as_json=options.json)
    server = _server(options, log)
    try:
        port = await _listening(server, options)
        name, strategy = server.name, options.strategy
        host = f"[{options.host}]" if ":" in options.host else options.host
        text = f"{name} ({strategy}) listens on {host}:{port}; Ctrl-C ends it"
        log.say(text, event="listening", host=options.host, port=port, name=name, strategy=strategy)
        await over.wait()
    finally:
        await server.close()
    log.say("stopped", event="stopped")
    if log.broken is not None:
        raise log.broken


def _server(options: Namespace, log: _Log) -> PlayerServer:
    # Every player that is needed has other random numbers, the same ones for the same seed.
    seeds = count(options.seed) if options.seed is not None else None
    habits = Habits(
        gdl2=options.gdl2,
        case_sensitive=options.case_sensitive,
        limits=LIMITS,
        margin=options.margin,
        patience=options.patience,
    )
    return PlayerServer(
        lambda: make_player(options.strategy, seed=next(seeds) if seeds is not None else None),
        name=options.name or f"anygame-{options.strategy.rpartition(':')[2]}",
        parallel=options.parallel,
        habits=habits,
        log=log.hear,
    )


async def _listening(server: PlayerServer, options: Namespace) -> int:
    """Listen on the port asked for; without one, on the usual one or the next that is free."""
    tried = [options.port] if options.port is not None else range(_USUAL_PORT, _USUAL_PORT + _PORTS_TRIED)
    refusal: OSError | None = None
    for port in tried:
        try:
            return await server.listen(options.host, port)
        except (OSError, UnicodeError) as error:
            refusal = error if isinstance(error, OSError) else OSError(str(error))
    reason = refusal.strerror if refusal is not None and refusal.strerror else refusal
    raise PlayerError(
        f"cannot listen on {options.host}, port {tried[0]}: {reason}; try another --port or --host"
    )


class _Log:
    """What the player tells of itself, a line for each message."""

    def __init__(self, over: asyncio.Event, *, as_json: bool) -> None:
        self._over = over
        self._as_json = as_json
        self.broken: BrokenPipeError | None = None

    def say(self, line: str, /, **event: Any) -> None:
        """Print one line."""
        if self.broken is not None:
            return
        try:
            print(json.dumps(event, ensure_ascii=False) if self._as_json else line, flush=True)
        except BrokenPipeError as error:
            self.broken = error
            self._over.set()

    def hear(self, said: Said) -> None:
        """Print what became of a message."""
        now = datetime.now().astimezone()
        event = asdict(said)
        event["match"] = event.pop("match_id")
        text = f"{now:%H:%M:%S} {said.message} {said.match_id}".rstrip()
        if said.reply:
            text += f" -> {said.reply}  {said.seconds:.2f} s"
        if said.note:
            text += f"  [{said.note}]"
        self.say(text, event="message", time=now.isoformat(timespec="milliseconds"), **event)
