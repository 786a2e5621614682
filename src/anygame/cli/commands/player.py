"""The ``player`` command: plays the matches of game managers until Ctrl-C or SIGTERM."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from anygame import Limits
from anygame.cli.matches.pages import EndedBySignal, run_until_signal
from anygame.cli.options import Command, command_options, flag, option, positive, read_port, seconds
from anygame.cli.shared_options import CaseOption, JsonOption, seed_option
from anygame.errors import PlayerError
from anygame.players.loading import is_address, make_player, split_options
from anygame.protocol import PlayerServer, PlayerSettings

if TYPE_CHECKING:
    from anygame.protocol import Said

_DETAILS: Final = """\
A game manager sends the rules and asks for moves by the GGP protocol (HTTP, usually on port
9147). Only this machine can connect, unless --host names another address: 0.0.0.0 accepts other
machines. Ctrl-C ends the player.

The player sends its best move so far before the clock runs out. If no message arrives for
--patience (default: the start clock, ten play clocks and ten seconds), the player abandons the
match.

In games with hidden information (GDL-II), one form of PLAY messages contains the percepts of the
player, and another form contains the joint move. With --gdl2, if the game has a rule for `sees`,
the player reads the terms in a message as percepts. Without --gdl2, the player reads terms as
percepts only if the terms cannot be moves.

With --json, one object is printed on each line:
  {"event": "listening", "host", "port", "name", "strategy"}
  {"event": "message", "time", "peer", "message", "match", "text", "reply", "seconds", "note"}
  {"event": "stopped"}
  message is INFO, PING, START, PLAY, STOP, ABORT or PREVIEW, or ? for anything else. note
  describes an error.
"""

_USUAL_PORT: Final = 9147
_PORTS_TRIED: Final = 10
#: Limits on rules from strangers. All public games stay below these limits.
LIMITS: Final = Limits(facts=1_000_000, terms=1_000_000, seconds=60.0)


@command_options
class _Options(JsonOption, CaseOption):
    port: int | None = option(
        "--port",
        "PORT",
        "port to listen on; 0 for any free port (default 9147, or the next free port)",
        read_port,
    )
    host: str = option(
        "--host", "HOST", "address to listen on; 0.0.0.0 accepts other machines", default="127.0.0.1"
    )
    name: str | None = option("--name", "NAME", "name shown by game managers (default: anygame-PLAYER)")
    strategy: str = option(
        "--players",
        "PLAYER",
        "strategy: random, legal, greedy, uct, mcts, ismcts, MODULE:CLASS or FILE.py:CLASS, with options as "
        "in mcts:threads=2,memory=2GB,pondering=no (here, mcts ponders by default)",
        default="mcts",
        former="--strategy",
    )
    gdl2: bool = flag("--gdl2", "always read two-field PLAY messages as percepts in games with `sees`")
    parallel: int = option("--parallel", "N", "maximum number of simultaneous matches", positive, default=1)
    margin: float | None = option(
        "--margin",
        "SECONDS",
        "safety margin subtracted from every clock, in seconds (default: up to a fifth of the clock)",
        seconds,
    )
    patience: float | None = option(
        "--patience",
        "SECONDS",
        "abandon a match after this many seconds without a message (default: start clock + 10 play clocks + "
        "10 s)",
        seconds,
    )
    seed: int | None = seed_option()


def _player(options: _Options) -> None:
    if is_address(options.strategy):
        raise PlayerError(
            f"expected a strategy or a class for the player, found the address {options.strategy}"
        )
    make_player(options.strategy, seed=options.seed)
    with suppress(EndedBySignal):
        run_until_signal(_serve(options))


async def _serve(options: _Options) -> None:
    over = asyncio.Event()
    log = _Log(over, as_json=options.json)
    settings = PlayerSettings(
        gdl2=options.gdl2,
        case_sensitive=options.case_sensitive,
        limits=LIMITS,
        margin=options.margin,
        patience=options.patience,
    )
    server = PlayerServer(
        options.strategy,
        seed=options.seed,
        name=options.name or f"anygame-{split_options(options.strategy)[0].rpartition(':')[2]}",
        parallel=options.parallel,
        settings=settings,
        log=log.report,
    )
    try:
        port = await _listening(server, options.host, options.port)
        name, strategy = server.name, options.strategy
        host = f"[{options.host}]" if ":" in options.host else options.host
        text = f"{name} ({strategy}) listens on {host}:{port}; Ctrl-C stops the player"
        log.say(text, event="listening", host=options.host, port=port, name=name, strategy=strategy)
        with suppress(asyncio.CancelledError):
            await over.wait()
    finally:
        await server.close()
    log.say("stopped", event="stopped")
    if log.broken is not None:
        raise log.broken


async def _listening(server: PlayerServer, host: str, asked: int | None) -> int:
    """Listen on a port, by default the first free port from 9147 on, and return the port."""
    tried = [asked] if asked is not None else range(_USUAL_PORT, _USUAL_PORT + _PORTS_TRIED)
    refusal: OSError | None = None
    for port in tried:
        try:
            return await server.listen(host, port)
        except (OSError, UnicodeError) as error:
            refusal = error if isinstance(error, OSError) else OSError(str(error))
    reason = refusal.strerror if refusal is not None and refusal.strerror else refusal
    raise PlayerError(f"cannot listen on {host}, port {tried[0]}: {reason}; try another --port or --host")


class _Log:
    def __init__(self, over: asyncio.Event, *, as_json: bool) -> None:
        self._over = over
        self._as_json = as_json
        self.broken: BrokenPipeError | None = None

    def say(self, line: str, /, **event: Any) -> None:
        if self.broken is not None:
            return
        try:
            print(json.dumps(event, ensure_ascii=False) if self._as_json else line, flush=True)
        except BrokenPipeError as error:
            self.broken = error
            self._over.set()

    def report(self, said: Said) -> None:
        now = datetime.now().astimezone()
        event = asdict(said)
        event["match"] = event.pop("match_id")
        text = f"{now:%H:%M:%S} {said.message} {said.match_id}".rstrip()
        if said.reply:
            text += f" -> {said.reply}  {said.seconds:.2f} s"
        if said.note:
            text += f"  [{said.note}]"
        self.say(text, event="message", time=now.isoformat(timespec="milliseconds"), **event)


COMMANDS: Final = {"player": Command(_Options, _player, _DETAILS)}
