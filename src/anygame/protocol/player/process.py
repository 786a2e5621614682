"""What runs in the process of a session: commands from its standard input, events to its output."""

from __future__ import annotations

import base64
import json
import os
import pickle
import signal
import sys
import threading
from threading import Lock
from typing import TYPE_CHECKING, Any

from anygame.players.loading import make_player, player_class, split_options
from anygame.protocol.player.session import BEGUN, THREADS, Session

if TYPE_CHECKING:
    from anygame.players.player import Player


def main(given: str) -> None:
    """Do what commands ask for until there are no more, then end, whatever threads are at work.

    Args:
        given: strategy, seed and settings, as `anygame.protocol.player.hosts.ProcessHost` passes them.
    """
    # Ctrl-C in a terminal reaches every process; this one ends with that which asks it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    strategy, seed, settings = pickle.loads(base64.b64decode(given))
    # What a player prints must not get among the events.
    events = os.dup(1)
    os.dup2(2, 1)
    lock = Lock()

    def tell(event: list[Any]) -> None:
        data = json.dumps(event).encode() + b"\n"
        with lock:
            while data:
                data = data[os.write(events, data) :]

    def make() -> Player:
        # Nobody else plays in this process: others' time is free to think in.
        return make_player(strategy, seed=seed, pondering=True)

    threading.excepthook = _end_with
    session = Session(make, settings, tell)
    tell(BEGUN)
    session.prepare(lambda: player_class(split_options(strategy)[0]))
    for line in sys.stdin.buffer:
        session.handle(json.loads(line))
    os._exit(0)


def _end_with(thread: threading.ExceptHookArgs) -> None:
    """End the process with a thread of its session: one that hears and does nothing could not be replaced."""
    threading.__excepthook__(thread)
    if thread.thread is not None and thread.thread.name in THREADS:
        os._exit(1)
