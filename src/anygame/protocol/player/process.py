"""What runs in the process of a session: commands from its standard input, events to its output."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

from anygame.players.loading import make_player, player_class, split_options
from anygame.processes.inside import encode_message, listen, set_up
from anygame.protocol.player.session import BEGUN, THREADS, Session

if TYPE_CHECKING:
    from anygame.players.player import Player
    from anygame.protocol.player.settings import PlayerSettings


def main(strategy: str, seed: int | None, settings: PlayerSettings) -> None:
    """Do what commands ask for until there are no more, then end, whatever threads are at work.

    Args:
        strategy: of the player; see `anygame.players.make_player`.
        seed: of its random numbers.
        settings: see `PlayerSettings`.
    """
    write = set_up()

    def send(event: list[Any]) -> None:
        write(encode_message(event))

    def make() -> Player:
        # Nobody else plays in this process: others' time is free to think in.
        return make_player(strategy, seed=seed, pondering=True)

    threading.excepthook = _end_with
    session = Session(make, settings, send)
    send(BEGUN)
    session.prepare(lambda: player_class(split_options(strategy)[0]))
    listen(session.handle)


def _end_with(thread: threading.ExceptHookArgs) -> None:
    """End the process with a thread of its session: one that hears and does nothing could not be replaced."""
    threading.__excepthook__(thread)
    if thread.thread is not None and thread.thread.name in THREADS:
        os._exit(1)
